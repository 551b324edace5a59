"""Every number read off a binned tally carries what binning could have changed in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.metrics.parts.metric import Metric
from pulens.notice import Notice, Severity
from pulens.recovery import recover_at
from pulens.recovery.binning_error import corners
from pulens.recovery.contingency import Contingency

Estimator = Callable[..., Estimate]
Valuer = Callable[..., float]


def carrying_binning_error(value: Valuer) -> Callable[[Estimator], Estimator]:
    """Decorates the function that makes estimates: on a binned tally they gain ``sources["binning"]``.

    The interval, if there is one, is widened by the bound, so that it still covers what it covered.
    """

    def decorate(estimate: Estimator) -> Estimator:
        @wraps(estimate)
        def estimated(
            name: str, metric: Metric, evidence: Evidence, *, threshold: float | None = None, **options: Any
        ) -> Estimate:
            result = estimate(name, metric, evidence, threshold=threshold, **options)
            if evidence.tally.binning is None or math.isnan(result.value):
                return result
            parameters = {name: options[name] for name in metric.parameters if name in options}
            error = _largest_error(value, metric, evidence, result.value, threshold, parameters)
            if error is None:
                return result
            reach = _widened(Interval(result.value, result.value, None, "what binning can change"), error, metric)
            interval = None if result.interval is None else _widened(result.interval, error, metric)
            return replace(result, interval=interval, sources={**result.sources, "binning": reach})

        return estimated

    return decorate


def _largest_error(
    value: Valuer, metric: Metric, evidence: Evidence, known: float, threshold: float | None, parameters: dict[str, Any]
) -> float | None:
    """The bound at the class prior and, if it has a range, at both of its ends."""
    reach = evidence.class_prior.unlabelled_interval
    priors = {evidence.class_prior.unlabelled, *(() if reach is None else (reach.low, reach.high))}
    assumed = [evidence.assumptions_at(prior) for prior in priors]
    result: list[float] = []
    if metric.reads != "ranking" and threshold is not None:
        possible = corners(evidence.tally, threshold)
        if metric.reads == "counts" and len(possible) > 1:
            return None  # these need not lie between their values at the corners
        for each in assumed:
            here = value(metric, evidence.tally, each, threshold, **parameters)
            values = [value(metric, corner, each, threshold, **parameters) for corner in possible]
            if metric.reads == "threshold" and not metric.counted and len(possible) > 1:
                values += _over_rates(metric, [recover_at(corner, each, threshold) for corner in possible], parameters)
            result.append(_farthest(values, here))
    elif metric.binning_error is not None:
        result = [float(metric.binning_error(evidence.tally, each, **parameters)) for each in assumed]
    return None if not result or any(math.isnan(error) for error in result) else max(result)


def _over_rates(metric: Metric, tables: list[Contingency], parameters: dict[str, Any]) -> list[float]:
    """The metric over all rates that the corners show, each cut by itself or together: between them hits may be cut."""
    both = [one for table in tables for one in (table, *table.plausible())]
    ends = [
        (min(rates), max(rates))
        for rates in ([float(one.hit_rate[0]) for one in both], [float(one.alarm_rate[0]) for one in both])
    ]
    first = tables[0]
    made = (
        replace(first, true_positive_rate=np.array([hit]), false_positive_rate=np.array([alarm]))
        for hit in ends[0]
        for alarm in ends[1]
    )
    return [float(np.clip(metric.compute(one, **parameters)[0], metric.lowest, metric.highest)) for one in made]


def _farthest(values: list[float], here: float) -> float:
    """The largest distance of defined values from this one."""
    return max((abs(number - here) for number in values if not math.isnan(number)), default=0.0)


def _widened(interval: Interval, error: float, metric: Metric) -> Interval:
    low, high = max(interval.low - error, metric.lowest), min(interval.high + error, metric.highest)
    return replace(interval, low=min(low, interval.low), high=max(high, interval.high))


def binning_notices(estimates: Mapping[str, Estimate], tally: Tally) -> list[Notice]:
    """One notice that says what binning can change in each number shown, and where that is not known."""
    if tally.binning is None:
        return []
    errors = {
        name: max(reach.high - result.value, result.value - reach.low)
        for name, result in estimates.items()
        if (reach := result.sources.get("binning")) is not None
    }
    changed = [f"{name} by at most {error:.2g}" for name, error in errors.items() if error > 0]
    unknown = [name for name, result in estimates.items() if name not in errors and not math.isnan(result.value)]
    said = f"Scores were binned ({len(tally):,} bins), which changes "
    said += (", ".join(changed) if changed else "none of the bounded numbers") + "."
    if unknown:
        said += f" What it changes in {', '.join(unknown)} is not bounded; count with tolerance 0 to know."
    return [Notice(Severity.NOTE, "binned-scores", said)]
