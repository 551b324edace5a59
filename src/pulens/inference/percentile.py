"""Intervals from redraws of the ranking: average precision, and metrics that have no form of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.inference.kernels.quantiles import jeffreys_quantiles, percentiles
from pulens.inference.method import Limits
from pulens.inference.of_metric import MetricIntervalMethod

READINGS_TAIL = 1.2  # the hull of two readings of average precision misses less often than either


@dataclass(frozen=True)
class RankingRedraws(MetricIntervalMethod):
    """Percentiles of a metric that is computed in every redraw."""

    fits_any_design, named = True, "redraws"

    def ends(self, prior: Any, tail: float) -> Limits:
        each = self.shop.tail(tail)
        return percentiles(
            self.shop.redrawn_values(self.target, prior) + self.shop.shift(self.target, prior), each, each
        )


@dataclass(frozen=True)
class AveragePrecisionReadTwice(MetricIntervalMethod):
    """Average precision of each redraw with precision cut to [0, 1] and without: the hull of both percentiles."""

    fits_any_design, named = True, "read twice"

    def ends(self, prior: Any, tail: float) -> Limits:
        moved, readings = self.shop.shift(self.target, prior), self.shop.precision_readings(prior)
        labelled = self.shop.n_labelled
        if labelled < 2:  # a single row says nothing of how rows differ
            return -math.inf, math.inf
        if np.ptp(readings) == 0:  # no redraw differs: as little as if n of n rows had been found
            low = float(jeffreys_quantiles(labelled, labelled, np.array([tail]))[0])
            return low * float(readings.min() + moved), 1.0
        each = self.shop.tail(_of_readings(tail))
        result = [percentiles(reading + moved, each, each) for reading in readings]
        return min(low for low, _ in result), max(high for _, high in result)


def _of_readings(tail: float) -> float:
    """The tail at which the hull of two readings misses as often as asked; near a confidence of 0 it has no room."""
    return min(READINGS_TAIL * tail, max(tail, 0.5))
