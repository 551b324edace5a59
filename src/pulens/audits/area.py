r"""ROC AUC from an audit: where in the ranking the positives stand, without any assumption about labelling.

With :math:`b_i` the share of all M rows that row i outscores (ties, and the row itself, count one half), P positives
and T the sum of b over them, M T counts the pairs of a positive and any row, of which :math:`P^2/2` are pairs of
positives:

.. math:: \mathrm{AUC} = \frac{M T - P^2/2}{P (M - P)}.

T is estimated by :math:`\sum_k \hat X_k \bar b_k` with the mean b of the positives found in stratum k. A draw for the
limits takes the unseen positives of a stratum as ``pulens.audits.limits`` does, times a mean of b over the found
positives with exponential weights (Rubin 1981). The one imaginary row, when it is positive, stands at the end of its
stratum that is unfavourable: at the lowest b for the lower limit, at the highest for the upper one.

It holds the truth, and it is wide below a class prior of .1: a few positives in the large low strata decide it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.estimates import RESTS_ON
from pulens.audits.limits import DRAWS, IntervalKind, check_interval, effects, one_tail, quantile, unseen_positives
from pulens.counts.tally import Tally
from pulens.estimate import Estimate, Interval
from pulens.scenario import Scenario
from pulens.types import Floats

_BLOCK = 1_000_000  # exponential weights held at once


class Placed(NamedTuple):
    """The ranking of the population: b of checked rows, of each stratum's ends, and of the positives known before."""

    rows: float
    checked: Floats
    lowest: Floats
    highest: Floats
    known: float  # labelled positives of the population
    known_sum: float  # of their b


def placed(counts: AuditCounts, rows: CheckedRows, tally: Tally, *, score_ranges: bool = True) -> Placed:
    """b of whatever the area needs; strata that are no ranges of scores have no ends but those of the ranking.

    >>> scores = np.arange(8.0, 0.0, -1.0)
    >>> tally = Tally.from_arrays(np.zeros(8, int), scores)
    >>> checked = CheckedRows(stratum=np.array([0, 1]), score=np.array([8.0, 1.0]), answer=np.array([1, 0]))
    >>> counts = AuditCounts(rows=[3, 5], checked=[1, 1], found=[1, 0], flagged=1)
    >>> placed(counts, checked, tally).checked
    array([0.9375, 0.0625])
    """
    unlabelled, of_all, labelled = np.asarray(tally.unlabelled, float), *population_of(counts, tally)
    size = float(of_all[-1]) if of_all.size else 0.0
    before = np.append(0.0, of_all[:-1])
    outscored = (size - (before + of_all) / 2) / max(size, 1.0)  # at each score, highest first
    b = outscored[places_of(rows, tally)]
    if score_ranges:
        ends = np.cumsum(counts.rows)
        last = np.searchsorted(unlabelled, ends, side="left")
        first = np.searchsorted(unlabelled, ends - counts.rows, side="right")
        lowest, highest = (outscored[np.minimum(at, outscored.size - 1)] for at in (last, first))
    else:
        lowest, highest = np.full(counts.strata, outscored.min()), np.full(counts.strata, outscored.max())
    return Placed(size, b, lowest, highest, float(labelled.sum()), float(labelled @ outscored))


def population_of(counts: AuditCounts, tally: Tally) -> tuple[Floats, Floats]:
    """Rows of the population at or above each score, and labelled ones of it at each: in case-control none."""
    above = np.asarray(tally.unlabelled, float)
    if counts.scenario is Scenario.CASE_CONTROL:
        return above, np.zeros(above.size)
    labelled = np.asarray(tally.labelled, float)
    return above + labelled + np.asarray(tally.negative, float), np.diff(labelled, prepend=0.0)


def places_of(rows: CheckedRows, tally: Tally) -> NDArray[np.intp]:
    """The first threshold that each checked row's score reaches; scores of a bin share their place."""
    score = np.asarray(rows.score).astype(tally.thresholds.dtype)  # as the tally holds them
    return np.asarray(np.minimum(np.searchsorted(-tally.thresholds, -score, side="left"), len(tally) - 1))


def shares_of(rows: CheckedRows) -> Floats:
    """How far each checked row counts as a positive; undecided ones count half."""
    return np.asarray(np.select([rows.answer == 1, rows.answer == -1], [1.0, 0.5], 0.0))


def stands_for(counts: AuditCounts, rows: CheckedRows) -> Floats:
    """How many rows each checked row stands for."""
    of = np.divide(counts.rows, counts.checked, out=np.zeros(counts.strata), where=counts.checked > 0)
    return np.asarray(of[rows.stratum])


def _area(total: Floats, positives: Floats, rows: float) -> Floats:
    pairs = positives * (rows - positives)
    top = rows * total - positives**2 / 2
    # sums of weights miss the number of rows by their last bits: no pair is left then
    some = pairs > 1e-12 * rows**2
    return np.asarray(np.divide(top, pairs, out=np.full(np.shape(pairs), np.nan), where=some))


def not_ranked(name: str) -> Estimate:
    """A metric of the whole ranking where rows were left out."""
    reason = "some rows lie where no row was checked, so positives can be anywhere among them"
    return Estimate(name, math.nan, undefined_because=reason, basis="bounds", rests_on=RESTS_ON)


def area_estimate(
    counts: AuditCounts,
    rows: CheckedRows,
    tally: Tally,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    draws: int = DRAWS,
    seed: int = 0,
    score_ranges: bool = True,
) -> Estimate:
    """The area under the ROC curve over the rows at hand.

    >>> scores = np.arange(8.0, 0.0, -1.0)
    >>> answers = np.isin(scores, [8, 7, 4]).astype(int)
    >>> checked = CheckedRows(stratum=(scores < 6).astype(int), score=scores, answer=answers)
    >>> counts = AuditCounts(rows=[3, 5], checked=[3, 5], found=[2, 1], flagged=1)
    >>> print(area_estimate(counts, checked, Tally.from_arrays(np.zeros(8, int), scores)))
    roc_auc 0.867 [0.867, 0.867]
    """
    kind = check_interval(interval)
    if counts.left_out.any():
        return not_ranked("roc_auc")
    where = placed(counts, rows, tally, score_ranges=score_ranges)
    ends = [_limits(counts, rows, one, where, confidence, kind, draws, seed) for one in decisions(counts, rows)]
    reason = "no positive was found" if not counts.found.any() else "no negative was found"
    return ranking_estimate("roc_auc", _value(counts, rows, where), ends, reason, confidence, kind)


def ranking_estimate(
    name: str, value: float, ends: list[tuple[float, float]], reason: str, confidence: float, kind: IntervalKind
) -> Estimate:
    """A value with the interval that holds all of these ends; ``reason`` is why it is undefined, if it is."""
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if not math.isnan(value):
        low, high = min(low, value), max(high, value)
    made = None if math.isnan(low) else Interval(low, high, confidence, f"audit, {kind}")
    return Estimate(name, value, made, reason if math.isnan(value) else None, basis="design", rests_on=RESTS_ON)


def _value(counts: AuditCounts, rows: CheckedRows, where: Placed) -> float:
    weight = shares_of(rows) * stands_for(counts, rows)
    total, positives = weight @ where.checked + where.known_sum, weight.sum() + where.known
    value = float(_area(np.asarray(total), np.asarray(positives), where.rows))
    return value if math.isnan(value) else min(max(value, 0.0), 1.0)


def decisions(counts: AuditCounts, rows: CheckedRows) -> list[np.ndarray]:
    """Which rows are positive, undecided ones being all negative or all positive, above and below apart."""
    result, undecided, flagged = rows.answer == 1, rows.answer == -1, rows.stratum < counts.flagged
    if not undecided.any():
        return [result]
    above, below = undecided & flagged, undecided & ~flagged
    return [result, result | above, result | below, result | undecided]


@dataclass(frozen=True, slots=True)
class _Drawn:
    positives: Floats
    low_total: Floats
    high_total: Floats


def _limits(
    counts: AuditCounts,
    rows: CheckedRows,
    positive: np.ndarray,
    where: Placed,
    confidence: float,
    kind: IntervalKind,
    draws: int,
    seed: int,
) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    result = [where.checked[positive & (rows.stratum == k)] for k in range(counts.strata)]
    hits = np.array([b.size for b in result])
    chosen = [int(np.argmax(effect)) for effect in effects(counts.rows, counts.checked, hits)]
    drawn = []
    for k, b in enumerate(result):
        unseen = unseen_positives(random, int(counts.rows[k]), int(counts.checked[k]), b.size, draws, 0, 0)
        drawn.append((unseen, unseen * _means(random, b, draws)))
    positives = where.known + hits.sum() + sum(unseen for unseen, _ in drawn)
    total = where.known_sum + sum(float(b.sum()) for b in result) + sum(part for _, part in drawn)
    lows: list[Floats] = []
    highs: list[Floats] = []
    for up, k in enumerate(chosen):
        args = (int(counts.rows[k]), int(counts.checked[k]), int(hits[k]), draws)
        one, (unseen, part) = _one_more(random, args, result[k], where, k, up), drawn[k]
        for ends, instead in ((lows, one.low_total), (highs, one.high_total)):
            ends.append(_area(total - part + instead, positives - unseen + one.positives, where.rows))
    tail = one_tail(confidence)
    if kind == "balanced":
        coin = np.arange(draws) % 2 == 0
        return _ends(np.where(coin, lows[0], lows[1]), np.where(coin, highs[0], highs[1]), tail)
    lowest, highest = (_filled(lows, 0.0).min(axis=0), _filled(highs, 1.0).max(axis=0))
    return _ends(lowest, highest, tail)


def _filled(several: list[Floats], undefined: float) -> Floats:
    stacked = np.array(several)
    return np.where(np.isnan(stacked), undefined, stacked)


def _ends(low: Floats, high: Floats, tail: float) -> tuple[float, float]:
    low, high = np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)
    ends = quantile(low[:, None], tail)[0], quantile(high[:, None], 1 - tail)[0]
    return float(np.clip(ends[0], 0.0, 1.0)), float(np.clip(ends[1], 0.0, 1.0))


def _one_more(
    random: np.random.Generator, args: tuple[int, int, int, int], b: Floats, where: Placed, k: int, up: int
) -> _Drawn:
    """A stratum with the imaginary row, positive at either end of the stratum or negative."""
    unseen, draws = unseen_positives(random, *args, up, 1 - up), args[-1]
    if not up:
        mean = _means(random, b, draws)
        return _Drawn(unseen, unseen * mean, unseen * mean)
    ends = (where.lowest[k], where.highest[k])
    low, high = (unseen * _means(random, np.append(b, end), draws) for end in ends)
    return _Drawn(unseen, low, high)


def _means(random: np.random.Generator, b: Floats, draws: int) -> Floats:
    """Means with exponential weights; 0 where nothing was found, which is where nothing is drawn either."""
    if b.size == 0:
        return np.zeros(draws)
    if b.size == 1:
        return np.full(draws, b[0])
    answer, step = np.empty(draws), max(_BLOCK // b.size, 1)
    for start in range(0, draws, step):
        weights = random.standard_exponential((min(step, draws - start), b.size))
        answer[start : start + len(weights)] = (weights @ b) / weights.sum(axis=1)
    return answer
