"""The waist of the library: how many rows of each kind stand at or above each distinct score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counting import BLOCK, count_rows, count_weighted_rows
from pulens.errors import InputError
from pulens.sample import PUSample

Counted = NDArray[Any]  # int64 for rows of weight one, float64 for weighted rows


class Totals(NamedTuple):
    """How many rows of each kind there are in all."""

    labelled: float
    unlabelled: float
    negative: float

    @property
    def rows(self) -> float:
        return self.labelled + self.unlabelled + self.negative


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Rows scoring at or above each threshold, highest threshold first.

    Counts per distinct score are all that rankings, thresholds, calibration and class-prior estimates need, so
    a tally replaces the rows: it adds up across chunks (``tally_a + tally_b``) and may come from a database.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([0.9, 0.4, 0.9, 0.3, 0.1]))
    >>> tally.thresholds
    array([0.9, 0.4, 0.3, 0.1])
    >>> tally.labelled, tally.unlabelled
    (array([1, 2, 2, 2]), array([1, 1, 2, 3]))
    >>> print(tally + tally)
    Tally(4 labelled, 6 unlabelled, 4 distinct scores)
    """

    thresholds: NDArray[np.floating[Any]]
    labelled: Counted
    unlabelled: Counted
    negative: Counted

    def __post_init__(self) -> None:
        for values in (self.thresholds, self.labelled, self.unlabelled, self.negative):
            if values.shape != self.thresholds.shape:
                raise InputError("a tally needs one count of each kind per threshold")
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold

    @classmethod
    def from_sample(cls, sample: PUSample) -> Tally:
        """Count the rows of a checked sample."""
        if sample.weights is None:
            counts = count_rows(sample.scores, sample.labels)
        else:
            counts = count_weighted_rows(sample.scores, sample.labels, sample.weights)
        negative = counts.negative
        if negative is None:  # no known negatives: zeros that take no memory
            negative = np.broadcast_to(counts.labelled.dtype.type(0), counts.thresholds.shape)
        return cls(counts.thresholds, counts.labelled, counts.unlabelled, negative)

    @classmethod
    def from_arrays(cls, labels: NDArray[Any], scores: NDArray[Any], weights: NDArray[Any] | None = None) -> Tally:
        """Count rows given as plain, already checked numpy arrays."""
        floats = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
        sample = PUSample(labels.astype(np.int8, copy=False), floats, weights)
        return cls.from_sample(sample)

    @classmethod
    def from_increments(
        cls,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        unlabelled: NDArray[Any],
        negative: NDArray[Any] | None = None,
    ) -> Tally:
        """Build from counts per score, in any order, scores possibly repeated (a GROUP BY, chunk by chunk).

        >>> import numpy as np
        >>> Tally.from_increments(np.array([0.1, 0.9]), np.array([0, 1]), np.array([2, 0])).labelled
        array([1, 1])
        """
        distinct, place = np.unique(scores, return_inverse=True)

        def running(counts: NDArray[Any]) -> Counted:
            added = np.zeros(distinct.size, counts.dtype if counts.dtype.kind == "f" else np.int64)
            np.add.at(added, place, counts)
            return np.cumsum(added[::-1])

        counted = running(labelled)
        if negative is None:
            no_negative = np.broadcast_to(counted.dtype.type(0), distinct.shape)
        return cls(
            np.ascontiguousarray(distinct[::-1]),
            counted,
            running(unlabelled),
            no_negative if negative is None else running(negative),
        )

    @property
    def totals(self) -> Totals:
        if self.thresholds.size == 0:
            return Totals(0.0, 0.0, 0.0)
        return Totals(float(self.labelled[-1]), float(self.unlabelled[-1]), float(self.negative[-1]))

    @property
    def has_negatives(self) -> bool:
        return self.totals.negative > 0

    @property
    def is_weighted(self) -> bool:
        return bool(self.labelled.dtype.kind == "f")

    def increments(self) -> tuple[Counted, Counted, Counted]:
        """Rows of each kind exactly at each threshold."""
        kinds = (self.labelled, self.unlabelled, self.negative)
        return tuple(np.diff(kind, prepend=kind.dtype.type(0)) for kind in kinds)  # type: ignore[return-value]

    def at(self, threshold: float) -> Totals:
        """Rows of each kind scoring at or above any number, not only at a score that occurs.

        >>> import numpy as np
        >>> Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.5, 0.2])).at(0.5)
        Totals(labelled=1.0, unlabelled=1.0, negative=0.0)
        """
        above = int(np.searchsorted(-self.thresholds, -threshold, side="right"))
        if above == 0:
            return Totals(0.0, 0.0, 0.0)
        kinds = (self.labelled, self.unlabelled, self.negative)
        return Totals(*(float(kind[above - 1]) for kind in kinds))

    def blocks(self, size: int = BLOCK) -> Iterator[slice]:
        """Slices that cover the thresholds, for walking a long tally without tally-sized temporaries."""
        for start in range(0, self.thresholds.size, size):
            yield slice(start, start + size)

    def __len__(self) -> int:
        return int(self.thresholds.size)

    def __add__(self, other: Tally) -> Tally:
        mine, theirs = self.increments(), other.increments()
        negative = np.concatenate([mine[2], theirs[2]]) if self.has_negatives or other.has_negatives else None
        return Tally.from_increments(
            np.concatenate([self.thresholds, other.thresholds]),
            np.concatenate([mine[0], theirs[0]]),
            np.concatenate([mine[1], theirs[1]]),
            negative,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("thresholds", "labelled", "unlabelled", "negative")
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not hashable

    def __str__(self) -> str:
        labelled, unlabelled, negative = self.totals
        known = f", {negative:,.10g} known negative" if negative else ""
        return f"Tally({labelled:,.10g} labelled, {unlabelled:,.10g} unlabelled{known}, {len(self):,} distinct scores)"

    __repr__ = __str__
