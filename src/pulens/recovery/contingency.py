"""Tables of true and false positives and negatives, one per threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.types import Floats

ROUNDING = 1e-12  # rates this far outside [0, 1] are rounding, not evidence: the end point (1, 1) must stay


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """Contingency tables of one target population at one or many thresholds.

    A recovered rate may leave [0, 1] when the class prior is wrong or the sample small. The rates are kept as
    recovered; the four cells use them clipped, and :attr:`is_possible` says where no clipping was needed.

    >>> import numpy as np
    >>> table = Contingency(np.array([0.5]), np.array([0.75]), np.array([0.25]), positive=40.0, negative=60.0)
    >>> table.true_positive, table.false_positive, table.false_negative, table.true_negative
    (array([30.]), array([15.]), array([10.]), array([45.]))
    """

    thresholds: Floats
    true_positive_rate: Floats
    false_positive_rate: Floats
    positive: Any  # rows of the target population that are positive: one number, or one per table
    negative: Any

    @classmethod
    def from_cells(
        cls, thresholds: Any, true_positive: Any, false_positive: Any, false_negative: Any, true_negative: Any
    ) -> Contingency:
        """Build from the four cells, as the bounds of paper 001 give them.

        >>> float(Contingency.from_cells(0.5, 30, 15, 10, 45).true_positive_rate)
        0.75
        """
        hits, alarms, misses, rejections = (
            np.asarray(cell, float) for cell in (true_positive, false_positive, false_negative, true_negative)
        )
        positive, negative = hits + misses, alarms + rejections
        with np.errstate(invalid="ignore"):
            return cls(np.asarray(thresholds, float), hits / positive, alarms / negative, positive, negative)

    @property
    def true_positive(self) -> Floats:
        return np.asarray(self.positive * np.clip(self.true_positive_rate, 0.0, 1.0))

    @property
    def false_positive(self) -> Floats:
        return np.asarray(self.negative * np.clip(self.false_positive_rate, 0.0, 1.0))

    @property
    def false_negative(self) -> Floats:
        return np.asarray(self.positive - self.true_positive)

    @property
    def true_negative(self) -> Floats:
        return np.asarray(self.negative - self.false_positive)

    @property
    def predicted_positive(self) -> Floats:
        return self.true_positive + self.false_positive

    @property
    def total(self) -> Any:
        return self.positive + self.negative

    @property
    def class_prior(self) -> Any:
        """Share of positives in the target population."""
        return self.positive / self.total

    @property
    def is_possible(self) -> NDArray[np.bool_]:
        """Whether both recovered rates are rates, allowing for rounding."""
        rates = (self.true_positive_rate, self.false_positive_rate)
        inside = [(rate >= -ROUNDING) & (rate <= 1 + ROUNDING) for rate in rates]
        return inside[0] & inside[1]

    def __len__(self) -> int:
        return int(np.size(self.true_positive_rate))

    def __getitem__(self, which: Any) -> Contingency:
        """Some of the tables."""
        positive, negative = (value[which] if np.ndim(value) else value for value in (self.positive, self.negative))
        return Contingency(
            self.thresholds[which],
            self.true_positive_rate[which],
            self.false_positive_rate[which],
            positive,
            negative,
        )
