"""What an interval has to know of the number it is for; :class:`pulens.metrics.Metric` fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


class Measured(Protocol):
    """A number read off a contingency table, a ranking or the rows counted at a threshold."""

    @property
    def compute(self) -> Callable[..., Any]: ...
    @property
    def reads(self) -> Literal["threshold", "ranking", "counts"]: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def lowest(self) -> float: ...
    @property
    def highest(self) -> float: ...
    @property
    def needs_class_prior(self) -> bool: ...
    @property
    def ignores_class_prior(self) -> bool: ...
    @property
    def many(self) -> Callable[..., Any] | None: ...  # of a ranking, many replicates at once, where it has such a form
    @property
    def construction(self) -> Callable[..., Any] | None: ...  # from its parameters: a construction of its own, or None


@dataclass(frozen=True)
class Target:
    """The number that an interval is for: a metric, its parameters, its value at a setting of the class prior."""

    metric: Measured
    value_at: Callable[[Any], float]
    threshold: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


def depends_on_class_prior(metric: Measured, label_noise: float) -> bool:
    """Whether another class prior would give another number; with wrong labels among the labelled most do."""
    return not metric.ignores_class_prior and (metric.needs_class_prior or label_noise != 0)
