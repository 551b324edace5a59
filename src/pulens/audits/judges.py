r"""Judges who err: limits that allow for wrong answers, and what two judges on the same rows tell.

A judge calls a negative positive with probability :math:`\alpha`, a positive negative with probability :math:`\beta`.
Had she judged all M rows of a group of strata that holds X positives, she would have called
:math:`Y = X(1-\beta) + (M-X)\alpha` of them positive on average, so that :math:`X = (Y - \alpha M)/(1-\alpha-\beta)`
(Rogan and Gladen 1978). An audit estimates Y, and has limits for it, exactly as it would for X without errors. The map
is linear, so it is applied to the group's total and cut to 0..M once: cut stratum by stratum, strata where she calls
a few negatives positive would add up to positives that nobody has. Given X, Y varies with variance
:math:`X\beta(1-\beta) + (M-X)\alpha(1-\alpha)`, which is added to the draws and remains when every row was judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.audits.counts import AuditCounts
from pulens.audits.estimates import estimated_positives, margins_of
from pulens.audits.formulas import FORMULAS, Formula
from pulens.audits.limits import DRAWS, IntervalKind, Pair, check_interval, draw_totals, one_tail, quantile
from pulens.confidence import check_confidence
from pulens.containers import plain_array
from pulens.errors import AssumptionError, InputError, shown
from pulens.estimate import Estimate, Interval
from pulens.inference.kernels.exact import binomial_ends
from pulens.inference.kernels.resampling import check_seed
from pulens.scalars import is_among, real
from pulens.types import Floats

RATES_IN_RANGE = 3  # of a range of rates: both ends and the middle


@dataclass(frozen=True, slots=True)
class ReviewerErrors(Answer):
    """How often a judge calls a negative positive and a positive negative; each rate a number or a range.

    >>> ReviewerErrors.of((0.01, (0.05, 0.1)))
    ReviewerErrors(false_positive_rate=(0.01, 0.01), false_negative_rate=(0.05, 0.1))
    """

    false_positive_rate: tuple[float, float]
    false_negative_rate: tuple[float, float]

    @classmethod
    def of(cls, given: Any) -> ReviewerErrors:
        """Check what a user gave: ``(false positive rate, false negative rate)``."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise AssumptionError(
                "reviewer_errors must be two rates, (false_positive_rate, false_negative_rate), each a number or range "
                f"(low, high), got {shown(given)}."
            )
        rates = [_rate(one) for one in given]
        if rates[0][1] + rates[1][1] >= 1:
            raise AssumptionError(
                f"reviewer_errors must add up to less than 1, got {shown(given)}: such answers say nothing about a row."
            )
        return cls(*rates)

    def values(self) -> Iterator[tuple[float, float]]:
        """Pairs of rates over which limits are joined."""
        ends = (
            np.unique(np.linspace(*rate, RATES_IN_RANGE))
            for rate in (self.false_positive_rate, self.false_negative_rate)
        )
        for first, second in product(*ends):
            yield float(first), float(second)

    @property
    def middle(self) -> tuple[float, float]:
        return sum(self.false_positive_rate) / 2, sum(self.false_negative_rate) / 2

    def __str__(self) -> str:
        parts = (
            f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
            for low, high in (self.false_positive_rate, self.false_negative_rate)
        )
        first, second = parts
        return f"judges call {first} of negatives positive and {second} of positives negative"


def _rate(given: Any) -> tuple[float, float]:
    ends = given if isinstance(given, tuple | list) else (given, given)
    numbers = [real(end) for end in ends]
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] < 1:
        raise AssumptionError(
            f"a reviewer's error rate must lie between 0 and 1, or be a range (low, high) of such, got {shown(given)}: "
            "write 5% as 0.05."
        )
    return numbers[0], numbers[1]


def judged_estimates(
    counts: AuditCounts,
    reviewer_errors: Any,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Column one if judges err at given rates; over a range of rates the intervals hold whatever rate is true.

    >>> counts = AuditCounts(rows=[200, 300, 900, 2600, 6000], checked=[60, 40, 35, 30, 35], found=[45, 8, 2, 0, 0],
    ...                      flagged=1, scenario="case-control")
    >>> strict, lenient = (judged_estimates(counts, (0.0, missed))["precision"].value for missed in (0.1, 0.0))
    >>> strict > lenient
    True
    """
    errors, kind, confidence = (
        ReviewerErrors.of(reviewer_errors),
        check_interval(interval),
        check_confidence(confidence),
    )
    values = _values(counts, *errors.middle)
    ends: dict[str, tuple[float, float]] = {}
    for result in _corners(counts):
        drawn = draw_totals(counts.rows, counts.checked, result, counts.flagged, interval=kind, draws=draws, seed=seed)
        calls = {"above": drawn.above, "below": drawn.below, "everywhere": drawn.everywhere}
        for rates in errors.values():
            rng = np.random.default_rng([seed, 1])
            pairs = {name: _positives(pair, _rows(counts, name), *rates, rng) for name, pair in calls.items()}
            for name, formula in FORMULAS.items():
                low, high = _limits(counts, formula, pairs, confidence)
                known = ends.get(name, (low, high))
                ends[name] = min(low, known[0]), max(high, known[1])
    return {name: _estimate(name, values[name], ends[name], confidence, kind, errors) for name in FORMULAS}


def _rows(counts: AuditCounts, group: str) -> float:
    indices = {"above": slice(0, counts.flagged), "below": slice(counts.flagged, None), "everywhere": slice(None)}
    return float(counts.rows[indices[group]].sum())


def _positives(
    calls: Pair, rows: float, false_positive: float, false_negative: float, rng: np.random.Generator
) -> Pair:
    """Positives behind a number of rows that would be called positive, with the luck of the calls."""
    power = 1 - false_positive - false_negative
    luck = rng.standard_normal(calls.low.shape)
    low, high = (
        np.clip(
            expected
            + luck * np.sqrt(_variance(np.clip(expected, 0, rows), rows, false_positive, false_negative)) / power,
            0,
            rows,
        )
        for expected in ((of - false_positive * rows) / power for of in calls)
    )
    return Pair(low, high)


def _variance(positives: Floats, rows: float, false_positive: float, false_negative: float) -> Floats:
    wrong = positives * false_negative * (1 - false_negative)
    return np.asarray(wrong + (rows - positives) * false_positive * (1 - false_positive))


def _limits(counts: AuditCounts, formula: Formula, pairs: dict[str, Pair], confidence: float) -> tuple[float, float]:
    from pulens.audits.estimates import NOTHING, _ends

    both = (pairs["everywhere"], NOTHING) if formula.reads == "everywhere" else (pairs["above"], pairs["below"])
    low, high = _ends(formula, both, margins_of(counts))
    tail = one_tail(confidence)
    return float(quantile(low, tail)[0]), float(quantile(high, 1 - tail)[0])


def _corners(counts: AuditCounts) -> Iterable[NDArray[np.int64]]:
    """Finds if undecided rows are negative or positive, above and below the threshold apart."""
    above = np.where(np.arange(counts.strata) < counts.flagged, counts.undecided, 0)
    below = counts.undecided - above
    firsts, seconds = ({tuple(part), tuple(0 * part)} for part in (above, below))
    return [counts.found + np.array(first) + np.array(second) for first in firsts for second in seconds]


def _values(counts: AuditCounts, false_positive: float, false_negative: float) -> dict[str, float]:
    calls, margins = estimated_positives(counts), margins_of(counts)
    totals = []
    for group in ("above", "below"):
        where = slice(0, counts.flagged) if group == "above" else slice(counts.flagged, None)
        rows = _rows(counts, group)
        unseen = (calls[where].sum() - false_positive * rows) / (1 - false_positive - false_negative)
        totals.append(float(np.clip(unseen, 0, rows)))
    hits, missed = totals[0] + margins.labelled_above, totals[1] + margins.labelled_below
    answer = {}
    for name, formula in FORMULAS.items():
        pair = (hits + missed, 0.0) if formula.reads == "everywhere" else (hits, missed)
        answer[name] = float(formula.of(*pair, margins.flagged, margins.rows))
    return answer


def _estimate(
    name: str, value: float, ends: tuple[float, float], confidence: float, kind: IntervalKind, errors: ReviewerErrors
) -> Estimate:
    low, high = ends
    if not math.isnan(value):
        low, high = min(low, value), max(high, value)
    interval = Interval(low, high, confidence, f"audit, {kind}, judges who err") if math.isfinite(high) else None
    reason = FORMULAS[name].undefined_because if math.isnan(value) else None
    rests = ("checked rows drawn at random within each range of scores", str(errors))
    return Estimate(name, value, interval, reason, basis="design", rests_on=rests)


@dataclass(frozen=True, slots=True)
class Agreement(Answer):
    """Two judges on the same rows: share of equal answers, Cohen's kappa, and error rates that fit.

    ``false_positive_rate`` is the one that explains every disagreement by negatives called positive; its upper limit
    takes the upper limit of the disagreements; ``false_negative_rate`` explains all by positives called negative.
    Which of both it is cannot be told from two judges, and errors that both make are not seen at all.
    """

    rows: int
    agreed: Estimate
    kappa: Estimate
    false_positive_rate: tuple[float, float]
    false_negative_rate: tuple[float, float]

    @property
    def reviewer_errors(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """A range of rates to give as ``reviewer_errors``: from no error to the upper limits."""
        return (0.0, self.false_positive_rate[1]), (0.0, self.false_negative_rate[1])

    def __str__(self) -> str:
        fitted, most = self.false_positive_rate
        return (
            f"Two judges agree on {self.agreed.value:.1%} {self.agreed.interval} of {self.rows:,} rows (kappa "
            f"{self.kappa.value:.2f}). If every disagreement is a negative called positive, a judge does so with about "
            f"{fitted:.1%} of the negatives, and hardly with more than {most:.1%}; errors that both make are not seen."
        )


def agreement_of(first: Any, second: Any, *, confidence: float = 0.95, seed: int = 0) -> Agreement:
    r"""What the answers of two judges on the same rows say about their errors; rows either left open are left out.

    Independent judges with rate :math:`\alpha` disagree on a negative with probability :math:`2\alpha(1-\alpha)`: a
    share d of disagreements, all on the share 1 - p of negatives, means
    :math:`\alpha = (1 - \sqrt{1 - 2d/(1-p)})/2`. Limits of the share are exact (Clopper and Pearson 1934), those of
    kappa are quantiles of 4,000 draws of the four cells with half a row added to each.

    >>> agreement = agreement_of([1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> agreement.agreed.value, round(agreement.kappa.value, 3)
    (0.9, 0.615)
    """
    confidence, seed = check_confidence(confidence), check_seed(seed)
    one, other = (plain_array(answers) for answers in (first, second))
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(f"two judges must have judged the same rows, got {one.size} and {other.size} answers.")
    codes = np.array([[_code(answer) for answer in judge.tolist()] for judge in (one, other)])
    decided = (codes >= 0).all(axis=0)
    if not decided.any():
        raise InputError("no row was decided by both judges: let both judge the same 20 rows of the queue or more.")
    cells = np.bincount(2 * codes[0, decided] + codes[1, decided], minlength=4).astype(float)
    rows, apart = int(cells.sum()), int(cells[1] + cells[2])
    low, high = binomial_ends(apart, rows, one_tail(confidence))
    agreed = Estimate("agreement", 1 - apart / rows, Interval(1 - high, 1 - low, confidence, "exact"), basis="design")
    positive = float((2 * cells[3] + cells[1] + cells[2]) / (2 * rows))
    drawn = _kappa(np.random.default_rng(seed).dirichlet(cells + 0.5, size=4_000).T)
    tail = one_tail(confidence)
    least, most = (float(quantile(drawn[:, None], level)[0]) for level in (tail, 1 - tail))
    value = float(_kappa(cells / rows))
    same = "both judges gave all rows the same answer"
    kappa = Estimate(
        "cohen_kappa",
        value,
        Interval(float(np.fmin(least, value)), float(np.fmax(most, value)), confidence, "draws of the four cells"),
        same if math.isnan(value) else None,
        basis="design",
    )
    rates = [tuple(_rate_behind(share, part) for share in (apart / rows, high)) for part in (1 - positive, positive)]
    return Agreement(rows, agreed, kappa, *rates)  # type: ignore[arg-type]


def _code(answer: object) -> int:
    """1 and 0 as they are, -1 for what is neither."""
    return 1 if is_among(answer, (1,)) else 0 if is_among(answer, (0,)) else -1


def _rate_behind(disagreed: float, share: float) -> float:
    """The rate of errors among this share of rows that makes two judges disagree so often; at most one half."""
    return 0.5 if 2 * disagreed >= share else (1 - math.sqrt(1 - 2 * disagreed / share)) / 2


def _kappa(cells: Floats) -> Floats:
    same = cells[0] + cells[3]
    chance = (cells[0] + cells[1]) * (cells[0] + cells[2]) + (cells[2] + cells[3]) * (cells[1] + cells[3])
    known: Floats = np.divide(same - chance, 1 - chance, out=np.full(np.shape(same), np.nan), where=chance < 1 - 1e-12)
    return known
