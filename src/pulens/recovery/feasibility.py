"""Recovered rates that no classifier can have, and whether chance alone explains them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.counts.segment_block import SegmentBlock
from pulens.counts.tally import Tally
from pulens.inference.kernels.redraws import compress
from pulens.notice import Notice, Severity
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import ROUNDING
from pulens.recovery.many import ManyRecoveries
from pulens.recovery.point import Recovery, observed_rates
from pulens.scenario import Scenario
from pulens.types import Booleans, Floats

CHANCE_LIMIT = 4.0  # the largest of many correlated deviations reaches 3 to 3.5 standard errors by chance
USUAL = 0.3  # chance of an excess from which on it is not worth a word
FALSE_ALARMS = 0.005  # what a deviation of that size counts as, where a doubtful class prior has a part in it
THINNED, HALVINGS = 4096, 30


@dataclass(frozen=True, slots=True)
class ImpossibleRates:
    """How far recovered rates leave [0, 1], where it is worst, and in standard errors of the rows.

    ``prior_explains``: the class prior is itself in doubt, and lower values that it may well have leave no such rates.
    """

    thresholds: int
    worst_threshold: float
    rate: str
    value: float
    standard_errors: float
    prior_explains: bool = False

    @property
    def is_chance(self) -> bool:
        """Whether chance, in the rows or in the class prior, explains the rates."""
        return self.standard_errors < CHANCE_LIMIT or self.prior_explains

    def notice(self, tally: Tally, assumptions: Assumptions) -> Notice | None:
        """What was seen and how often chance shows it; None where it usually does."""
        if not self.thresholds:
            return None
        seen = (
            f"The recovered {self.rate} at threshold {self.worst_threshold:.6g} is {self.value:.4f}, outside [0, 1] "
            f"(at {self.thresholds:,} threshold{'s' if self.thresholds > 1 else ''})"
        )
        if self.prior_explains:
            return Notice(
                Severity.NOTE,
                "impossible-rates",
                f"{seen}; values were clipped. The class prior's own uncertainty explains it: the unlabelled rows were "
                f"taken to be {assumptions.unlabelled_prior:.1%} positive, and random labels fit with fewer.",
            )
        if self.standard_errors < CHANCE_LIMIT:
            chance = chance_of_excess(tally, assumptions, self.standard_errors)
            if chance >= USUAL:
                return None
            return Notice(
                Severity.NOTE,
                "impossible-rates",
                f"{seen}; values were clipped. The largest excess is {self.standard_errors:.1f} standard errors: "
                "with random labels and this class prior at most about 1 sample in "
                f"{1 / chance:,.0f} shows as much or more.",
            )
        return Notice(
            Severity.WARNING,
            "impossible-rates",
            f"{seen}. At {min(self.standard_errors, 99):.0f} standard errors this is not chance. Likely causes: the "
            f"class prior is too high (the unlabelled rows were taken to be {assumptions.unlabelled_prior:.1%} "
            "positive), the label noise is wrong, or positives with high scores were labelled more often. The numbers "
            "shown are the possible ones, and their ranges are not sampling error.",
        )


def impossible_rates(tally: Tally, assumptions: Assumptions) -> ImpossibleRates:
    """Look for rates outside [0, 1] along the whole ranking.

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([4, 3, 2, 1]))
    >>> impossible_rates(tally, Assumptions(0.0)).thresholds
    0
    """
    totals = tally.totals
    recovery = Recovery.of(totals, assumptions)
    thresholds, worst = 0, (-math.inf, 0.0, "", 0.0)
    names = ("true positive rate", "false positive rate")
    for block in tally.blocks():
        observed = observed_rates(tally, block)
        recovered = recovery.rates(*observed)
        outside = np.zeros(tally.thresholds[block].size, bool)
        for name, rate, coefficients in zip(
            names, recovered, (recovery.true_positive_rate, recovery.false_positive_rate), strict=True
        ):
            rate = np.broadcast_to(rate, outside.shape)
            excess = np.maximum(-rate, rate - 1)
            excess = np.where(excess > ROUNDING, excess, 0.0)
            outside |= excess > 0
            if not excess.any():
                continue
            deviations = excess / _standard_error(observed, rate, coefficients, totals)
            index = int(np.argmax(deviations))
            worst = max(
                worst, (float(deviations[index]), float(tally.thresholds[block][index]), name, float(rate[index]))
            )
        thresholds += int(np.count_nonzero(outside))
    deviation, threshold, name, value = worst
    return ImpossibleRates(thresholds, threshold, name, value, deviation if thresholds else 0.0)


def chance_of_excess(tally: Tally, assumptions: Assumptions, standard_errors: float) -> float:
    r"""A bound on the chance that the largest deviation along the ranking is so large, if the assumptions hold.

    At worst the true rate is at the edge of [0, 1] all along, and the standardised deviation is a Gaussian process Z
    whose correlation between neighbouring thresholds is :math:`1 - \lambda_j` with :math:`\lambda_j` half the variance
    that the rows between them add over the variance there. Then (Miller and Siegmund 1982, who have the empirical
    process of one sample, where :math:`\sum 2\lambda_j` is the logarithm of an odds ratio)

    .. math:: P(\max |Z| \ge x) \lesssim 2\Phi(-x) + \sum_j \min\{2 x \varphi(x) \lambda_j, 2\Phi(-x)\},

    where the minimum is Bonferroni's bound for steps so large that neighbours are as good as independent. Both edges
    are counted, and both rates where labels are noisy.

    >>> tally = Tally.from_arrays(np.repeat([1, 0], [100, 1000]), np.r_[np.ones(100), np.ones(100), np.zeros(900)])
    >>> round(chance_of_excess(tally, Assumptions(0.12), 3.0), 5)
    0.0054
    """
    from pulens.special import ndtr

    if standard_errors <= 0:
        return 1.0
    totals = tally.totals
    recovery = Recovery.of(totals, assumptions)
    x = standard_errors
    single = 2 * float(ndtr(-x))
    slope = 2 * x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    chance = 0.0
    for coefficients in (recovery.true_positive_rate, recovery.false_positive_rate):
        if sum(1 for each in coefficients if each) < 2:
            continue  # the rate of one kind of row is a rate
        before: list[float] | None = None
        for block in tally.blocks():
            observed = observed_rates(tally, block)
            variance, added = np.zeros(observed[0].shape), np.zeros(observed[0].shape)
            first = before is None
            for kind, (rate, coefficient, total) in enumerate(zip(observed, coefficients, totals, strict=True)):
                if coefficient and total:
                    variance += coefficient**2 * _binomial_variance(rate, total)
                    added += coefficient**2 * np.diff(rate, prepend=rate[0] if before is None else before[kind]) / total
            chance += single * first + float(np.minimum(slope * added / (2 * variance), single).sum())
            before = [float(rate[-1]) for rate in observed]
    return min(chance, 1.0)


def prior_explains(tally: Tally, assumptions: Sequence[Assumptions], *, inflation: float = 1.0) -> bool:
    r"""Whether the doubt about a class prior explains recovered rates that its value and the rows' chance do not.

    ``assumptions`` hold even quantiles of the share of positives among the unlabelled rows, lowest first. At each of
    them an excess of x standard errors counts as a chance of :math:`\epsilon\,\Phi(-x)/\Phi(-4)`, at most 1, with
    :math:`\epsilon` the false alarms that are allowed; their mean is the chance that rows and class prior together go
    so far, and more than :math:`\epsilon` explains the rates. So an exact class prior contradicts the rows from four
    standard errors on, and endless rows contradict one whose distribution gives what they allow less than
    :math:`\epsilon`. ``inflation`` is how many times as large standard errors are because rows belong together.

    >>> tally = Tally.from_arrays(np.repeat([1, 0], [100, 1000]), np.r_[np.ones(100), np.ones(100), np.zeros(900)])
    >>> [prior_explains(tally, [Assumptions(low), Assumptions(0.18)]) for low in (0.12, 0.17)]
    [True, False]
    """
    from pulens.special import ndtr

    coarse, allowed, result = compress(tally, THINNED), FALSE_ALARMS * len(assumptions), 0.0
    for index, each in enumerate(assumptions):
        errors = impossible_rates(coarse, each).standard_errors / inflation
        chance = min(1.0, FALSE_ALARMS * float(ndtr(-errors) / ndtr(-CHANCE_LIMIT)))
        result += chance
        if result > allowed:
            return True
        if result + chance * (len(assumptions) - index - 1) <= allowed:  # higher shares have smaller chances
            return False
    return False


def largest_possible_prior(
    tally: Tally,
    label_noise: float,
    scenario: Scenario,
    *,
    between: tuple[float, float] | None = None,
    inflation: float = 1.0,
) -> float:
    """Largest share of positives among the unlabelled rows whose recovered rates chance can still explain.

    Deviations in standard errors grow with the share, so halving finds it; ``between`` says where to look.
    A long ranking is searched at some of its thresholds, and all of them judge the answer. Standard errors are
    ``inflation`` times as large where rows belong together.

    >>> tally = Tally.from_arrays(np.repeat([1, 0], [100, 1000]), np.r_[np.ones(100), np.ones(100), np.zeros(900)])
    >>> round(largest_possible_prior(tally, 0.0, Scenario.CASE_CONTROL), 3)
    0.154
    """
    purity = 1 - label_noise
    if not tally.totals.unlabelled:
        return purity

    def fits(counts: Tally, share: float) -> bool:
        result = impossible_rates(counts, Assumptions(share, label_noise, scenario))
        return result.standard_errors < CHANCE_LIMIT * inflation

    def halved(counts: Tally, low: float, high: float, times: int) -> float:
        for _ in range(times):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(counts, middle) else (low, middle)
        return low

    low, high = (0.0, 0.999 * purity) if between is None else between
    if fits(tally, high):
        return high
    coarse = compress(tally, THINNED)
    result = halved(coarse, low, high, HALVINGS)
    if coarse is tally or fits(tally, result):
        return result
    return halved(tally, low, result, HALVINGS // 2)


def largest_excess(block: SegmentBlock, maps: ManyRecoveries) -> tuple[Floats, Booleans]:
    """Of each segment the largest excess of :func:`impossible_rates`, and whether any rate leaves [0, 1]."""
    worst, outside = np.zeros(len(block)), np.zeros(len(block), bool)
    for coefficients in (maps.hits, maps.alarms):
        each = [np.broadcast_to(coefficient, (len(block),)) for coefficient in coefficients]
        rate: Any = 0.0
        for kind in block.kinds:
            if each[kind].any():
                rate = rate + each[kind][block.owner] * block.rates[kind]
        excess = np.maximum(-rate, rate - 1)
        rows = np.flatnonzero(excess > ROUNDING)
        if not rows.size:
            continue
        own = block.owner[rows]
        observed = [block.rates[kind][rows] for kind in block.kinds]
        here, totals = ([part[kind][own] for kind in block.kinds] for part in (each, block.totals.T))
        np.maximum.at(worst, own, excess[rows] / _standard_error(observed, rate[rows], here, totals))
        outside[own] = True
    return worst, outside


def _standard_error(observed: Sequence[Any], recovered: Any, coefficients: Sequence[Any], totals: Sequence[Any]) -> Any:
    """Binomial standard error of a recovered rate that left [0, 1], never zero: half a row is added to each count.

    Each observed rate is also moved, alone, to where the recovered one would be at the edge that it crossed, and the
    larger of the two variances counts. At the head of a pure ranking none of three expected rows may have come yet:
    by the variance at "none" that would be four standard errors, and chance does it once in twenty samples.
    """
    missing = np.clip(recovered, 0.0, 1.0) - recovered
    variance = np.zeros(observed[0].shape)
    for rate, coefficient, total in zip(observed, coefficients, totals, strict=True):
        counts = np.asarray((coefficient != 0) & (total > 0))
        if counts.any():
            at_edge = np.clip(rate + missing / np.where(counts, coefficient, 1.0), 0.0, 1.0)
            spread = [_binomial_variance(each, np.where(counts, total, 1.0)) for each in (rate, at_edge)]
            variance += np.where(counts, coefficient**2 * np.maximum(*spread), 0.0)
    return np.sqrt(variance)


def _binomial_variance(rate: Any, total: Any) -> Any:
    smoothed = (rate * total + 0.5) / (total + 1)
    return np.asarray(smoothed * (1 - smoothed) / total)
