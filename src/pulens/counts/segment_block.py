"""A block of segments: their counts side by side, and sums over each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.exactness import in_precision
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally
from pulens.types import Booleans, Floats


@dataclass(frozen=True, eq=False)
class SegmentBlock:
    """Some segments of :class:`~pulens.counts.tallies.Tallies`, none empty; ``first`` is where each begins."""

    thresholds: NDArray[Any]
    running: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # int64, or float64 where rows have weights
    first: NDArray[np.intp]
    sizes: NDArray[np.intp]
    totals: Floats
    highest: NDArray[Any] | None = None

    @classmethod
    def of(cls, tallies: Tallies, segments: slice, keep: Booleans) -> SegmentBlock:
        """The segments of a slice that are to be kept."""
        bounds = tallies.bounds[segments.start : segments.stop + 1]
        sizes = np.diff(bounds)
        rows: Any = slice(bounds[0], bounds[-1])
        if not keep.all():
            rows, sizes = bounds[0] + np.flatnonzero(np.repeat(keep, sizes)), sizes[keep]
        kind = np.float64 if tallies.labelled.dtype.kind == "f" else np.int64
        thresholds = tallies.thresholds[rows]
        running = [
            np.zeros(thresholds.size, kind) if own is None else own[rows].astype(kind)
            for own in (tallies.labelled, tallies.unlabelled, tallies.negative)
        ]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        highest = None if tallies.highest is None else tallies.highest[rows]
        totals = tallies.totals[segments][keep]
        return cls(thresholds, (running[0], running[1], running[2]), first, sizes, totals, highest)

    @classmethod
    def of_tally(cls, tally: Tally) -> SegmentBlock:
        """One tally, as a block of one segment."""
        running = tally.labelled, tally.unlabelled, tally.negative
        highest = None if tally.binning is None else tally.highest
        first, sizes = np.zeros(1, np.intp), np.array([len(tally)], np.intp)
        return cls(tally.thresholds, running, first, sizes, np.array([tally.totals], float), highest)

    def __len__(self) -> int:
        return int(self.first.size)

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The segment of each score."""
        return self.spread(np.arange(len(self)))

    @property
    def has_negatives(self) -> bool:
        return bool(self.totals[:, 2].any())

    @property
    def kinds(self) -> tuple[int, ...]:
        """Which kinds of row there are."""
        return (0, 1, 2) if self.has_negatives else (0, 1)

    @cached_property
    def at(self) -> tuple[NDArray[Any], ...]:
        """Rows of each kind exactly at each score."""
        result = []
        for running in self.running:
            own = np.diff(running, prepend=running.dtype.type(0))
            own[self.first] = running[self.first]
            result.append(own.astype(np.int64) if own.dtype == np.int32 else own)  # products of counts need the room
        return tuple(result)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A number per segment, repeated for each of its scores."""
        return np.repeat(values, self.sizes)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.add.reduceat(values, self.first))

    def any(self, values: Booleans) -> Booleans:
        return np.asarray(np.logical_or.reduceat(values, self.first))

    def above(self, threshold: float) -> Floats:
        """Rows of each kind at or above a threshold, of shape (segments, 3)."""
        number = in_precision(threshold, self.thresholds.dtype)
        many = self.sums((self.thresholds.astype(np.float64) >= number).astype(np.intp))
        indices = self.first + np.maximum(many, 1) - 1
        return np.column_stack([np.where(many > 0, running[indices], 0) for running in self.running]).astype(float)

    def blurs(self, threshold: float) -> Booleans:
        """Where bins of scores may have changed a number: one holds rows of two kinds, or the threshold cuts it."""
        if self.highest is None:
            return np.zeros(len(self), bool)
        number = in_precision(threshold, self.thresholds.dtype)
        lowest, highest = self.thresholds.astype(np.float64), self.highest.astype(np.float64)
        kinds = np.sum([own > 0 for own in self.at], axis=0)
        return self.any((highest > lowest) & ((kinds > 1) | ((lowest < number) & (number <= highest))))

    @cached_property
    def rates(self) -> tuple[Floats, ...]:
        """Share of each kind of row at or above each score; zero where there are no such rows."""
        result = []
        for kind, running in enumerate(self.running):
            totals = self.spread(self.totals[:, kind])
            result.append(np.divide(running, totals, out=np.zeros(running.shape), where=totals > 0))
        return tuple(result)
