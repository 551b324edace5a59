"""Fewer thresholds for a page: which to keep, and what leaving the others out can change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally

MOST_THRESHOLDS = 2000


@dataclass(frozen=True, slots=True)
class Thinned:
    """A tally with some of its thresholds, and bounds on what lies between neighbours that were kept.

    The counts at a kept threshold are those of the whole tally, so everything read at it is exact. A curve drawn
    through kept thresholds leaves out points between two neighbours; ``labelled_gap`` and ``unlabelled_gap`` bound
    how far, in shares of the labelled and unlabelled rows, such a point can be from the next one drawn.
    """

    tally: Tally
    distinct_scores: int
    labelled_gap: float
    unlabelled_gap: float

    @property
    def is_thinned(self) -> bool:
        return len(self.tally) < self.distinct_scores


def thin(tally: Tally, *, most: int = MOST_THRESHOLDS, keep: Iterable[float] = ()) -> Thinned:
    """Keep at most ``most`` thresholds, among them those in ``keep`` if they occur.

    Thresholds are taken at equal steps of the labelled rate plus the unlabelled rate plus the logarithm of the number
    of rows above: so every part of both curves is drawn finely, and the head of the ranking row by row.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.arange(10_000) % 10 == 0, np.arange(10_000))
    >>> thinned = thin(tally, most=100)
    >>> 80 < len(thinned.tally) <= 100, thinned.distinct_scores
    (True, 10000)
    """
    size = len(tally)
    kept = np.arange(size) if size <= most else _places(tally, most, keep)
    labelled, unlabelled, negative = (np.ascontiguousarray(kind[kept]) for kind in _kinds(tally))
    smaller = Tally(np.ascontiguousarray(tally.thresholds[kept]), labelled, unlabelled, negative)
    totals = tally.totals
    return Thinned(
        smaller,
        size,
        _gap(tally.labelled, kept, totals.labelled),
        _gap(tally.unlabelled, kept, totals.unlabelled),
    )


def _kinds(tally: Tally) -> tuple[NDArray[Any], ...]:
    return tally.labelled, tally.unlabelled, tally.negative


def _places(tally: Tally, most: int, keep: Iterable[float]) -> NDArray[np.intp]:
    position = np.zeros(len(tally))
    called = np.zeros(len(tally))
    for kind, total in zip(_kinds(tally), tally.totals, strict=True):
        if total:
            position += np.asarray(kind, float) / total
            called += kind
    position += np.log1p(called) / np.log1p(called[-1])
    kept = [in_precision(threshold, tally.thresholds.dtype) for threshold in keep if np.isfinite(threshold)]
    wanted = [int(np.searchsorted(-tally.thresholds, -threshold)) for threshold in kept]
    fixed = np.clip([0, len(tally) - 1, *wanted], 0, len(tally) - 1)
    fewest, steps = most, 64 * most  # equal steps may meet the same threshold, so more steps than thresholds are tried
    while steps - fewest > fewest // 16:
        middle = (fewest + steps) // 2
        if _at_equal_steps(position, middle).size <= most - fixed.size:
            fewest = middle
        else:
            steps = middle
    return np.union1d(_at_equal_steps(position, fewest)[: most - fixed.size], fixed)


def _at_equal_steps(position: NDArray[np.float64], steps: int) -> NDArray[np.intp]:
    places = np.searchsorted(position, np.linspace(position[0], position[-1], steps))
    return np.unique(np.minimum(places, position.size - 1))


def _gap(counts: NDArray[Any], kept: NDArray[np.intp], total: float) -> float:
    """Largest share of rows strictly between two kept thresholds: rows at the lower one itself are drawn."""
    if not total or kept.size == counts.size:
        return 0.0
    numbers = np.asarray(counts, float)
    return float((numbers[kept[1:] - 1] - numbers[kept[:-1]]).max() / total)
