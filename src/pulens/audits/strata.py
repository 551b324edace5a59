"""Ranges of scores to check rows in: the flagged rows, and below them ranges whose sizes grow by a constant factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import Counts
from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError

RANGES_BELOW = 4  # below the threshold, before any is found to be too thinly checked
SMALLEST_BASE = 30  # unlabelled rows from which the ranges below grow


@dataclass(frozen=True, eq=False)
class Strata:
    """Ranges of scores, highest first: stratum k holds the scores from ``edges[k]`` up to the edge before it.

    The last one has no lower end, so there is one edge less than strata. The first ``flagged`` strata lie at or above
    the threshold. ``rows`` are the unlabelled rows (M), ``labelled`` (L) and ``known_negative`` those whose class was
    known before.
    """

    threshold: float
    edges: tuple[float, ...]
    flagged: int
    rows: Counts
    labelled: Counts
    known_negative: Counts

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, scores: NDArray[np.floating]) -> NDArray[np.intp]:
        """The stratum of every score; 0 is the highest.

        >>> strata = cut_strata(_tally(np.arange(1, 101) / 100), 0.9)
        >>> strata.edges, strata.of(np.array([1.0, strata.edges[0], 0.01])).tolist()
        ((0.9, 0.6, 0.46, 0.27), [0, 0, 4])
        """
        rising = np.array(self.edges[::-1], np.float64)
        return len(self.edges) - np.searchsorted(rising, np.asarray(scores, np.float64), "right")


def cut_strata(
    tally: Tally, threshold: float, ranges_below: int = RANGES_BELOW, at_threshold: Totals | None = None
) -> Strata:
    r"""Cut the rows of a tally at the threshold and, below it, at ranks that grow by a constant factor.

    With :math:`F` flagged rows of :math:`M` unlabelled ones and :math:`b = \max(F, 30)` the cuts lie at the ranks
    :math:`b (M/b)^{j/J}`, :math:`j = 1, ..., J-1`; rows of one score are never parted. ``at_threshold`` are the counts
    at or above the threshold, where the tally's own bins cannot tell them.

    >>> strata = cut_strata(_tally(np.arange(1, 10_001) / 10_000), 0.9801)
    >>> strata.edges, strata.rows.tolist()
    ((0.9801, 0.9469, 0.8587, 0.624), [200, 332, 882, 2347, 6239])
    """
    totals = tally.totals
    if totals.unlabelled == 0:
        raise InputError("there is no unlabelled row, so there is nothing that a person could check.")
    top = in_precision(threshold, tally.thresholds.dtype)
    above = [tally.at(top) if at_threshold is None else at_threshold]
    edges = [top]
    for index in _cuts(tally, above[0].unlabelled, ranges_below):
        edges.append(float(tally.thresholds[index]))
        above.append(Totals(*(float(kind[index]) for kind in (tally.labelled, tally.unlabelled, tally.negative))))
    counts = np.diff(np.array([(0, 0, 0), *above, totals]), axis=0).astype(np.int64)
    flagged = 1
    if len(edges) == 1 and not counts[-1].any():  # every row is flagged
        counts, edges = counts[:-1], []
    elif not counts[0].any():  # none is
        counts, edges, flagged = counts[1:], edges[1:], 0
    labelled, rows, negative = np.ascontiguousarray(counts.T)
    return Strata(top, tuple(edges), flagged, rows, labelled, negative)


def _cuts(tally: Tally, flagged: float, ranges: int) -> list[int]:
    """Places in the tally of the lowest score of each range below the flagged rows, but for the last range."""
    every = tally.totals.unlabelled
    base = max(flagged, SMALLEST_BASE)
    result: list[int] = []
    if base >= every:
        return result
    ranks = [round(base * (every / base) ** (part / ranges)) for part in range(1, ranges)]
    above = flagged
    for index in np.searchsorted(tally.unlabelled, ranks).tolist():
        if above < tally.unlabelled[index] < every:
            result.append(index)
            above = tally.unlabelled[index]
    return result


def _tally(scores: Sequence[float] | NDArray[np.floating]) -> Tally:
    return Tally.from_arrays(np.zeros(len(scores), np.int8), np.asarray(scores, np.float64))
