"""From evidence to one number: the value of a metric, its range over the class prior, and what to warn of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.inference.intervals import MetricIntervals
from pulens.inference.measured import Target, depends_on_class_prior
from pulens.metrics.parts.binning import carrying_binning_error
from pulens.metrics.parts.confirmed import as_confirmed
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import NARROWEST, Contradiction, at_least_so_wide
from pulens.metrics.parts.rests_on import BASIS, rests_on
from pulens.recovery import recover_at
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import ROUNDING
from pulens.recovery.feasibility import impossible_rates
from pulens.recovery.many import recover_many
from pulens.scalars import real

PRIORS_TRIED = 33  # points of a class-prior range at which a metric is computed to find its extremes
LONG_TALLY, FEWER_PRIORS = 200_000, 9  # a metric of so long a ranking takes time, and hardly bends over the range


def check_threshold(threshold: Any, *, required_by: str = "") -> float:
    """A number that scores can be compared with."""
    if threshold is None:
        raise PulensError(f"{required_by} needs a threshold: rows with score >= threshold are predicted positive.")
    number = real(threshold)
    if math.isnan(number):
        raise PulensError(
            f"threshold must be a number, got {shown(threshold)}. Rows with score >= threshold are predicted positive."
        )
    return number


def raw_value(
    metric: Metric, tally: Tally, assumptions: Assumptions, threshold: float | None = None, **parameters: Any
) -> float:
    """The metric's value before clipping; nan where it is undefined."""
    if metric.reads == "ranking":
        return float(metric.compute(tally, assumptions, **parameters))
    if metric.reads == "counts":
        number = check_threshold(threshold, required_by="a metric at a threshold")
        return float(metric.compute(tally, number, assumptions, **parameters))
    table = recover_at(tally, assumptions, check_threshold(threshold, required_by="a metric at a threshold"))
    return float(metric.compute(table, **parameters)[0])


def value(
    metric: Metric, tally: Tally, assumptions: Assumptions, threshold: float | None = None, **parameters: Any
) -> float:
    """The metric's value, clipped to what theory allows."""
    raw = raw_value(metric, tally, assumptions, threshold, **parameters)
    return raw if math.isnan(raw) else min(max(raw, metric.lowest), metric.highest)


@carrying_binning_error(value)
def estimate(
    name: str,
    metric: Metric,
    evidence: Evidence,
    *,
    threshold: float | None = None,
    doubts: MetricIntervals | None = None,
    contradiction: Contradiction | None = None,
    **parameters: Any,
) -> Estimate:
    """The metric's estimate: its value, and how sure we are of it.

    Without ``doubts`` the interval is the range that the metric takes while the class prior moves over its own. With
    a ``contradiction`` the number is that of the nearest possible world, unless it needs no random labels.
    """
    if contradiction is not None:
        possible = contradiction.estimate(name, metric, threshold, parameters)
        if possible is not None:
            return possible
    raw = raw_value(metric, evidence.tally, evidence.assumptions, threshold, **parameters)
    known = raw if math.isnan(raw) else min(max(raw, metric.lowest), metric.highest)
    at = threshold if metric.needs_threshold else None
    taken = rests_on(metric, evidence)
    if math.isnan(known):
        reason = metric.undefined_because or "it is 0/0"
        return Estimate(name, known, undefined_because=reason, threshold=at, rests_on=taken)
    beside = {} if metric.landmarks is None else metric.landmarks(evidence.tally, known, **parameters)
    interval, sources = _how_sure(metric, evidence, raw, known, threshold, doubts, parameters)
    told = "" if metric.caution is None else metric.caution(evidence.tally, evidence.assumptions, **parameters)
    result = {
        "basis": BASIS[evidence.labelling],
        "threshold": at,
        "sources": sources,
        "landmarks": beside,
        "rests_on": taken,
        "notice": told or None,
    }
    # under labels as in practice numbers are read off rows that stand for all positives: those confirm nothing
    rows = doubts.evidence if doubts is not None and evidence.labelling == "practice" else evidence
    return as_confirmed(Estimate(name, known, interval, **result), metric, rows)  # type: ignore[arg-type]


def _how_sure(
    metric: Metric,
    evidence: Evidence,
    raw: float,
    known: float,
    threshold: float | None,
    doubts: MetricIntervals | None,
    parameters: dict[str, Any],
) -> tuple[Interval | None, dict[str, Interval]]:
    """The interval of a value, and the parts that the sample and the class prior have in it."""
    reach = prior_range(metric, evidence, known, threshold, **parameters)
    interval, sources = reach, {} if reach is None else {"class prior": reach}
    if doubts is not None:

        def point(prior: float) -> float:
            return value(metric, evidence.tally, evidence.assumptions_at(prior), threshold, **parameters)

        result = doubts.of(Target(metric, point, threshold, parameters), known, known - raw)
        if result is not None:
            interval, sources = result.interval, {"sample": result.sample, **sources}
    if interval is not None and interval.width < NARROWEST and _was_cut(metric, evidence, raw, known, threshold):
        interval = at_least_so_wide(interval, metric)
        sources = {source: at_least_so_wide(each, metric) for source, each in sources.items()}
    return interval, sources


def _was_cut(metric: Metric, evidence: Evidence, raw: float, known: float, threshold: float | None) -> bool:
    """Whether the value rests on a rate, or is one itself, that was cut to what is possible."""
    if metric.ignores_class_prior:
        return False
    if abs(raw - known) > ROUNDING:
        return True
    if metric.reads == "threshold":
        at = check_threshold(threshold, required_by="a metric at a threshold")
        return not recover_at(evidence.tally, evidence.assumptions, at).is_possible.all()
    return impossible_rates(evidence.tally, evidence.assumptions).thresholds > 0


def priors_tried(thresholds: int) -> int:
    """At how many class priors of a range a metric of so long a ranking is computed."""
    return FEWER_PRIORS if thresholds > LONG_TALLY else PRIORS_TRIED


def prior_range(
    metric: Metric,
    evidence: Evidence,
    known: float,
    threshold: float | None = None,
    **parameters: Any,
) -> Interval | None:
    """Smallest and largest value of the metric over the class prior's interval."""
    reach = evidence.class_prior.unlabelled_interval
    if reach is None:
        return None
    if not depends_on_class_prior(metric, evidence.label_noise):
        return Interval(known, known, None, "does not depend on the class prior")
    many = priors_tried(len(evidence.tally)) if metric.reads == "ranking" else PRIORS_TRIED
    if metric.reads == "threshold" and threshold is not None:
        return _range_at_once(metric, evidence, known, threshold, reach, **parameters)
    tried = [
        value(metric, evidence.tally, evidence.assumptions_at(prior), threshold, **parameters)
        for prior in np.linspace(reach.low, reach.high, many).tolist()
    ]
    values = [known, *(number for number in tried if not math.isnan(number))]
    return Interval(min(values), max(values), reach.confidence, "range over the class prior")


def _range_at_once(
    metric: Metric, evidence: Evidence, known: float, threshold: float, reach: Interval, **parameters: Any
) -> Interval:
    """:func:`prior_range` of a metric at a threshold, all class priors in one go."""
    totals = evidence.tally.totals
    rates = [hits / total if total else 0.0 for hits, total in zip(evidence.tally.at(threshold), totals, strict=True)]
    priors = np.linspace(reach.low, reach.high, PRIORS_TRIED)
    maps = recover_many((*totals,), priors, evidence.label_noise, evidence.recovery_scenario)
    tried = np.clip(metric.compute(maps.tables(*rates), **parameters), metric.lowest, metric.highest)
    values = [known, *tried[~np.isnan(tried)].tolist()]
    return Interval(min(values), max(values), reach.confidence, "range over the class prior")
