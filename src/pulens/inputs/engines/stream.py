"""Counts from rows that an engine has sorted by falling score, within segments if there are any, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import cells
from pulens.errors import InputError
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import EngineCounts

#: Of groups of rows: lowest and highest score, labelled rows, all rows, known negatives, and perhaps the segment.
Groups = tuple[NDArray[Any], ...]


class SortedStream:
    """Adds up rows of equal score; with ``bits``, also neighbouring scores of only unlabelled rows in one cell.

    Joining scores of unlabelled rows alone leaves the ROC area as it is and recall moves only at scores that are
    kept; average precision changes at most where recovered rates leave [0, 1].
    """

    def __init__(self, bits: int | None, *, score_type: np.dtype[Any], weighted: bool, segmented: bool) -> None:
        self._bits = bits
        self._segmented = segmented
        self._score_type = score_type
        # batches are small: their counts fit in half the space until everything is put together
        self._held_type = np.dtype(np.float64 if weighted else np.int32)
        self._names: list[Any] = []
        self._held: list[list[NDArray[Any]]] = [[] for _ in range(5 + segmented)]
        self._open: list[NDArray[Any]] | None = None  # the last score of a batch may go on in the next one
        self._tail: Groups | None = None  # the last scores held may be joined with the next ones

    def add(
        self,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        rows: NDArray[Any],
        negative: NDArray[Any] | None,
        segments: CodedSegments | None,
    ) -> None:
        """Take one batch: segment by segment, scores never rising within each, what each row adds to the counts."""
        if not scores.size:
            return
        negatives = np.zeros_like(labelled) if negative is None else negative
        arrived = [scores, labelled, rows, negatives, *([] if segments is None else [self._numbered(segments)])]
        if self._open is not None:
            arrived = [np.concatenate(pair) for pair in zip(self._open, arrived, strict=True)]
        scores, *counts = arrived[:4]
        owner = arrived[4:]
        same = _goes_on(owner)
        if (same & (scores[1:] > scores[:-1])).any():
            raise InputError(
                "the engine returned rows out of order although it was asked to sort them, so they cannot be counted. "
                "Use another version of it, or give a tolerance (tolerance=..., --tolerance), which needs no order."
            )
        first = np.flatnonzero(np.append(True, ~same | (scores[1:] != scores[:-1])))
        found = [scores[first], *(np.add.reduceat(count, first) for count in counts), *(own[first] for own in owner)]
        self._open = [values[-1:] for values in found]
        self._hold([values[:-1] for values in found])

    def _numbered(self, segments: CodedSegments) -> NDArray[np.int32]:
        """Numbers that rise from run to run, the same for a segment that goes on from the batch before."""
        codes = segments.codes
        begins = np.append(True, codes[1:] != codes[:-1])
        names = [segments.names[code] if code >= 0 else None for code in codes[begins].tolist()]
        goes_on = bool(self._names) and self._names[-1] == names[0]
        start = len(self._names) - goes_on
        self._names += names[goes_on:]
        return (np.cumsum(begins) - 1 + start).astype(np.int32)

    def _hold(self, found: list[NDArray[Any]], *, is_last: bool = False) -> None:
        lowest = found[0].astype(self._score_type)
        groups: Groups = (lowest, lowest, *(count.astype(self._held_type) for count in found[1:4]), *found[4:])
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
        lowest, highest, labelled, rows, negative, *owner = groups
        alone = (labelled == 0) & (negative == 0)
        cell = cells(lowest, self._bits)
        follows = alone[1:] & alone[:-1] & (cell[1:] == cell[:-1]) & _goes_on(owner)
        first = np.flatnonzero(np.append(True, ~follows))
        last = np.append(first[1:], lowest.size) - 1
        sums = (np.add.reduceat(count, first) for count in (labelled, rows, negative))
        return (lowest[last], highest[first], *sums, *(own[first] for own in owner))

    def counts(self) -> list[EngineCounts]:
        """Everything added so far, highest score of each segment first."""
        if self._open is None:
            return []
        self._hold(self._open, is_last=True)
        fields = []
        for held in self._held:
            fields.append(np.concatenate(held))
            held.clear()  # batches are let go as soon as they are copied
        if not self._segmented:  # lowest score first, which is how they are added up
            fields = [values[::-1] for values in fields]
        lowest, highest, labelled, rows, negative, *owner = fields
        if self._bits is None or np.array_equal(lowest, highest):
            highest = lowest
        rows -= labelled
        rows -= negative  # what is left are the unlabelled ones
        segments = CodedSegments(self._names, owner[0]) if owner else None
        return [EngineCounts(lowest, highest, labelled, rows, negative, segments)]


def _goes_on(owner: list[NDArray[Any]]) -> Any:
    """Whether each row but the first is of the segment of the one before."""
    return owner[0][1:] == owner[0][:-1] if owner else np.True_
