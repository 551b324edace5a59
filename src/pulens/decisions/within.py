"""Decisions within cells, and on rows that belong together: numbers off the weighted tally, ends from replicates.

Costs, savings, net benefit and the flagged share are linear in two masses, the flagged positives and the flagged rows
(:mod:`pulens.strata.weighted`); every replicate of the cells has both at every threshold. Without clusters ends are
percentiles of redraws of each cell, at Student's tail for a sum over unequal cells; with clusters they are Student's
around the value, with the standard error of the jackknife over buckets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from pulens.inference.mass_replicates import MassReplicates
from pulens.inference.method import IntervalMethod, Limits
from pulens.strata import WeightedEvidence
from pulens.strata.counts import counts_above
from pulens.strata.priors import PriorSetting
from pulens.strata.rates import StratumRates
from pulens.types import Floats


def masses_at(result: MassReplicates, threshold: float) -> Actions:
    """What replicates show at one threshold."""
    hits, flagged = result.at(threshold)
    prior = result.positive[:, -1]
    recall = np.divide(hits, prior, out=np.zeros(hits.shape), where=prior > 0)
    return Actions(np.zeros(0), recall, np.clip(flagged, 0.0, 1.0), prior)


@dataclass(frozen=True, eq=False)
class LinearWithin(IntervalMethod):
    """A linear number at one threshold or many, fixed beforehand, at any setting of the strata's class priors."""

    evidence: WeightedEvidence
    form: Form
    thresholds: Any

    @property
    def method(self) -> str:  # type: ignore[override]
        return "delete-a-bucket jackknife, Student" if self.evidence.is_clustered else "redraws of each cell"

    def _at_each(self, number: Callable[[float], Actions]) -> Floats:
        """The number at every threshold, in columns."""
        at = np.atleast_1d(self.thresholds)
        hits, flagged = (np.broadcast_to(part, at.shape) for part in (self.form.hits, self.form.flagged))
        each = zip(at.tolist(), hits, flagged, strict=True)
        return np.column_stack([self.form._replace(hits=a, flagged=b).raw(number(one)) for one, a, b in each])

    def _replicates(self, own: WeightedEvidence) -> tuple[MassReplicates, Floats]:
        at = np.atleast_1d(self.thresholds)
        result = own.replicates(np.unique(at[np.isfinite(at)]))
        return result, self._at_each(lambda one: masses_at(result, one))

    def value(self, prior: PriorSetting | None) -> Any:
        own, share = self.evidence.at_prior(prior)
        values = self._at_each(lambda one: Actions.at(own, one, share))[0]
        return values if np.ndim(self.thresholds) else float(values[0])

    def ends(self, prior: PriorSetting | None, tail: Any) -> Limits:
        own, _ = self.evidence.at_prior(prior)
        result, numbers = self._replicates(own)
        value = np.atleast_1d(self.value(prior))
        if own.has_too_few_clusters:
            low, high = value + math.nan, value + math.nan
        elif own.is_clustered:
            reach = student_quantile(result.freedom, tail) * result.error(numbers)
            low, high = value - reach, value + reach
        else:
            each = self._tail(own, tail)
            low, high = np.quantile(numbers, [each, 1 - each], axis=0)
        return (low, high) if np.ndim(self.thresholds) else (float(low[0]), float(high[0]))

    def _tail(self, own: WeightedEvidence, tail: Any) -> Any:
        """Of percentiles: at a threshold for a sum over unequal strata, over many for the labelled rows."""
        if np.ndim(self.thresholds):
            return expanded_tail(tail, float(own.cells.cells.totals[:, 0].sum()))
        if not math.isfinite(self.thresholds):
            return tail
        return StratumRates(own.cells, Resampling()).tail(self.thresholds, own.cells.priors.shares, tail)

    def covariance(self, prior: PriorSetting | None) -> Floats:
        """Of the numbers at all thresholds."""
        own, _ = self.evidence.at_prior(prior)
        result, numbers = self._replicates(own)
        away = result.away(numbers)
        return np.asarray(away.T @ away)


@singledispatch
def linear_method(evidence: Evidence, form: Form, thresholds: Any) -> IntervalMethod:
    """How the interval of a linear number at a threshold, or at many, is made from this evidence."""
    labelled, unlabelled, negative = counts_above(evidence.tally, np.atleast_1d(thresholds))
    if not np.ndim(thresholds):
        labelled, unlabelled, negative = labelled[0], unlabelled[0], negative[0]
    return LinearAtThresholds(evidence, form, (labelled, unlabelled, negative))


linear_method.register(WeightedEvidence, LinearWithin)


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
