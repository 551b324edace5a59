"""Do the answers contradict random labelling? A test that needs no class prior and no shape of the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from pulens.answer import Answer
from pulens.audits.allocation import guesses
from pulens.audits.counts import AuditCounts, CheckedRows, Counts
from pulens.audits.labelling_curve import LabellingCurve, labelling_curve
from pulens.audits.labelling_power import power_of_test
from pulens.confidence import check_confidence
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.types import Floats

MOST_SETS = 10_000  # below this all sets are enumerated
DRAWS = 9_999
_MOST_KEYS = 4_000_000  # random numbers held at once while subsets are drawn


@dataclass(frozen=True, slots=True)
class LabellingVerdict(Answer):
    """What an audit says about the labels: p-value, standard score, power and curve.

    ``z`` is negative where found positives score lower than labelled ones, that is where labels favoured high scores.
    ``power`` is the chance that a threefold preference for high scores would have been noticed.
    """

    _keys = (
        *("p_value", "z", "power", "contradicted=_contradicted", "verdict", "method", "curve"),
        "undefined_because?",
    )

    p_value: float
    z: float
    power: float
    curve: LabellingCurve
    confidence: float
    method: str
    undefined_because: str | None = None

    @property
    def contradicted(self) -> bool:
        return self.undefined_because is None and self.p_value <= 1 - self.confidence + 1e-12

    @property
    def verdict(self) -> str:
        """One sentence; it never says that labels are random."""
        if self.undefined_because:
            return f"Random labelling could not be tested: {self.undefined_because}."
        chance = f"p = {self.p_value:.2g}" if self.p_value >= 0.001 else "p < 0.001"
        if self.contradicted:
            lower, favoured = ("lower", "high") if self.z < 0 else ("higher", "low")
            return (
                f"Random labelling is contradicted by the audit ({chance}): positives that were found score {lower} "
                f"than labelled ones, so labels favoured {favoured} scores."
            )
        return (
            f"Random labelling is not contradicted ({chance}; a 3:1 preference for high scores would be noticed with "
            f"probability {self.power:.2f})."
        )

    def __str__(self) -> str:
        return self.verdict

    @property
    def _contradicted(self) -> bool | None:
        return None if self.undefined_because else self.contradicted


def labelling_of(
    counts: AuditCounts,
    checked_rows: CheckedRows,
    tally: Tally,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    label_noise: float = 0.0,
) -> LabellingVerdict:
    r"""Test whether labelled and found positives can be samples of the same positives.

    Pool their scores. A positive of stratum k was found with probability :math:`f_k = n_k/M_k`; if labels are random,
    then given the pooled scores the found ones are a set drawn with weight :math:`\prod f`. The statistic is their
    rank sum S (ties: mean rank), :math:`p = \min(1, 2\min(P(S \ge s), P(S \le s)))`: all sets where there are fewer
    than 10,000, else 9,999 seeded ones, :math:`p = (1 + \text{count})/10{,}000` on each side.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 1, 0, 0]), np.array([10, 8, 7, 3, 6.0, 0.5]))
    >>> counts = AuditCounts(rows=[2, 30], checked=[1, 3], found=[1, 2], labelled=[3, 1], flagged=1)
    >>> stratum, score, answer = np.array([[0, 1, 1, 1], [9, 2, 1, 0.5], [1, 1, 1, 0]])
    >>> rows = CheckedRows(stratum=stratum.astype(int), score=score, answer=answer.astype(int))
    >>> answer = labelling_of(counts, rows, tally)
    >>> answer.method, round(answer.p_value, 6)
    ('all 35 sets', 0.061325)
    """
    confidence = check_confidence(confidence)
    curve = labelling_curve(counts, confidence=confidence, seed=seed)
    labelled, result, stratum = _pooled(counts, checked_rows, tally)
    power = power_of_test(
        counts.rows, counts.checked, expected_after(counts), labelled.size, level=1 - confidence, seed=seed
    )
    reason = _not_defined_because(counts, checked_rows, label_noise)
    if reason:
        return LabellingVerdict(math.nan, math.nan, power, curve, confidence, "not defined", reason)
    ranks = _midranks(np.concatenate([labelled, result]))
    fraction = np.divide(counts.checked, counts.rows, out=np.zeros(counts.strata), where=counts.rows > 0)
    tails = rank_sum_test(ranks, stratum, fraction, ranks[labelled.size :].sum(), result.size, seed)
    p_value = min(1.0, 2 * min(tails.at_most, tails.at_least))
    return LabellingVerdict(p_value, tails.z, power, curve, confidence, tails.method)


def expected_after(counts: AuditCounts) -> Floats:
    """Positives per stratum as guessed after checking: four imaginary rows with the share guessed before."""
    before = np.mean(guesses(counts.rows, counts.labelled, counts.flagged), axis=0)
    share = np.divide(before, counts.rows, out=np.zeros(counts.strata), where=counts.rows > 0)
    return np.asarray(counts.rows * (counts.found + counts.undecided / 2 + 4 * share) / (counts.checked + 4))


def _not_defined_because(counts: AuditCounts, checked_rows: CheckedRows, label_noise: float) -> str | None:
    if label_noise > 0:
        return "some labelled rows are said to be negative, and it is not known which"
    if not counts.labelled.sum():
        return "no row is labelled"
    if not counts.checked.sum():
        return "no row was checked"
    if counts.undecided.sum():
        return "some answers are undecided"
    if not counts.found.sum():
        return "no positive was found"
    edges = [checked_rows.score[checked_rows.stratum == index] for index in range(counts.strata)]
    used = [part for part in edges if part.size]
    if any(above.min() <= below.max() for above, below in pairwise(used)):
        return "ranges of scores overlap: a labelled row's chance of being checked is not known"
    return None


def _pooled(counts: AuditCounts, checked_rows: CheckedRows, tally: Tally) -> tuple[Floats, Floats, Counts]:
    """Scores of labelled and of found positives, and the stratum of each, labelled first."""
    increments = tally.increments()[0]
    labelled = np.repeat(np.asarray(tally.thresholds, np.float64), np.round(increments).astype(np.int64))
    if labelled.size != counts.labelled.sum():
        raise InputError(
            f"the tally holds {labelled.size:,} labelled positives and the audit's strata {counts.labelled.sum():,}: "
            "both must be counted on the same table, reviewed rows among the unlabelled."
        )
    positive = checked_rows.answer == 1
    result = np.bincount(checked_rows.stratum[positive], minlength=counts.strata)
    if result.size != counts.strata or (result != counts.found).any():
        raise InputError(
            f"the checked rows hold {result.tolist()} positives per stratum, the counts {counts.found.tolist()}."
        )
    stratum = np.concatenate([np.repeat(np.arange(counts.strata), counts.labelled), checked_rows.stratum[positive]])
    scores = np.asarray(checked_rows.score[positive], np.float64)
    if tally.binning is not None:  # labelled scores are known to their bin only, so found ones must not say more
        lowest = np.asarray(tally.thresholds, np.float64)[::-1]
        scores = lowest[np.maximum(np.searchsorted(lowest, scores, "right") - 1, 0)]
    return labelled, scores, stratum


def _midranks(scores: Floats) -> Floats:
    """Ranks from the lowest score, 1 first; equal scores share the mean of theirs."""
    _, index, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[index])


class RankSumTails(NamedTuple):
    """Chances of a rank sum as low or as high as the one seen, and its standard score."""

    at_most: float
    at_least: float
    z: float
    method: str


def rank_sum_test(
    ranks: Floats, stratum: Counts, fraction: Floats, seen: float, result: int, seed: int = 0
) -> RankSumTails:
    """Where the rank sum of the found ones lies among the sums of all sets of that size, weighted by their chances.

    >>> tails = rank_sum_test(np.arange(1.0, 5), np.zeros(4, int), np.array([0.5]), 3.0, 2)
    >>> tails.method, round(tails.at_most, 6), round(tails.at_least, 6)
    ('all 6 sets', 0.166667, 1.0)
    """
    sets = math.comb(ranks.size, result)
    if sets < MOST_SETS:
        chosen = np.array(list(combinations(range(ranks.size), result)))
        weight = fraction[stratum][chosen].prod(1)
        sums = ranks[chosen].sum(1)
        weight = weight / weight.sum()
        spread = math.sqrt(max(float((weight * (sums - (weight * sums).sum()) ** 2).sum()), 0.0))
        z = (seen - float((weight * sums).sum())) / spread if spread > 1e-12 else 0.0
        at_most, at_least = (float(weight[mask].sum()) for mask in (sums <= seen + 1e-9, sums >= seen - 1e-9))
        return RankSumTails(min(at_most, 1.0), min(at_least, 1.0), z, f"all {sets:,} sets")
    sums = _drawn_sums(np.random.default_rng(seed), ranks, stratum, fraction, result)
    spread = float(sums.std())
    z = (seen - float(sums.mean())) / spread if spread > 1e-12 else 0.0
    at_most, at_least = ((1 + int(mask.sum())) / (DRAWS + 1) for mask in (sums <= seen + 1e-9, sums >= seen - 1e-9))
    return RankSumTails(at_most, at_least, z, f"{DRAWS:,} draws")


def _drawn_sums(rng: np.random.Generator, ranks: Floats, stratum: Counts, fraction: Floats, result: int) -> Floats:
    """Rank sums of sets drawn by their weights: how many fall into each stratum, then any of its rows."""
    sizes = np.bincount(stratum, minlength=fraction.size)
    sums = np.zeros(DRAWS)
    for index, taken in enumerate(_drawn_numbers(rng, sizes, fraction, result).T):
        if taken.max():
            sums += _subset_sums(rng, ranks[stratum == index], taken)
    return sums


def _drawn_numbers(rng: np.random.Generator, sizes: Counts, fraction: Floats, result: int) -> Counts:
    r"""Draws of how many found ones each stratum holds, weight :math:`\prod_k \binom{N_k}{c_k} f_k^{c_k}`.

    ``rest[k][j]`` is the logarithm of the weight of all ways to place j of them from stratum k on.
    """
    number = np.arange(result + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max(int(sizes.max()), result) + 1)))])
    logs, rest = [], [np.where(number == 0, 0.0, -np.inf)]
    for size, share in zip(sizes[::-1], fraction[::-1], strict=True):
        fits = np.minimum(number, size)
        one = log_factorial[size] - log_factorial[fits] - log_factorial[size - fits]
        one = one + (number * math.log(share) if share > 0 else np.where(number == 0, 0.0, -np.inf))
        one[number > size] = -np.inf
        logs.append(one)
        after, joined = rest[-1], np.full(result + 1, -np.inf)
        for total in range(result + 1):
            both = one[: total + 1] + after[total::-1]
            top = both.max()
            joined[total] = top + math.log(np.exp(both - top).sum()) if top > -np.inf else -np.inf
        rest.append(joined)
    logs, rest = logs[::-1], rest[::-1]
    left = np.full(DRAWS, result)
    answer = np.empty((DRAWS, sizes.size), np.int64)
    for index in range(sizes.size):
        uniform = rng.random(DRAWS)
        for total in np.unique(left):
            chance = np.exp(logs[index][: total + 1] + rest[index + 1][total::-1] - rest[index][total])
            here = left == total
            drawn = np.searchsorted(np.cumsum(chance), uniform[here] * chance.sum(), side="right")
            answer[here, index] = np.minimum(drawn, total)
        left = left - answer[:, index]
    return answer


def _subset_sums(rng: np.random.Generator, ranks: Floats, taken: Counts) -> Floats:
    """Sums of random subsets of the ranks, one for each size."""
    size, most = ranks.size, int(taken.max())
    if 2 * most > size:  # the smaller side is drawn
        return (
            np.asarray(ranks.sum() - _subset_sums(rng, ranks, size - taken))
            if taken.min() * 2 > size
            else _by_keys(rng, ranks, taken)
        )
    if size < 64 or most * 8 > size:
        return _by_keys(rng, ranks, taken)
    sums = np.empty(taken.size)
    step = max(_MOST_KEYS // most, 1)
    for start in range(0, taken.size, step):
        part = taken[start : start + step]
        picked = _distinct(rng, size, part.size, most)
        sums[start : start + step] = (ranks[picked] * (np.arange(most) < part[:, None])).sum(1)
    return sums


def _by_keys(rng: np.random.Generator, ranks: Floats, taken: Counts) -> Floats:
    sums = np.empty(taken.size)
    step = max(_MOST_KEYS // ranks.size, 1)
    for start in range(0, taken.size, step):
        part = taken[start : start + step]
        shuffled = rng.permuted(np.broadcast_to(ranks, (part.size, ranks.size)), axis=1)
        totals = np.concatenate([np.zeros((part.size, 1)), np.cumsum(shuffled, axis=1)], axis=1)
        sums[start : start + step] = totals[np.arange(part.size), part]
    return sums


def _distinct(rng: np.random.Generator, size: int, draws: int, most: int) -> Counts:
    """Places without repeats: a repeat is drawn again, as if one had been taken after the other."""
    picked = rng.integers(size, size=(draws, most))
    while True:
        order = np.argsort(picked, axis=1, kind="stable")
        ordered = np.take_along_axis(picked, order, axis=1)
        again = np.zeros(picked.shape, bool)
        np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
        repeats = int(again.sum())
        if not repeats:
            return picked
        picked[again] = rng.integers(size, size=repeats)
