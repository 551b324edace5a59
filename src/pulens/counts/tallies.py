"""The tallies of many segments in a few arrays: a tally is cut out of them when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import Binning
from pulens.counts.tally import Tally, check_total
from pulens.errors import InputError
from pulens.types import Floats

ROWS_AT_ONCE = 1 << 18  # scores whose counts are looked at together: some megabytes of temporaries
NARROW = np.iinfo(np.int32).max  # counts up to here are held in half the space


@dataclass(frozen=True, eq=False)
class Tallies(Mapping[Any, Tally]):
    """One tally per segment, without an object for each: a hundred thousand segments take the room of their counts.

    ``bounds`` says where the scores of each segment begin and end; counts are running sums within each segment, as in
    :class:`~pulens.counts.tally.Tally`. ``negative`` and ``highest`` are ``None`` without known negatives and
    no bins.

    >>> found = Tallies.from_increments(["a", "b"], [0, 1, 1], [0.5, 0.2, 0.9], [1, 0, 1], [0, 2, 0])
    >>> found["b"].thresholds, found["b"].labelled, len(found)
    (array([0.9, 0.2]), array([1, 1]), 2)
    """

    segments: tuple[Any, ...]
    bounds: NDArray[np.intp]
    thresholds: NDArray[Any]
    labelled: NDArray[Any]
    unlabelled: NDArray[Any]
    negative: NDArray[Any] | None = None
    highest: NDArray[Any] | None = None

    @classmethod
    def from_increments(
        cls,
        segments: Sequence[Any],
        codes: Any,
        scores: Any,
        labelled: Any,
        unlabelled: Any,
        negative: Any = None,
        highest: Any = None,
    ) -> Tallies:
        """Build from counts per segment and score, in any order; ``codes`` are places in ``segments``.

        Bins (``highest``) must be apart from one another and in falling order: those that an engine streamed.
        """
        codes, scores = np.asarray(codes), np.asarray(scores)
        counts = [np.asarray(count) for count in (labelled, unlabelled, *(() if negative is None else (negative,)))]
        for count in counts:
            check_total(float(count.sum(dtype=np.float64)), "the counts")
        rises = (codes[1:] < codes[:-1]) | ((codes[1:] == codes[:-1]) & (scores[1:] >= scores[:-1]))
        if rises.any():
            if highest is not None:
                raise InputError("bins of scores must come segment by segment in falling order.")
            order = np.lexsort((-scores, codes))
            codes, scores = codes[order], scores[order]
            first = np.flatnonzero(np.append(True, (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1])))
            counts = [
                np.add.reduceat(count[order], first, dtype=np.float64 if count.dtype.kind == "f" else np.int64)
                for count in counts
            ]
            codes, scores = codes[first], scores[first]
        del rises
        bounds = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(segments)))]).astype(np.intp)
        running = [_running(count, bounds) for count in counts]
        is_binned = highest is not None and not np.array_equal(scores, highest)
        return cls(
            tuple(segments),
            bounds,
            scores + scores.dtype.type(0),  # adding zero turns -0.0 into 0.0
            running[0],
            running[1],
            running[2] if len(running) > 2 and counts[2].any() else None,
            np.asarray(highest) + scores.dtype.type(0) if is_binned else None,
        )

    @classmethod
    def of(cls, tallies: Mapping[Any, Tally]) -> Tallies:
        """Tallies that were counted one by one."""
        if isinstance(tallies, Tallies):
            return tallies
        parts = list(tallies.values())
        bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.intp)
        has_negatives, is_binned = any(part.has_negatives for part in parts), any(part.binning for part in parts)

        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in parts]) if parts else np.zeros(0)

        return cls(
            tuple(tallies),
            bounds,
            joined("thresholds"),
            joined("labelled"),
            joined("unlabelled"),
            joined("negative") if has_negatives else None,
            joined("highest") if is_binned else None,
        )

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {segment: index for index, segment in enumerate(self.segments)}

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind in every segment, of shape (segments, 3)."""
        result = np.zeros((len(self), 3))
        filled = np.flatnonzero(np.diff(self.bounds))
        for kind, running in enumerate((self.labelled, self.unlabelled, self.negative)):
            if running is not None:
                result[filled, kind] = running[self.bounds[filled + 1] - 1]
        return result

    def is_binned(self, index: int) -> bool:
        """Whether some scores of a segment were joined."""
        rows = slice(self.bounds[index], self.bounds[index + 1])
        return self.highest is not None and not np.array_equal(self.thresholds[rows], self.highest[rows])

    def at(self, index: int) -> Tally:
        """The tally of the segment at a place."""
        rows = slice(self.bounds[index], self.bounds[index + 1])
        kind = np.float64 if self.labelled.dtype.kind == "f" else np.int64
        labelled, unlabelled = (running[rows].astype(kind) for running in (self.labelled, self.unlabelled))
        if self.negative is None or not self.totals[index, 2]:
            negative: NDArray[Any] = np.broadcast_to(kind(0), labelled.shape)
        else:
            negative = self.negative[rows].astype(kind)
        thresholds, binning = self.thresholds[rows], None
        if self.highest is not None and self.is_binned(index):
            binning = Binning(self.highest[rows])
        return Tally(thresholds, labelled, unlabelled, negative, binning=binning)

    def increments(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Rows of each kind at each score of each segment; the last is ``None`` without known negatives."""
        first = self.bounds[:-1][np.diff(self.bounds) > 0]

        def of(running: NDArray[Any]) -> NDArray[Any]:
            own = np.diff(running, prepend=running.dtype.type(0))
            own[first] = running[first]
            return np.asarray(own)

        return of(self.labelled), of(self.unlabelled), None if self.negative is None else of(self.negative)

    def whole(self, keep: NDArray[np.bool_] | None = None) -> Tally:
        """The rows of all segments, or of those to keep, as one tally."""
        kinds = [own for own in self.increments() if own is not None]
        columns = [self.thresholds, *kinds, *(() if self.highest is None else (self.highest,))]
        if keep is not None and not keep.all():
            rows = np.repeat(keep, np.diff(self.bounds))
            columns = [column[rows] for column in columns]
        negative = columns[3] if self.negative is not None else None
        highest = None if self.highest is None else columns[-1]
        return Tally.from_increments(columns[0], columns[1], columns[2], negative, highest)

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[slice]:
        """Slices of segments whose scores are looked at together: at most this many, or a single segment."""
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self.bounds, self.bounds[start] + rows, side="right")) - 1
            stop = min(max(stop, start + 1), len(self))
            yield slice(start, stop)
            start = stop

    def __getitem__(self, segment: Any) -> Tally:
        return self.at(self._places[segment])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)


def _running(counts: NDArray[Any], bounds: NDArray[np.intp]) -> NDArray[Any]:
    """Running sums within each segment."""
    if counts.dtype.kind == "f":  # one by one: the last digit of a sum depends on where it began
        running = np.empty(counts.shape)
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            np.cumsum(counts[begin:end], out=running[begin:end])
        return running
    total = int(counts.sum(dtype=np.int64))
    result = np.empty(counts.shape, np.int32 if total <= NARROW else np.int64)
    before = 0
    for start in range(0, counts.size, ROWS_AT_ONCE):  # never a wide copy of everything
        rows = slice(start, start + ROWS_AT_ONCE)
        summed = np.cumsum(counts[rows], dtype=np.int64) + before
        result[rows] = summed
        before = int(summed[-1])
    if result.size:
        sizes = np.diff(bounds)
        offsets = np.where(bounds[:-1] > 0, result[np.maximum(bounds[:-1] - 1, 0)], 0).astype(result.dtype)
        result -= np.repeat(offsets, sizes)
    return result
