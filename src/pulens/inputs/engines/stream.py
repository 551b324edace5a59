"""Counts from rows that an engine has sorted by falling score, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import cells
from pulens.errors import InputError
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import EngineCounts

Group = tuple[NDArray[Any], ...]


class SortedStream:
    """Adds up rows of equal score; with ``bits``, also neighbouring scores of only unlabelled rows in one cell.

    Joining scores of unlabelled rows alone leaves the ROC area as it is and recall moves only at scores that are
    kept; average precision changes at most where recovered rates leave [0, 1].
    """

    def __init__(self, bits: int | None, *, score_type: np.dtype[Any], weighted: bool, segmented: bool) -> None:
        self._bits = bits
        self._segmented = segmented
        self._score_type = score_type
        self._count_type = np.dtype(np.float64 if weighted else np.int64)
        # batches are small: their counts fit in half the space until everything is put together
        self._held_type = np.dtype(np.float64 if weighted else np.int32)
        self._held: dict[Any, tuple[list[NDArray[Any]], ...]] = {}  # lowest, highest, labelled, rows, negative
        self._tail: dict[Any, Group] = {}  # the last scores held may be joined with the next ones
        self._open: dict[Any, list[NDArray[Any]]] = {}  # the last score of a batch may go on in the next one

    def add(
        self,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        rows: NDArray[Any],
        negative: NDArray[Any] | None,
        segments: list[Any] | None,
    ) -> None:
        """Take one batch: scores never rising within a segment, and what each row adds to the counts."""
        if not scores.size:
            return
        if segments is None:
            self._add_segment(None, scores, labelled, rows, negative)
            return
        begin = 0
        for end in range(1, len(segments) + 1):
            if end == len(segments) or segments[end] != segments[begin]:
                part = slice(begin, end)
                kept = None if negative is None else negative[part]
                self._add_segment(segments[begin], scores[part], labelled[part], rows[part], kept)
                begin = end

    def _add_segment(
        self,
        segment: Any,
        scores: NDArray[Any],
        labelled: NDArray[Any],
        rows: NDArray[Any],
        negative: NDArray[Any] | None,
    ) -> None:
        negatives = np.zeros_like(labelled) if negative is None else negative
        arrived = [scores, labelled, rows, negatives]
        if segment in self._open:
            arrived = [np.concatenate(pair) for pair in zip(self._open[segment], arrived, strict=True)]
        scores = arrived[0]
        if (scores[1:] > scores[:-1]).any():
            raise InputError(
                "the engine returned rows out of order although it was asked to sort them, so they cannot be counted. "
                "Use another version of it, or give a tolerance (tolerance=..., --tolerance), which needs no order."
            )
        first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        lowest = scores[first]
        counts = [np.add.reduceat(count, first) for count in arrived[1:]]
        self._open[segment] = [lowest[-1:], *(count[-1:] for count in counts)]
        self._hold(segment, lowest[:-1], [count[:-1] for count in counts])

    def _hold(self, segment: Any, scores: NDArray[Any], counts: list[NDArray[Any]], *, is_last: bool = False) -> None:
        lowest = scores.astype(self._score_type)
        group: Group = (lowest, lowest, *(count.astype(self._held_type) for count in counts))
        if segment in self._tail:
            group = tuple(np.concatenate(pair) for pair in zip(self._tail[segment], group, strict=True))
        group = self._joined(group)
        keep = group[0].size if is_last else group[0].size - 1
        self._tail[segment] = tuple(values[keep:] for values in group)
        for held, values in zip(self._held.setdefault(segment, ([], [], [], [], [])), group, strict=True):
            held.append(values[:keep])

    def _joined(self, held: Group) -> Group:
        if self._bits is None or held[0].size < 2:
            return held
        lowest, highest, labelled, rows, negative = held
        alone = (labelled == 0) & (negative == 0)
        cell = cells(lowest, self._bits)
        follows = alone[1:] & alone[:-1] & (cell[1:] == cell[:-1])
        first = np.flatnonzero(np.append(True, ~follows))
        last = np.append(first[1:], lowest.size) - 1
        sums = (np.add.reduceat(count, first) for count in (labelled, rows, negative))
        return (lowest[last], highest[first], *sums)

    def counts(self) -> list[EngineCounts]:
        """Everything added so far; one part per segment."""
        result = []
        for segment, (score, *counts) in self._open.items():
            self._hold(segment, score, counts, is_last=True)
            fields = []
            for held in self._held.pop(segment):
                # lowest score first, which is how they are added up; batches are let go as soon as they are copied
                fields.append(np.concatenate(held)[::-1])
                held.clear()
            lowest, highest, labelled, rows, negative = fields
            segments = None
            if self._segmented:
                segments = CodedSegments([segment], np.zeros(lowest.size, np.int32))
            others = rows - labelled - negative
            labelled, others, negative = (count.astype(self._count_type) for count in (labelled, others, negative))
            result.append(EngineCounts(lowest, highest, labelled, others, negative, segments))
        return result
