"""How likely an audit is to notice that labels favour some positives."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from pulens.audits.counts import Counts
from pulens.errors import AssumptionError, shown
from pulens.scalars import is_among, real
from pulens.types import Booleans, Floats

AUDITS = 400
PARTS = 8  # of every stratum
FACTOR = 3.0  # the preference that a verdict is about


def power_of_test(
    rows: Counts,
    checked: Counts,
    positives: Floats,
    labelled: int,
    *,
    favours: Literal["high", "low"] = "high",
    factor: float = FACTOR,
    level: float = 0.05,
    seed: int = 0,
    audits: int = AUDITS,
) -> float:
    r"""Chance that the test of random labelling rejects, if the better half of the positives is labelled more often.

    Audits are simulated from expected numbers of positives per stratum; labels are drawn with ``factor`` times the
    chance above the positives' median (or below it). Strata are cut at the median and into equal parts, whose rows are
    tied. With :math:`v_c` the variance of the number of found ones among the :math:`N_c` pooled ones of part c when
    each is found with odds :math:`\theta f_c`, the rank sum has variance
    :math:`\sum v_c r_c^2 - (\sum v_c r_c)^2/\sum v_c` given the total, and is compared with a normal distribution.

    >>> rows, positives = np.array([500, 1000, 3500]), np.array([300.0, 100.0, 100.0])
    >>> power_of_test(rows, np.array([100, 60, 60]), positives, 200) > 0.5
    True
    >>> power_of_test(rows, np.array([100, 60, 60]), positives, 200, factor=1.0) < 0.1
    True
    """
    times = real(factor)
    if not is_among(favours, ("high", "low")) or not 1 <= times < math.inf:
        raise AssumptionError(
            f"a preference is favours='high' or 'low' with a factor of 1 or more, got {shown(favours)} and "
            f"{shown(factor)}."
        )
    total = float(positives.sum())
    if labelled <= 0 or total <= 0 or not checked.any():
        return 0.0
    stratum, part, above = _parts(np.asarray(positives, float))
    rng = np.random.default_rng(seed)
    chance = part * np.where(above == (favours == "high"), times, 1.0)
    labels = rng.multinomial(labelled, chance / chance.sum(), size=audits)
    share = np.clip(positives / np.maximum(rows, 1), 0, 1)
    in_stratum = rng.binomial(checked, share, size=(audits, rows.size))
    result = np.zeros((audits, part.size), np.int64)
    for index in np.flatnonzero(positives > 0):
        inside = part * (stratum == index)
        result += rng.multinomial(in_stratum[:, index], inside / inside.sum())
    z = rank_sum_z(labels + result, result, (checked / np.maximum(rows, 1))[stratum])
    return float((np.abs(z) > NormalDist().inv_cdf(1 - level / 2)).mean())


def _parts(positives: Floats) -> tuple[Counts, Floats, Booleans]:
    """Parts of the strata, highest scores first: stratum, share of all positives, whether above their median."""
    share = positives / positives.sum()
    ends = np.cumsum(share)
    middle = min(int(np.searchsorted(ends, 0.5)), share.size - 1)
    before = 0.5 - (ends[middle] - share[middle])
    stratum = np.insert(np.arange(share.size), middle, middle)  # the one that holds the median twice
    part = np.insert(share, middle, before)
    part[middle + 1] = max(share[middle] - before, 0.0)
    above = np.arange(part.size) <= middle
    return np.repeat(stratum, PARTS), np.repeat(part / PARTS, PARTS), np.repeat(above, PARTS)


def rank_sum_z(pooled: Counts, result: Counts, fraction: Floats) -> Floats:
    """Standard score of the rank sum of found positives, one line an audit; ranges run from high to low scores.

    Rows of a range are tied. Negative: found positives score lower than labelled ones. 0 where nothing can be told.
    """
    below = pooled[:, ::-1].cumsum(1)[:, ::-1] - pooled
    rank = below + (pooled + 1) / 2
    total = result.sum(1, keepdims=True)
    low, high = np.full((len(pooled), 1), -40.0), np.full((len(pooled), 1), 40.0)
    for _ in range(50):
        middle = (low + high) / 2
        odds = np.exp(middle) * fraction
        less = (pooled * odds / (1 + odds)).sum(1, keepdims=True) < total
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    odds = np.exp((low + high) / 2) * fraction
    mean, spread = pooled * odds / (1 + odds), pooled * odds / (1 + odds) ** 2
    whole = spread.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (spread * rank**2).sum(1) - (spread * rank).sum(1) ** 2 / whole
        z = ((result - mean) * rank).sum(1) / np.sqrt(variance)
    return np.where(np.isfinite(z) & (whole > 1e-9) & (variance > 1e-9), z, 0.0)
