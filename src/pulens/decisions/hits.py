"""Hits to come: predicted, not estimated."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pulens.estimate import Estimate
from pulens.inference.kernels.quantiles import spread_of_interval

LEVELS = 401  # quantiles of precision behind a prediction


class Prediction(NamedTuple):
    """How many hits alarms will have: a number that is still to be drawn, not one that is estimated."""

    expected: float
    low: float | None
    high: float | None
    of: float

    def __str__(self) -> str:
        if math.isnan(self.expected):
            return f"{self.low:,.0f} to {self.high:,.0f} of {self.of:,.10g}"
        ends = "" if self.low is None else f" [{self.low:,.0f}, {self.high:,.0f}]"
        return f"{self.expected:,.0f} of {self.of:,.10g}{ends}"

    def told(self, precision: Estimate) -> Prediction:
        """Without a single number where that of precision is withheld."""
        return self._replace(expected=math.nan) if precision.withheld_because and self.low is not None else self

    def at_least(self, known: float) -> Prediction:
        """Where some are known to be hits already."""
        if self.low is None or self.high is None or self.low >= known:
            return self
        return self._replace(low=float(math.ceil(known)), high=max(self.high, float(math.ceil(known))))

    def to_dict(self) -> dict[str, Any]:
        expected = None if math.isnan(self.expected) else self.expected
        return {**self._asdict(), "expected": expected, "kind": "prediction"}


def predicted_hits(alarms: int, precision: Estimate) -> Prediction:
    """Hits among this many alarms: precision spread as its interval says, then a binomial draw.

    >>> from pulens.estimate import Interval
    >>> print(predicted_hits(50, Estimate("precision", 0.62, Interval(0.5, 0.74, 0.95, "Jeffreys"))))
    31 of 50 [22, 40]
    """
    interval = precision.interval
    if interval is None or interval.confidence is None:
        return Prediction(alarms * precision.value, None, None, float(alarms))
    from pulens.special import bdtr, ndtri

    normals = ndtri((np.arange(LEVELS) + 0.5) / LEVELS)
    shares = spread_of_interval(precision.value, interval.low, interval.high, interval.confidence, normals)
    shares = np.clip(shares, 0.0, 1.0)
    tail = (1 - interval.confidence) / 2
    ends = []
    for level in (tail, 1 - tail):
        low, high = 0, alarms  # the fewest hits that this share of the mixture does not exceed
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if bdtr(float(middle), alarms, shares).mean() >= level else (middle + 1, high)
        ends.append(float(low))
    return Prediction(alarms * precision.value, ends[0], ends[1], float(alarms))
