r"""Limits for people who look after every answer: they hold at every moment, whatever decides which row is next.

Before anything is seen, a stratum's answers are given chances that do not depend on its positives, :math:`m_k(a_k)`:
the mean of two beta-binomial ones, BB(n; 1/2, 1/2) and BB(n; max(4p, .05), 4(1-p)), p the share of positives that
labels suggest. With :math:`h` the hypergeometric chance of the same answers, :math:`\prod_k m_k/h` is at the true
numbers of positives a martingale that begins at 1, so by Ville's inequality it ever reaches :math:`1/\alpha` with
probability :math:`\alpha` at most. All numbers :math:`x_1..x_K` at which it has not,

.. math:: \sum_k g_k(x_k) < \log(1/\alpha), \qquad g_k(x) = \log m_k(a_k) - \log h(a_k; M_k, x, n_k),

hold the truth at every moment with probability :math:`1-\alpha`. A bad guess p costs width, never coverage.

With no label to guess from, the first of the two chances stands alone.

:math:`g_k` is convex, being minus :math:`\log\binom{x}{a}\binom{M-x}{n-a}` but for a constant. So for every slope u
the sum over a group of strata is at least :math:`\phi(u) - u X` where X is the group's total and :math:`\phi(u) =
\sum_k \min_x g_k(x) + u x`; each minimum has a closed form, since the step :math:`g(x+1)-g(x) =
-\log\frac{(x+1)(M-n+a-x)}{(x+1-a)(M-x)}` reaches -u at the root of a quadratic. Such lines (one Lagrange multiplier
each) fence in totals of one group, of all strata and, for two slopes u and v, the pair (TP, FN):
:math:`u\,TP + v\,FN \ge \phi_A(u) + \phi_B(v) - \log(1/\alpha)`. A metric that rises with TP and falls with FN has its
limits on the edge of that fence. All bounds are outer ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pulens.audits.allocation import guesses
from pulens.audits.counts import AuditCounts
from pulens.audits.limits import Pair
from pulens.special import betaln, gammaln
from pulens.types import Floats

_SIZES = np.geomspace(1e-9, 60.0, 500)
SLOPES = np.concatenate([-_SIZES[::-1], [0.0], _SIZES])  # beyond them a stratum stands at its end
PLACES = 400  # totals of flagged strata at which the fence is walked


class AnytimeFence(NamedTuple):
    """Totals between which the truth lies at every moment.

    ``above`` and ``everywhere`` are single numbers. ``hits.low`` with ``missed.high`` are pairs (TP, FN) of which no
    metric that rises with TP and falls with FN can be below the lowest, ``hits.high`` with ``missed.low`` those of
    which it cannot be above the highest.
    """

    above: Pair
    everywhere: Pair
    hits: Pair
    missed: Pair


def anytime_fence(counts: AuditCounts, result: np.ndarray, confidence: float) -> AnytimeFence:
    """Where the positives above and below the threshold can lie, for one audit.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> fence = anytime_fence(counts, counts.found, 0.95)
    >>> int(fence.above.low.item()), int(fence.above.high.item())
    (115, 175)
    """
    room = math.log(1 / (1 - confidence))
    lowest = _lowest(counts, result)
    edge = counts.flagged
    above, below = lowest[:, :edge].sum(axis=1), lowest[:, edge:].sum(axis=1)
    ranges = [
        (float(result[where].sum()), float((counts.rows - counts.checked + result)[where].sum()))
        for where in (slice(0, edge), slice(edge, None), slice(0, None))
    ]
    # a metric of the flagged rows alone needs none of the other strata, so their evidence is left out
    alone = _between(above, room, ranges[0])
    everywhere = _between(above + below, room, ranges[2])
    at_rest = below[SLOPES.size // 2]  # the least evidence of the strata below, whatever their total
    first, last = (float(end[0]) for end in _between(above, room - at_rest, ranges[0]))
    far = last - first
    total = np.unique(first + np.append(np.linspace(0, far, PLACES), np.geomspace(1, far + 1, PLACES) - 1))
    left = room - np.array([(above - SLOPES * index).max() for index in total])
    fewest, most = (np.clip(_end(below, left, side), *ranges[1]) for side in (1, -1))
    # along an edge of the fence nothing beats the lower TP with the higher FN of its two ends, and the mirror image
    missed = Pair(np.minimum(fewest, _next(fewest)), np.maximum(most, _next(most)))
    return AnytimeFence(alone, everywhere, Pair(total, _next(total)), missed)


def _next(values: Floats) -> Floats:
    return np.append(values[1:], values[-1])


def _between(lowest: Floats, room: float, reach: tuple[float, float]) -> Pair:
    left = np.array([room])
    return Pair(*(np.clip(_end(lowest, left, side), *reach) for side in (1, -1)))


def _end(lowest: Floats, left: Floats, side: int) -> Floats:
    """The least (side 1) or greatest (-1) total whose evidence can be as small as what is left of the room."""
    slopes, height = SLOPES[side * SLOPES > 0], lowest[side * SLOPES > 0]
    bounds = (height[:, None] - left[None, :]) / slopes[:, None]
    return np.asarray(bounds.max(axis=0) if side > 0 else bounds.min(axis=0))


def _lowest(counts: AuditCounts, result: np.ndarray) -> Floats:
    """min over x of g(x) + slope x, one line a slope and one column a stratum."""
    size, took, hits = (np.asarray(kind, float) for kind in (counts.rows, counts.checked, result))
    ways = _log_choose(took, hits)
    chance = betaln(hits + 0.5, took - hits + 0.5) - betaln(0.5, 0.5)
    if counts.labelled.any():
        guess = guesses(counts.rows, counts.labelled, counts.flagged)[-1]
        share = np.divide(guess, size, out=np.full(size.size, 0.5), where=size > 0)
        first, second = np.maximum(4 * share, 0.05), 4 * (1 - share)
        chance = np.logaddexp(chance, betaln(hits + first, took - hits + second) - betaln(first, second)) - math.log(2)
    top = size - took + hits
    least = np.full((SLOPES.size, size.size), np.inf)
    for root in (hits, top, *_where_steps_reach(size, hits, top)):
        for near in (np.floor(root), np.ceil(root), np.ceil(root) + 1):
            x = np.clip(near, hits, top)
            evidence = _log_choose(size, took) - _log_choose(x, hits) - _log_choose(size - x, took - hits)
            least = np.minimum(least, evidence + SLOPES[:, None] * x)
    return np.asarray(ways + chance + least)


def _log_choose(many: Floats, few: Floats) -> Floats:
    return np.asarray(gammaln(many + 1) - gammaln(few + 1) - gammaln(many - few + 1))


def _where_steps_reach(size: Floats, hits: Floats, top: Floats) -> tuple[Floats, Floats]:
    """Both roots of (x+1)(top-x) = e^slope (x+1-hits)(size-x): at one of them steps of g begin to be above -slope."""
    grows = np.exp(SLOPES)[:, None]
    square = grows - 1
    linear = (top - 1) - grows * (size - 1 + hits)
    constant = top - grows * (1 - hits) * size
    spread = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    half = -0.5 * (linear + np.where(linear >= 0, spread, -spread))
    one = np.divide(half, square, out=np.zeros_like(half), where=square != 0)
    two = np.divide(constant, half, out=np.zeros_like(half), where=half != 0)
    return one, two
