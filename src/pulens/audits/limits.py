r"""How many positives a group of strata can hold, given those found in a random sample of each.

**One stratum.** n of M rows were checked and a were positive. The exact upper limit, the largest X at which so few
finds have a chance above :math:`\alpha/2`, is the :math:`1-\alpha/2` quantile of :math:`a + BB(M-n;\,a+1,\,n-a)`, the
lower one the :math:`\alpha/2` quantile of :math:`a + BB(M-n;\,a,\,n-a+1)`, where BB(m; p, q) is beta-binomial,
BB(m; 0, q) = 0 and BB(m; p, 0) = m. *Why:* shuffle the M rows and count along them; the (a+1)th checked row stands at
place :math:`a + 1 + BB(M-n; a+1, n-a)`, so that distribution's chance of x or less is that of more than a checked rows
among the first x + 1, the hypergeometric tail. In words: one imaginary row more was checked, and it was positive (upper
limit) or negative (lower limit).

**Several strata.** The imaginary row is needed once, not once in every stratum: it is put into the stratum where a row
stands for most rows, the largest :math:`(M-n)/(n+1)`, as Fay and Feuer (1997) do for weighted sums of Poisson counts.
All other strata are drawn as they are found, :math:`a + BB(M-n; a, n-a)`.

**Strict and balanced.** ``strict`` takes the imaginary row as positive for upper, as negative for lower limits.
``balanced`` takes it as either with probability one half, which is the middle of both (mid-p): narrower, and it holds
the truth as often as it says on average rather than at least.

A stratum of which no row was checked adds nothing to a lower and all its rows to an upper limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.counts.hypergeometric import tails
from pulens.errors import PulensError, nearest, shown
from pulens.types import Floats

IntervalKind = Literal["balanced", "strict"]
KINDS: tuple[IntervalKind, ...] = ("balanced", "strict")
DRAWS = 20_000
LISTED = 100_000  # unseen rows up to which all chances of a stratum are written out


def check_interval(kind: object) -> IntervalKind:
    """The construction asked for.

    >>> check_interval("strict")
    'strict'
    >>> check_interval("stric")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: interval must be 'balanced' or 'strict', got 'stric'. Did you mean 'strict'?
    """
    for known in KINDS:
        if kind == known:
            return known
    raise PulensError(f"interval must be 'balanced' or 'strict', got {shown(kind)}.{nearest(str(kind), KINDS)}")


def exact_quantile(level: float, rows: int, checked: int, found: Any, *, positive_weight: float) -> np.ndarray:
    """Smallest number of positives at which the distribution of one stratum reaches a level, by bisection.

    ``positive_weight`` is the chance that the imaginary row is positive: 1 for the strict upper limit, 0 for the
    strict lower one, one half where the interval is balanced. ``found`` may be an array.

    >>> int(exact_quantile(0.975, 1000, 50, 0, positive_weight=1.0)), int(exact_quantile(0.975, 1000, 50, 0,
    ...     positive_weight=0.5))
    (69, 56)
    """
    hits = np.asarray(found, np.int64)
    if rows - checked <= LISTED:
        listed = [_listed_quantile(level, rows, checked, hit, positive_weight) for hit in hits.ravel().tolist()]
        return np.array(listed, np.int64).reshape(hits.shape)
    low, high = hits.copy(), hits + (rows - checked)  # the answer lies in low..high
    while (low < high).any():
        middle = (low + high) // 2
        reached = _share_up_to(middle, rows, checked, hits, positive_weight) >= level - 1e-12
        open_ = low < high
        high = np.where(open_ & reached, middle, high)
        low = np.where(open_ & ~reached, middle + 1, low)
    return low


def _listed_quantile(level: float, rows: int, checked: int, found: int, positive_weight: float) -> int:
    shares = np.zeros(rows - checked + 1)
    for up, weight in ((0, 1 - positive_weight), (1, positive_weight)):
        if weight:
            shares += weight * _cumulative(rows - checked, found + up, checked - found + 1 - up)
    return found + min(int(np.searchsorted(shares, level - 1e-12)), rows - checked)


def _cumulative(unseen: int, first: int, second: int) -> Floats:
    """P(BB(unseen; first, second) <= x) for x = 0..unseen, each chance the last one times a ratio."""
    if first == 0 or second == 0:
        certain = np.ones(unseen + 1)
        certain[: unseen if first else 0] = 0.0
        return certain
    x = np.arange(unseen)
    logs = np.zeros(unseen + 1)
    np.cumsum(np.log((unseen - x) / (x + 1.0) * ((first + x) / (second + unseen - x - 1.0))), out=logs[1:])
    shares = np.cumsum(np.exp(logs - logs.max()))
    return np.asarray(shares / shares[-1])


def _share_up_to(number: np.ndarray, rows: int, checked: int, found: np.ndarray, positive_weight: float) -> Floats:
    """P(found + BB <= number) as the chance of so many checked rows among the first ones of a shuffled stratum."""
    share = np.zeros(number.shape)
    if positive_weight:
        beyond = number >= rows
        up = tails(found + 1, rows, checked, np.minimum(number + 1, rows)).at_least.reshape(number.shape)
        share = share + positive_weight * np.where(beyond, 1.0, np.where(found == checked, 0.0, up))
    if positive_weight < 1:
        down = tails(found, rows, checked, np.minimum(number, rows)).at_least.reshape(number.shape)
        share = share + (1 - positive_weight) * np.where(found == 0, 1.0, down)
    return share


def stratum_limits(
    rows: int, checked: int, found: int, *, confidence: float = 0.95, interval: IntervalKind = "balanced"
) -> tuple[int, int]:
    """Limits of the number of positives in one stratum; exact.

    >>> stratum_limits(50, 10, 2, interval="strict"), stratum_limits(50, 10, 2)
    ((2, 26), (3, 24))
    """
    tail = one_tail(confidence)
    if checked == 0:
        return 0, rows
    down, up = (0.0, 1.0) if interval == "strict" else (0.5, 0.5)
    low = exact_quantile(tail, rows, checked, found, positive_weight=down)
    high = exact_quantile(1 - tail, rows, checked, found, positive_weight=up)
    return int(low), int(high)


def one_tail(confidence: float) -> float:
    return (1 - confidence) / 2


class Pair(NamedTuple):
    """Draws of a total for lower and for upper limits, one line a draw and one column an audit."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class TotalDraws:
    """Draws of the positives among flagged rows, among the others, and (with one imaginary row in all) among all."""

    above: Pair
    below: Pair
    everywhere: Pair


def draw_totals(
    rows: Any, checked: Any, found: Any, flagged: int, *, interval: IntervalKind, draws: int, seed: int
) -> TotalDraws:
    """Draw the totals of many audits of the same strata: ``found`` holds one line an audit.

    >>> drawn = draw_totals([200, 9800], [60, 140], [[45, 2], [40, 0]], 1, interval="strict", draws=500, seed=1)
    >>> drawn.above.low.shape
    (500, 2)
    """
    size, took, hits = np.asarray(rows, np.int64), np.asarray(checked, np.int64), np.atleast_2d(found).astype(np.int64)
    random = np.random.default_rng(seed)
    unchecked = took == 0
    plain = _drawn(random, draws, size, took, hits, 0, 0)
    plain[:, :, unchecked] = 0
    spared = np.where(unchecked, size, 0)  # what a stratum nobody looked into may add to an upper limit
    weight = np.where(unchecked, -1.0, (size - took) / (took + 1.0))
    groups = {"above": slice(0, flagged), "below": slice(flagged, size.size)}
    # balanced: one draw in two has a positive imaginary row, in the one group independently of the other
    coins = {"above": np.arange(draws) % 2 == 0, "below": np.arange(draws) // 2 % 2 == 0}
    drawn: dict[int, Pair] = {}  # of the strata that hold an imaginary row
    heavy: dict[str, int | None] = {}
    for name, where in groups.items():
        inside = weight[where]
        if inside.size == 0 or inside.max() <= 0:
            heavy[name] = None
            continue
        best = heavy[name] = int(np.argmax(inside)) + where.start
        at = slice(best, best + 1)
        one = (size[at], took[at], hits[:, at])
        if interval == "strict":
            drawn[best] = Pair(*(_drawn(random, draws, *one, up, 1 - up)[:, :, 0] for up in (0, 1)))
        else:
            mixed, coin = np.empty((draws, len(hits)), np.int64), coins[name]
            for up, half in ((0, ~coin), (1, coin)):
                mixed[half] = _drawn(random, int(half.sum()), *one, up, 1 - up)[:, :, 0]
            drawn[best] = Pair(mixed, mixed)
    heavy["everywhere"] = max(drawn, key=lambda k: weight[k]) if drawn else None
    groups["everywhere"] = slice(0, size.size)
    pairs = {}
    for name, where in groups.items():
        best_of = heavy[name]
        low = high = plain[:, :, where].sum(axis=2)
        if best_of is not None:
            rest = low - plain[:, :, best_of]
            low, high = rest + drawn[best_of].low, rest + drawn[best_of].high
        pairs[name] = Pair(low.astype(float), (high + spared[where].sum()).astype(float))
    return TotalDraws(pairs["above"], pairs["below"], pairs["everywhere"])


def _drawn(
    random: np.random.Generator, draws: int, size: Any, took: Any, hits: Any, positive: int, negative: int
) -> np.ndarray:
    """Found positives plus beta-binomial draws of the unseen ones; shape draws, audits, strata."""
    first, second, unseen = hits + positive, took - hits + negative, size - took
    if len(hits) == 1 and unseen.max(initial=0) <= LISTED:
        drawn = np.empty((draws, 1, hits.shape[1]), np.int64)
        for k in range(hits.shape[1]):
            spread = _spread(int(unseen[k]), int(first[0, k]), int(second[0, k]), draws)
            drawn[:, 0, k] = spread if np.ndim(spread) == 0 else random.permutation(spread)
        return np.asarray(hits + drawn)
    shape = (draws, *hits.shape)
    share = random.beta(np.maximum(first, 1), np.maximum(second, 1), size=shape)
    share = np.where(first == 0, 0.0, np.where(second == 0, 1.0, share))
    return np.asarray(hits + random.binomial(unseen, share, size=shape))


def _spread(unseen: int, first: int, second: int, draws: int) -> Any:
    """Quantiles of a beta-binomial at evenly spread levels.

    Permuted they are draws whose share below any number is exact (Latin hypercube: McKay, Beckman and Conover 1979);
    only what is paired with what is left to chance, and limits move less from seed to seed.
    """
    if unseen == 0 or first == 0 or second == 0:
        return unseen if first and not second else 0
    return np.searchsorted(_cumulative(unseen, first, second), (np.arange(draws) + 0.5) / draws)


def quantile(drawn: Floats, level: float) -> Floats:
    """Of each column, the smallest drawn value whose share of the draws reaches the level.

    >>> quantile(np.arange(1.0, 101.0)[:, None], 0.025)
    array([3.])
    """
    place = min(max(math.ceil(level * len(drawn) - 1e-9), 1), len(drawn)) - 1
    return np.asarray(np.partition(drawn, place, axis=0)[place])
