"""Rows as the rest of the library sees them: a label code, a score and perhaps a weight each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError

LABELLED, UNLABELLED, NEGATIVE = 1, 0, -1
NEXT_TO_NOTHING = 1e-12  # of a weight: what is less is lost in sums with it


def nothing(heaviest: Iterable[float]) -> float:
    """The weight up to which a row counts for nothing, by the heaviest row of each kind: kinds are summed apart.

    >>> nothing([1.0, 1e6, 0.0])
    1e-12
    """
    return NEXT_TO_NOTHING * min((float(weight) for weight in heaviest if weight > 0), default=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class PUSample:
    """Checked rows: ``labels`` holds 1 (labelled positive), 0 (unlabelled) or -1 (known negative).

    Build it with :func:`pulens.inputs.read_sample`, which accepts arrays, frames and files.
    """

    labels: NDArray[np.int8]
    scores: NDArray[np.floating[Any]]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.labels.shape != self.scores.shape:
            raise InputError(
                f"labels and scores must have the same length, got {self.labels.size} labels "
                f"and {self.scores.size} scores."
            )
        if self.weights is not None and self.weights.shape != self.scores.shape:
            raise InputError(
                f"weights and scores must have the same length, got {self.weights.size} weights "
                f"and {self.scores.size} scores."
            )

    def counted(self) -> PUSample:
        """The rows that stand for something: those of weight 0, or next to it, are left out wherever rows are counted.

        >>> sample = PUSample(np.array([1, 0, 0], np.int8), np.array([0.9, 1000.0, 0.2]), np.array([1.0, 0.0, 2.0]))
        >>> sample.counted().scores
        array([0.9, 0.2])
        """
        counts = self.counts
        return self if counts is None else self.of(counts)

    @property
    def counts(self) -> NDArray[np.bool_] | None:
        """Which rows stand for something; ``None`` where all do."""
        if self.weights is None:
            return None
        kinds = (LABELLED, UNLABELLED, NEGATIVE)
        result = self.weights > nothing(self.weights[self.labels == kind].max(initial=0.0) for kind in kinds)
        return None if result.all() else result

    def of(self, rows: NDArray[Any]) -> PUSample:
        """Some of the rows, by a mask or by their places."""
        return PUSample(self.labels[rows], self.scores[rows], None if self.weights is None else self.weights[rows])

    def __len__(self) -> int:
        return int(self.scores.size)

    def __str__(self) -> str:
        count = {code: int(np.count_nonzero(self.labels == code)) for code in (LABELLED, UNLABELLED, NEGATIVE)}
        known = f", {count[NEGATIVE]:,} known negative" if count[NEGATIVE] else ""
        return f"PUSample({count[LABELLED]:,} labelled, {count[UNLABELLED]:,} unlabelled{known})"
