"""Rows of a table with PU labels as the stages of a table's learner read them: features, labels, weights, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import AssumptionError
from pulens.types import Booleans, Floats

Rows = NDArray[np.float32]
FEWEST_GROUPS = 20  # of labelled and of unlabelled rows, for copies to be kept together


@dataclass(frozen=True)
class TrainingRows:
    """Rows, who is labelled, and how much each row counts."""

    rows: Rows
    labelled: Booleans
    weights: Floats
    groups: NDArray[np.int64] | None = None  # which rows belong together

    def check_groups(self) -> None:
        """Refuse groups of which no two hold labelled, or unlabelled, rows: nothing could be left out."""
        if self.groups is None:
            return
        for kind, word in ((self.labelled, "labelled"), (~self.labelled, "unlabelled")):
            result = np.unique(self.groups[kind]).size
            if result < 2:
                raise AssumptionError(
                    f"{word} rows lie in {result} group, and at least 2 are needed to leave one out: leave groups= out."
                )

    def dealt(self, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The part that each row is dealt into, each kind evenly; rows of one group into the same."""
        if self.groups is not None:
            of_group: NDArray[np.int64] = rng.permutation(int(self.groups.max()) + 1) % parts
            return of_group[self.groups]
        part = np.empty(self.labelled.size, np.int64)
        for kind in (self.labelled, ~self.labelled):
            part[kind] = rng.permutation(int(kind.sum())) % parts
        return part

    @property
    def weighting(self) -> dict[str, Any]:
        """How the weights are told to functions that read labels and scores."""
        return {} if (self.weights == 1).all() else {"weights": self.weights}

    def fit_weights(self, chosen: NDArray[Any]) -> dict[str, Any]:
        """How some of them are told to a model; nothing where all are 1, which is quicker than saying so."""
        return {"sample_weight": self.weights[chosen]} if self.weighting else {}

    def share_labelled(self) -> float:
        return float(self.weights[self.labelled].sum() / self.weights.sum())

    def filled(self) -> tuple[Rows, Floats]:
        """Rows without missing values, and what stands in for them: each column's median."""
        missing = np.isnan(self.rows)
        if not missing.any():
            return self.rows, np.zeros(self.rows.shape[1])
        whole = ~missing.all(axis=0)
        stand_ins = np.zeros(self.rows.shape[1])
        stand_ins[whole] = np.nanmedian(self.rows[:, whole], axis=0)
        return np.where(missing, stand_ins, self.rows).astype(np.float32), stand_ins


def copies_together(rows: Rows, labelled: Booleans) -> NDArray[np.int64] | None:
    """Groups of rows that are the same in every column, where labelled rows have copies among the unlabelled.

    In case-control such a copy is most likely the same individual: who was collected as a positive belongs to the
    population, too. A model that sees the copy knows a label of the row that was left out. None where there are no
    copies, or where columns have so few values that nearly all rows are copies of each other.

    >>> rows = np.arange(60, dtype=np.float32)[:, None]
    >>> copies_together(rows, np.arange(60) < 25) is None
    True
    >>> found = copies_together(np.concatenate([rows[:25], rows]), np.arange(85) < 25)
    >>> bool((found[:25] == found[25:50]).all()), np.unique(found).size
    (True, 60)
    """
    whole = np.ascontiguousarray(rows).view(f"V{rows.dtype.itemsize * rows.shape[1]}").ravel()
    result: NDArray[np.int64] = np.unique(whole, return_inverse=True)[1].reshape(-1)
    ours, theirs = (np.unique(result[kind]) for kind in (labelled, ~labelled))
    if min(ours.size, theirs.size) < FEWEST_GROUPS or not np.isin(ours, theirs).any():
        return None
    return result


def without_empty_columns(rows: Rows) -> Rows:
    """Columns that hold no value in these rows as zeros: no tree can split on them, and boosting refuses them.

    >>> without_empty_columns(np.array([[1.0, np.nan], [np.nan, np.nan]])).tolist()
    [[1.0, 0.0], [nan, 0.0]]
    """
    empty = np.isnan(rows).all(axis=0)
    return np.where(empty, np.float32(0.0), rows) if empty.any() else rows
