r"""Kernels for the hypergeometric distribution, exact to about 13 digits for populations of many millions.

Draw ``called`` of ``rows`` objects at random; ``labelled`` of the objects carry a label; the number of hits X is
hypergeometric (the PULP paper, equation 1). Factorials of millions cancel to almost nothing in that formula, and so do
their logarithms (equation 4 loses eight digits at ten million rows). Stirling's formula takes the large parts
apart first: with :math:`c` the four cells of the table of labels against calls and :math:`e` their expected
values under independence,

.. math:: \log f = \sum_{margins} s(n) - s(N) - \sum_{cells} \left(s(c) + c\log\frac{c}{e} + e - c\right)

where :math:`s(n) = \log n! - n\log n + n` is small and smooth. All functions take arrays and trust their input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pulens.types import Floats, Whole

_EXACT_ROWS = 3_037_000_499  # whole numbers up to the square of this fit into 64 bits
_CHUNK = 8_192  # points summed together: their terms stay in cache
_NEGLIGIBLE = 1e-17
_FEW = 64
_STEPS = 512


# log n! - n log n + n for n = 0 to 15, where Stirling's series has not yet converged
_TABLE = np.array(
    [
        0.0,
        1.0,
        1.3068528194400546,
        1.4959226032237258,
        1.6328763858683832,
        1.7403021806115442,
        1.828694396641771,
        1.9037903176782212,
        1.9690705693065629,
        2.0268062840554952,
        2.0785616431350586,
        2.12545984509181,
        2.168334698205882,
        2.207822206123445,
        2.244418568125061,
        2.2785183673077407,
    ]
)
_STIRLING = np.array([1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360])


def _stirling(n: Any) -> Floats:
    """log n! - n log n + n, and 0 for n = 0."""
    n = np.asarray(n, np.int64)
    x = np.maximum(n, _TABLE.size).astype(float)
    series = np.polynomial.polynomial.polyval(1 / (x * x), _STIRLING) / x
    large: Floats = series + 0.5 * np.log(2 * np.pi * x)
    return np.where(n < _TABLE.size, _TABLE[np.clip(n, 0, _TABLE.size - 1)], large)


# coefficients of ((1 + x) log(1 + x) - x) / x^2
_SERIES = np.array([(-1) ** j / (j * (j - 1)) for j in range(2, 14)])


def _deviance(expected: Floats, difference: Floats) -> Floats:
    """c log(c/e) + e - c for a cell c = e + difference, without cancellation where c is near e."""
    x = difference / expected
    near = np.abs(x) < 0.03
    safe = np.where(near, x, 0.0)
    series = safe * safe * np.polynomial.polynomial.polyval(safe, _SERIES)
    far = np.where(near, 1.0, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(far <= -1.0, -far, (1 + far) * np.log1p(far) - far)
    result: Floats = expected * np.where(near, series, exact)
    return result


def _difference_of_products(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a b - c d of whole numbers, where b is the largest; exact up to three billion, to the last bit beyond."""
    if np.max(b, initial=0) <= _EXACT_ROWS:
        return a * b - c * d
    first, first_lost = _product(a, b)
    second, second_lost = _product(c, d)
    return (first - second) + (first_lost - second_lost)


def _product(a: Any, b: Any) -> tuple[Floats, Floats]:
    """A product of whole numbers below 2^52 and what rounding took from it (Dekker 1971)."""
    (a, a_high), (b, b_high) = ((value, value - np.fmod(value, 2.0**26)) for value in (a * 1.0, b * 1.0))
    rounded = a * b
    a_low, b_low = a - a_high, b - b_high
    lost = ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low
    return rounded, lost


def log_pmf(hits: Any, rows: Any, labelled: Any, called: Any) -> Floats:
    """Log of the probability of exactly this many hits; -inf where that cannot happen.

    >>> np.exp(log_pmf([0, 1, 2, 3], 5, 2, 3)).round(12)
    array([0.1, 0.6, 0.3, 0. ])
    """
    hits, rows, labelled, called = (np.asarray(value, np.int64) for value in (hits, rows, labelled, called))
    cells = (hits, labelled - hits, called - hits, rows - labelled - called + hits)
    possible = (cells[0] >= 0) & (cells[1] >= 0) & (cells[2] >= 0) & (cells[3] >= 0)
    sure = (called == 0) | (called == rows) | (labelled == 0) | (labelled == rows)  # one outcome only
    inside, share = np.clip(called, 1, rows - 1), np.where(sure, 0.5, labelled / np.maximum(rows, 1))
    excess = _difference_of_products(hits, rows, called, labelled)
    difference = np.where(possible & ~sure, excess, 0) / np.maximum(rows, 1)
    expected = (inside * share, (rows - inside) * share, inside * (1 - share), (rows - inside) * (1 - share))
    result = _stirling(labelled) + _stirling(rows - labelled) - _stirling(rows)
    result = result + _stirling(called) + _stirling(rows - called)
    for cell, sign, mean in zip(cells, (1, -1, -1, 1), expected, strict=True):
        result = result - _stirling(np.maximum(cell, 0)) - _deviance(np.maximum(mean, 1e-300), sign * difference)
    return np.where(possible, np.where(sure, 0.0, result), -np.inf)


class Tails(NamedTuple):
    """Chances of fewer than, and of at least, this many hits, with their logarithms."""

    fewer: Floats
    at_least: Floats
    log_fewer: Floats
    log_at_least: Floats


def tails(hits: Any, rows: int, labelled: int, called: Any) -> Tails:
    """P(X < hits) and P(X >= hits): the smaller is summed term by term, so neither loses digits to the other.

    >>> found = tails(75, 50_000, 600, 2_500)
    >>> found.fewer.item(), round(found.log_at_least.item(), 9)
    (0.999999999999..., -28.541623705)
    """
    hits, called = np.broadcast_arrays(np.asarray(hits, np.int64), np.asarray(called, np.int64))
    shape = hits.shape
    hits, called = hits.ravel(), called.ravel()
    lowest = np.maximum(0, called + labelled - rows)
    highest = np.minimum(labelled, called)
    # sum the side that the mean is not on
    below = _difference_of_products(hits, np.int64(rows), called, np.int64(labelled)) <= 0
    log_tail = np.full(hits.size, -np.inf)
    for lower in (True, False):
        first = hits - 1 if lower else hits
        chosen = np.flatnonzero((below == lower) & ((first >= lowest) if lower else (first <= highest)))
        for start in range(0, chosen.size, _CHUNK):
            some = chosen[start : start + _CHUNK]
            sums = _tail_sum(first[some], rows, labelled, called[some], lower=lower)
            log_tail[some] = log_pmf(first[some], rows, labelled, called[some]) + np.log(sums)
    # a first term outside the support: that side is empty below the support and everything beyond it
    sure_fewer, sure_at_least = hits > highest, hits <= lowest
    log_tail = np.minimum(log_tail, 0.0)
    tail = np.exp(log_tail)
    with np.errstate(divide="ignore"):
        log_other = np.log1p(-tail)
    fewer, log_fewer = np.where(below, tail, 1 - tail), np.where(below, log_tail, log_other)
    at_least, log_at_least = np.where(below, 1 - tail, tail), np.where(below, log_other, log_tail)
    fewer, log_fewer = (
        np.where(sure_fewer, one, np.where(sure_at_least, none, value))
        for value, one, none in ((fewer, 1.0, 0.0), (log_fewer, 0.0, -np.inf))
    )
    at_least, log_at_least = (
        np.where(sure_at_least, one, np.where(sure_fewer, none, value))
        for value, one, none in ((at_least, 1.0, 0.0), (log_at_least, 0.0, -np.inf))
    )
    return Tails(*(value.reshape(shape) for value in (fewer, at_least, log_fewer, log_at_least)))


def _tail_sum(first: Whole, rows: int, labelled: int, called: Whole, *, lower: bool) -> Floats:
    """Sum of the probabilities from one point outwards, in units of the first."""
    # walking down from m the next term is f(m-1)/f(m) = m (N-t-i+m) / ((t-m+1)(i-m+1)); walking up from m it is
    # (t-m)(i-m) / ((m+1)(N-t-i+m+1)). The factors move by one each step: numerators fall, denominators rise.
    rest = rows - labelled - called + first
    if lower:
        factors = [first, rest, labelled - first + 1, called - first + 1]
    else:
        factors = [labelled - first, called - first, first + 1, rest + 1]
    above_a, above_b, below_a, below_b = (factor.astype(float) for factor in factors)
    total, term = np.ones(first.size), np.ones(first.size)
    index = np.arange(first.size)
    result = np.ones(first.size)
    steps = 0
    while index.size:
        if index.size < _FEW:  # many steps of few points at once: calls cost more than numbers there
            step = np.arange(_STEPS)
            ratios = np.maximum(above_a[:, None] - step, 0) * np.maximum(above_b[:, None] - step, 0)
            ratios /= below_a[:, None] + step
            ratios /= below_b[:, None] + step
            terms = np.cumprod(ratios, axis=1) * term[:, None]
            total += terms.sum(axis=1)
            term, ratio = terms[:, -1], ratios[:, -1]
            above_a, above_b, below_a, below_b = above_a - _STEPS, above_b - _STEPS, below_a + _STEPS, below_b + _STEPS
            keep = np.flatnonzero(term * ratio > _NEGLIGIBLE * total * (1 - ratio))
            result[index] = total
            index, total, term = index[keep], total[keep], term[keep]
            above_a, above_b, below_a, below_b = above_a[keep], above_b[keep], below_a[keep], below_b[keep]
            continue
        ratio = above_a * above_b
        ratio /= below_a
        ratio /= below_b
        term *= ratio
        total += term
        above_a -= 1
        above_b -= 1
        below_a += 1
        below_b += 1
        steps += 1
        if steps % 8 == 0:
            # ratios only shrink, so what is left is below a geometric series
            active = term * ratio > _NEGLIGIBLE * total * (1 - ratio)
            if not active.all():
                result[index] = total
                keep = np.flatnonzero(active)
                index, total, term = index[keep], total[keep], term[keep]
                above_a, above_b, below_a, below_b = above_a[keep], above_b[keep], below_a[keep], below_b[keep]
    return result


def sum_of_chances(first: Any, last: Any, hits: Any, rows: int, labelled: int) -> Floats:
    r"""Sum of P(X_i < hits) over ``first <= i < last`` draws, without visiting each of them.

    Fewer than k hits in i draws means that the k-th hit comes later, at :math:`W_k > i`. So the sum is
    :math:`E[\min(W_k, last)] - E[\min(W_k, first)]`, and for the negative hypergeometric :math:`W_k`

    .. math:: E[\min(W_k, b)] = c + (b - c)\,P(X_b < k) - \frac{k\,(N - t - b + k)}{t + 1}\,f(k \mid b),
              \qquad c = \frac{k\,(N + 1)}{t + 1}.

    Neighbouring stretches share an end: the hit that closes one opens the next.

    >>> sum_of_chances([3], [6], [2], 10, 4).round(12), tails(2, 10, 4, np.arange(3, 6)).fewer.sum().round(12)
    (array([1.38095238]), np.float64(1.380952380952))
    """
    first, last, hits = np.broadcast_arrays(*(np.asarray(value, np.int64) for value in (first, last, hits)))
    at_last = tails(hits, rows, labelled, last).fewer
    mass_last = np.exp(log_pmf(hits, rows, labelled, last))
    at_first = np.empty(first.size)
    follows = np.zeros(first.size, bool)
    follows[1:] = (first[1:] == last[:-1]) & (hits[1:] == hits[:-1] + 1)
    at_first[1:] = at_last[:-1] + mass_last[:-1]
    rest = np.flatnonzero(~follows)
    at_first[rest] = tails(hits[rest], rows, labelled, first[rest]).fewer
    mass_first = np.exp(log_pmf(hits, rows, labelled, first))
    centre = hits * ((rows + 1) / (labelled + 1))
    slope = hits / (labelled + 1)
    misses = rows - labelled + hits
    result: Floats = (last - centre) * at_last - (first - centre) * at_first
    result -= slope * ((misses - last) * mass_last - (misses - first) * mass_first)
    return result


def _log_ratios(hits: Any, rows: Any, labelled: Any, called: Any) -> Floats:
    """log f(m) / f(m - 1) along each row but its first; -inf from the first hit on that cannot be."""
    m = np.asarray(hits[:, 1:], float)
    ratio = np.maximum(labelled - m + 1, 0) * np.maximum(called - m + 1, 0) / (m * (rows - labelled - called + m))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ratio))


def masses_upwards(hits: Any, rows: Any, labelled: Any, called: Any) -> Floats:
    """f(m) where each row of ``hits`` counts upwards by one from a first that can be, over all that has any mass.

    Each mass is the last one times a ratio, and a row adds up to one: no factorial is needed.

    >>> masses_upwards(np.array([[0, 1, 2, 3]]), 5, 2, 3).round(12)
    array([[0.1, 0.6, 0.3, 0. ]])
    """
    result = np.zeros(np.shape(hits))
    np.cumsum(_log_ratios(hits, rows, labelled, called), axis=1, out=result[:, 1:])
    result -= result.max(axis=1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=1, keepdims=True)
    return result


def log_masses_upwards(hits: Any, rows: int, labelled: int, called: Any) -> Floats:
    """log f(m) where each row of ``hits`` counts upwards, anchored at its first."""
    result = np.empty(np.shape(hits))
    result[:, 0] = log_pmf(hits[:, 0], rows, labelled, called[:, 0])
    np.cumsum(_log_ratios(hits, rows, labelled, called[:, :1]), axis=1, out=result[:, 1:])
    result[:, 1:] += result[:, :1]
    return result


class KnownChances(NamedTuple):
    """P(X < hits) at some points, ordered by ``called``: tails that need not be summed again."""

    called: Whole
    hits: Whole
    chances: Floats


def chances_upwards(called: Any, hits: Any, rows: int, labelled: int, *, known: KnownChances | None = None) -> Floats:
    """P(X < hits) where each row of ``hits`` counts upwards: each adds one term to the last.

    Rows of which one calls one row more than the row before share a tail as well.

    >>> chances_upwards(np.array([[3, 3, 3]]), np.array([[0, 1, 2]]), 5, 2).round(12)
    array([[0. , 0.1, 0.7]])
    """
    result = np.exp(log_masses_upwards(hits, rows, labelled, called))
    first = _chances_down_the_ranks(called[:, 0], hits[:, 0], result[:, 0], rows, labelled, known)
    result[:, 1:] = result[:, :-1]
    result[:, 0] = first
    np.cumsum(result, axis=1, out=result)
    return np.clip(result, 0.0, 1.0, out=result)


def _chances_down_the_ranks(
    called: Whole, hits: Whole, mass: Floats, rows: int, labelled: int, known: KnownChances | None
) -> Floats:
    """P(X < hits), given the masses f(hits): a tail sum only where a point is no neighbour of the last.

    One more draw is a hit with the chance (t - m) / (N - i): that takes f(k - 1 | i) (t - k + 1) / (N - i) away.
    """
    before = mass * (hits / (labelled - hits + 1)) * ((rows - labelled - called + hits) / (called - hits + 1))
    risen = hits[1:] - hits[:-1]
    opens = np.ones(hits.size, bool)
    opens[1:] = (called[1:] != called[:-1] + 1) | ((risen != 0) & (risen != 1))
    change = np.zeros(hits.size)
    change[1:] = risen * before[1:] - before[:-1] * ((labelled - hits[:-1] + 1) / (rows - called[:-1]))
    change[opens] = 0.0
    first = np.flatnonzero(opens)
    base = np.empty(first.size)
    summed = np.ones(first.size, bool)
    if known is not None and known.called.size:
        index = np.minimum(np.searchsorted(known.called, called[first]), known.called.size - 1)
        summed = (known.called[index] != called[first]) | (known.hits[index] != hits[first])
        base = known.chances[index]
    base[summed] = tails(hits[first[summed]], rows, labelled, called[first[summed]]).fewer
    running, run = np.cumsum(change), np.cumsum(opens) - 1
    return np.asarray(base[run] + (running - running[first][run]))


def log_p_values_upwards(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    """log P(X >= hits) where each row of ``hits`` counts upwards: each adds one term to the next.

    >>> np.exp(log_p_values_upwards(np.array([[3, 3, 3]]), np.array([[0, 1, 2]]), 5, 2)).round(12)
    array([[1. , 0.9, 0.3]])
    """
    result = log_masses_upwards(hits, rows, labelled, called)
    result[:, -1] = tails(hits[:, -1], rows, labelled, called[:, -1]).log_at_least
    return np.minimum(np.logaddexp.accumulate(result[:, ::-1], axis=1)[:, ::-1], 0.0)


_WALK = 1 << 10  # ranks between fresh starts of a walk: rounding cannot pile up
_STRIDE = 1 << 8  # walks taken side by side


def chances_along(hit_ranks: Whole, rows: int) -> Iterator[tuple[int, Floats]]:
    r"""P(X_i < k_i) at every rank i from 0 to N - 1 of a ranking, by recurrence; yields first rank and values.

    ``hit_ranks`` says, counting from 1 and in order, at which ranks labelled rows stand. From one rank to the next
    the mass f(k|i) is multiplied by a ratio and the chance changes by a multiple of it:

    .. math:: P(X_{i+1} < k) = P(X_i < k) - k\,c\,f(k \mid i), \qquad c = \frac{N-t-i+k}{(i+1-k)(N-i)},

    plus :math:`f(k \mid i+1) = (i+1)\,c\,f(k \mid i)` when rank i + 1 is a hit. The mass is carried as a logarithm
    (in a tail it falls below the smallest double and must come back), and both are computed afresh now and then.
    Cheaper than one tail sum per hit where hits are very many.

    >>> np.concatenate([chances for _, chances in chances_along(np.array([1, 4]), 5)]).round(12)
    array([0. , 0.6, 0.3, 0.1, 0.4])
    """
    labelled = hit_ranks.size
    for start in range(0, rows, _WALK * _STRIDE):
        ranks = np.arange(start, min(start + _WALK * _STRIDE, rows))
        hit_next = np.zeros(-(-ranks.size // _WALK) * _WALK, bool)
        low, high = np.searchsorted(hit_ranks, [start + 1, start + ranks.size + 1])
        hit_next[hit_ranks[low:high] - 1 - start] = True
        before = np.cumsum(hit_next) - hit_next + np.searchsorted(hit_ranks, start, side="right")
        i = (start + np.arange(hit_next.size)).astype(float)
        i[ranks.size :] = ranks[-1]  # padding of the last walk: any harmless rank
        k = before.astype(float)
        k[ranks.size :] = before[ranks.size - 1]
        left, misses, missed = rows - i, rows - labelled - i + k, i + 1 - k
        growth = np.where(hit_next, (labelled - k) / (k + 1), np.maximum(misses, 1) / missed) * ((i + 1) / left)
        growth[ranks.size :] = 1.0
        walks = (-1, _WALK)
        log_growth = np.log(growth).reshape(walks)
        steps = np.cumsum(log_growth, axis=1) - log_growth
        fresh = ranks[::_WALK]
        fresh_hits = before[: ranks.size : _WALK]
        log_mass = log_pmf(fresh_hits, rows, labelled, fresh)[:, None] + steps
        change = np.exp(log_mass).reshape(-1) * (misses / (missed * left)) * np.where(hit_next, missed, -k)
        change = change.reshape(walks)
        chance = tails(fresh_hits, rows, labelled, fresh).fewer[:, None] + np.cumsum(change, axis=1) - change
        yield start, np.clip(chance.reshape(-1)[: ranks.size], 0.0, 1.0)
