"""Bins of neighbouring scores, for data too large to keep every distinct score.

A binned tally keeps, for each bin, the lowest and the highest score in it. Every row at or above a bin's lowest
score is in that bin or in one before it, so the counts at the thresholds that are kept are exact; what binning
loses is the thresholds in between. Bins come from cells :math:`\\lfloor s\\,2^k\\rfloor`: a product with a power of two
is exact in floating point, so that every engine puts a score into the same cell, and finer cells nest in coarser
ones, so that tallies with different cells can still be added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.types import Scores


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """The highest score in each bin of a tally; its thresholds are the lowest ones."""

    highest: Scores

    def __post_init__(self) -> None:
        self.highest.flags.writeable = False  # frozen guards the names, not what the arrays hold

    def wide(self, lowest: Scores) -> NDArray[np.bool_]:
        """Bins that hold more than one distinct score."""
        return np.asarray(self.highest > lowest)


def join_overlapping(
    lowest: Scores, highest: Scores, counts: list[NDArray[Any]]
) -> tuple[Scores, Scores, list[NDArray[Any]]]:
    """Join ranges that share a score and add up their counts; ranges come out apart, lowest first.

    The joined ranges are the connected parts of the union of all ranges, whatever the order in which they come:
    joining is associative and commutative. Equal single scores are the smallest case.

    >>> low, high = np.array([0.5, 0.1, 0.4]), np.array([0.7, 0.2, 0.5])
    >>> join_overlapping(low, high, [np.array([1, 2, 3])])
    (array([0.1, 0.4]), array([0.2, 0.7]), [array([2, 4])])
    """
    if lowest.size == 0:
        return lowest, highest, counts
    if (lowest[1:] < lowest[:-1]).any():
        order = np.argsort(lowest, kind="stable")
        lowest, highest = lowest[order], highest[order]
        counts = [count[order] for count in counts]
    reach = np.maximum.accumulate(highest)
    begins = np.empty(lowest.size, bool)
    begins[0] = True
    np.greater(lowest[1:], reach[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    if first.size == lowest.size:
        return lowest + 0.0, highest + 0.0, counts  # adding zero turns -0.0 into 0.0
    last = np.append(first[1:], lowest.size) - 1
    return lowest[first] + 0.0, reach[last] + 0.0, [np.add.reduceat(count, first) for count in counts]


def cells(scores: Scores, bits: int) -> Scores:
    """The cell of each score, :math:`\\lfloor s\\,2^k\\rfloor`, as a float: never falling as the score rises.

    >>> cells(np.array([0.24, 0.25, -0.1]), 2)
    array([ 0.,  1., -1.])
    """
    return np.floor(np.ldexp(scores.astype(np.float64, copy=False), bits))


def bits_for(smallest: float, largest: float, *, cell_bits: int) -> int:
    """The power k of two for which scores from smallest to largest fall into about 2**cell_bits cells.

    Cell numbers also stay below 2**52 in size: some engines hold them as integers.

    >>> bits_for(0.0, 1.0, cell_bits=16), bits_for(-1000.0, 24.0, cell_bits=16)
    (16, 6)
    """
    spread = max(largest - smallest, np.finfo(np.float64).tiny)
    if not np.isfinite(spread):
        spread = np.finfo(np.float64).max
    size = max(abs(smallest), abs(largest), np.finfo(np.float64).tiny)
    wanted = cell_bits - int(np.ceil(np.log2(spread)))
    return int(min(wanted, 52 - int(np.ceil(np.log2(size))), 1000))
