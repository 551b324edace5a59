"""Constructions of a metric's interval: what they are told, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pulens.intervals.construction import Construction
from pulens.intervals.measured import Measured
from pulens.intervals.workshop import Workshop


@dataclass(frozen=True)
class Target:
    """The number that an interval is for: a metric, its parameters, its value at another class prior."""

    metric: Measured
    value_at: Callable[[float], float]
    threshold: float | None
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class MetricConstruction(Construction):
    """A construction that a metric's facts can name."""

    shop: Workshop
    target: Target

    def value(self, prior: float) -> float:
        return self.target.value_at(prior)
