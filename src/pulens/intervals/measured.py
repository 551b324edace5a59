"""What an interval has to know of the number it is for; :class:`pulens.metrics.Metric` fits."""

from __future__ import annotations

from collections.abc import Callable
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
