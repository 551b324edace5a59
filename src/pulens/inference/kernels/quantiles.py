"""From value, spread and skewness to interval ends; from an interval to the distribution it stands for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pulens.types import Floats

BISECTIONS = 50  # of the ends of a mixture
MOST_SKEW = 1.2  # beyond it the expansion behind the correction says nothing any more
NEARLY_NORMAL = 1e8  # hits and misses from which on a rate is normal to the last digits, its skewness aside


def normal_quantile(confidence: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from pulens.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def one_tail(confidence: float) -> float:
    """The chance of a miss on either side of a two-sided interval, whose quantile is :func:`normal_quantile`.

    >>> round(one_tail(0.95), 9)
    0.025
    """
    return 1 - (1 + confidence) / 2


def studentised_quantile(level: Any, skew: Any, degrees_of_freedom: Any) -> Any:
    r"""Quantile of (estimate - truth) / standard error for a skewed estimate of few rows.

    Hall's (1992) cubic transformation :math:`T + \frac{g}{3}T^2 + \frac{g^2}{27}T^3 + \frac{g}{6}` of the
    studentised estimate is normal up to terms of order 1/n, with g the standardised third cumulant of the
    estimate; this is its inverse, at Student's instead of the normal quantile.

    >>> float(np.round(studentised_quantile(0.975, 0.0, 1e9), 4))
    1.96
    >>> float(np.round(studentised_quantile(0.975, -0.3, 1e9), 4))  # skewed downwards: truth may lie far below
    2.6503
    """
    from pulens.special import stdtrit

    z = stdtrit(degrees_of_freedom, level)
    g = np.clip(skew, -MOST_SKEW, MOST_SKEW)
    small = np.abs(g) < 1e-6
    g = np.where(small, 1.0, g)
    bent = 3.0 / g * (np.cbrt(1.0 + g * (z - g / 6.0)) - 1.0)
    return np.where(small, z, bent)


def studentised_mixture_ends(parts: tuple[Any, Any, Any, Any], weights: Floats, tail: float) -> tuple[Any, Any]:
    """Both ends of a mixture of skewed estimates of few rows; ``weights`` along the last axis.

    ``parts`` are values, standard errors, skewnesses and degrees of freedom; each part alone has the ends that
    :func:`studentised_quantile` gives. The mixture's lie where its distribution function reaches the tail.

    >>> parts = np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([-0.3, -0.3]), np.array([1e9, 1e9])
    >>> low, high = studentised_mixture_ends(parts, np.ones(2), 0.025)
    >>> round(float(low), 4), round(float(high), 4)
    (-2.6503, 1.6299)
    """
    from pulens.special import stdtr

    known = ~np.isnan(np.sum(parts, axis=0))
    value, error, skew, freedom = (np.where(known, part, 0.0) for part in np.broadcast_arrays(*parts))
    share = np.where(known, weights, 0.0)
    share = share / np.where(known.any(axis=-1, keepdims=True), share.sum(axis=-1, keepdims=True), np.nan)
    g = np.clip(skew, -MOST_SKEW, MOST_SKEW)
    small = np.abs(g) < 1e-6
    g, scale = np.where(small, 1.0, g), np.where(error > 0, error, 1e-300)
    ends = []
    for level in (tail, 1 - tail):
        each = np.where(known, value - error * studentised_quantile(1 - level, skew, np.maximum(freedom, 1e-9)), np.nan)
        low, high = (some(each, axis=-1, keepdims=True) for some in (np.fmin.reduce, np.fmax.reduce))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            away = (value - middle) / scale
            z = np.where(small, away, g / 6.0 + ((1.0 + g * away / 3.0) ** 3 - 1.0) / g)
            below = (share * (1.0 - stdtr(np.maximum(freedom, 1e-9), z))).sum(axis=-1, keepdims=True)
            low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
        ends.append(((low + high) / 2)[..., 0])
    return ends[0], ends[1]


def effective_degrees_of_freedom(variances: Floats, sizes: Floats) -> Any:
    """Welch and Satterthwaite: of a sum of independent parts with variances (..., kinds), from this many rows each.

    >>> float(effective_degrees_of_freedom(np.array([1.0, 0.0]), np.array([30, 500])))
    29.0
    """
    total = variances.sum(-1)
    parts = (variances**2 / np.maximum(sizes - 1.0, 1.0)).sum(-1)
    return np.divide(total**2, parts, out=np.full(np.shape(total), 1e9), where=parts > 0)


def spread_of_interval(value: float, low: float, high: float, confidence: float, normal: Floats) -> Floats:
    """Standard normal draws moved to a distribution with this median and these ends at this confidence.

    Each half is half of a normal distribution, so that an interval that reaches further on one side keeps
    doing so.

    >>> spread_of_interval(0.3, 0.2, 0.5, 0.95, np.array([-1.959964, 0, 1.959964])).round(3)
    array([0.2, 0.3, 0.5])
    """
    from pulens.special import ndtri

    reach = float(ndtri((1 + confidence) / 2))
    return value + np.where(normal < 0, value - low, high - value) / reach * normal


def tail_for_range(confidence: float, length: Any, spread: Any) -> Any:
    r"""Chance of a miss to allow on either side when the estimate itself is a range (Imbens & Manski 2004).

    A value somewhere in a range can be missed on one side only when the range is long against the standard
    error: solves :math:`\Phi(c + \Delta/\sigma) - \Phi(-c) = ` confidence and returns :math:`\Phi(-c)`.

    >>> round(float(tail_for_range(0.95, 0.0, 1.0)), 4), round(float(tail_for_range(0.95, 50.0, 1.0)), 4)
    (0.025, 0.05)
    """
    from pulens.special import ndtr, ndtri

    length, spread = np.broadcast_arrays(np.asarray(length, float), np.asarray(spread, float))
    least, most = (1 - confidence) / 2, 1 - confidence
    endless = np.where(length > 0, np.inf, 0.0)
    ratio = np.divide(length, spread, out=endless, where=spread > 0)
    low, high = np.full(ratio.shape, -ndtri(most)), np.full(ratio.shape, -ndtri(least))
    for _ in range(60):  # the chance of holding the value rises with c
        c = (low + high) / 2
        enough = ndtr(c + ratio) - ndtr(-c) >= confidence
        low, high = np.where(enough, low, c), np.where(enough, c, high)
    return np.clip(ndtr(-high), least, most)


def mixture_ends(values: Floats, errors: Floats, tail: float) -> tuple[float, float]:
    """Both ends of a mixture of normal distributions, all of the same weight.

    >>> low, high = mixture_ends(np.array([0.0, 0.0]), np.array([1.0, 1.0]), 0.025)
    >>> round(low, 4), round(high, 4)
    (-1.96, 1.96)
    """
    from pulens.special import ndtr, ndtri

    if not errors.any():
        return percentiles(values, tail, tail)
    reach = -float(ndtri(tail / 2)) * errors
    scale = np.where(errors > 0, errors, 1e-300)
    ends = []
    for level in (tail, 1 - tail):
        low, high = float((values - reach).min()), float((values + reach).max())
        for _ in range(80):
            middle = (low + high) / 2
            if np.mean(ndtr((middle - values) / scale)) < level:
                low = middle
            else:
                high = middle
        ends.append((low + high) / 2)
    return ends[0], ends[1]


def percentiles(values: Floats, low_tail: float, high_tail: float) -> tuple[float, float]:
    """Both ends of a percentile interval; undefined redraws are left out."""
    low, high = quantiles(values[~np.isnan(values)], np.array([low_tail, 1 - high_tail]))
    return float(low), float(high)


def quantiles(values: Floats, levels: Floats) -> Floats:
    """Quantiles along the last axis, linear between values, as ``numpy.quantile`` has them; nan of none.

    >>> quantiles(np.array([4.0, 1.0, 3.0]), np.array([0.0, 0.25, 1.0]))
    array([1., 2., 4.])
    """
    last = values.shape[-1] - 1
    if last < 1:
        return np.broadcast_to(values if last == 0 else np.nan, (*values.shape[:-1], levels.size))
    at = levels * last
    below = np.minimum(np.floor(at).astype(np.intp), last - 1)
    kept = np.partition(values, [*below, *(below + 1)], axis=-1)
    lower, upper, share = kept[..., below], kept[..., below + 1], at - below
    step = upper - lower
    return np.asarray(np.where(share >= 0.5, upper - step * (1 - share), lower + step * share))


def row_percentiles(values: Floats, tail: float) -> tuple[Floats, Floats]:
    """:func:`percentiles` of every row, with the same tail on either side.

    >>> low, high = row_percentiles(np.arange(202.0).reshape(2, 101), 0.025)
    >>> low, high
    (array([  2.5, 103.5]), array([ 97.5, 198.5]))
    """
    low, high = quantiles(values, np.array([tail, 1 - tail])).T
    for row in np.flatnonzero(np.isnan(values).any(axis=1)).tolist():  # undefined draws are left out
        low[row], high[row] = percentiles(values[row], tail, tail)
    return low, high


def quantile_of_columns(ordered: Floats, levels: Floats) -> Floats:
    """A quantile at a level of its own for each column, whose values rise.

    >>> quantile_of_columns(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.array([0.5, 0.75]))
    array([1. , 1.5])
    """
    position = levels * (ordered.shape[0] - 1)
    below = np.floor(position).astype(int)
    columns = np.arange(levels.size)
    lower, upper = ordered[below, columns], ordered[np.minimum(below + 1, ordered.shape[0] - 1), columns]
    return np.asarray(lower + (position - below) * (upper - lower))


def expanded_tail(tail: float, rows: float, fewest: float = 3.0) -> float:
    """The tail at which a percentile interval from so few rows is as wide as Student's (Hesterberg 2015).

    Redraws vary by sqrt((n - 1) / n) too little, and percentiles know nothing of Student's heavier tails.

    >>> round(expanded_tail(0.025, 30), 4), round(expanded_tail(0.025, 1e6), 4)
    (0.0188, 0.025)
    """
    from pulens.special import ndtr, stdtrit

    n = max(rows, fewest)
    return float(ndtr((n / (n - 1)) ** 0.5 * stdtrit(n - 1, tail)))


def jeffreys_quantiles(hits: float, total: float, levels: Floats) -> Floats:
    """Quantiles of the Jeffreys posterior of a rate of which ``hits`` of ``total`` were seen.

    Its percentiles cover as often as the score interval's, and halves of a row keep a rate of 0 or 1 from being
    certain (Brown, Cai & DasGupta 2001).

    >>> jeffreys_quantiles(0, 10, np.array([0.975])).round(3)
    array([0.217])
    """
    from pulens.special import betaincinv, ndtri

    first, second = hits + 0.5, max(total - hits, 0.0) + 0.5
    if min(first, second) > NEARLY_NORMAL:  # the inverse would take a millisecond for each level
        rows, z = first + second, ndtri(levels)
        error = (first * second / (rows + 1)) ** 0.5 / rows
        skewness = 2 * (second - first) * (rows + 1) ** 0.5 / ((rows + 2) * (first * second) ** 0.5)
        return np.asarray(first / rows + error * (z + skewness * (z**2 - 1) / 6))  # Cornish and Fisher
    return np.asarray(betaincinv(first, second, levels))


def even_jeffreys_quantiles(hits: float, total: float, size: int) -> Floats:
    """:func:`jeffreys_quantiles` at the levels (k + 1/2) / size, rising, from a few of them.

    On the scale of log odds the quantile is so smooth a function of the normal quantile that a polynomial through
    49 Chebyshev points gives all of them to within 1e-14, for a fortieth of the time.

    >>> levels = (np.arange(2000) + 0.5) / 2000
    >>> bool(abs(even_jeffreys_quantiles(3, 90, 2000) - jeffreys_quantiles(3, 90, levels)).max() < 1e-14)
    True
    """
    from pulens.special import betaincinv, expit, ndtr

    nodes, weights = _chebyshev(size)
    rest = max(total - hits, 0.0)
    # of a rate near one, how far it is from one: that keeps its digits
    near_one = hits > rest
    few, many, at = (rest, hits, -nodes) if near_one else (hits, rest, nodes)
    share = betaincinv(few + 0.5, many + 0.5, ndtr(at))
    odds = np.log(share) - np.log1p(-share)
    return np.asarray(expit(weights @ (-odds if near_one else odds)))


@lru_cache(maxsize=4)
def _chebyshev(size: int, degree: int = 48) -> tuple[Floats, Floats]:
    """Chebyshev points over the normal quantiles of even levels, and what each adds to the value at each level."""
    from pulens.special import ndtri

    at = ndtri((np.arange(size) + 0.5) / size)
    indices = np.arange(degree + 1)
    nodes = at[-1] * np.cos(np.pi * indices / degree)
    signs = np.where(indices % 2, -1.0, 1.0) * np.where((indices == 0) | (indices == degree), 0.5, 1.0)
    gaps = at[:, None] - nodes
    meets = np.abs(gaps) < 1e-13
    shares = signs / np.where(meets, 1.0, gaps)  # barycentric form (Berrut and Trefethen 2004)
    weights = shares / shares.sum(axis=1, keepdims=True)
    there = meets.any(axis=1)
    weights[there] = meets[there]
    return nodes, weights


@lru_cache(maxsize=4)
def seeded_levels(size: int, columns: int, seed: int) -> tuple[tuple[Floats, ...], Any]:
    """:func:`even_levels` of a seed, and where its generator stands afterwards: many answers share them."""
    rng = np.random.Generator(np.random.PCG64(seed))
    levels = tuple(even_levels(size, columns, rng))
    for column in levels:
        column.flags.writeable = False
    return levels, rng.bit_generator.state


def even_levels(size: int, columns: int, rng: np.random.Generator) -> list[Floats]:
    """Columns of levels that fill (0, 1) evenly and are uncorrelated: draws without noise of their own.

    A Latin hypercube whose columns are then rotated until they are uncorrelated and replaced by ranks (Iman and
    Conover 1982). Columns paired at random are correlated by chance, which would make all intervals of a seed a
    little too narrow or too wide.

    >>> first, second = even_levels(1000, 2, np.random.default_rng(0))
    >>> bool(np.sort(first)[0] == 0.0005), bool(abs(np.corrcoef(first, second)[0, 1]) < 0.002)
    (True, True)
    """
    from pulens.special import ndtri

    even = (np.arange(size) + 0.5) / size
    scores = np.stack([ndtri(rng.permutation(even)) for _ in range(columns)])
    for _ in range(2):
        apart = np.linalg.solve(np.linalg.cholesky(np.corrcoef(scores)), scores)
        order = apart.argsort(axis=1, kind="stable")
        levels = np.empty(scores.shape)
        np.put_along_axis(levels, order, np.broadcast_to(even, scores.shape), axis=1)
        scores = ndtri(levels)
    return list(levels)
