"""Ends of many intervals: percentiles row by row, and what is done to them before they are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.intervals.kernels.quantiles import percentiles
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import NARROWEST
from pulens.types import Floats

Ends = tuple[Floats, Floats]


@dataclass(slots=True, eq=False)
class MetricColumns:
    """One metric of many segments: its value, its interval and the parts of it; nan where there is none."""

    value: Floats
    low: Floats
    high: Floats
    sample_low: Floats
    sample_high: Floats
    reach_low: Floats
    reach_high: Floats

    @classmethod
    def empty(cls, size: int) -> MetricColumns:
        return cls(*(np.full(size, math.nan) for _ in range(7)))

    def put(self, places: NDArray[np.intp], found: MetricColumns) -> None:
        """Take over the rows of some segments."""
        for name in self.__slots__:
            getattr(self, name)[places] = getattr(found, name)

    def take(self, places: NDArray[np.intp]) -> MetricColumns:
        return MetricColumns(*(getattr(self, name)[places] for name in self.__slots__))


def row_percentiles(values: Floats, tail: float) -> Ends:
    """:func:`pulens.intervals.kernels.quantiles.percentiles` of every row, with the same tail on either side.

    >>> low, high = row_percentiles(np.arange(202.0).reshape(2, 101), 0.025)
    >>> low, high
    (array([  2.5, 103.5]), array([ 97.5, 198.5]))
    """
    last = values.shape[1] - 1
    places = [last * level for level in (tail, 1 - tail)]
    below = [min(math.floor(place), last - 1) for place in places]
    kept = np.partition(values, sorted({place + step for place in below for step in (0, 1)}), axis=1)
    low, high = (_between(kept[:, at], kept[:, at + 1], place - at) for at, place in zip(below, places, strict=True))
    for row in np.flatnonzero(np.isnan(values).any(axis=1)).tolist():  # undefined draws are left out
        low[row], high[row] = percentiles(values[row], tail, tail)
    return low, high


def _between(lower: Floats, upper: Floats, share: float) -> Floats:
    """As numpy goes from one value to the next, to the last digit."""
    step = upper - lower
    return np.asarray(upper - step * (1 - share) if share >= 0.5 else lower + step * share)


def shown_ends(ends: Ends, value: Floats, cut: Floats, metric: Metric) -> Ends:
    """Moved with a value that was clipped, made to hold it and cut to what is possible; nan where one end is."""
    low, high = ends[0] + np.minimum(cut, 0.0), ends[1] + np.maximum(cut, 0.0)
    missing = np.isnan(low) | np.isnan(high)
    low, high = (
        np.clip(end, metric.lowest, metric.highest) for end in (np.minimum(low, value), np.maximum(high, value))
    )
    return np.where(missing, math.nan, low), np.where(missing, math.nan, high)


def widen(found: MetricColumns, was_cut: NDArray[np.bool_], metric: Metric) -> None:
    """Intervals too narrow for a number that was cut at the edge of what is possible, and their parts, made wider."""
    with np.errstate(invalid="ignore"):
        narrow = was_cut & (found.high - found.low < NARROWEST)
    for part in ("", "sample_", "reach_"):
        low, high = (getattr(found, f"{part}{end}") for end in ("low", "high"))
        with np.errstate(invalid="ignore"):
            here = narrow & (high - low < NARROWEST)
        top = np.minimum(high + (NARROWEST - (high - low)) / 2, metric.highest)
        bottom = np.maximum(top - NARROWEST, metric.lowest)
        setattr(found, f"{part}low", np.where(here, np.minimum(bottom, low), low))
        setattr(found, f"{part}high", np.where(here, np.maximum(top, bottom + NARROWEST), high))
