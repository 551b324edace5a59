"""Decisions within cells, and on rows that belong together: numbers off the weighted tally, ends from replicates.

Costs, savings, net benefit and the flagged share are linear in two masses, the flagged positives and the flagged rows
(:mod:`pulens.strata.weighted`); every replicate of the cells has both at every threshold. Without clusters ends are
percentiles of redraws of each cell, at Student's tail for a sum over unequal cells; with clusters they are Student's
around the value, with the standard error of the jackknife over buckets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from pulens.decisions.actions import Actions
from pulens.decisions.linear import Form, LinearAtThresholds
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import student_quantile
from pulens.inference.kernels.quantiles import expanded_tail
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.method import IntervalMethod, Limits
from pulens.strata import MassReplicates, WeightedEvidence
from pulens.strata.priors import PriorSetting
from pulens.strata.rates import StratumRates
from pulens.types import Floats


def masses_at(result: MassReplicates, threshold: float) -> Actions:
    """What replicates show at one threshold."""
    hits, flagged = result.at(threshold)
    prior = result.positive[:, -1]
    recall = np.divide(hits, prior, out=np.zeros(hits.shape), where=prior > 0)
    return Actions(np.zeros(0), recall, np.clip(flagged, 0.0, 1.0), prior)


def ends_of(evidence: WeightedEvidence, numbers: Floats, value: Any, threshold: float, tail: Any) -> Limits:
    """Ends of a number (or of many, in columns) from its replicates at one setting of the class priors."""
    result = evidence.replicates([threshold] if math.isfinite(threshold) else ())
    if evidence.is_clustered:
        if evidence.has_too_few_clusters:
            return value + math.nan, value + math.nan
        reach = student_quantile(result.freedom, tail) * result.error(numbers)
        return value - reach, value + reach
    each = tail
    if math.isfinite(threshold):
        each = StratumRates(evidence.cells, Resampling()).tail(threshold, evidence.cells.priors.shares, tail)
    low, high = np.quantile(numbers, [each, 1 - each], axis=0)
    return low, high


@dataclass(frozen=True, eq=False)
class LinearWithin(IntervalMethod):
    """A linear number at a threshold that was fixed beforehand, at any setting of the strata's class priors."""

    evidence: WeightedEvidence
    form: Form
    threshold: float

    @property
    def method(self) -> str:  # type: ignore[override]
        return "delete-a-bucket jackknife, Student" if self.evidence.is_clustered else "redraws of each cell"

    def value(self, prior: PriorSetting | None) -> float:
        own, share = self.evidence.at_prior(prior)
        return float(self.form.raw(Actions.at(own, self.threshold, share))[0])

    def ends(self, prior: PriorSetting | None, tail: Any) -> Limits:
        own, _ = self.evidence.at_prior(prior)
        asked = (self.threshold,) if math.isfinite(self.threshold) else ()
        numbers = self.form.raw(masses_at(own.replicates(asked), self.threshold))
        low, high = ends_of(own, numbers, self.value(prior), self.threshold, tail)
        return float(low), float(high)


@singledispatch
def linear_method(evidence: Evidence, form: Form, threshold: float) -> IntervalMethod:
    """How the interval of a linear number at a threshold is made from this evidence."""
    above = (np.array(kind) for kind in evidence.tally.at(threshold))
    return LinearAtThresholds(evidence, form, tuple(above))  # type: ignore[arg-type]


linear_method.register(WeightedEvidence, LinearWithin)


def ways(evidence: WeightedEvidence, threshold: float) -> list[WeightedEvidence]:
    """The settings over which a hull is taken; extreme splits follow the cells' recalls."""
    if evidence.cells.priors.treatment != "range":
        return [evidence]
    recalls = evidence.cells.recalls(threshold if math.isfinite(threshold) else 0.0)
    return evidence.settings(np.where(np.isnan(recalls), 0.5, recalls))


def margin_values(evidence: Evidence, thresholds: Floats, floor: float) -> Floats:
    """Hits less what a floor of precision asks of the flagged rows, at many thresholds."""
    form, share = Form(1.0, -floor), evidence.class_prior.unlabelled
    return np.array([form.raw(Actions.at(evidence, float(at), share))[0] for at in thresholds])


def lowest_margins(evidence: WeightedEvidence, thresholds: Floats, floor: float, tail: float) -> Floats:
    """One-sided lower ends of hits less what a floor of precision asks of the flagged rows, at many thresholds."""
    form, result = Form(1.0, -floor), []
    for way in ways(evidence, float(np.median(thresholds))):
        replicates = way.replicates(thresholds)
        numbers = np.column_stack([form.raw(masses_at(replicates, float(at))) for at in thresholds])
        values = margin_values(way, thresholds, floor)
        if way.is_clustered:
            if way.has_too_few_clusters:
                return np.full(thresholds.size, -math.inf)
            result.append(values - student_quantile(replicates.freedom, tail) * replicates.error(numbers))
            continue
        rows = float(way.cells.cells.totals[:, 0].sum())
        result.append(np.quantile(numbers, expanded_tail(tail, rows), axis=0))
    return np.asarray(np.min(result, axis=0))


def covariances_within(evidence: WeightedEvidence, form: Form, thresholds: Floats) -> Iterator[Floats]:
    """Of a linear number at many thresholds, or of many forms of one, at each setting of the class priors."""
    hits, flagged = (np.broadcast_to(part, thresholds.shape) for part in (form.hits, form.flagged))
    for way in ways(evidence, float(np.median(thresholds))):
        replicates = way.replicates(np.unique(thresholds))
        points = [masses_at(replicates, float(at)) for at in thresholds]
        numbers = [form._replace(hits=hits[at], flagged=flagged[at]).raw(point) for at, point in enumerate(points)]
        away = replicates.away(np.column_stack(numbers))
        yield np.asarray(away.T @ away)


@singledispatch
def rows_worth(evidence: Evidence, rows: float, share: float, threshold: float) -> float:
    """How many independent rows the list is worth for the flagged share: fewer where rows belong together."""
    return rows


@rows_worth.register
def _(evidence: WeightedEvidence, rows: float, share: float, threshold: float) -> float:
    if not 0 < share < 1 or not math.isfinite(threshold) or not evidence.is_clustered:
        return rows
    result = evidence.replicates((threshold,))
    error = float(result.error(result.at(threshold)[1]))
    return rows if not error > 0 else float(min(max(share * (1 - share) / error**2, 2.0), rows))
