r"""How many positives a group of strata can hold, given those found in a random sample of each.

**One stratum.** n of M rows were checked and a were positive. The exact upper limit, the largest X at which so few
finds have a chance above :math:`\alpha/2`, is the :math:`1-\alpha/2` quantile of :math:`a + BB(M-n;\,a+1,\,n-a)`, the
lower one the :math:`\alpha/2` quantile of :math:`a + BB(M-n;\,a,\,n-a+1)`, where BB(m; p, q) is beta-binomial,
BB(m; 0, q) = 0 and BB(m; p, 0) = m. *Why:* shuffle the M rows and count along them; the (a+1)th checked row stands at
place :math:`a + 1 + BB(M-n; a+1, n-a)`, so that distribution's chance of x or less is that of more than a checked rows
among the first x + 1, the hypergeometric tail. In words: one imaginary row more was checked, and it was positive (upper
limit) or negative (lower limit).

**Several strata.** The imaginary row is needed once, not once in every stratum. A positive one is put where it adds
most in the mean, the largest :math:`(M-n)(n-a)/(n(n+1))`, a negative one where it takes most, the largest
:math:`(M-n)a/(n(n+1))`. All other strata are drawn as they are found, :math:`a + BB(M-n; a, n-a)`. With rare positives
this is the stratum where a row stands for most rows, as in the rule of Fay and Feuer (1997) for weighted sums of
Poisson counts; but where that stratum is all positive, or all others are, the row would change nothing there, and what
the other strata may hide would be left out: two strata of 40 rows with 0 and 39 positives, 8 rows checked in each, had
their total in a strict interval of that rule in one audit of five.

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
from pulens.scalars import is_among
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
        if is_among(kind, (known,)):
            return known
    raise PulensError(f"interval must be 'balanced' or 'strict', got {shown(kind)}.{nearest(str(kind), KINDS)}")


def exact_quantile(level: float, rows: int, checked: int, result: Any, *, positive_weight: float) -> np.ndarray:
    """Smallest number of positives at which the distribution of one stratum reaches a level, by bisection.

    ``positive_weight`` is the chance that the imaginary row is positive: 1 for the strict upper limit, 0 for the
    strict lower one, one half where the interval is balanced. ``result`` may be an array.

    >>> int(exact_quantile(0.975, 1000, 50, 0, positive_weight=1.0)), int(exact_quantile(0.975, 1000, 50, 0,
    ...     positive_weight=0.5))
    (69, 56)
    """
    hits = np.asarray(result, np.int64)
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


def _listed_quantile(level: float, rows: int, checked: int, result: int, positive_weight: float) -> int:
    shares = np.zeros(rows - checked + 1)
    for up, weight in ((0, 1 - positive_weight), (1, positive_weight)):
        if weight:
            shares += weight * _cumulative(rows - checked, result + up, checked - result + 1 - up)
    return result + min(int(np.searchsorted(shares, level - 1e-12)), rows - checked)


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


def _share_up_to(number: np.ndarray, rows: int, checked: int, result: np.ndarray, positive_weight: float) -> Floats:
    """P(found + BB <= number) as the chance of this many checked rows among the first ones of a shuffled stratum."""
    share = np.zeros(number.shape)
    if positive_weight:
        beyond = number >= rows
        up = tails(result + 1, rows, checked, np.minimum(number + 1, rows)).at_least.reshape(number.shape)
        share = share + positive_weight * np.where(beyond, 1.0, np.where(result == checked, 0.0, up))
    if positive_weight < 1:
        down = tails(result, rows, checked, np.minimum(number, rows)).at_least.reshape(number.shape)
        share = share + (1 - positive_weight) * np.where(result == 0, 1.0, down)
    return share


def stratum_limits(
    rows: int, checked: int, result: int, *, confidence: float = 0.95, interval: IntervalKind = "balanced"
) -> tuple[int, int]:
    """Limits of the number of positives in one stratum; exact.

    >>> stratum_limits(50, 10, 2, interval="strict"), stratum_limits(50, 10, 2)
    ((2, 26), (3, 24))
    """
    tail = one_tail(confidence)
    if checked == 0:
        return 0, rows
    down, up = (0.0, 1.0) if interval == "strict" else (0.5, 0.5)
    low = exact_quantile(tail, rows, checked, result, positive_weight=down)
    high = exact_quantile(1 - tail, rows, checked, result, positive_weight=up)
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
    rows: Any, checked: Any, result: Any, flagged: int, *, interval: IntervalKind, draws: int, seed: int
) -> TotalDraws:
    """Draw the totals of many audits of the same strata: ``result`` holds one line an audit.

    >>> drawn = draw_totals([200, 9800], [60, 140], [[45, 2], [40, 0]], 1, interval="strict", draws=500, seed=1)
    >>> drawn.above.low.shape
    (500, 2)
    """
    size, took, hits = np.asarray(rows, np.int64), np.asarray(checked, np.int64), np.atleast_2d(result).astype(np.int64)
    random = np.random.default_rng(seed)
    unchecked = took == 0
    plain = _drawn(random, draws, size, took, hits, 0, 0)
    plain[:, :, unchecked] = 0
    spared = np.where(unchecked, size, 0)  # what a stratum nobody looked into may add to an upper limit
    # balanced: one draw in two has a positive imaginary row, in the one group independently of the other
    coins = {"above": np.arange(draws) % 2 == 0, "below": np.arange(draws) // 2 % 2 == 0}
    groups = {"above": slice(0, flagged), "below": slice(flagged, size.size)}
    imagined = {
        name: [_imagined(random, plain, (size, took, hits), where, coins[name], up) for up in (0, 1)]
        for name, where in groups.items()
    }
    imagined["everywhere"] = [
        _Imagined(np.maximum(one.effect, two.effect), np.where(one.effect >= two.effect, one.change, two.change))
        for one, two in zip(imagined["above"], imagined["below"], strict=True)
    ]
    groups["everywhere"], coins["everywhere"] = slice(0, size.size), coins["above"]
    pairs = {}
    for name, where in groups.items():
        total = plain[:, :, where].sum(axis=2)
        low, high = (total + one.change for one in imagined[name])
        if interval == "balanced":
            low = high = np.where(coins[name][:, None], high, low)
        pairs[name] = Pair(low.astype(float), (high + spared[where].sum()).astype(float))
    return TotalDraws(pairs["above"], pairs["below"], pairs["everywhere"])


class _Imagined(NamedTuple):
    """What the imaginary row changes: in the mean, one number an audit, and in each draw."""

    effect: Floats
    change: np.ndarray


def effects(rows: Any, checked: Any, result: Any) -> tuple[Floats, Floats]:
    """Positives that one negative row more would take from the mean of a stratum, and that a positive one would add.

    >>> [effect.round(2).tolist() for effect in effects([100, 1000], [10, 10], [8, 0])]
    [[6.55, 0.0], [1.64, 90.0]]
    """
    size, took, hits = np.asarray(rows), np.asarray(checked), np.asarray(result)
    each = (size - took) / (np.maximum(took, 1) * (took + 1.0)) * (took > 0)
    return np.asarray(each * hits), np.asarray(each * (took - hits))


def _imagined(
    random: np.random.Generator, plain: np.ndarray, strata: Any, where: slice, coin: np.ndarray, up: int
) -> _Imagined:
    """The imaginary row, positive (up) or negative, in the stratum of the group where it changes most."""
    size, took, hits = (kind[..., where] for kind in strata)
    if hits.shape[1] == 0:
        return _Imagined(np.zeros(len(hits)), np.zeros((1, 1), np.int64))
    effect = effects(size, took, hits)[up]
    best = effect.argmax(axis=1)
    each = np.arange(len(hits))
    one = (size[best][:, None], took[best][:, None], hits[each, best][:, None])
    drawn = np.empty((coin.size, len(hits)), np.int64)
    for half in (coin, ~coin):  # either half of the draws is spread evenly by itself
        drawn[half] = _drawn(random, int(half.sum()), *one, up, 1 - up)[:, :, 0]
    most = effect[each, best]
    return _Imagined(most, np.where(most > 0, drawn - plain[:, each, best + where.start], 0))


def _drawn(
    random: np.random.Generator, draws: int, size: Any, took: Any, hits: Any, positive: int, negative: int
) -> np.ndarray:
    """Found positives plus beta-binomial draws of the unseen ones; shape draws, audits, strata."""
    first, second, unseen = hits + positive, took - hits + negative, size - took
    if len(hits) == 1 and unseen.max(initial=0) <= LISTED:
        drawn, unseen = np.empty((draws, 1, hits.shape[1]), np.int64), unseen.reshape(-1)
        for k in range(hits.shape[1]):
            spread = _spread(int(unseen[k]), int(first[0, k]), int(second[0, k]), draws)
            drawn[:, 0, k] = spread if np.ndim(spread) == 0 else random.permutation(spread)
        return np.asarray(hits + drawn)
    shape = (draws, *hits.shape)
    share = random.beta(np.maximum(first, 1), np.maximum(second, 1), size=shape)
    share = np.where(first == 0, 0.0, np.where(second == 0, 1.0, share))
    return np.asarray(hits + random.binomial(unseen, share, size=shape))


def unseen_positives(
    random: np.random.Generator, rows: int, checked: int, result: int, draws: int, positive: int, negative: int
) -> Floats:
    """Draws of the positives among the rows of one stratum that nobody checked, with imaginary rows of either kind.

    >>> unseen_positives(np.random.default_rng(0), 20, 20, 7, 3, 1, 0)
    array([0., 0., 0.])
    """
    one = (np.array([rows]), np.array([checked]), np.array([[result]]))
    return np.asarray(_drawn(random, draws, *one, positive, negative)[:, 0, 0] - result, float)


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
    index = min(max(math.ceil(level * len(drawn) - 1e-9), 1), len(drawn)) - 1
    return np.asarray(np.partition(drawn, index, axis=0)[index])
