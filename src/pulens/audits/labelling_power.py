"""How likely an audit is to notice that labels favour some positives."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.audits.counts import Counts
from pulens.errors import AssumptionError
from pulens.types import Floats

AUDITS = 400
FACTOR = 3.0  # the preference that a verdict speaks of


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
    chance above the positives' median (or below it). Within a range of constant preference labelled and found ones
    score alike, so strata cut at the median carry all the test can see. With :math:`v_c` the variance of the
    number of found ones among the :math:`N_c` pooled ones of range c when each is found with odds
    :math:`\theta f_c`, the rank sum has variance :math:`\sum v_c r_c^2 - (\sum v_c r_c)^2/\sum v_c` given the total.

    >>> rows, positives = np.array([500, 1000, 3500]), np.array([300.0, 100.0, 100.0])
    >>> power_of_test(rows, np.array([100, 60, 60]), positives, 200) > 0.5
    True
    >>> power_of_test(rows, np.array([100, 60, 60]), positives, 200, factor=1.0) < 0.1
    True
    """
    if favours not in ("high", "low") or not factor >= 1:
        raise AssumptionError(
            f"a preference is favours='high' or 'low' with a factor of 1 or more, got {favours!r} and {factor!r}."
        )
    total = float(positives.sum())
    if labelled <= 0 or total <= 0 or not checked.any():
        return 0.0
    cell, part, above = _cut_at_median(np.asarray(positives, float))
    rng = np.random.default_rng(seed)
    chance = part * np.where(above == (favours == "high"), factor, 1.0)
    labels = rng.multinomial(labelled, chance / chance.sum(), size=audits)
    share = np.clip(positives / np.maximum(rows, 1), 0, 1)
    inside = np.divide(part * total, positives[cell], out=np.zeros(cell.size), where=positives[cell] > 0)
    found = np.zeros((audits, cell.size), np.int64)
    in_stratum = rng.binomial(checked, share, size=(audits, rows.size))
    seen = np.zeros(rows.size, bool)
    for place, stratum in enumerate(cell):  # a stratum cut in two: the first part by chance, the rest is left
        if seen[stratum] or inside[place] >= 1 - 1e-12:
            found[:, place] = in_stratum[:, stratum]
        else:
            found[:, place] = rng.binomial(in_stratum[:, stratum], np.clip(inside[place], 0, 1))
            in_stratum[:, stratum] -= found[:, place]
        seen[stratum] = True
    z = rank_sum_z(labels + found, found, (checked / np.maximum(rows, 1))[cell])
    from statistics import NormalDist

    return float((np.abs(z) > NormalDist().inv_cdf(1 - level / 2)).mean())


def _cut_at_median(positives: Floats) -> tuple[Counts, Floats, np.ndarray]:
    """Strata, the one that holds the median cut in two: stratum, share of all positives, whether above the median."""
    share = positives / positives.sum()
    ends = np.cumsum(share)
    middle = min(int(np.searchsorted(ends, 0.5)), share.size - 1)
    before = 0.5 - (ends[middle] - share[middle])
    cell = np.insert(np.arange(share.size), middle + 1, middle)
    part = np.insert(share, middle, before)
    part[middle + 1] = share[middle] - before
    return cell, np.maximum(part, 0.0), np.arange(cell.size) <= middle


def rank_sum_z(pooled: Counts, found: Counts, fraction: Floats) -> Floats:
    """Standard score of the rank sum of found positives, one line an audit; ranges run from high to low scores.

    Rows of a range are tied. Negative: found positives score lower than labelled ones. 0 where nothing can be told.
    """
    below = pooled[:, ::-1].cumsum(1)[:, ::-1] - pooled
    rank = below + (pooled + 1) / 2
    total = found.sum(1, keepdims=True)
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
        z = ((found - mean) * rank).sum(1) / np.sqrt(variance)
    return np.where(np.isfinite(z) & (whole > 1e-9) & (variance > 1e-9), z, 0.0)
