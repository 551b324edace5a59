"""What a metric file declares about itself, and the arithmetic that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.intervals.of_metric import MetricConstruction

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """The facts of one metric; they choose the tests that its file must pass.

    ``reads="threshold"``: ``compute(contingency, **parameters)`` gives one value per table, nan where undefined.
    ``reads="ranking"``: ``compute(tally, assumptions, **parameters)`` gives one number, not clipped.
    ``reads="counts"``: ``compute(tally, threshold, assumptions, **parameters)`` gives one number from the rows as
    they are counted at a threshold, nan where undefined.

    ``ignores_class_prior``: the number is one of labelled against other rows, so no class prior need be given.
    ``counted``: rows of the population are counted as they are, whatever is labelled and however many are positive.
    ``landmarks``: numbers to read the value beside, from ``(tally, value, **parameters)``.
    ``construction``: from its parameters, how its interval is made (:mod:`pulens.intervals`); without one, or where it
    is ``None``, the construction follows from what the metric reads.
    """

    compute: Callable[..., Any]
    summary: str
    reads: Literal["threshold", "ranking", "counts"] = "threshold"
    higher_is_better: bool = True
    lowest: float = 0.0
    highest: float = 1.0
    needs_class_prior: bool = True
    ignores_class_prior: bool = False
    counted: bool = False
    listed: bool = True  # whether `evaluate` shows it without being asked
    undefined_because: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    landmarks: Callable[..., dict[str, float]] | None = None
    # of a ranking: (tally, assumptions, **parameters), nan if unknown
    binning_error: Callable[..., float] | None = None
    construction: Callable[..., type[MetricConstruction] | None] | None = None

    @property
    def needs_threshold(self) -> bool:
        return self.reads != "ranking"


def divide(numerator: Any, denominator: Any, *, empty: float = np.nan) -> Floats:
    """Ratio of arrays, with a stated value where the denominator is zero.

    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator, denominator = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    ratio: Floats = np.divide(numerator, denominator, out=np.full(numerator.shape, empty), where=denominator != 0)
    return ratio
