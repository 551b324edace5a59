"""The waist of the library: how many rows of each kind stand at or above each distinct score."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import Binning, cells, join_overlapping
from pulens.counts.exactness import first_too_long, in_precision, too_long
from pulens.counts.kernels import BLOCK, count_rows, count_weighted_rows
from pulens.counts.sample import PUSample
from pulens.errors import InputError
from pulens.types import Counted

MOST_ROWS = 1e15  # no table has more, and a double counts no further one by one


def check_total(rows: float, what: str) -> None:
    """Refuse counts or weights that no number of rows could have.

    >>> check_total(1e19, "the weights")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: the weights add up to 1e+19 rows; at most 1e+15 can be counted. A weight is the...
    """
    if rows < 0 or rows > MOST_ROWS:  # what is no number is named where its place is known
        raise InputError(
            f"{what} add up to {rows:.6g} rows; at most {MOST_ROWS:.0e} can be counted. A weight is the number "
            "of rows that a row counts for: divide all of them by one number."
        )


class Totals(NamedTuple):
    """How many rows of each kind there are in all."""

    labelled: float
    unlabelled: float
    negative: float

    @property
    def rows(self) -> float:
        return self.labelled + self.unlabelled + self.negative

    def __str__(self) -> str:
        known = f", {self.negative:,.10g} known negative" if self.negative else ""
        return f"{self.labelled:,.10g} labelled, {self.unlabelled:,.10g} unlabelled{known}"


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Rows scoring at or above each threshold, highest threshold first.

    Counts per distinct score are all that rankings, thresholds, calibration and class-prior estimates need, so
    a tally replaces the rows: it adds up across chunks (``tally_a + tally_b``) and may come from a database.
    Where ``binning`` is given, each threshold is the lowest score of a bin: the counts at it are exact, and the
    scores in between are not thresholds of their own.

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
    binning: Binning | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        highest = () if self.binning is None else (self.binning.highest,)
        check_total(self.totals.rows, "all rows together")
        for values in (self.thresholds, self.labelled, self.unlabelled, self.negative, *highest):
            if values.shape != self.thresholds.shape:
                raise InputError("a tally needs one count of each kind per threshold")
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold

    @classmethod
    def from_sample(cls, sample: PUSample) -> Tally:
        """Count the rows of a checked sample."""
        sample = sample.counted()
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
        floats = scores if scores.dtype in (np.float32, np.float64) else _as_floats(scores)
        sample = PUSample(labels.astype(np.int8, copy=False), floats, weights)
        return cls.from_sample(sample)

    @classmethod
    def from_increments(
        cls,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        unlabelled: NDArray[Any],
        negative: NDArray[Any] | None = None,
        highest: NDArray[Any] | None = None,
    ) -> Tally:
        """Build from counts per score, in any order, scores possibly repeated (a GROUP BY, chunk by chunk).

        With ``highest`` each row of counts belongs to a bin of scores from ``scores`` to ``highest``; bins that
        overlap are joined.

        >>> import numpy as np
        >>> Tally.from_increments(np.array([0.1, 0.9]), np.array([0, 1]), np.array([2, 0])).labelled
        array([1, 1])
        """
        given = [labelled, unlabelled] if negative is None else [labelled, unlabelled, negative]
        counts = [np.asarray(count) for count in given]
        counts = [count.astype(np.float64 if count.dtype.kind == "f" else np.int64, copy=False) for count in counts]
        scores = _as_floats(scores)
        reach = scores if highest is None else _as_floats(highest)
        _check_increments(scores, reach, counts)
        for count in counts:
            check_total(float(count.sum(dtype=np.float64)), "the counts")  # sums of whole numbers would go round
        lowest, reach, counts = join_overlapping(scores, reach, counts)
        running: list[Counted] = [np.cumsum(count[::-1]) for count in counts]
        if negative is None:  # zeros that take no memory
            running.append(np.broadcast_to(running[0].dtype.type(0), lowest.shape))
        is_binned = highest is not None and not np.array_equal(lowest, reach)
        binning = Binning(np.ascontiguousarray(reach[::-1])) if is_binned else None
        return cls(np.ascontiguousarray(lowest[::-1]), running[0], running[1], running[2], binning=binning)

    def binned(self, bits: int) -> Tally:
        """The same rows with all scores of a cell of width 2**-bits made one bin.

        >>> import numpy as np
        >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.8, 0.2])).binned(bits=2)
        >>> tally.thresholds, tally.binning.highest
        (array([0.8, 0.2]), array([0.9, 0.2]))
        """
        if len(self) == 0:
            return self
        cell = cells(self.thresholds, bits)
        last = np.append(np.flatnonzero(cell[1:] != cell[:-1]), cell.size - 1)
        first = np.append(0, last[:-1] + 1)
        highest = (self.thresholds if self.binning is None else self.binning.highest)[first]
        thresholds = self.thresholds[last]
        binning = None if np.array_equal(thresholds, highest) else Binning(highest)
        return Tally(thresholds, self.labelled[last], self.unlabelled[last], self.negative[last], binning=binning)

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

    @property
    def highest(self) -> NDArray[np.floating[Any]]:
        """The highest score counted at each threshold; the threshold itself unless scores were binned."""
        return self.thresholds if self.binning is None else self.binning.highest

    def mapped(self, change: Callable[[Any], Any]) -> Tally:
        """The same rows under other scores; those that become equal share a threshold."""
        old = np.asarray(self.thresholds, float)
        scores = np.asarray(change(old), float)
        if scores is old and self.thresholds.dtype == float:
            return self
        labelled, unlabelled, negative = self.increments()
        return Tally.from_increments(scores, labelled, unlabelled, negative if self.has_negatives else None)

    def increments(self) -> tuple[Counted, Counted, Counted]:
        """Rows of each kind exactly at each threshold; whole ones in 64 bits, whose products have room."""
        kinds = (self.labelled, self.unlabelled, self.negative)
        wide = np.float64 if self.is_weighted else np.int64
        steps = (np.diff(kind, prepend=kind.dtype.type(0)).astype(wide, copy=False) for kind in kinds)
        return tuple(steps)  # type: ignore[return-value]

    def at(self, threshold: float) -> Totals:
        """Rows of each kind scoring at or above any number, not only at a score that occurs.

        The number is read in the precision of the scores (``pulens.counts.exactness.in_precision``).

        >>> import numpy as np
        >>> Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.5, 0.2])).at(0.5)
        Totals(labelled=1.0, unlabelled=1.0, negative=0.0)
        """
        number = in_precision(threshold, self.thresholds.dtype)
        above = bisect_right(self.thresholds, -number, key=lambda score: -float(score))
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
        if self.thresholds.dtype != other.thresholds.dtype and len(self) and len(other):
            raise InputError(
                f"tallies of {self.thresholds.dtype} and {other.thresholds.dtype} scores cannot be added: 0.7 is not "
                "the same number in both, so equal scores would not be ties. Convert one column of scores to the type "
                "of the other before counting."
            )
        mine, theirs = self.increments(), other.increments()
        highest = None
        if self.binning is not None or other.binning is not None:
            highest = np.concatenate([self.highest, other.highest])
        negative = np.concatenate([mine[2], theirs[2]]) if self.has_negatives or other.has_negatives else None
        return Tally.from_increments(
            np.concatenate([self.thresholds, other.thresholds]),
            np.concatenate([mine[0], theirs[0]]),
            np.concatenate([mine[1], theirs[1]]),
            negative,
            highest,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("thresholds", "highest", "labelled", "unlabelled", "negative")
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not hashable

    def __str__(self) -> str:
        kept = "distinct scores" if self.binning is None else "bins of scores"
        return f"Tally({self.totals}, {len(self):,} {kept})"

    __repr__ = __str__


KINDS = ("labelled", "unlabelled", "known negative")


def _as_floats(scores: Any) -> NDArray[np.floating[Any]]:
    array = np.asarray(scores)
    if array.dtype in (np.float32, np.float64):
        return array
    index = first_too_long(array)
    if index is not None:
        raise InputError(too_long("scores", array[index]))
    return array.astype(np.float64)


def _check_increments(lowest: NDArray[Any], highest: NDArray[Any], counts: list[Counted]) -> None:
    """Counts per score as they may come: any order, scores repeated, but nothing that rows could not have given."""
    if any(values.shape != lowest.shape or values.ndim != 1 for values in (lowest, highest, *counts)):
        shapes = ", ".join(str(values.shape) for values in (lowest, *counts))
        raise InputError(f"a tally needs one count of each kind per score, got arrays of shapes {shapes}.")
    if not lowest.size:
        return
    for values in (lowest,) if highest is lowest else (lowest, highest):
        if not _within(values):
            _refuse(~np.isfinite(values), values, "a tally's scores must be finite numbers")
    if highest is not lowest:
        _refuse(highest < lowest, highest, "a bin of scores must not end below its beginning")
    for kind, count in zip(KINDS, counts, strict=False):
        if not _within(count, 0):
            bad = ~(np.isfinite(count) & (count >= 0))
            _refuse(bad, count, f"a tally's counts ({kind} rows) must be at least 0", lowest)


def _within(values: NDArray[Any], least: float = -np.inf) -> bool:
    """Whether all values are finite and large enough, without an array of answers: tallies may be long."""
    low, high = values.min(), values.max()  # nan if any value is
    return bool(np.isfinite(low) and np.isfinite(high) and low >= least)


def check_counts(tally: Tally) -> None:
    """Refuse a tally that no rows could have given, however it was made.

    >>> check_counts(Tally(np.array([0.5, 0.9]), *[np.array([1, 2])] * 3))
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: a tally's thresholds must fall from one to the next, got 0.9 at place 1. \
Tally.from_increments counts scores in any order.
    """
    thresholds = tally.thresholds
    if not thresholds.size:
        return
    for values in (thresholds,) if tally.binning is None else (thresholds, tally.highest):
        if not _within(values):
            _refuse(~np.isfinite(values), values, "a tally's scores must be finite numbers")
    way_out = "Tally.from_increments counts scores in any order."
    rises = np.append(False, thresholds[1:] >= thresholds[:-1])
    _refuse(rises, thresholds, "a tally's thresholds must fall from one to the next", way_out=way_out)
    if tally.binning is not None:
        _refuse(tally.highest < thresholds, tally.highest, "a bin of scores must not end below its beginning")
    for kind, running in zip(KINDS, (tally.labelled, tally.unlabelled, tally.negative), strict=True):
        wanted = f"a tally's counts ({kind} rows at or above each score) must be at least 0 and never fall"
        if not _within(running, 0):
            _refuse(~(np.isfinite(running) & (running >= 0)), running, wanted, thresholds, way_out)
        _refuse(np.append(False, running[1:] < running[:-1]), running, wanted, thresholds, way_out)


def _refuse(
    bad: NDArray[np.bool_],
    values: NDArray[Any],
    wanted: str,
    scores: NDArray[Any] | None = None,
    way_out: str = "",
) -> None:
    """Name the first value that is not as wanted."""
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        where = f"at place {index}" if scores is None else f"at score {scores[index].item()!r}"
        raise InputError(f"{wanted}, got {values[index].item()!r} {where}. {way_out}".rstrip())
