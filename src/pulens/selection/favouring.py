"""How far may labelling be from random before a conclusion changes?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.answer import Answer
from pulens.containers import numbers
from pulens.errors import AssumptionError, PulensError, shown
from pulens.estimate import Curve, Interval
from pulens.evidence import Evidence
from pulens.inference.intervals import IntervalEstimator, MetricInterval, MetricIntervals
from pulens.inference.kernels.quantiles import normal_quantile, tail_for_range
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, PriorUncertainty
from pulens.keywords import check_keywords
from pulens.metrics import METRICS, find, in_reading_order
from pulens.metrics.parts.labelling_range import Favoured, range_at_threshold
from pulens.metrics.parts.measure import check_threshold, estimate, value
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import Contradiction, Range, find_contradiction
from pulens.priors import ClassPrior, population_prior
from pulens.recovery.labelling import Favours
from pulens.recovery.possible_worlds import SLACK
from pulens.scalars import is_among, real
from pulens.selection.practice import Favouring
from pulens.types import Floats

Direction = Literal["high", "low", "either"]
LARGEST_FACTOR = 1e6
STATEMENT = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>[-+.\deE]+)\s*")
MOST_FACTOR = 1e12  # its square is far from leaving the range of doubles


@dataclass(repr=False, frozen=True, slots=True)
class Sensitivity(Answer):
    """The range of a metric when labelling may favour some scores by a factor.

    ``possible`` holds what labelling up to the factor can do to the rows at hand, at the class prior's value;
    ``interval`` adds how far chance may have moved either end, and the doubt about the class prior, so that it holds
    the truth with its confidence wherever in the range the truth is.

    >>> possible = Interval(0.7, 0.8, None, "labelling")
    >>> print(Sensitivity("precision", 0.8, possible, 2.0, "high", 0.5, possible))
    precision 0.800, [0.700, 0.800] if high scores were labelled up to 2 times as often
    """

    _keys = (
        *("metric", "value", "low=interval.low", "high=interval.high", "possible_low=possible.low"),
        *("possible_high=possible.high", "confidence=interval.confidence", "factor", "favours", "threshold"),
    )

    metric: str
    value: float
    interval: Interval
    factor: float
    favours: Direction
    threshold: float | None
    possible: Interval

    def __str__(self) -> str:
        scores = {"high": "high scores were", "low": "low scores were", "either": "high or low scores were"}
        often = f"labelled up to {self.factor:g} times as often"
        text = f"{self.metric} {self.value:.3f}, {self.interval} if {scores[self.favours]} {often}"
        if self.interval.confidence is None:
            return text
        return f"{text} ({self.possible.low:.3f} to {self.possible.high:.3f} without sampling error)"

    __repr__ = __str__


@dataclass(repr=False, frozen=True, slots=True)
class Robustness:
    """The smallest factor by which labelling must favour some scores for a statement to fail.

    ``factor`` is 1 when the statement fails already under labelling at random, infinite when no factor breaks it.
    Where random labels are impossible it starts at ``least_factor``, which makes the data possible.
    """

    statement: str
    factor: float
    value: float
    favours: Direction
    least_factor: float = 1.0

    def __str__(self) -> str:
        if self.least_factor > 1.0:
            return self._in_possible_worlds()
        if self.factor == 1.0:
            return f"{self.statement}: fails already if labelling is random (value {self.value:.3f})"
        if math.isinf(self.factor):
            return f"{self.statement}: holds however much labelling favours {self.favours} scores"
        return (
            f"{self.statement}: holds while {self.favours} scores are labelled less than {self.factor:.3g} times "
            f"as often (value {self.value:.3f} if labelling is random)"
        )

    __repr__ = __str__

    def _in_possible_worlds(self) -> str:
        least = f"random labels are impossible here, and {self.favours} scores were labelled at least "
        least += f"{self.least_factor:.3g} times as often"
        if self.factor == self.least_factor:
            nearest = "fails already where labelling is as near to random as these rows allow"
            return f"{self.statement}: {nearest} (value {self.value:.3f}; {least})"
        while_ = "however much more" if math.isinf(self.factor) else f"while it is less than {self.factor:.3g} times"
        return f"{self.statement}: holds {while_} ({least})"


def sensitivity(
    evidence: Evidence,
    metric: str,
    *,
    factor: float,
    threshold: float | None = None,
    favours: Direction = "high",
    doubts: IntervalEstimator | None = None,
    **parameters: Any,
) -> Sensitivity:
    """The range of a metric when positives were labelled up to ``factor`` times as often at favoured scores.

    Where the data rule random labels out it is the range over all possible worlds up to that factor. With ``doubts``
    the interval carries sampling error.
    """
    _check(evidence, factor, favours)
    against = find_contradiction(evidence)
    return _sensitivity(evidence, against, metric, Asked(find(metric), factor, favours, threshold, parameters), doubts)


class Asked(NamedTuple):
    """A metric where labels favour scores of one side, or of either, up to a factor."""

    metric: Metric
    factor: float
    favours: Direction
    threshold: float | None
    parameters: Mapping[str, Any]

    @property
    def by_side(self) -> list[Favoured]:
        sides = _sides(self.favours)
        return [Favoured(self.metric, self.factor, side, self.threshold, self.parameters) for side in sides]


def _sensitivity(
    evidence: Evidence,
    against: Contradiction | None,
    metric: str,
    asked: Asked,
    doubts: IntervalEstimator | None = None,
) -> Sensitivity:
    facts, factor, favours, threshold, parameters = asked
    check_keywords("sensitivity", parameters, (*facts.parameters, "factor", "favours", "threshold"))
    words = f"labelling favours {favours} scores up to {factor:g} times"
    at = threshold if facts.reads == "threshold" else None
    if facts.reads != "threshold" and facts.other_labelling is None:
        raise PulensError(
            f"the range of {metric!r} under other labelling is not known; it is for metrics at a threshold, "
            f"{' and '.join(ranges_under_other_labelling())}."
        )
    if facts.reads == "threshold":
        at = check_threshold(threshold, required_by=metric)
    asked = asked._replace(threshold=at)
    if against is not None:
        priors = 0 if doubts is None else PRIORS_IN_RANGE
        nearest, low, high = _in_possible_worlds(against, asked, slack=SLACK, priors=priors)
        interval = Interval(low, high, None, words)
        possible = Interval(*_in_possible_worlds(against, asked, slack=0.0, priors=priors)[1:], None, words)
        return Sensitivity(metric, nearest, interval, float(factor), favours, at, possible)
    known = value(facts, evidence.tally, evidence.assumptions, threshold, **parameters)
    if math.isnan(known):
        raise PulensError(f"{metric} is undefined here ({facts.undefined_because}), so its range is too.")
    own = _Ends.of(evidence, asked, None)
    possible = interval = Interval(min(own.low, known), max(own.high, known), None, words)
    if doubts is not None:
        ends = [_Ends.of(each.evidence, asked, each) for each in _over_range(doubts)]
        interval = _with_chance(possible, ends, facts, doubts.resampling.confidence)
    return Sensitivity(metric, known, interval, float(factor), favours, at, possible)


@dataclass(frozen=True)
class FavouringInference(MetricIntervals):
    """Intervals where high scores were up to a factor as likely to be labelled."""

    evidence: Evidence
    resampling: Resampling
    favouring: Favouring

    @cached_property
    def _random(self) -> IntervalEstimator:
        return IntervalEstimator(self.evidence, self.resampling)

    def of(self, target: Target, known: float, cut: float = 0.0) -> MetricInterval | None:
        """The range of a metric with sampling error; one whose range is not known keeps that of random labels."""
        metric: Any = target.metric
        own = self._random.of(target, known, cut)
        moves = metric.reads == "threshold" or metric.other_labelling is not None
        if own is None or metric.ignores_class_prior or metric.counted or not moves:
            return own
        name = next(name for name, facts in METRICS.items() if facts is metric)
        asked = Asked(metric, self.favouring.factor, "high", target.threshold, target.parameters)
        reach = _sensitivity(self.evidence, None, name, asked, self._random).interval
        result = replace(reach, guarantee=self.favouring.guarantee)
        return MetricInterval(result, own.sample)


def multiple_of(evidence: Evidence, favouring: Favouring) -> float | None:
    """Where the data rule random labels out: the factor as a multiple of the least that explains them.

    ``None`` where random labels are possible. A factor below the least is refused.
    """
    against = find_contradiction(evidence)
    if against is None:
        return None
    least = _least_factor(against, "high", None)
    if favouring.factor < least:
        raise AssumptionError(_too_small(against, favouring.factor, "high", None))
    return favouring.factor / least


def _over_range(doubts: IntervalEstimator) -> list[IntervalEstimator]:
    """The rows as they are, or at either end of a class prior that was given as a range, and between."""
    evidence, doubt = doubts.evidence, PriorUncertainty(doubts.evidence)
    if doubt.treatment != "range":
        return [doubts]
    result = []
    for share in doubt.over(3):
        population = population_prior(share, evidence.tally.totals, evidence.scenario)
        each = replace(evidence, class_prior=ClassPrior(population, share, "tried"))
        result.append(replace(doubts, evidence=each))
    return result


def _with_chance(possible: Interval, ends: list[_Ends], metric: Metric, confidence: float) -> Interval:
    """The range with sampling error at both ends, as much as Imbens and Manski's interval for a truth in it needs."""
    if not all(math.isfinite(each.below + each.above) for each in ends):
        return possible
    low, high = min(possible.low, *(each.low for each in ends)), max(possible.high, *(each.high for each in ends))
    usual = normal_quantile(confidence)
    spread = max(max(each.below, each.above) for each in ends) / usual
    reach = normal_quantile(1 - 2 * float(tail_for_range(confidence, high - low, spread))) / usual
    return Interval(
        max(min(low, *(each.low - reach * each.below for each in ends)), metric.lowest),
        min(max(high, *(each.high + reach * each.above for each in ends)), metric.highest),
        confidence,
        f"{possible.method}, with sampling error (Imbens and Manski)",
    )


class _Ends(NamedTuple):
    """The lowest and the highest value at a class prior, and how far chance may reach beyond each."""

    low: float
    high: float
    below: float
    above: float

    @classmethod
    def of(cls, evidence: Evidence, asked: Asked, doubts: IntervalEstimator | None) -> _Ends:
        """Chance reaches beyond an end as far as beyond the value of random labels, times how much more it varies."""
        metric, factor, _, threshold, parameters = asked
        known = value(metric, evidence.tally, evidence.assumptions, threshold, **parameters)
        reaches = [
            range_at_threshold(evidence, each, errors=doubts is not None)
            if metric.other_labelling is None
            else metric.other_labelling.up_to(evidence, factor, each.favours, known, errors=doubts is not None)
            for each in asked.by_side
        ]
        lowest, highest = min(reaches, key=lambda each: each.low), max(reaches, key=lambda each: each.high)
        low, high = max(lowest.low, metric.lowest), min(highest.high, metric.highest)
        low, high = min(low, known), max(high, known)
        if doubts is None:
            return cls(low, high, math.nan, math.nan)
        sure = estimate(metric.title, metric, evidence, threshold=threshold, doubts=doubts, **parameters).interval
        if sure is None or sure.confidence is None:
            return cls(low, high, math.nan, math.nan)
        times = [
            error / own if own > 0 else 1.0
            for error, own in ((lowest.low_error, lowest.error), (highest.high_error, highest.error))
        ]
        below, above = (known - sure.low) * times[0], (sure.high - known) * times[1]
        if factor > 1:
            # a value cut at what is possible varies on one side only, an end that labelling moved off it on both
            usual = normal_quantile(sure.confidence)
            below = max(below, usual * lowest.low_error) if low < known else below
            above = max(above, usual * highest.high_error) if high > known else above
        return cls(low, high, below, above)


def _in_possible_worlds(against: Contradiction, asked: Asked, *, slack: float, priors: int) -> Range:
    """The metric in the nearest possible world and its extremes over all worlds up to the factor."""
    facts = asked.metric
    result = [against.range_up_to(each, slack=slack, priors=priors) for each in asked.by_side]
    possible = [each for each in result if each is not None]
    if not possible:
        raise AssumptionError(_too_small(against, asked.factor, asked.favours, asked.threshold))
    within = [min(max(end, facts.lowest), facts.highest) for each in possible for end in each]
    nearest = min(max(possible[0].value, facts.lowest), facts.highest)
    return Range(nearest, min(within), max(within))


def ranges_under_other_labelling() -> tuple[str, ...]:
    """Metrics of the whole ranking whose range is known where labelling favours some scores."""
    return in_reading_order(name for name, metric in METRICS.items() if metric.other_labelling is not None)


def _sides(favours: Direction) -> tuple[Favours, ...]:
    return ("high", "low") if favours == "either" else (favours,)


def _least_factor(against: Contradiction | None, favours: Direction, threshold: float | None) -> float:
    """Where factors begin: 1, or the smallest at which a world is possible; infinite if there is none."""
    if against is None:
        return 1.0
    return min(against.least_factor(side, threshold) for side in _sides(favours))


def _too_small(against: Contradiction, factor: float, favours: Direction, threshold: float | None) -> str:
    prior = f"with a class prior of {against.evidence.class_prior.value:.3g} labels cannot be a random draw"
    least = _least_factor(against, favours, threshold)
    if math.isinf(least):
        return (
            f"{prior}, nor can labels that favour {favours} scores, by any factor. Try favours='either', or audit some "
            "random unlabelled rows for a class prior that fits."
        )
    return (
        f"{prior}: {favours} scores were labelled at least {least:.4g} times as often, got factor={factor:g}. Give at "
        "least that, or a lower class prior."
    )


def _factors(given: Any) -> Floats:
    result = numbers(given)
    if result is None or result.ndim > 1 or not result.size:
        raise PulensError(f"factors must be numbers of at least 1, got {shown(given)}.")
    return np.sort(np.atleast_1d(result))


def sensitivity_curve(
    evidence: Evidence,
    metric: str,
    *,
    factors: Any = None,
    threshold: float | None = None,
    favours: Direction = "high",
    **parameters: Any,
) -> tuple[Curve, Curve]:
    """Lowest and highest value of a metric against the factor."""
    check_keywords("sensitivity_curve", parameters, (*find(metric).parameters, "factors", "favours", "threshold"))
    _check(evidence, 1.0, favours)
    against = find_contradiction(evidence)
    at = threshold if find(metric).reads == "threshold" else None
    least = 1.0 if factors is not None else _least_factor(against, favours, at)
    if against is not None and math.isinf(least):
        raise AssumptionError(_too_small(against, 1.0, favours, at))
    tried = np.geomspace(least, 10.0 * least, 41) if factors is None else _factors(factors)
    result = []
    for factor in tried.tolist():
        _check(evidence, factor, favours)
        asked = Asked(find(metric), factor, favours, threshold, parameters)
        result.append(_sensitivity(evidence, against, metric, asked).possible)
    where = np.full(tried.size, np.nan if threshold is None else threshold)
    return tuple(  # type: ignore[return-value]
        Curve(
            "sensitivity",
            tried.copy(),
            np.array([getattr(each, end) for each in result]),
            where.copy(),
            "factor",
            metric,
        )
        for end in ("low", "high")
    )


def robustness(
    evidence: Evidence,
    statement: str,
    *,
    threshold: float | None = None,
    favours: Direction = "high",
    **parameters: Any,
) -> Robustness:
    """The smallest factor at which a statement such as ``"precision > 0.8"`` fails."""
    parsed, limit = _parsed(statement)
    check_keywords("robustness", parameters, (*find(parsed["metric"]).parameters, "favours", "threshold"))
    above, strict = parsed["sign"].startswith(">"), "=" not in parsed["sign"]
    _check(evidence, 1.0, favours)
    against = find_contradiction(evidence)
    at = threshold if find(parsed["metric"]).reads == "threshold" else None
    least = _least_factor(against, favours, at)
    if against is not None and math.isinf(least):
        raise AssumptionError(_too_small(against, 1.0, favours, at))

    def of(factor: float) -> Sensitivity:
        asked = Asked(find(parsed["metric"]), factor, favours, threshold, parameters)
        return _sensitivity(evidence, against, parsed["metric"], asked)

    def margin(factor: float) -> float:
        result = of(factor).possible
        return result.low - limit if above else limit - result.high

    def holds(factor: float) -> bool:
        return margin(factor) > 0 if strict else margin(factor) >= 0

    known = of(least).value
    words = " ".join((parsed["metric"], parsed["sign"], parsed["limit"]))
    if not holds(least):
        return Robustness(words, least, known, favours, least)
    if holds(LARGEST_FACTOR):
        return Robustness(words, math.inf, known, favours, least)
    low, high = math.log(least), math.log(LARGEST_FACTOR)
    while high - low > (1e-12 if against is None else 1e-4):  # a linear programme is not exact to the last digit
        middle = (low + high) / 2
        low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
    return Robustness(words, math.exp(high), known, favours, least)


def _parsed(statement: object) -> tuple[re.Match[str], float]:
    """A statement in its parts, and the limit as a number."""
    parsed = STATEMENT.fullmatch(statement) if isinstance(statement, str) else None
    try:
        limit = float(parsed["limit"]) if parsed else math.nan
    except ValueError:
        limit = math.nan
    if parsed is None or math.isnan(limit):
        raise PulensError(
            f"a statement reads like 'precision > 0.8' or 'roc_auc >= 0.7', with one of > >= < <=, got {statement!r}."
        )
    return parsed, limit


def _check(evidence: Evidence, factor: float, favours: str) -> None:
    if not 1 <= real(factor) <= MOST_FACTOR:
        raise PulensError(
            f"factor must be a number of at least 1, got {shown(factor)}; the largest is {MOST_FACTOR:g}. 1 is "
            "labelling at random; 2 means that favoured positives were up to twice as likely to be labelled as others."
        )
    if not is_among(favours, ("high", "low", "either")):
        raise PulensError(f"favours must be 'high', 'low' or 'either', got {shown(favours)}.")
    if evidence.label_noise:
        raise AssumptionError(
            f"the sensitivity to labelling is known for clean labels only, got label_noise={evidence.label_noise:g}."
        )
    if not evidence.tally.totals.labelled:
        raise AssumptionError("the sensitivity to labelling needs labelled positives, and there are none.")
