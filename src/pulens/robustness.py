"""How far may labelling be from random before a conclusion changes?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.errors import AssumptionError, PulensError
from pulens.estimate import Curve, Interval
from pulens.evidence import Evidence
from pulens.keywords import check_keywords
from pulens.metrics import find
from pulens.metrics._labelling_range import range_at_threshold, range_of_area, range_of_average_precision
from pulens.metrics._measure import check_threshold, value

Floats = NDArray[np.float64]
Direction = Literal["high", "low", "either"]
LARGEST_FACTOR = 1e6
STATEMENT = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>[-+.\deE]+)\s*")


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
        return {
            "metric": self.metric,
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "factor": self.factor,
            "favours": self.favours,
            "threshold": self.threshold,
        }


@dataclass(frozen=True, slots=True)
class Robustness:
    """The smallest factor by which labelling must favour some scores for a statement to fail.

    ``factor`` is 1 when the statement fails already under labelling at random, infinite when no factor breaks it.
    """

    statement: str
    factor: float
    value: float
    favours: Direction

    def __str__(self) -> str:
        if self.factor == 1.0:
            return f"{self.statement}: fails already if labelling is random (value {self.value:.3f})"
        if math.isinf(self.factor):
            return f"{self.statement}: holds however much labelling favours {self.favours} scores"
        return (
            f"{self.statement}: holds while {self.favours} scores are labelled less than {self.factor:.3g} times "
            f"as often (value {self.value:.3f} if labelling is random)"
        )


def sensitivity(
    evidence: Evidence,
    metric: str,
    *,
    factor: float,
    threshold: float | None = None,
    favours: Direction = "high",
    **parameters: Any,
) -> Sensitivity:
    """The range of a metric when positives were labelled up to ``factor`` times as often at favoured scores."""
    _check(evidence, factor, favours)
    facts = find(metric)
    check_keywords("sensitivity", parameters, (*facts.parameters, "factor", "favours", "threshold"))
    known = value(facts, evidence.tally, evidence.assumptions, threshold, **parameters)
    if math.isnan(known):
        raise PulensError(f"{metric} is undefined here ({facts.undefined_because}), so its range is too.")
    low = high = known
    for side in ("high", "low") if favours == "either" else (favours,):
        if facts.reads == "threshold":
            ends = range_at_threshold(
                evidence, facts.compute, check_threshold(threshold, required_by=metric), factor, side, parameters
            )
        elif metric == "roc_auc":
            ends = range_of_area(evidence, factor, side)
        elif metric == "average_precision":
            ends = range_of_average_precision(evidence, factor, side, known)
        else:
            raise PulensError(
                f"the range of {metric!r} under other labelling is not known; it is for metrics at a threshold, "
                "roc_auc and average_precision."
            )
        low, high = (
            min(low, max(ends[0], facts.lowest)),
            max(high, min(ends[1], facts.highest)),
        )
    at = threshold if facts.reads == "threshold" else None
    interval = Interval(low, high, None, f"labelling favours {favours} scores up to {factor:g} times")
    return Sensitivity(metric, known, interval, float(factor), favours, at)


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
    tried = np.geomspace(1.0, 10.0, 41) if factors is None else np.sort(np.asarray(factors, float))
    found = [
        sensitivity(evidence, metric, factor=float(factor), threshold=threshold, favours=favours, **parameters).interval
        for factor in tried
    ]
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
    parsed = STATEMENT.fullmatch(statement) if isinstance(statement, str) else None
    try:
        limit = float(parsed["limit"]) if parsed else math.nan
    except ValueError:
        limit = math.nan
    if parsed is None or math.isnan(limit):
        raise PulensError(
            f"a statement reads like 'precision > 0.8' or 'roc_auc >= 0.7', with one of > >= < <=, got {statement!r}."
        )
    check_keywords("robustness", parameters, (*find(parsed["metric"]).parameters, "favours", "threshold"))
    above, strict = parsed["sign"].startswith(">"), "=" not in parsed["sign"]

    def margin(factor: float) -> float:
        found = sensitivity(
            evidence, parsed["metric"], factor=factor, threshold=threshold, favours=favours, **parameters
        ).interval
        return found.low - limit if above else limit - found.high

    def holds(factor: float) -> bool:
        return margin(factor) > 0 if strict else margin(factor) >= 0

    known = value(find(parsed["metric"]), evidence.tally, evidence.assumptions, threshold, **parameters)
    words = " ".join((parsed["metric"], parsed["sign"], parsed["limit"]))
    if not holds(1.0):
        return Robustness(words, 1.0, known, favours)
    if holds(LARGEST_FACTOR):
        return Robustness(words, math.inf, known, favours)
    low, high = 0.0, math.log(LARGEST_FACTOR)
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
    return Robustness(words, math.exp(high), known, favours)


def _check(evidence: Evidence, factor: float, favours: str) -> None:
    if not isinstance(factor, int | float | np.number) or not 1 <= factor < math.inf:
        raise PulensError(
            f"factor must be a number of at least 1, got {factor!r}. 1 is labelling at random; 2 means that favoured "
            "positives were up to twice as likely to be labelled as others."
        )
    if favours not in ("high", "low", "either"):
        raise PulensError(f"favours must be 'high', 'low' or 'either', got {favours!r}.")
    if evidence.label_noise:
        raise AssumptionError(
            f"the sensitivity to labelling is known for clean labels only, got label_noise={evidence.label_noise:g}."
        )
    if not evidence.tally.totals.labelled:
        raise AssumptionError("the sensitivity to labelling needs labelled positives, and there are none.")
