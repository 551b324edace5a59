"""Two or more scores on the same rows: how many rows of each kind have each combination of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import KINDS, Tally, Totals, check_total
from pulens.errors import InputError, listed, shown
from pulens.types import Counted


@dataclass(frozen=True, slots=True, eq=False)
class JointTally:
    """Counts per distinct combination of scores, in a fixed order: what a paired comparison needs of the rows.

    Two tallies of the same rows forget which row is which and so cannot say how far two models agree; a joint
    tally can, adds up like a tally, and a database can build it.

    >>> joint = JointTally.from_rows({"a": [.9, .9, .1], "b": [.8, .8, .2]}, np.array([1, 0, 0]))
    >>> joint.scores.tolist(), joint.labelled.tolist(), joint.unlabelled.tolist()
    ([[0.1, 0.2], [0.9, 0.8]], [0, 1], [1, 1])
    >>> print(joint.tally("a"))
    Tally(1 labelled, 2 unlabelled, 2 distinct scores)
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]  # one row per combination, one column per name
    labelled: Counted
    unlabelled: Counted
    negative: Counted
    #: float32 for scores that came in single precision: they are handed back so, and thresholds are read so
    types: tuple[np.dtype[Any], ...] = ()

    def __post_init__(self) -> None:
        for values in (self.scores, self.labelled, self.unlabelled, self.negative):
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold

    @classmethod
    def from_rows(cls, scores: dict[str, Any], labels: NDArray[Any]) -> JointTally:
        """Count rows given as one sequence of scores per model and common, already checked labels."""
        arrays = [np.asarray(values) for values in scores.values()]
        columns = np.column_stack([np.asarray(values, np.float64) for values in arrays])
        kinds = [(labels == code).astype(np.int64) for code in (1, 0, -1)]
        types = [np.dtype(np.float32 if values.dtype == np.float32 else np.float64) for values in arrays]
        return cls.from_increments(tuple(scores), columns, *kinds, types=types)

    @classmethod
    def from_increments(
        cls,
        names: Sequence[str],
        scores: NDArray[np.float64],
        labelled: Counted,
        unlabelled: Counted,
        negative: Counted,
        *,
        types: Sequence[np.dtype[Any]] = (),
    ) -> JointTally:
        """Build from counts per combination, in any order, possibly repeated."""
        _check(names, scores, labelled, unlabelled, negative)
        order = np.lexsort(scores.T[::-1])
        ordered = scores[order] + 0.0  # -0.0 and 0.0 are one score
        begins = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(ordered)]
        first = np.flatnonzero(begins)
        sums = [
            np.add.reduceat(kind[order], first) if first.size else kind for kind in (labelled, unlabelled, negative)
        ]
        kept = tuple(types) or (np.dtype(np.float64),) * len(names)
        return cls(tuple(names), ordered[first], sums[0], sums[1], sums[2], kept)

    @property
    def totals(self) -> Totals:
        return Totals(float(self.labelled.sum()), float(self.unlabelled.sum()), float(self.negative.sum()))

    def tally(self, name: str) -> Tally:
        """The tally of one score."""
        column = self.column(name)
        negative = self.negative if self.negative.any() else None
        return Tally.from_increments(column, self.labelled, self.unlabelled, negative)

    def chosen(self, names: Sequence[str]) -> JointTally:
        """The joint tally of some of the scores, in the order asked for.

        >>> joint = JointTally.from_rows({"a": [3, 2], "b": [5, 5], "c": [0, 1]}, np.array([1, 0]))
        >>> joint.chosen(["c", "a"]).scores.tolist()
        [[0.0, 3.0], [1.0, 2.0]]
        """
        self.check()
        indices = [self._place(name) for name in names]
        types = [self.types[index] for index in indices] if self.types else ()
        counts = (self.labelled, self.unlabelled, self.negative)
        return JointTally.from_increments(names, self.scores[:, indices], *counts, types=types)

    def check(self) -> None:
        """Refuse counts that no rows could have given."""
        _check(self.names, self.scores, self.labelled, self.unlabelled, self.negative)

    def rows(self) -> tuple[NDArray[np.int8], dict[str, NDArray[np.float64]]]:
        """Labels and scores of rows with these counts, in a fixed order: as many as were counted.

        >>> labels, scores = JointTally.from_rows({"a": [2, 2, 1], "b": [5, 5, 4]}, np.array([1, 0, 0])).rows()
        >>> labels, scores["a"]
        (array([1, 0, 0], dtype=int8), array([2., 1., 2.]))
        """
        kinds = ((1, self.labelled), (0, self.unlabelled), (-1, self.negative))
        labels = np.concatenate([np.full(int(counts.sum()), code, np.int8) for code, counts in kinds])
        index = np.concatenate([np.repeat(np.arange(len(self)), counts.astype(np.int64)) for _, counts in kinds])
        return labels, {name: self.column(name)[index] for name in self.names}

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(
                f"there is no score {shown(name)} in this joint tally, which holds {listed(self.names)}. Choose one "
                "with score= (--score on the command line)."
            )
        return self.names.index(name)

    def column(self, name: str) -> NDArray[np.floating[Any]]:
        """One model's score in each combination, in the precision that it came in."""
        index = self._place(name)
        return np.ascontiguousarray(self.scores[:, index], self.types[index] if self.types else np.float64)

    def __len__(self) -> int:
        return len(self.scores)

    def __add__(self, other: JointTally) -> JointTally:
        if self.names != other.names:
            raise InputError(f"joint tallies of {self.names} and {other.names} cannot be added.")
        if self.types != other.types:
            raise InputError(f"joint tallies of {self.types} and {other.types} scores cannot be added.")
        pairs = ((getattr(self, kind), getattr(other, kind)) for kind in ("labelled", "unlabelled", "negative"))
        return JointTally.from_increments(
            self.names,
            np.concatenate([self.scores, other.scores]),
            *[np.concatenate(pair) for pair in pairs],
            types=self.types,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointTally):
            return NotImplemented
        parts = ("scores", "labelled", "unlabelled", "negative")
        return (self.names, self.types) == (other.names, other.types) and all(
            np.array_equal(getattr(self, part), getattr(other, part)) for part in parts
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not hashable

    def __str__(self) -> str:
        return f"JointTally of {', '.join(self.names)} ({self.totals}, {len(self):,} combinations)"

    __repr__ = __str__


def _check(names: Sequence[str], scores: NDArray[Any], *counts: Counted) -> None:
    if scores.ndim != 2 or scores.shape[1] != len(names):
        raise InputError(
            f"a joint tally needs one column of scores per name, got shape {scores.shape} for {listed(names)}."
        )
    if not np.isfinite(scores).all():
        raise InputError(f"a joint tally's scores must be finite numbers, got {scores[~np.isfinite(scores)][0]}.")
    for kind, count in zip(KINDS, counts, strict=True):
        if count.shape != (len(scores),) or count.dtype.kind not in "iu":
            raise InputError(
                f"a joint tally needs one whole number of {kind} rows per combination of scores, got {count.dtype} "
                f"numbers of shape {count.shape} for {len(scores):,} combinations."
            )
        if (count < 0).any():
            raise InputError(f"a joint tally's counts ({kind} rows) must be at least 0, got {count[count < 0][0]}.")
        check_total(float(count.sum(dtype=np.float64)), "the counts")
