"""How far may labelling be from random before a conclusion changes?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pulens.errors import AssumptionError, PulensError, shown
from pulens.estimate import Curve, Interval
from pulens.evidence import Evidence
from pulens.keywords import check_keywords
from pulens.metrics import METRICS, find, in_reading_order
from pulens.metrics.parts.labelling_range import range_at_threshold
from pulens.metrics.parts.measure import check_threshold, value
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import Contradiction, Range, find_contradiction
from pulens.recovery.labelling import Favours
from pulens.scalars import is_among, real
from pulens.types import Floats

Direction = Literal["high", "low", "either"]
LARGEST_FACTOR = 1e6
STATEMENT = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>[-+.\deE]+)\s*")
MOST_FACTOR = 1e12  # its square is far from leaving the range of doubles


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The range of a metric when labelling may favour some scores by a factor.

    >>> print(Sensitivity("precision", 0.8, Interval(0.7, 0.8, None, "labelling"), 2.0, "high", 0.5))
    precision 0.800, [0.700, 0.800] if high scores were labelled up to 2 times as often
    """

    metric: str
    value: float
    interval: Interval
    factor: float
    favours: Direction
    threshold: float | None

    def __str__(self) -> str:
        scores = {"high": "high scores were", "low": "low scores were", "either": "high or low scores were"}
        often = f"labelled up to {self.factor:g} times as often"
        return f"{self.metric} {self.value:.3f}, {self.interval} if {scores[self.favours]} {often}"

    def to_dict(self) -> dict[str, Any]:
        numbers = {"value": self.value, "low": self.interval.low, "high": self.interval.high, "factor": self.factor}
        return {
            "metric": self.metric,
            **{name: _plain(number) for name, number in numbers.items()},
            "favours": self.favours,
            "threshold": _plain(self.threshold),
        }


def _plain(number: float | None) -> float | None:
    """A number that JSON can hold: a threshold that nothing reaches is infinite."""
    return number if number is not None and math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
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

    def _in_possible_worlds(self) -> str:
        least = f"random labels are impossible here, and {self.favours} scores were labelled at least "
        least += f"{self.least_factor:.3g} times as often"
        if self.factor == self.least_factor:
            return f"{self.statement}: fails already in the nearest possible world (value {self.value:.3f}; {least})"
        while_ = "however much more" if math.isinf(self.factor) else f"while it is less than {self.factor:.3g} times"
        return f"{self.statement}: holds {while_} ({least})"


def sensitivity(
    evidence: Evidence,
    metric: str,
    *,
    factor: float,
    threshold: float | None = None,
    favours: Direction = "high",
    **parameters: Any,
) -> Sensitivity:
    """The range of a metric when positives were labelled up to ``factor`` times as often at favoured scores.

    Where the data rule random labels out it is the range over all possible worlds up to that factor.
    """
    _check(evidence, factor, favours)
    against = find_contradiction(evidence)
    return _sensitivity(evidence, against, metric, factor, threshold, favours, parameters)


def _sensitivity(
    evidence: Evidence,
    against: Contradiction | None,
    metric: str,
    factor: float,
    threshold: float | None,
    favours: Direction,
    parameters: dict[str, Any],
) -> Sensitivity:
    facts = find(metric)
    check_keywords("sensitivity", parameters, (*facts.parameters, "factor", "favours", "threshold"))
    words = f"labelling favours {favours} scores up to {factor:g} times"
    at = threshold if facts.reads == "threshold" else None
    own = facts.other_labelling
    if facts.reads != "threshold" and own is None:
        raise PulensError(
            f"the range of {metric!r} under other labelling is not known; it is for metrics at a threshold, "
            f"{' and '.join(ranges_under_other_labelling())}."
        )
    if against is not None:
        if facts.reads == "threshold":
            at = check_threshold(threshold, required_by=metric)
        nearest, low, high = _in_possible_worlds(against, facts, factor, at, favours, parameters)
        return Sensitivity(metric, nearest, Interval(low, high, None, words), float(factor), favours, at)
    known = value(facts, evidence.tally, evidence.assumptions, threshold, **parameters)
    if math.isnan(known):
        raise PulensError(f"{metric} is undefined here ({facts.undefined_because}), so its range is too.")
    low = high = known
    for side in _sides(favours):
        if own is None:
            ends = range_at_threshold(
                evidence, facts.compute, check_threshold(threshold, required_by=metric), factor, side, parameters
            )
        else:
            ends = own.up_to(evidence, factor, side, known)
        low, high = (
            min(low, max(ends[0], facts.lowest)),
            max(high, min(ends[1], facts.highest)),
        )
    return Sensitivity(metric, known, Interval(low, high, None, words), float(factor), favours, at)


def _in_possible_worlds(
    against: Contradiction,
    facts: Metric,
    factor: float,
    threshold: float | None,
    favours: Direction,
    parameters: dict[str, Any],
) -> Range:
    """The metric in the nearest possible world and its extremes over all worlds up to the factor."""
    found = [against.range_up_to(facts, factor, side, threshold, parameters) for side in _sides(favours)]
    possible = [each for each in found if each is not None]
    if not possible:
        raise AssumptionError(_too_small(against, factor, favours, threshold))
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
    try:
        found = np.sort(np.atleast_1d(np.asarray(given, float)))
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if found.ndim != 1 or not found.size:
        raise PulensError(f"factors must be numbers of at least 1, got {shown(given)}.")
    return found


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
    found = []
    for factor in tried.tolist():
        _check(evidence, factor, favours)
        found.append(_sensitivity(evidence, against, metric, factor, threshold, favours, parameters).interval)
    where = np.full(tried.size, np.nan if threshold is None else threshold)
    return tuple(  # type: ignore[return-value]
        Curve(
            "sensitivity",
            tried.copy(),
            np.array([getattr(each, end) for each in found]),
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

    def margin(factor: float) -> float:
        found = _sensitivity(evidence, against, parsed["metric"], factor, threshold, favours, parameters).interval
        return found.low - limit if above else limit - found.high

    def holds(factor: float) -> bool:
        return margin(factor) > 0 if strict else margin(factor) >= 0

    known = _sensitivity(evidence, against, parsed["metric"], least, threshold, favours, parameters).value
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
