"""Which rows a run trains on, and which are held out to choose its epoch by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED, NEGATIVE
from pulens.errors import InputError
from pulens.learning.learners.base.labels import refuse_known_negatives
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.priors.from_features.classifier import folds_for
from pulens.scenario import Scenario

Pair = tuple[NDArray[Any], NDArray[Any]]  # rows of the table, and their labels


@dataclass(frozen=True)
class Division:
    """The rows of every run, those held out with their labels; none are where nothing asks for some."""

    training: list[Part]
    held_out: list[Pair] | None
    is_true: bool  # labels of the held-out rows are true classes, which nothing but the selection may read

    def judged(
        self, table: torch.Tensor, scenario: Scenario, weights: Sequence[Any] | None = None
    ) -> StackedRows | None:
        """The held-out rows as a stack, labelled (or truly positive) ones first."""
        if self.held_out is None:
            return None
        parts = [
            positives_first(pair, "selection='oracle'") if self.is_true else part_of(*pair) for pair in self.held_out
        ]
        return StackedRows(table, parts, scenario, weights)

    def without_copies(self, table: torch.Tensor) -> Division:
        """The same, but no run trains on an unlabelled copy of one of its held-out labelled rows."""
        if self.held_out is None or self.is_true:
            return self
        kept = [
            without_copies(part, rows[codes == LABELLED], table)
            for part, (rows, codes) in zip(self.training, self.held_out, strict=True)
        ]
        return replace(self, training=kept)

    @property
    def truths(self) -> list[NDArray[Any]] | None:
        """Which of the judged rows are positive, where that is known."""
        if self.held_out is None or not self.is_true:
            return None
        return [np.sort(codes == LABELLED)[::-1] for _, codes in self.held_out]  # positives stand first


def without_copies(part: Part, held_out: NDArray[Any], table: torch.Tensor) -> Part:
    """A part without the unlabelled rows that equal one of these; as it is where no other row would be left.

    An unlabelled sample of a whole pool holds the labelled rows once more: a row whose copy is trained on as
    unlabelled is not held out.
    """

    def row_bytes(rows: NDArray[Any]) -> list[bytes]:
        result = table[torch.as_tensor(rows, device=table.device)].cpu().numpy() + 0.0  # so that -0.0 is 0.0
        return [row.tobytes() for row in result]

    known = set(row_bytes(held_out))
    fresh = np.array([row not in known for row in row_bytes(part.unlabelled)], bool)
    return Part(part.labelled, part.unlabelled[fresh]) if fresh.any() else part


def divide(
    learner: Any,
    count: int,
    labels: Sequence[Any],
    rows: Sequence[Any] | None,
    validation: Sequence[tuple[Any, Any]] | None,
    seeds: Sequence[int],
    groups: Sequence[Any] | None = None,
) -> Division:
    """Hold rows out as the learner's settings ask for, or take the validation rows that are given.

    Rows of one of ``groups`` stay together: all are held out or none.
    """
    is_true = learner.selection.startswith("oracle")
    if is_true and validation is None:
        raise InputError(
            "selection='oracle' needs validation=(X, true_labels) with 1 and -1: training rows have no true labels."
        )
    wanted = learner.selection != "last" or learner._program.needs_held_out_rows(learner)
    training, held_out = [], []
    for run, seed in enumerate(seeds):
        kept: Pair = np.arange(count) if rows is None else np.asarray(rows[run]), np.asarray(labels[run])
        if validation is not None:
            if not is_true and len(validation[run]) > 1:
                refuse_known_negatives(np.asarray(validation[run][1]), f"{type(learner).__name__}'s validation")
            held_out.append((np.asarray(validation[run][0]), np.asarray(validation[run][1])))
        elif wanted:
            own = None if groups is None else np.asarray(groups[run])
            kept, other = _split(*kept, learner.validation_fraction, seed, own)
            held_out.append(other)
        training.append(part_of(*kept))
    return Division(training, held_out if wanted else None, is_true)


def _split(
    rows: NDArray[Any], codes: NDArray[Any], share: float, seed: int, groups: NDArray[Any] | None = None
) -> tuple[Pair, Pair]:
    """Hold out a share of labelled and of unlabelled rows, at least one of each."""
    if not 0 < share < 1:
        raise InputError(
            f"validation_fraction must lie strictly between 0 and 1, got {share!r}. With selection='last' most methods "
            "hold no rows out."
        )
    rng = np.random.default_rng([seed, 20])
    held = np.zeros(len(rows), bool)
    for code in (LABELLED, 0):
        places = np.flatnonzero(codes == code)
        if len(places) < 2:
            kind = "labelled" if code else "unlabelled"
            raise InputError(
                f"there are too few rows of the class {kind} to hold some out: n_samples={len(places)}, at least 2 are "
                "needed. "
                "Give validation=, or selection='last' to train without."
            )
        held[rng.permutation(places)[: max(1, round(share * len(places)))]] = True
    if groups is not None:
        held = _whole_groups(codes, groups, share, seed)
    return (rows[~held], codes[~held]), (rows[held], codes[held])


def _whole_groups(codes: NDArray[Any], groups: NDArray[Any], share: float, seed: int) -> NDArray[np.bool_]:
    """Which rows are held out, about a share of either kind, when groups stay together."""
    folds = folds_for(codes, groups, folds=max(2, round(1 / share)), seed=seed % (1 << 32))
    held = np.zeros(len(codes), bool)
    for _, places in folds.split(codes, codes, groups):
        held[places] = True
        if (codes[held] == LABELLED).any() and (codes[held] == 0).any():
            break
    return held


def part_of(rows: NDArray[Any], codes: NDArray[Any]) -> Part:
    labelled, unlabelled = rows[codes == LABELLED], rows[codes == 0]
    if not len(labelled) or not len(unlabelled):
        missing = "labelled positive (1)" if not len(labelled) else "unlabelled (0)"
        raise InputError(
            f"labels are of one class only: there is no {missing} row among {len(rows):,}; learning needs both."
        )
    return Part(labelled, unlabelled)


def positives_first(pair: tuple[Any, Any], who: str) -> Part:
    """Rows with true labels: positives first, negatives behind."""
    rows, codes = (np.asarray(values) for values in pair)
    if not np.isin(codes, (LABELLED, NEGATIVE)).all():
        raise InputError(f"{who} needs rows with true labels: 1 (positive) and -1 (negative).")
    return Part(rows[codes == LABELLED], rows[codes == NEGATIVE])
