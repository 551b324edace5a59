"""Counts of many segments from rows that an engine has sorted by segment and falling score, batch by batch.

What :class:`~pulens.inputs.engines.stream.SortedStream` does for one segment after another, for all segments of a
batch at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import cells
from pulens.errors import InputError
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import EngineCounts

#: Of groups of rows: lowest and highest score, labelled rows, all rows, known negatives, segment.
Groups = tuple[NDArray[Any], ...]


class SegmentedStream:
    """Adds up rows of equal score within a segment; with ``bits``, also joins scores of unlabelled rows in one cell."""

    def __init__(self, bits: int | None, *, score_type: np.dtype[Any], weighted: bool) -> None:
        self._bits = bits
        self._score_type = score_type
        # batches are small: their counts fit in half the space
        self._held_type = np.dtype(np.float64 if weighted else np.int32)
        self._names: list[Any] = []
        self._held: list[list[NDArray[Any]]] = [[] for _ in range(6)]
        self._open: list[NDArray[Any]] | None = None  # the last score of a batch may go on in the next one
        self._tail: Groups | None = None  # the last scores held may be joined with the next ones

    def add(
        self,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        rows: NDArray[Any],
        negative: NDArray[Any] | None,
        segments: CodedSegments,
    ) -> None:
        """Take one batch: segment by segment, scores never rising within each."""
        if not scores.size:
            return
        negatives = np.zeros_like(labelled) if negative is None else negative
        arrived = [scores, labelled, rows, negatives, self._numbered(segments)]
        if self._open is not None:
            arrived = [np.concatenate(pair) for pair in zip(self._open, arrived, strict=True)]
        scores, owner = arrived[0], arrived[-1]
        same = owner[1:] == owner[:-1]
        if (same & (scores[1:] > scores[:-1])).any():
            raise InputError(
                "the engine returned rows out of order although it was asked to sort them, so they cannot be counted. "
                "Use another version of it, or give a tolerance (tolerance=..., --tolerance), which needs no order."
            )
        first = np.flatnonzero(np.append(True, ~same | (scores[1:] != scores[:-1])))
        counts = [np.add.reduceat(count, first) for count in arrived[1:4]]
        lowest, owner = scores[first], owner[first]
        self._open = [lowest[-1:], *(count[-1:] for count in counts), owner[-1:]]
        self._hold(lowest[:-1], [count[:-1] for count in counts], owner[:-1])

    def _numbered(self, segments: CodedSegments) -> NDArray[np.int32]:
        """Numbers that rise from run to run, the same for a segment that goes on from the batch before."""
        codes = segments.codes
        begins = np.append(True, codes[1:] != codes[:-1])
        names = [segments.names[code] if code >= 0 else None for code in codes[begins].tolist()]
        goes_on = bool(self._names) and self._names[-1] == names[0]
        start = len(self._names) - goes_on
        self._names += names[goes_on:]
        return (np.cumsum(begins) - 1 + start).astype(np.int32)

    def _hold(
        self, scores: NDArray[Any], counts: list[NDArray[Any]], owner: NDArray[Any], *, is_last: bool = False
    ) -> None:
        lowest = scores.astype(self._score_type)
        groups: Groups = (lowest, lowest, *(count.astype(self._held_type) for count in counts), owner)
        if self._tail is not None:
            groups = tuple(np.concatenate(pair) for pair in zip(self._tail, groups, strict=True))
        groups = self._joined(groups)
        keep = groups[0].size if is_last else max(groups[0].size - 1, 0)
        self._tail = tuple(values[keep:] for values in groups)
        for held, values in zip(self._held, groups, strict=True):
            held.append(values[:keep])

    def _joined(self, groups: Groups) -> Groups:
        if self._bits is None or groups[0].size < 2:
            return groups
        lowest, highest, labelled, rows, negative, owner = groups
        alone = (labelled == 0) & (negative == 0)
        cell = cells(lowest, self._bits)
        follows = alone[1:] & alone[:-1] & (cell[1:] == cell[:-1]) & (owner[1:] == owner[:-1])
        first = np.flatnonzero(np.append(True, ~follows))
        last = np.append(first[1:], lowest.size) - 1
        sums = (np.add.reduceat(count, first) for count in (labelled, rows, negative))
        return (lowest[last], highest[first], *sums, owner[first])

    def counts(self) -> list[EngineCounts]:
        """Everything added so far, highest score of each segment first."""
        if self._open is None:
            return []
        score, *counts, owner = self._open
        self._hold(score, counts, owner, is_last=True)
        fields = []
        for held in self._held:
            fields.append(np.concatenate(held))
            held.clear()  # batches are let go as soon as they are copied
        lowest, highest, labelled, rows, negative, owner = fields
        if self._bits is None or np.array_equal(lowest, highest):
            highest = lowest
        rows -= labelled
        rows -= negative  # what is left are the unlabelled ones
        return [EngineCounts(lowest, highest, labelled, rows, negative, CodedSegments(self._names, owner))]
