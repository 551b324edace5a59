r"""TIcE: a tree searches for regions of features in which nearly all rows are labelled.

Any region with T rows, L of them labelled, bounds the label frequency:
:math:`c \ge L/T - \sqrt{c_0(1-c_0)(1-\delta)/(\delta T)}`. Regions are found on one fold and judged on the others; the
label frequency is the best bound, and the class prior follows from it: Bekker and Davis (2018). Needs features.
"""

from __future__ import annotations

import heapq
import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.priors.from_features._rows import check_features

Rows = NDArray[np.bool_]
CUTS = (0.25, 0.5, 0.75)
SMALLEST, SMOOTHING = 10, 5


def frequency_bound(labelled: int, rows: int, guess: float, delta: float) -> float:
    """Lower bound on the label frequency from one region, by Chebyshev's one-sided inequality.

    >>> round(frequency_bound(40, 50, guess=0.5, delta=0.2), 5)
    0.65858
    """
    return labelled / rows - math.sqrt(guess * (1 - guess) * (1 - delta) / (delta * rows))


def tice(features: Any, labels: Any, *, folds: int = 5, splits: int = 500, seed: int = 0) -> float:
    """Share of positives among the unlabelled rows.

    >>> rng = np.random.default_rng(0)
    >>> features = np.concatenate([rng.normal(2, 1, (1500, 2)), rng.normal(-2, 1, (1000, 2))])
    >>> 0 <= tice(features, np.repeat([1, 0], [1000, 1500])) <= 1
    True
    """
    table, is_labelled = check_features(features, labels)
    low, high = table.min(axis=0), table.max(axis=0)
    scaled = (table - low) / np.where(high > low, high - low, 1.0)
    fold = np.random.default_rng(seed).permutation(len(table)) % folds
    guess = 0.5
    for _ in range(2):
        bounds = [_best_bound(scaled, is_labelled, fold == part, guess, splits) for part in range(folds)]
        guess = min(max(float(np.mean(bounds)), 1e-6), 1.0)
    n = int(is_labelled.sum())
    return float(min((1 - guess) / guess * n / (len(table) - n), 1.0))


def _best_bound(features: NDArray[np.float64], labelled: Rows, growing: Rows, guess: float, splits: int) -> float:
    """Grow a tree on one fold, best region first, and judge every region met on the other folds."""
    judging = ~growing
    delta = max(0.025, 1 / (1 + 0.004 * int(judging.sum())))

    def bound(among: Rows, region: Rows) -> float:
        rows = int((region & among).sum())
        if rows < SMALLEST:
            return -math.inf
        return frequency_bound(int((region & among & labelled).sum()), rows, guess, delta)

    judged, promise = partial(bound, judging), partial(bound, growing)
    whole = np.ones(len(features), bool)
    best = judged(whole)
    # the second entry breaks ties, so that regions themselves are never compared
    waiting: list[tuple[float, int, Rows, tuple[tuple[float, float], ...]]] = [
        (-promise(whole), 0, whole, ((0.0, 1.0),) * features.shape[1])
    ]
    met = 1
    for _ in range(splits):
        if not waiting:
            break
        _, _, region, box = heapq.heappop(waiting)
        chosen = _most_biased_split(features, labelled, growing, region, box)
        if chosen is None:
            continue
        for child, child_box in chosen:
            best = max(best, judged(child))
            worth = promise(child)
            if worth > -math.inf:
                heapq.heappush(waiting, (-worth, met, child, child_box))
                met += 1
    return max(best, 1e-6)


def _most_biased_split(
    features: NDArray[np.float64], labelled: Rows, growing: Rows, region: Rows, box: tuple[tuple[float, float], ...]
) -> list[tuple[Rows, tuple[tuple[float, float], ...]]] | None:
    """Cut the region along the attribute whose purest part has the largest share of labelled rows."""
    inside = np.flatnonzero(region & growing)
    if inside.size < SMALLEST:
        return None
    best_worth, best_attribute = -1.0, -1
    best_cuts: tuple[float, ...] = ()
    for attribute in range(features.shape[1]):
        low, high = box[attribute]
        cuts = tuple(low + share * (high - low) for share in CUTS)
        part = np.searchsorted(cuts, features[inside, attribute])
        rows = np.bincount(part, minlength=4)
        if rows.max() == inside.size:
            continue
        hits = np.bincount(part[labelled[inside]], minlength=4)
        worth = float((hits / (rows + SMOOTHING)).max())
        if worth > best_worth:
            best_worth, best_attribute, best_cuts = worth, attribute, cuts
    if best_attribute < 0:
        return None
    low, high = box[best_attribute]
    edges = (low, *best_cuts, high)
    part = np.searchsorted(best_cuts, features[:, best_attribute])
    children = []
    for index in range(4):
        child_box = tuple(
            (edges[index], edges[index + 1]) if place == best_attribute else side for place, side in enumerate(box)
        )
        children.append((region & (part == index), child_box))
    return children
