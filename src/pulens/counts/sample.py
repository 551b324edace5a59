"""Rows as the rest of the library sees them: a label code, a score and perhaps a weight each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError

LABELLED, UNLABELLED, NEGATIVE = 1, 0, -1


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

    def __len__(self) -> int:
        return int(self.scores.size)

    def __str__(self) -> str:
        count = {code: int(np.count_nonzero(self.labels == code)) for code in (LABELLED, UNLABELLED, NEGATIVE)}
        known = f", {count[NEGATIVE]:,} known negative" if count[NEGATIVE] else ""
        return f"PUSample({count[LABELLED]:,} labelled, {count[UNLABELLED]:,} unlabelled{known})"
