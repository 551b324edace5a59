"""One metric of many segments in columns, and what is done to the limits of its intervals before they are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import NARROWEST
from pulens.types import Floats

Limits = tuple[Floats, Floats]


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

    def put(self, indices: NDArray[np.intp], result: MetricColumns) -> None:
        """Take over the rows of some segments."""
        for name in self.__slots__:
            getattr(self, name)[indices] = getattr(result, name)

    def take(self, indices: NDArray[np.intp]) -> MetricColumns:
        return MetricColumns(*(getattr(self, name)[indices] for name in self.__slots__))


def shown_limits(limits: Limits, value: Floats, cut: Floats, metric: Metric) -> Limits:
    """Moved with a value that was clipped, made to hold it and cut to what is possible; nan where one end is."""
    low, high = limits[0] + np.minimum(cut, 0.0), limits[1] + np.maximum(cut, 0.0)
    missing = np.isnan(low) | np.isnan(high)
    low, high = (
        np.clip(end, metric.lowest, metric.highest) for end in (np.minimum(low, value), np.maximum(high, value))
    )
    return np.where(missing, math.nan, low), np.where(missing, math.nan, high)


def widen(result: MetricColumns, was_cut: NDArray[np.bool_], metric: Metric) -> None:
    """Intervals too narrow for a number that was cut at the edge of what is possible, and their parts, made wider."""
    with np.errstate(invalid="ignore"):
        narrow = was_cut & (result.high - result.low < NARROWEST)
    for part in ("", "sample_", "reach_"):
        low, high = (getattr(result, f"{part}{end}") for end in ("low", "high"))
        with np.errstate(invalid="ignore"):
            here = narrow & (high - low < NARROWEST)
        top = np.minimum(high + (NARROWEST - (high - low)) / 2, metric.highest)
        bottom = np.maximum(top - NARROWEST, metric.lowest)
        setattr(result, f"{part}low", np.where(here, np.minimum(bottom, low), low))
        setattr(result, f"{part}high", np.where(here, np.maximum(top, bottom + NARROWEST), high))
