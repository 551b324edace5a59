r"""The top of a list: how many rows stand above each score, what the ranks weigh, and how many rows k are.

The list is what the scenario calls the population: the unlabelled rows in case-control, all rows in the single set.
A row at a score with A rows of the list strictly above it and E tied stands at each of the ranks A+1 to A+E with the
same chance, so a measure that weighs ranks by :math:`W_1, W_2, \ldots` gives it their mean: exact over random orders of
ties. Scores of labelled rows that no row of the list has (E = 0) get :math:`W_{A+1}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import PulensError, shown
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions
from pulens.scalars import real
from pulens.scenario import Scenario
from pulens.types import Counted, Floats

SHORT = 5.0  # times the decay: lists of fewer rows rest on a handful of them
LEAST_DECAY = 1e-6  # below, all ranks weigh the same to the last digits
ONE_BY_ONE = 1_000_000  # ranks whose weights are added up; beyond, their sum is smooth to the last digit
Running = Callable[[Floats], Floats]  # the sum of the weights of the first x ranks


@dataclass(frozen=True, eq=False)
class RankedList:
    """Scores in falling order, and how many rows of the list stand above each of them and at it."""

    tally: Tally
    is_apart: bool  # the unlabelled rows alone are the list
    recovery: Recovery

    @classmethod
    def of(cls, tally: Tally, assumptions: Assumptions) -> RankedList:
        return cls(tally, is_unlabelled_list(tally, assumptions), Recovery.of(tally.totals, assumptions))

    @cached_property
    def reached(self) -> Counted:
        """How many rows of the list stand at or above each score."""
        tally = self.tally
        return tally.unlabelled if self.is_apart else tally.labelled + tally.unlabelled + tally.negative

    @property
    def rows(self) -> float:
        return float(self.tally.totals.unlabelled if self.is_apart else self.tally.totals.rows)

    @cached_property
    def kinds(self) -> tuple[Floats, Floats, Floats]:
        """Rows of each kind at each score."""
        labelled, unlabelled, negative = (np.asarray(kind, float) for kind in self.tally.increments())
        return labelled, unlabelled, negative

    @cached_property
    def tied(self) -> Floats:
        labelled, unlabelled, negative = self.kinds
        return unlabelled if self.is_apart else labelled + unlabelled + negative

    @cached_property
    def above(self) -> Floats:
        return np.asarray(np.cumsum(self.tied) - self.tied)

    @property
    def totals(self) -> tuple[float, float, float]:
        totals = self.tally.totals
        return totals.labelled, totals.unlabelled, totals.negative

    @property
    def positives(self) -> float:
        """How many rows of the list are positive; not a whole number."""
        return self.recovery.positive

    def weights(self, running: Running) -> Floats:
        """The mean weight of the ranks at which a row of each score may stand."""
        tied = np.where(self.tied > 0, self.tied, 1.0)
        return np.asarray((running(self.above + tied) - running(self.above)) / tied)

    def membership(self, k: float) -> Floats:
        r"""The chance :math:`\mathrm{clip}((k - A)/E, 0, 1)` that a row of each score is among the first k."""
        inside = np.divide(k - self.above, self.tied, out=np.where(self.above < k, 1.0, 0.0), where=self.tied > 0)
        return np.clip(inside, 0.0, 1.0)

    def of_positives(self, weights: Floats) -> float:
        """The mean weight of a positive: the recovery's coefficients times the mean of each kind."""
        return float(
            sum(
                coefficient * float(kind @ weights) / total
                for coefficient, kind, total in zip(
                    self.recovery.true_positive_rate, self.kinds, self.totals, strict=True
                )
                if coefficient and total
            )
        )

    def among(self, places: Floats) -> Floats:
        """How many rows of each kind stand among the first ones, at several places of the list.

        All above the score of the last, and a part of those that share it: sums of :meth:`membership`.
        """
        index = np.minimum(np.searchsorted(self.reached, places), len(self.tally) - 1)
        before, kinds = np.maximum(index - 1, 0), (self.tally.labelled, self.tally.unlabelled, self.tally.negative)
        first = np.asarray(index == 0)
        above, upto = np.where(first, 0.0, self.reached[before]), np.asarray(self.reached[index], float)
        part = np.divide(places - above, upto - above, out=np.where(places > above, 1.0, 0.0), where=upto > above)
        part = np.clip(part, 0.0, 1.0)
        counted = ((np.where(first, 0.0, kind[before]), np.asarray(kind[index], float)) for kind in kinds)
        return np.stack([start + part * (end - start) for start, end in counted])

    def positives_among(self, k: float) -> float:
        """How many of the first k rows are positive, fitting together with other places of the list.

        The counts of positives and of negatives both rise with k: if 8 of the first 20 rows are not positive, at most
        92 of the first 100 are. Counts recovered at each place by itself may break that. They are moved as little as
        possible, in their standard errors, until they do not, at the round places of the list
        (:func:`fitting_together`). Places in between are cut to what they allow, rounder ones first: whichever
        places are asked for, their counts fit together. In one sample labelled rows are positives, and known
        negatives are none.
        """
        ends, between = self.places_with(k)
        places = np.array([*ends, *between])
        counts, rows, known, spread = self._hidden(places)
        counts[: len(ends)] = fitting_together(*(part[: len(ends)] for part in (counts, rows, spread)))
        for index in range(len(ends), places.size):
            counts[index] = cut_between(
                counts[index], rows[index], *around(places[:index], places[index], counts, rows)
            )
        asked = int(np.flatnonzero(places == k)[0])
        return float(counts[asked] + known[asked])

    def _hidden(self, places: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Positives that nobody knows and rows that they may be, at places of the list; known positives; errors."""
        counted = self.among(places)
        labelled, _, negative = counted
        known, none = (labelled, negative) if self.proves_labelled else (0.0 * labelled, 0.0 * negative)
        parts = zip(self.recovery.true_positive_rate, counted, self.totals, strict=True)
        raw = self.positives * sum(weight * kind / total for weight, kind, total in parts if weight and total)
        is_end = (places == 0) | (places == self.rows)
        raw = np.where(is_end, np.where(places == 0, 0.0, self.positives), raw)
        seen = (labelled + 0.5) / (self.totals[0] + 1.0)
        spread = self.positives * np.sqrt(seen * (1 - seen) / max(self.totals[0], 1.0))
        return raw - known, places - known - none, known, np.where(is_end, 0.0, spread)

    def places_with(self, k: float) -> tuple[list[float], list[float]]:
        """Places whose counts fit together with that of the first k: none, round numbers and all; then ever nearer."""
        ends = [0.0, *round_places(self.rows), self.rows]
        between: list[float] = []
        while k not in (*ends, *between):
            low = max(place for place in (*ends, *between) if place < k)
            high = min(place for place in (*ends, *between) if place > k)
            between.append(roundest_between(low, high) or k)
        return ends, between

    @property
    def proves_labelled(self) -> bool:
        """Whether the list holds the labelled rows, and all of them are positives."""
        return not self.is_apart and self.recovery.true_positive_rate[0] == 1.0


def round_places(rows: float) -> list[float]:
    """1, 2 or 5 times a power of ten, from 10 on, below a number of rows."""
    powers = range(1, max(len(str(int(rows))), 1))
    return [step for step in (float(digit * 10**power) for power in powers for digit in (1, 2, 5)) if step < rows]


def roundest_between(low: float, high: float) -> float | None:
    """The multiple of the largest power of ten between two places, the one nearest to their middle if there are many.

    >>> roundest_between(20, 50), roundest_between(100, 200), roundest_between(34, 38), roundest_between(34, 35)
    (40.0, 150.0, 36.0, None)
    """
    step = 10.0 ** math.floor(math.log10(max(high - low, 1.0)))
    while step >= 1:
        first, last = math.floor(low / step) + 1, math.ceil(high / step) - 1
        if first <= last:
            return step * min(max(math.floor((low + high) / (2 * step) + 0.5), first), last)
        step /= 10
    return None


def fitting_together(counts: Floats, rows: Floats, spread: Floats) -> Floats:
    r"""Counts that rise with the rows, and by no more than these: as near to the ones given as that allows.

    Of all functions H with :math:`0 \le H_j - H_i \le m_j - m_i` for rows :math:`m_i \le m_j` those are nearest whose
    largest deviation :math:`t = \max_i |H_i - u_i|/s_i` is smallest: t is the largest excess over all pairs, over the
    sum of their spreads. Where several are as near, the middle between the lowest and the highest.

    >>> fitting_together(np.array([0.0, 12.0, 101.0]), np.array([0.0, 20.0, 100.0]), np.array([0.0, 1.0, 2.0]))
    array([ 0., 15., 95.])
    """
    less = rows[:, None] <= rows[None, :]
    falls = np.where(less, counts[:, None] - counts[None, :], -np.inf)
    leaps = np.where(less, (counts[None, :] - counts[:, None]) - (rows[None, :] - rows[:, None]), -np.inf)
    together = spread[:, None] + spread[None, :]
    excess = np.maximum(falls, leaps)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = max(float(np.max(np.where((excess > 0) & (together > 0), excess / together, 0.0))), 0.0)
    lowest, highest = counts - t * spread, counts + t * spread
    beyond = np.maximum(rows[None, :] - rows[:, None], 0.0)  # [i, j]: how far the rows of j reach beyond those of i
    lower, upper = (lowest[None, :] - beyond).max(axis=1), (highest[None, :] + beyond.T).min(axis=1)
    return np.asarray((lower + upper) / 2)


def around(known: Floats, place: float, *values: Floats) -> list[tuple[float, float]]:
    """What several columns hold at the nearest known places below and above one."""
    below, above = (
        int(np.argmax(np.where(side, order, -np.inf)))
        for side, order in ((known < place, known), (known > place, -known))
    )
    return [(float(column[below]), float(column[above])) for column in values]


def cut_between(count: float, rows: float, counts: tuple[float, float], reach: tuple[float, float]) -> float:
    """A count that rises from the one before and to the one after, and by no more than the rows.

    >>> cut_between(9.0, 15.0, (6.0, 8.0), (10.0, 20.0)), cut_between(7.0, 15.0, (6.0, 16.0), (10.0, 20.0))
    (8.0, 11.0)
    """
    least = max(counts[0], counts[1] - (reach[1] - rows))
    return min(max(count, least), counts[1], counts[0] + (rows - reach[0]))


def rising_with(rows: Floats, counts: Floats) -> tuple[Floats, Floats]:
    r"""The highest counts nowhere above and the lowest nowhere below these that rise with the rows and by no more.

    :math:`\min_j u_j + (m_i - m_j)^+` and :math:`\max_j u_j - (m_j - m_i)^+`.

    >>> rising_with(np.array([0.0, 10.0, 20.0]), np.array([0.0, 3.0, 16.0]))
    (array([ 0.,  3., 13.]), array([ 0.,  6., 16.]))
    """
    slack = counts - rows
    lower = np.minimum(np.minimum.accumulate(counts[::-1])[::-1], rows + np.minimum.accumulate(slack))
    upper = np.maximum(np.maximum.accumulate(counts), rows + np.maximum.accumulate(slack[::-1])[::-1])
    return lower, upper


def is_unlabelled_list(tally: Tally, assumptions: Assumptions) -> bool:
    """Whether the unlabelled rows alone are the list."""
    return assumptions.scenario is Scenario.CASE_CONTROL and tally.totals.unlabelled > 0


def rows_of(k: Any, rows: float, measure: str) -> float:
    """How many rows k are: rows as they are, a share of the list rounded up, its decimals taken as exact.

    >>> rows_of(20, 100, "recall_at_k"), rows_of(0.07, 100, "recall_at_k"), rows_of("1%", 250, "recall_at_k")
    (20.0, 7.0, 3.0)
    >>> rows_of(1.0, 100, "recall_at_k")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: k of recall_at_k must be a whole number of rows, a share between 0 and 1 or a percentage
    such as '5%', got 1.0: one row is 1, all rows are '100%'.
    """
    text = str(k).strip()
    wanted = f"k of {measure} must be a whole number of rows, a share between 0 and 1 or a percentage such as '5%'"
    try:
        number = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        raise PulensError(f"{wanted}, got {shown(k)}.") from None
    is_share = text.endswith("%")
    if isinstance(k, bool) or not number.is_finite() or number <= 0:
        raise PulensError(f"{wanted}, got {shown(k)}.")
    if text == "1.0" or (number == 1 and isinstance(k, float)):
        raise PulensError(f"{wanted}, got {text}: one row is 1, all rows are '100%'.")
    if is_share or number < 1:
        share = number / 100 if is_share else number
        if share > 1:
            raise PulensError(f"{wanted}, got {shown(k)}, which is more than all rows.")
        return min(float((share * Decimal(repr(float(rows)))).to_integral_value(ROUND_CEILING)), rows)
    if number != number.to_integral_value():
        raise PulensError(f"{wanted}, got {shown(k)}.")
    if float(number) > rows:
        raise PulensError(
            f"k of {measure} is {float(number):,.10g} rows, and the list has {rows:,.10g}: ask for at most that many."
        )
    return float(number)


def binned_share(tally: Tally, assumptions: Assumptions, k: float) -> float:
    """What binning can change in recall at k: the share of positives in the bin that holds the k-th row.

    Which of the bin's rows stand before the k-th is not known; all other rows stand where they would.
    """
    ranked = RankedList.of(tally, assumptions)
    if tally.binning is None or not len(tally):
        return 0.0
    index = min(int(np.searchsorted(ranked.above + ranked.tied, k)), len(tally) - 1)
    if tally.highest[index] == tally.thresholds[index]:
        return 0.0
    parts = zip(ranked.recovery.true_positive_rate, ranked.kinds, ranked.totals, strict=True)
    return float(sum(abs(weight) * kind[index] / total for weight, kind, total in parts if total))


def refuse_weights(tally: Tally, measure: str) -> None:
    """Ranks are those of whole rows."""
    if tally.is_weighted:
        raise PulensError(
            f"{measure} weighs ranks, and ranks need rows: it was given weights. Leave the weights out, or use "
            "recall_at_k, precision_at_k or enrichment_factor, which take them."
        )


def discounts(k: float) -> Running:
    r"""The running sum of :math:`1/\log_2(i+1)` up to rank k, linear between whole numbers.

    Term by term over the first million ranks; beyond, by the formula of Euler and Maclaurin, where the first term left
    out is below :math:`10^{-20}`: a tally may stand for more rows than could be counted through.

    >>> discounts(3)(np.array([0.0, 1.0, 2.5, 3.0])).round(6)
    array([0.     , 1.     , 1.88093, 2.13093])
    """
    indices = np.arange(min(math.floor(k), ONE_BY_ONE) + 1.0)
    sums = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(indices[1:] + 1.0))])

    def running(ranks: Floats) -> Floats:
        x = np.minimum(np.asarray(ranks, float), math.floor(k))
        result = np.asarray(np.interp(x, indices, sums))
        if k >= ONE_BY_ONE + 1:
            below = np.floor(np.maximum(x, ONE_BY_ONE))
            further = sums[-1] + _smooth_discounts(below) - _smooth_discounts(np.array(float(ONE_BY_ONE)))
            further += (x - below) / np.log2(below + 2.0)
            result = np.where(x > ONE_BY_ONE, further, result)
        return result

    return running


def _smooth_discounts(ranks: Floats) -> Floats:
    r"""The sum of :math:`1/\log_2(i+1)` up to a rank, but for a constant: integral, half a term, slope / 12."""
    from pulens.special import expi

    log = np.log(ranks + 1.0)
    return np.asarray(math.log(2) * (expi(log) + 0.5 / log - 1.0 / (12.0 * (ranks + 1.0) * log**2)))


def decays(decay: float, rows: float) -> Running:
    r"""The running sum of :math:`e^{-a i/N}`: :math:`(1 - e^{-ax/N})/(e^{a/N} - 1)`."""

    def running(ranks: Floats) -> Floats:
        if decay / rows > 700.0:  # all of the weight is on the first rank, and it is nothing
            return np.where(np.asarray(ranks) >= 1, math.exp(-min(decay / rows, 745.0)), 0.0)
        return np.asarray(-np.expm1(-decay * np.asarray(ranks) / rows) / np.expm1(decay / rows))

    return running


def check_decay(decay: Any, measure: str) -> float:
    """How steeply ranks lose weight: a number above 0, and far enough above it to weigh ranks differently."""
    number = real(decay)
    if not LEAST_DECAY <= number < math.inf:
        raise PulensError(
            f"decay of {measure} must be a number above 0, got {shown(decay)}; the least is {LEAST_DECAY:g}. 20 puts "
            "80% of the weight on the first 8% of the list."
        )
    return number


def short_list(tally: Tally, assumptions: Assumptions, *, decay: float = 20.0) -> str:
    """Said where the list is short for the decay: few rows then carry all of the weight.

    The first :math:`x` rows carry a share :math:`(1 - e^{-ax/N})/(1 - e^{-a})` of it.
    """
    rows = RankedList.of(tally, assumptions).rows
    if rows >= SHORT * decay:
        return ""
    many = min(max(math.ceil(rows * math.log(5) / decay), 1), rows)
    rests = "1 row carries" if many == 1 else f"{many:,.0f} rows carry"
    return f"the list has {rows:,.10g} rows, few for decay {decay:g}: its first {rests} 80% of the weight"
