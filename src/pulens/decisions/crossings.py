"""Where two models are worth the same: class priors and cost ratios at which their net benefits are equal."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from pulens.recovery.contingency import possible_hits


class OperatingRates(NamedTuple):
    """What a model does at its threshold: recall, and the share of the list that it flags."""

    recall: float
    flagged: float

    def to_dict(self) -> dict[str, float]:
        return self._asdict()

    def hits(self, prior: float) -> float:
        """Per row of the list at a class prior, cut as in every table."""
        return float(possible_hits(prior * self.recall, self.flagged, prior, 1 - prior))

    @property
    def cuts(self) -> list[float]:
        """Class priors from which on hits are cut."""
        result = [self.flagged / self.recall] if self.recall > 0 else []
        return [*result, *([(1 - self.flagged) / (1 - self.recall)] if self.recall < 1 else [])]


def crossing_priors(first: OperatingRates, second: OperatingRates, ratio: float) -> tuple[float, ...]:
    r"""Class priors at which two models at their thresholds have the same net benefit, at one cost ratio.

    :math:`\pi^* = w\,\Delta q / ((1+w)\,\Delta\gamma)` with odds w; where hits are cut at the flagged share the net
    benefits are piecewise straight lines of the class prior, and every crossing is returned.

    >>> [round(prior, 6) for prior in crossing_priors(OperatingRates(0.4, 0.1), OperatingRates(0.9, 0.4), 0.2)]
    [0.12]
    """
    odds = ratio / (1 - ratio)

    def gap(prior: float) -> float:
        one, other = ((1 + odds) * model.hits(prior) - odds * model.flagged for model in (first, second))
        return other - one

    indices = sorted({0.0, 1.0, *(cut for cut in (*first.cuts, *second.cuts) if 0 < cut < 1)})
    result: list[float] = []
    for low, high in pairwise(indices):
        at_low, at_high = gap(low), gap(high)
        if at_low != at_high and min(at_low, at_high) <= 0 <= max(at_low, at_high):
            result.append(low + (high - low) * at_low / (at_low - at_high))
    kept: list[float] = []
    for prior in result:
        if not kept or prior - kept[-1] > 1e-12:
            kept.append(prior)
    return tuple(prior for prior in kept if 0 < prior < 1)


def crossing_ratio(first: OperatingRates, second: OperatingRates, class_prior: float) -> float:
    r"""The cost ratio at which two models are worth the same, :math:`\pi\,\Delta\gamma/\Delta q`; nan if there is none.

    >>> round(crossing_ratio(OperatingRates(0.4, 0.1), OperatingRates(0.9, 0.4), 0.1), 6)
    0.166667
    """
    hits = [model.hits(class_prior) for model in (first, second)]
    gap = second.flagged - first.flagged
    ratio = (hits[1] - hits[0]) / gap if gap else math.nan
    return ratio if 0 < ratio < 1 else math.nan


def fieller(
    slope: float,
    constant: float,
    slope_variance: float,
    constant_variance: float,
    z: float,
    covariance: float = 0.0,
) -> tuple[float, float] | None:
    r"""All :math:`\pi` with :math:`|A\pi - B| \le z\sqrt{\pi^2 V_A - 2\pi C_{AB} + V_B}` (Fieller 1954); ``None`` where
    that is no interval, because the data do not place the crossing.

    >>> [round(end, 6) for end in fieller(0.625, 0.075, 0.0016, 0.00001, 1.96)]
    [0.103648, 0.140189]
    """
    square = slope**2 - z**2 * slope_variance
    if square <= 0:
        return None
    middle = slope * constant - z**2 * covariance
    root = math.sqrt(max(middle**2 - square * (constant**2 - z**2 * constant_variance), 0.0))
    return (middle - root) / square, (middle + root) / square
