"""The interval of the recovered ROC AUC, by the variance that the design has in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulens.inference.method import Limits
from pulens.inference.of_metric import MetricIntervalMethod


@dataclass(frozen=True)
class AreaUnderROC(MetricIntervalMethod):
    """Student's quantiles with Welch's degrees of freedom, bent for skewness, around the direct area."""

    fits_any_design, named = True, "area"

    def ends(self, prior: Any, tail: float) -> Limits:
        return self.shop.area_limits(prior, tail)
