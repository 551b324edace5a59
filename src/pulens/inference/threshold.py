"""Intervals of metrics at a threshold: fixed beforehand, or chosen on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.inference.bootstrap import values_at_threshold
from pulens.inference.chosen import limits_of_choice
from pulens.inference.kernels.quantiles import row_percentiles
from pulens.inference.method import Limits
from pulens.inference.of_metric import MetricIntervalMethod
from pulens.inference.replicates import Replicates
from pulens.types import Floats


@dataclass(frozen=True)
class FixedThreshold(MetricIntervalMethod):
    """Every plausible pair of rates goes through the recovery and the metric."""

    fits_any_design, named = True, "fixed"

    def ends(self, prior: Any, tail: float) -> Limits:
        metric, threshold = self.target.metric, float(self.target.threshold or 0.0)
        each, both = self.shop.tail_at(self.target, prior, tail), []
        for table in self.shop.tables_at(threshold, prior):
            result = values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **self.target.parameters)
            both.append(row_percentiles(np.broadcast_to(result, (1, self.shop.resampling.redraws)), each))
        return min(float(low[0]) for low, _ in both), max(float(high[0]) for _, high in both)


@dataclass(frozen=True)
class ChosenThreshold(MetricIntervalMethod):
    """What a redraw shows at the threshold it chose, less what the data show there: the optimism of choosing."""

    fits_any_design, named = True, "chosen"

    @cached_property
    def _beforehand(self) -> MetricIntervalMethod:
        return FixedThreshold(self.shop, self.target)

    def ends(self, prior: Any, tail: float) -> Limits:
        errors = self.shop.chosen_at(prior).errors(self._values)
        return limits_of_choice(self.value(prior), errors, self.shop.tail(tail), self._beforehand.ends(prior, tail))

    def _values(self, replicates: Replicates) -> Floats:
        metric, table = self.target.metric, replicates.tables()
        return values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **self.target.parameters)
