"""Intervals of metrics at a threshold: fixed beforehand, or chosen on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.inference.bootstrap import values_at_threshold
from pulens.inference.chosen import limits_of_choice
from pulens.inference.kernels.quantiles import row_percentiles
from pulens.inference.measured import Target
from pulens.inference.method import Limits
from pulens.inference.of_metric import MetricIntervalMethod
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def values_of(target: Target, table: Contingency) -> Floats:
    """The metric of tables at a threshold."""
    metric = target.metric
    return values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **target.parameters)


@dataclass(frozen=True)
class FixedThreshold(MetricIntervalMethod):
    """Every plausible pair of rates goes through the recovery and the metric."""

    fits_any_design, named = True, "fixed"

    def ends(self, prior: Any, tail: float) -> Limits:
        threshold = float(self.target.threshold or 0.0)
        each, both = self.shop.tail_at(self.target, prior, tail), []
        for table in self.shop.tables_at(threshold, prior):
            result = values_of(self.target, table)
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
        errors = self.shop.chosen_at(prior).errors(lambda replicates: values_of(self.target, replicates.tables()))
        return limits_of_choice(self.value(prior), errors, self.shop.tail(tail), self._beforehand.ends(prior, tail))
