r"""What bounds can be anywhere in a range of class priors, without trying every number of latent positives.

With m latent positives the surrogates above a threshold are :math:`\max(m - tail, \min(head, \theta))`, :math:`\theta`
within one row of :math:`Tm` (equations 10, 11 and 13 of Claesen et al.; T the band at that threshold). Each of the
three parts, made a rate by the positives or negatives there are, is a ratio of two linear functions of m and so
monotone: over all m from a to b it lies between its values at a and b. A range is cut into such cells, and a curve
through the worst rates of a cell bounds the curves of every m in it. It is outside of them by little where cells are
narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pulens.counts.tally import Tally
from pulens.recovery.bounds import SurrogateBands
from pulens.types import Floats, Places

CELLS = 512
POINTS = 2048  # thresholds kept of a long tally
TOGETHER = 64  # cells worked on at once


class Reach(NamedTuple):
    """Lowest and highest value of an area over a range of class priors."""

    low: float
    high: float


class _Rates(NamedTuple):
    """Lower and upper limits over a cell: recall, false positive rate, and true positives above each threshold."""

    hits_low: Floats
    hits_high: Floats
    alarms_low: Floats
    alarms_high: Floats
    found_low: Floats
    found_high: Floats


class BoundCells:
    """The cells of a range, at as many thresholds as are worth looking at; from labelled positives only."""

    def __init__(
        self, tally: Tally, bands: SurrogateBands, latent_range: tuple[float, float], *, labelled_too: bool
    ) -> None:
        assert bands.positives is not None
        known, refuted = (np.concatenate([[0.0], np.asarray(k, float)]) for k in (tally.labelled, tally.negative))
        self.rows, share = bands.rows, float(labelled_too)
        kept = kept_thresholds(bands.head, known)
        self.head, self.known, self.refuted = bands.head[kept], known[kept] * share, refuted[kept] * share
        self.more_positive = share * float(tally.totals.labelled)
        self.more_negative = share * float(tally.totals.negative)
        self.band_low, self.band_high = bands.positives.low[kept], bands.positives.high[kept]
        self.bands = bands._replace(
            head=self.head, positives=type(bands.positives)(self.band_low, self.band_high), negatives=None
        )
        self.single = np.diff(kept, prepend=-1) == 1  # no threshold was left out just before
        self.longest_step = float(np.max(np.diff(bands.head + share * refuted), initial=0.0))
        self.begins, self.ends = cell_borders(*latent_range, self.rows)

    def roc_areas(self) -> Reach:
        """Limits of the area under the lower curves from below and under the upper curves from above."""
        lows, highs = [], []
        for lower, upper, step in self._curves():
            lows.append(_staircase(*lower))
            highs.append(_staircase(*upper) + step / 2)  # straight lines add at most half of the widest step
        return Reach(float(np.min(np.concatenate(lows))), min(float(np.max(np.concatenate(highs))), 1.0))

    def heights(self, rates: Floats) -> tuple[Floats, Floats]:
        """Heights that no lower curve is below and no upper curve above, at each false positive rate."""
        low, high = np.ones(rates.size), np.zeros(rates.size)
        for lower, upper, steps in self._curves():
            for x, y in zip(*lower, strict=True):
                np.minimum(low, _heights_of_steps(x, y, rates), out=low)
            for x, y, step in zip(*upper, steps, strict=True):
                # a straight line reaches its next point within the widest step
                np.maximum(high, _heights_of_steps(x, y, rates + step), out=high)
        return low, high

    def _curves(self) -> Iterator[tuple[tuple[Floats, Floats], tuple[Floats, Floats], Floats]]:
        """Points of steps below all lower curves and above all upper ones, and the widest step of the latter."""
        for first, last in self._some():
            fewest, most = self._rates(first, last)
            fewest_negative = (self.rows - last + self.more_negative)[:, None]
            # thresholds left out between two that were kept: no more hits than the later, alarms from the earlier on
            skipped = np.where(self.single, 0.0, np.diff(self.head + self.refuted, prepend=0.0)) / fewest_negative
            upper = np.maximum(most.alarms_low - skipped, 0.0), most.hits_high
            yield (fewest.alarms_high, fewest.hits_low), upper, self.longest_step / fewest_negative[:, 0]

    def precision_areas(self, *, trapezoid: bool) -> Reach:
        """Limits of the sums of precision over steps of recall: at the end of each step, or halfway."""
        lows, highs = [], []
        called = self.head + self.known + self.refuted
        before = np.concatenate([[0.0], called[:-1]])
        for first, last in self._some():
            for rates in self._rates(first, last):
                lowest, highest = (_share(result, called) for result in (rates.found_low, rates.found_high))
                # within a step of several thresholds: from the earlier hits among the later rows to the reverse
                earlier = np.concatenate([np.zeros((first.size, 1)), rates.found_low[:, :-1]], axis=1)
                widest = _share(earlier, called), np.minimum(_share(rates.found_high, before, empty=1.0), 1.0)
                if trapezoid:
                    lowest, highest = (_halfway(shares) for shares in (lowest, highest))
                lowest, highest = (
                    np.where(self.single, shares, wide) for shares, wide in zip((lowest, highest), widest, strict=True)
                )
                lows.append(_summed_by_parts(lowest, rates.hits_low, rates.hits_high))
                highs.append(_summed_by_parts(highest, rates.hits_high, rates.hits_low))
        return Reach(max(float(np.min(np.concatenate(lows))), 0.0), min(float(np.max(np.concatenate(highs))), 1.0))

    def _some(self) -> Iterator[tuple[Floats, Floats]]:
        for start in range(0, self.begins.size, TOGETHER):
            yield self.begins[start : start + TOGETHER], self.ends[start : start + TOGETHER]

    def _rates(self, first: Floats, last: Floats) -> tuple[_Rates, _Rates]:
        """Limits of the lower and of the upper curve in each cell."""
        begin, end = self.bands.limits(first), self.bands.limits(last)
        tiny = 1e-6  # products of bands are taken for whole numbers within less than that
        lower = self._of_curve(first, last, begin[0], end[0], self.band_low, (1.0, tiny))
        upper = self._of_curve(first, last, begin[1], end[1], self.band_high, (tiny, 1.0))
        return lower, upper

    def _of_curve(
        self, first: Floats, last: Floats, begin: Floats, end: Floats, band: Floats, off: tuple[float, float]
    ) -> _Rates:
        m = np.stack([first, last])[:, :, None]
        positive, negative = m + self.more_positive, self.rows - m + self.more_negative
        tail = self.rows - self.head
        seen, refuted = self.known, self.refuted

        def limits(none: Any, some: Any, many: Any, less: Any, more: Any) -> tuple[Floats, Floats]:
            """Of max(none, min(some, theta)), from the values of the three parts at both ends of the cell."""
            low = np.maximum(none.min(0), np.minimum(some.min(0), (many - less).min(0)))
            high = np.maximum(none.max(0), np.minimum(some.max(0), (many + more).max(0)))
            return low, high

        hits_low, hits_high = limits(
            (m - tail + seen) / positive,
            (self.head + seen) / positive,
            (band * m + seen) / positive,
            off[0] / positive,
            off[1] / positive,
        )
        # hits only grow with the number of latent positives
        hits_low = np.maximum(hits_low, (begin + seen) / positive[1])
        hits_high = np.minimum(hits_high, (end + seen) / positive[0])
        # alarms are what is left: their largest part is min(rows - m, max(0, head - theta))
        above = self.head + refuted
        turned_low, turned_high = limits(
            -((self.rows - m + refuted) / negative),
            -(refuted / negative) * np.ones(band.shape),
            -((above - band * m) / negative),
            off[0] / negative,
            off[1] / negative,
        )
        alarms_low = np.maximum(-turned_high, (above - end) / negative[0])
        alarms_high = np.minimum(-turned_low, (above - begin) / negative[1])
        alone = (first == last)[:, None]  # a single number of latent positives: its own rates
        hits_low, hits_high = (np.where(alone, (begin + seen) / positive[0], h) for h in (hits_low, hits_high))
        alarms_low, alarms_high = (np.where(alone, (above - begin) / negative[0], a) for a in (alarms_low, alarms_high))
        return _Rates(hits_low, hits_high, alarms_low, alarms_high, begin + seen, end + seen)


def cell_borders(low: float, high: float, rows: float) -> tuple[Floats, Floats]:
    """First and last number of latent positives of each cell, narrow where few rows are positive or negative.

    >>> cell_borders(2, 4, 9)
    (array([2., 3., 4.]), array([2., 3., 4.]))
    """
    if high - low < CELLS:
        alone = low + np.arange(int(high - low) + 1, dtype=np.float64)
        return alone, alone
    first, last = (math.log((m + 0.5) / (rows - m + 0.5)) for m in (low, high))
    odds = np.exp(np.linspace(first, last, CELLS + 1))
    inner = np.rint(((rows + 0.5) * odds - 0.5) / (1 + odds))
    borders = np.unique(np.clip(np.concatenate([[low], inner, [high]]), low, high))
    return borders[:-1], borders[1:]


def kept_thresholds(head: Floats, known: Floats) -> Places:
    """Places of a few thousand thresholds, close together at the top and wherever many rows of a kind stand."""
    if head.size <= POINTS:
        return np.arange(head.size)
    third = POINTS // 3
    kept = [
        np.searchsorted(head, np.linspace(0, head[-1], third)),
        np.searchsorted(known, np.linspace(0, known[-1], third)),
        np.rint(np.geomspace(1, head.size, third)).astype(np.intp) - 1,
    ]
    return np.unique(np.concatenate([[0, head.size - 1], *kept]).clip(0, head.size - 1))


def _share(result: Floats, called: Floats, empty: float = 0.0) -> Floats:
    return np.asarray(np.divide(result, called, out=np.full(result.shape, empty), where=called > 0))


def _halfway(shares: Floats) -> Floats:
    """The mean of each precision and the one before; the first row predicted positive has none before it."""
    before = np.concatenate([shares[:, :1], shares[:, :-1]], axis=1)
    before[:, 1] = shares[:, 1]
    return np.asarray((shares + before) / 2)


def _staircase(alarms: Floats, hits: Floats) -> Floats:
    """Area under the highest true positive rate at or below each false positive rate; one row per cell."""
    order = np.argsort(alarms, axis=1, kind="stable")
    x = np.clip(np.take_along_axis(alarms, order, axis=1), 0.0, 1.0)
    y = np.maximum.accumulate(np.clip(np.take_along_axis(hits, order, axis=1), 0.0, 1.0), axis=1)
    widths = np.diff(x, axis=1, append=1.0)
    return np.asarray((widths * y).sum(axis=1))


def _heights_of_steps(alarms: Floats, hits: Floats, rates: Floats) -> Floats:
    """The highest true positive rate at or below each false positive rate."""
    order = np.argsort(alarms, kind="stable")
    highest = np.concatenate([[0.0], np.maximum.accumulate(np.clip(hits[order], 0.0, 1.0))])
    return np.asarray(highest[np.searchsorted(alarms[order], rates, side="right")])


def _summed_by_parts(precision: Floats, falling: Floats, rising: Floats) -> Floats:
    r"""Limit of :math:`\sum_j (R_j - R_{j-1}) P_j = P_n + \sum_j R_j (P_j - P_{j+1})`, recall ending at 1.

    Recall takes the one limit where precision falls to the next threshold and the other where it rises.
    """
    falls = precision[:, :-1] - precision[:, 1:]
    recall = np.where(falls > 0, falling[:, :-1], rising[:, :-1])
    return np.asarray(precision[:, -1] + (recall * falls).sum(axis=1))
