r"""What if positives with high scores were labelled more often? Tight ranges for labelling that favours some scores.

A positive with score s is labelled with a propensity :math:`e(s)`. Labelled rows then have the density
:math:`g \propto e f_1` instead of :math:`f_1`, so :math:`f_1 = g h` with :math:`h \propto 1/e`. Labelling at random
means h = 1. Here e may rise with the score, by no more than a factor G from its lowest to its highest value (or fall,
for labelling that favours low scores): :math:`h` is monotone, :math:`\max h \le G \min h` and :math:`\sum g h = 1`.
These h form a polytope whose corners are steps: one value above some score, G times that value below it.
Everything below is an extreme of a linear or convex function over that polytope.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.types import Floats

Favours = Literal["high", "low"]


def rate_range(rate: Floats, factor: float, favours: Favours = "high") -> tuple[Floats, Floats]:
    r"""True positive rate at a threshold where the labelled rate is ``rate``.

    Only the mean of h above and below the threshold matters, and their ratio lies between 1/G and 1:

    .. math:: \frac{p}{p + G(1-p)} \le \gamma \le p

    with p the labelled rate, when high scores are favoured; :math:`p \le \gamma \le Gp/(Gp + 1 - p)` when low ones
    are. Both ends are attained, by a step at the threshold.

    >>> low, high = rate_range(np.array(0.8), 2.0)
    >>> float(low.round(6)), float(high)
    (0.666667, 0.8)
    """
    rate = np.asarray(rate, float)
    if favours == "high":
        return rate / (rate + factor * (1 - rate)), rate
    return rate, factor * rate / (factor * rate + 1 - rate)


def mean_range(shares: Floats, values: Floats, factor: float, favours: Favours = "high") -> tuple[float, float]:
    r"""Extremes of :math:`\sum_s g(s)h(s)v(s)`, scores in falling order: a scan over the corners of the polytope.

    >>> mean_range(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 3.0)
    (0.25, 0.5)
    """
    corners = corner_means(shares, values, factor, favours)
    return float(corners.min()), float(corners.max())


def corner_means(shares: Floats, values: Floats, factor: float, favours: Favours) -> Floats:
    """The mean of ``values`` at every corner: the step after the first k scores, k = 0 (labelling at random) to all."""
    above = np.concatenate([[0.0], np.cumsum(shares)])
    mass = np.concatenate([[0.0], np.cumsum(shares * values)])
    top, rest = (1.0, factor) if favours == "high" else (factor, 1.0)
    weighed = top * mass + rest * (mass[-1] - mass)
    return np.asarray(weighed / (top * above + rest * (above[-1] - above)))


def corner(shares: Floats, place: int, factor: float, favours: Favours) -> Floats:
    """The density of positives at one corner."""
    top, rest = (1.0, factor) if favours == "high" else (factor, 1.0)
    weighed = shares * np.where(np.arange(shares.size) < place, top, rest)
    return np.asarray(weighed / weighed.sum())


def precision_sum(density: Floats, called: Floats) -> float:
    r""":math:`\sum_j f_j F_j / C_j`: average precision for a class prior of one, with F running sums of f.

    ``called`` is the share of the population at or above each score.
    """
    return float((density * np.cumsum(density) / called).sum())


def precision_sum_range(
    shares: Floats, called: Floats, factor: float, favours: Favours = "high", *, tolerance: float = 1e-6
) -> tuple[float, float]:
    r"""Extremes of :math:`\sum_j f_j F_j / C_j` over the densities f of positives that the labelling allows.

    The sum is a convex quadratic form in f (its kernel is :math:`1/C_{\max(i,j)}`, and C grows down the ranking).
    Its maximum lies at a corner; its minimum is approached by the Frank-Wolfe method, whose duality gap is
    subtracted, so that what is returned is below the minimum, by no more than the tolerance.

    >>> low, high = precision_sum_range(np.array([0.5, 0.5]), np.array([0.5, 1.0]), 1.0)
    >>> round(low, 6), round(high, 6)
    (1.0, 1.0)
    """
    highest = float(_corner_sums(shares, called, factor, favours).max())
    top, rest = (1.0, factor) if favours == "high" else (factor, 1.0)
    above, mass = np.zeros((2, shares.size + 1))  # running sums, of nothing first
    np.cumsum(shares, out=above[1:])
    scale = (top * above + rest * (above[-1] - above))[:-1]
    over, under = top * shares, rest * shares
    f = corner(shares, 0, factor, favours)
    running = f.cumsum()
    value, best = float((f * running / called).sum()), -np.inf
    for _ in range(4000):  # hundreds of rounds on short arrays: written out, what stays the same is kept outside
        slope = running / called + (f / called)[::-1].cumsum()[::-1]
        (shares * slope).cumsum(out=mass[1:])
        reach = (top * mass + rest * (mass[-1] - mass))[:-1] / scale  # the first of corner_means
        place = int(reach.argmin())
        gap = float(slope @ f - reach[place])
        best = max(best, value - gap)
        if gap <= tolerance:
            break
        ahead = np.concatenate([over[:place], under[place:]])
        ahead = ahead / ahead.sum() - f
        bend = float((ahead * ahead.cumsum() / called).sum())
        step = 1.0 if bend <= 0 else min(1.0, gap / (2 * bend))
        f = f + step * ahead
        running = f.cumsum()
        value = float((f * running / called).sum())
    return min(best, highest), highest


def precision_sum_bilinear(direction: Floats, called: Floats) -> float:
    """The quadratic form at a direction, whose running sums need not be those of a density."""
    return float((direction * np.cumsum(direction) / called).sum())


def precision_gradient(f: Floats, called: Floats) -> Floats:
    """How :func:`precision_sum` changes with each share."""
    running = np.cumsum(f)
    tail = np.cumsum((f / called)[::-1])[::-1]
    return np.asarray(running / called + tail)


def _corner_sums(shares: Floats, called: Floats, factor: float, favours: Favours) -> Floats:
    """The quadratic form at every corner, by running sums: f is a multiple of g above the step, another below it."""
    top, rest = (1.0, factor) if favours == "high" else (factor, 1.0)
    above = np.concatenate([[0.0], np.cumsum(shares)])
    own = np.concatenate([[0.0], np.cumsum(shares * above[1:] / called)])
    inverse = np.concatenate([[0.0], np.cumsum(shares / called)])
    scale = top * above + rest * (above[-1] - above)
    inner = own[-1] - own - above * (inverse[-1] - inverse)  # pairs that both lie below the step
    cross = above * (inverse[-1] - inverse)  # one above, one below
    total = top**2 * own + top * rest * cross + rest**2 * inner
    return np.asarray(total / scale**2)
