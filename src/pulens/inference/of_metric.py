"""Methods of a metric's interval: what they are told, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pulens.inference.design_distribution import DesignDistribution
from pulens.inference.measured import Target
from pulens.inference.method import IntervalMethod

__all__ = ["MetricIntervalMethod", "Target"]


@dataclass(frozen=True)
class MetricIntervalMethod(IntervalMethod):
    """A method that a metric's facts can name; one that asks the distribution alone fits every design."""

    shop: DesignDistribution
    target: Target

    fits_any_design: ClassVar[bool] = False
    named: ClassVar[str]

    @property
    def method(self) -> str:  # type: ignore[override]
        return self.shop.words[self.named]

    def value(self, prior: Any) -> float:
        return self.target.value_at(self.shop.known_of_prior(self.target).setting(prior))
