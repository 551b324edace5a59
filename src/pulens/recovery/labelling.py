r"""What if positives with high scores were labelled more often? Tight ranges for labelling that favours some scores.

A positive with score s is labelled with a propensity :math:`e(s)`. Labelled rows then have the density
:math:`g \propto e f_1` instead of :math:`f_1`, so :math:`f_1 = g h` with :math:`h \propto 1/e`. Labelling at random
means h = 1. Here e may rise with the score, by no more than a factor G from its lowest to its highest value (or fall,
for labelling that favours low scores): :math:`h` is monotone, :math:`\max h \le G \min h` and :math:`\sum g h = 1`.
These h form a simplex whose corners are steps: one value above some score, G times that value below it.

In the single set a labelled row is one of the positives, so that it stands for at least itself: with c the label
frequency :math:`h = c/e \ge c`. This cuts the simplex by the smallest value of h alone: a linear function is extreme at
a corner whose smallest value is at least c, or on an edge, between two corners, where it is c. So its lowest value is
that of a corner, or the lower convex hull of the points (smallest value of h, mean) of all corners, read at c.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from pulens.types import Floats

Favours = Literal["high", "low"]


class Extreme(NamedTuple):
    """Densities of positives at which something is extreme, and how the extreme changes with the floor c of h."""

    value: float
    density: Floats
    floor_slope: float


def rate_range(rate: Floats, factor: float, favours: Favours = "high", *, floor: float = 0.0) -> tuple[Floats, Floats]:
    r"""True positive rate at a threshold where the labelled rate is ``rate``; ``floor`` is c, 0 in case-control data.

    Only the mean of h above and below the threshold matters, and their ratio lies between 1/G and 1:

    .. math:: \max\Big\{\frac{p}{p + G(1-p)}, cp\Big\} \le \gamma \le p

    with p the labelled rate, when high scores are favoured, and
    :math:`p \le \gamma \le \min\{Gp/(Gp + 1 - p), 1 - c(1-p)\}` when low ones are. Both ends are attained, by a step at
    the threshold.

    >>> low, high = rate_range(np.array(0.8), 2.0)
    >>> float(low.round(6)), float(high)
    (0.666667, 0.8)
    >>> float(rate_range(np.array(0.852), 1000.0, floor=0.825)[0].round(4))
    0.7029
    """
    rate = np.asarray(rate, float)
    if favours == "high":
        return np.maximum(rate / (rate + factor * (1 - rate)), floor * rate), rate
    return rate, np.minimum(factor * rate / (factor * rate + 1 - rate), 1 - floor * (1 - rate))


def lowest_mean(
    shares: Floats, values: Floats, factor: float, favours: Favours = "high", *, floor: float = 0.0
) -> Extreme:
    r"""The lowest :math:`\sum_s g(s)h(s)v(s)`, scores in falling order.

    >>> lowest_mean(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 3.0).value
    0.25
    >>> lowest_mean(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 3.0, floor=0.8).density
    array([0.4, 0.6])
    """
    if favours == "low":
        result = lowest_mean(shares[::-1], values[::-1], factor, floor=floor)
        return result._replace(density=result.density[::-1])
    least, means = _corners(shares, values, factor)
    floor, left = min(floor, float(least[-1])), int(means.argmin())
    if least[left] >= floor:
        return Extreme(float(means[left]), _density(shares, left, factor), 0.0)
    right, scale = means.size - 1, 1e-14 * (float(np.abs(means).max()) + 1.0)
    while True:  # walks along the lower hull to the edge above the floor
        slope = float((means[right] - means[left]) / (least[right] - least[left]))
        above = means - slope * least
        index = int(above.argmin())
        if above[index] >= min(above[left], above[right]) - scale:
            break
        left, right = (index, right) if least[index] < floor else (left, index)
    part = float((least[right] - floor) / (least[right] - least[left]))
    density = part * _density(shares, left, factor) + (1 - part) * _density(shares, right, factor)
    return Extreme(float(part * means[left] + (1 - part) * means[right]), density, slope)


def mean_range(
    shares: Floats, values: Floats, factor: float, favours: Favours = "high", *, floor: float = 0.0
) -> tuple[Extreme, Extreme]:
    """Where the mean of ``values`` over the positives is lowest and highest.

    >>> [found.value for found in mean_range(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 3.0)]
    [0.25, 0.5]
    """
    highest = lowest_mean(shares, -values, factor, favours, floor=floor)
    highest = Extreme(-highest.value, highest.density, -highest.floor_slope)
    return lowest_mean(shares, values, factor, favours, floor=floor), highest


def _corners(shares: Floats, values: Floats, factor: float) -> tuple[Floats, Floats]:
    """The smallest value of h and the mean of ``values`` at the step after the first k scores, k = 1 to all."""
    above = np.cumsum(shares)
    mass = np.cumsum(shares * values)
    least = 1.0 / (above + factor * (above[-1] - above))
    least[above <= 0] = 1.0  # a step above all labelled rows is none
    means = np.where(above > 0, least * (mass + factor * (mass[-1] - mass)), mass[-1])
    return least, means


def _density(shares: Floats, index: int, factor: float) -> Floats:
    """The density of positives at the step after the scores up to a place."""
    weighed = shares * np.where(np.arange(shares.size) <= index, 1.0, factor)
    return np.asarray(weighed / weighed.sum())


def precision_sum(density: Floats, called: Floats) -> float:
    r""":math:`\sum_j f_j F_j / C_j`: average precision for a class prior of one, with F running sums of f.

    ``called`` is the share of the population at or above each score. Of a direction it is the quadratic form there.
    """
    return float((density * np.cumsum(density) / called).sum())


def precision_sum_range(
    shares: Floats,
    called: Floats,
    factor: float,
    favours: Favours = "high",
    *,
    floor: float = 0.0,
    tolerance: float = 1e-6,
) -> tuple[Extreme, Extreme]:
    r"""Extremes of :math:`\sum_j f_j F_j / C_j` over the densities f of positives that the labelling allows.

    The sum is a convex quadratic form in f (its kernel is :math:`1/C_{\max(i,j)}`, and C grows down the ranking).
    Its maximum lies at a corner, or where the floor cuts an edge; its minimum is approached by the Frank-Wolfe method,
    whose duality gap is subtracted, so that what is returned is below the minimum, by no more than the tolerance.

    >>> low, high = precision_sum_range(np.array([0.5, 0.5]), np.array([0.5, 1.0]), 1.0)
    >>> round(low.value, 6), round(high.value, 6)
    (1.0, 1.0)
    """
    highest = _highest_sum(shares, called, factor, favours, floor)
    f = shares / shares.sum()
    value, best, slope = precision_sum(f, called), -np.inf, 0.0
    for _ in range(4000):
        gradient = precision_gradient(f, called)
        ahead = lowest_mean(shares, gradient, factor, favours, floor=floor)
        gap, slope = float(gradient @ f) - ahead.value, ahead.floor_slope
        best = max(best, value - gap)
        if gap <= tolerance:
            break
        towards = ahead.density - f
        bend = precision_sum(towards, called)
        f = f + (1.0 if bend <= 0 else min(1.0, gap / (2 * bend))) * towards
        value = precision_sum(f, called)
    return Extreme(min(best, highest.value), f, slope), highest


def precision_gradient(f: Floats, called: Floats) -> Floats:
    """How :func:`precision_sum` changes with each share."""
    running = np.cumsum(f)
    tail = np.cumsum((f / called)[::-1])[::-1]
    return np.asarray(running / called + tail)


def _highest_sum(shares: Floats, called: Floats, factor: float, favours: Favours, floor: float) -> Extreme:
    """The quadratic form at every corner, and where edges meet the floor if the best corner lies below it."""
    high = favours == "high"
    ordered = shares if high else shares[::-1]
    least = _corners(ordered, ordered, factor)[0]
    corners = np.stack([_density(ordered, index, factor) for index in range(shares.size)])
    corners = corners if high else corners[:, ::-1]
    sums = ((corners * np.cumsum(corners, axis=1)) / called).sum(axis=1)
    index = int(sums.argmax())
    if least[index] >= floor:
        return Extreme(float(sums[index]), corners[index], 0.0)
    allowed, cut = np.flatnonzero(least >= floor), np.flatnonzero(least < floor)
    running = np.cumsum(corners, axis=1) / called
    mixed = (corners[cut] @ running[allowed].T + running[cut] @ corners[allowed].T) / 2
    part = (least[allowed] - floor) / (least[allowed] - least[cut][:, None])
    at_floor = part**2 * sums[cut][:, None] + 2 * part * (1 - part) * mixed + (1 - part) ** 2 * sums[allowed]
    first, second = np.unravel_index(int(at_floor.argmax()), at_floor.shape)
    weight = float(part[first, second])
    density = weight * corners[cut[first]] + (1 - weight) * corners[allowed[second]]
    gradient = precision_gradient(density, called)
    apart = float(least[cut[first]] - least[allowed[second]])
    slope = float(gradient @ (corners[cut[first]] - corners[allowed[second]])) / apart
    return Extreme(float(at_floor[first, second]), density, slope)
