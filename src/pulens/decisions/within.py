"""Decisions within cells, and on rows that belong together: numbers off the weighted tally, ends from replicates.

Costs, savings, net benefit and the flagged share are linear in two masses, the flagged positives and the flagged rows
(:mod:`pulens.cells.weighted`); every replicate of the cells has both at every threshold. Without clusters ends are
percentiles of redraws of each cell, at Student's tail for a sum over unequal cells; with clusters they are Student's
around the value, with the standard error of the jackknife over buckets. Over a range of the cells' class priors ends
are the hull over what the range allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.cells import CellDoubts, MassReplicates, WeightedEvidence
from pulens.cells.clustered import ClusterRedraws, added_up
from pulens.cells.priors import PriorSetting
from pulens.cells.rates import CellRates
from pulens.cells.redraws import CellRedraws
from pulens.decisions.actions import Actions
from pulens.decisions.linear import Form
from pulens.intervals.construction import Construction, Ends
from pulens.intervals.kernels.jackknife import student_quantile
from pulens.intervals.kernels.quantiles import expanded_tail
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured
from pulens.types import Floats

if TYPE_CHECKING:
    from pulens.decisions.chosen import Rule, Value


def masses_at(found: MassReplicates, threshold: float) -> Actions:
    """What replicates show at one threshold."""
    hits, flagged = found.at(threshold)
    prior = found.positive[:, -1]
    recall = np.divide(hits, prior, out=np.zeros(hits.shape), where=prior > 0)
    return Actions(np.zeros(0), recall, np.clip(flagged, 0.0, 1.0), prior)


def ends_of(evidence: WeightedEvidence, numbers: Floats, value: Any, threshold: float, tail: Any) -> Ends:
    """Ends of a number (or of many, in columns) from its replicates at one setting of the class priors."""
    found = evidence.replicates([threshold] if math.isfinite(threshold) else ())
    if evidence.is_clustered:
        if evidence.has_too_few_clusters:
            return value + math.nan, value + math.nan
        reach = student_quantile(found.freedom, tail) * found.error(numbers)
        return value - reach, value + reach
    each = tail
    if math.isfinite(threshold):
        each = CellRates(evidence.cells, Resampling()).tail(threshold, evidence.cells.priors.shares, tail)
    low, high = np.quantile(numbers, [each, 1 - each], axis=0)
    return low, high


@dataclass(frozen=True, eq=False)
class LinearWithin(Construction):
    """A linear number at a threshold that was fixed beforehand."""

    evidence: WeightedEvidence
    form: Form
    threshold: float

    @property
    def method(self) -> str:  # type: ignore[override]
        return "delete-a-bucket jackknife, Student" if self.evidence.is_clustered else "redraws of each cell"

    def value(self, prior: float) -> Any:
        return float(self._of(self.evidence))

    def _of(self, evidence: WeightedEvidence) -> float:
        own = Actions.at(evidence, self.threshold, evidence.class_prior.unlabelled)
        return float(self.form.raw(own)[0])

    def ends(self, prior: float | None, tail: Any) -> Ends:
        ends = []
        for way in ways(self.evidence, self.threshold):
            asked = (self.threshold,) if math.isfinite(self.threshold) else ()
            numbers = self.form.raw(masses_at(way.replicates(asked), self.threshold))
            ends.append(ends_of(way, numbers, self._of(way), self.threshold, tail))
        return min(float(low) for low, _ in ends), max(float(high) for _, high in ends)


@dataclass(frozen=True, eq=False)
class MetricWithin(Construction):
    """A metric at a threshold that was fixed beforehand, by the construction of cells."""

    evidence: WeightedEvidence
    metric: Measured
    threshold: float
    resampling: Resampling

    method = "cells, as in evaluations"

    def value(self, prior: float) -> Any:
        own = self.evidence.cells.priors
        return self._asked.value(PriorSetting(own.shares, own.draws))

    @cached_property
    def _asked(self) -> Any:
        return CellDoubts(self.evidence.cells, self.resampling).asked(self.metric, self.threshold)

    def ends(self, prior: float | None, tail: Any) -> Ends:
        priors = self.evidence.cells.priors
        settings = [PriorSetting(priors.shares, priors.draws)]
        if priors.treatment == "range":
            settings = priors.settings(self._asked.order(), self.evidence.cells.cells.totals[:, 1])
        found = [self._asked.ends(each, float(tail)) for each in settings]
        return min(low for low, _ in found), max(high for _, high in found)


def ways(evidence: WeightedEvidence, threshold: float) -> list[WeightedEvidence]:
    """The settings over which a hull is taken; extreme splits follow the cells' recalls."""
    if evidence.cells.priors.treatment != "range":
        return [evidence]
    recalls = evidence.cells.recalls(threshold if math.isfinite(threshold) else 0.0)
    return evidence.settings(np.where(np.isnan(recalls), 0.5, recalls))


def lowest_margins(evidence: WeightedEvidence, thresholds: Floats, floor: float, tail: float) -> Floats:
    """One-sided lower ends of hits less what a floor of precision asks of the flagged rows, at many thresholds."""
    form, found = Form(1.0, -floor), []
    for way in ways(evidence, float(np.median(thresholds))):
        replicates = way.replicates(thresholds)
        numbers = np.column_stack([form.raw(masses_at(replicates, float(at))) for at in thresholds])
        values = np.array([form.raw(Actions.at(way, float(at), way.class_prior.unlabelled))[0] for at in thresholds])
        if way.is_clustered:
            if way.has_too_few_clusters:
                return np.full(thresholds.size, -math.inf)
            found.append(values - student_quantile(replicates.freedom, tail) * replicates.error(numbers))
            continue
        rows = float(way.cells.cells.totals[:, 0].sum())
        found.append(np.quantile(numbers, expanded_tail(tail, rows), axis=0))
    return np.asarray(np.min(found, axis=0))


def covariances_within(evidence: WeightedEvidence, form: Form, thresholds: Floats) -> Iterator[Floats]:
    """Of a linear number at many thresholds, or of many forms of one, at each setting of the class priors."""
    hits, flagged = (np.broadcast_to(part, thresholds.shape) for part in (form.hits, form.flagged))
    for way in ways(evidence, float(np.median(thresholds))):
        replicates = way.replicates(np.unique(thresholds))
        points = [masses_at(replicates, float(at)) for at in thresholds]
        numbers = [form._replace(hits=hits[at], flagged=flagged[at]).raw(point) for at, point in enumerate(points)]
        away = replicates.away(np.column_stack(numbers))
        yield np.asarray(away.T @ away)


@dataclass(frozen=True, eq=False)
class ChosenAgainWithin:
    """For each redraw of the cells, or of whole buckets, what it shows at the threshold that it would choose."""

    evidence: WeightedEvidence
    redrawn: Actions
    observed: Actions

    @classmethod
    def by(cls, rule: Rule, evidence: WeightedEvidence, resampling: Resampling) -> ChosenAgainWithin:
        cells, priors = evidence.cells, evidence.cells.priors
        redraws = (ClusterRedraws if evidence.is_clustered else CellRedraws)(cells, resampling)
        at = np.asarray(redraws.thresholds, float)
        own = PriorSetting(priors.shares, None)
        drawn = _nothing_first(MassReplicates.of(at, redraws.of(own)))
        allowed = (drawn.flagged <= rule.most_flagged + 1e-12) & (drawn.recall >= rule.least_found - 1e-12)
        if rule.kept is not None:
            whole = np.asarray(evidence.tally.thresholds, float)
            allowed &= np.append(rule.kept[0], rule.kept[np.searchsorted(-whole, -at) + 1])
        worst: Any = None
        for setting in rule.settings or (None,):
            points = drawn
            if setting is not None:
                points = _nothing_first(MassReplicates.of(at, redraws.of(setting)))
            cost = np.where(allowed, points.costs(rule.costs), np.inf)
            regret = cost - (0.0 if setting is None else cost.min(axis=1, keepdims=True))
            worst = regret if worst is None else np.fmax(worst, regret)
        some = np.isfinite(worst).any(axis=1)
        places = np.where(np.isnan(worst), np.inf, worst).argmin(axis=1)
        if priors.draws is not None:  # an estimate's own error, seen from the truth, is the other way round
            mirrored = np.clip(2 * priors.shares - priors.draws, 0.0, priors.caps)
            drawn = _nothing_first(MassReplicates.of(at, redraws.of(PriorSetting(priors.shares, mirrored))))
        counts, totals = cells.cells.above(at).transpose(0, 2, 1)[None], cells.cells.totals[None]
        seen = _nothing_first(MassReplicates.of(at, added_up(cells, counts, totals, priors.shares[None])))
        rows = np.flatnonzero(some)
        return cls(evidence, _picked(drawn, rows, places[rows]), _picked(seen, 0 * rows, places[rows]))

    def errors(self, value: Value, prior: float | None) -> Floats:
        """What each redraw shows at the threshold it chose, less what the data show there."""
        return np.asarray(value(self.redrawn) - value(self.observed))

    def tail(self, tail: float) -> float:
        """The tail of percentiles for this many labelled rows, or buckets of clusters."""
        if self.evidence.is_clustered:
            return expanded_tail(tail, self.evidence.buckets_by_cell.fewest)
        return expanded_tail(tail, float(self.evidence.cells.cells.totals[:, 0].sum()))


def _nothing_first(found: MassReplicates) -> Actions:
    """Every threshold of replicates, the infinite one before them."""
    prior = found.positive[:, -1:]
    none = np.zeros((len(prior), 1))
    recall = np.divide(found.positive, prior, out=np.zeros(found.positive.shape), where=prior > 0)
    flagged = np.clip(np.concatenate([none, found.population], axis=1), 0.0, 1.0)
    return Actions(np.zeros(0), np.concatenate([none, recall], axis=1), flagged, prior)


def _picked(points: Actions, rows: Any, places: Any) -> Actions:
    prior = np.asarray(points.class_prior)[rows, 0]
    return Actions(np.zeros(0), points.recall[rows, places], points.flagged[rows, places], prior)


def rows_worth(evidence: WeightedEvidence, share: float, threshold: float) -> float:
    """How many independent rows the list is worth for the flagged share, where rows belong together."""
    rows = float(evidence.tally.totals.unlabelled)
    if not evidence.is_clustered or not 0 < share < 1 or not math.isfinite(threshold):
        return rows
    found = evidence.replicates((threshold,))
    error = float(found.error(found.at(threshold)[1]))
    return rows if not error > 0 else float(min(max(share * (1 - share) / error**2, 2.0), rows))
