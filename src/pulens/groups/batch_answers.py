"""From columns to the objects that people read, one segment at a time and only when asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.counts.tallies import Tallies
from pulens.diagnostics import hardly_known, impossible_area, not_feasible
from pulens.estimate import Estimate, Interval
from pulens.evaluation.evaluate import Evaluation
from pulens.evidence import Evidence
from pulens.groups.batch import BatchResult
from pulens.groups.metric_columns import MetricColumns
from pulens.groups.segment_priors import SharedAssumptions
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.prior_uncertainty import PRIOR_IN_METHOD
from pulens.metrics import METRICS
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.rests_on import rests_on
from pulens.metrics.parts.withholding import withhold
from pulens.notice import Notice, Severity, worst_first
from pulens.priors import ClassPrior
from pulens.priors.implied import within_limit
from pulens.priors.known_negatives import notice_of_recovery


@dataclass(frozen=True, eq=False)
class BatchAnswers:
    """The evaluations behind a batch; ``row`` counts its segments."""

    tallies: Tallies
    priors: tuple[ClassPrior | None, ...]
    shared: SharedAssumptions
    result: BatchResult
    threshold: float
    resampling: Resampling | None
    worlds: float
    names: tuple[str, ...]

    def evaluation(self, row: int) -> Evaluation:
        index = int(self.result.indices[row])
        tally, prior = self.tallies.at(index), self.priors[index]
        assert prior is not None
        if self.result.implied_limit is not None:
            limit = float(self.result.implied_limit[row])
            prior = within_limit(prior, tally.totals, limit, self.shared.label_noise)
        assumed: Any = self.shared
        evidence = Evidence(tally, prior, *assumed)
        return Evaluation(evidence, self.threshold, "given", self.resampling, self.worlds)

    def notices(self, row: int, evidence: Evidence) -> tuple[Notice, ...]:
        """What :attr:`pulens.evaluation.evaluate.Evaluation.alarms` says; all other alarms were looked for before."""
        share = evidence.class_prior.unlabelled
        return worst_first(
            [
                *evidence.class_prior.notices,
                *impossible_area("roc_auc", float(self.result.raw_area[row]), share),
                *hardly_known(evidence),
                *not_feasible(evidence.class_prior, float(self.result.feasible[row])),
                *(one for one in notice_of_recovery(evidence.tally, evidence.scenario) if one.severity > Severity.NOTE),
            ]
        )

    def estimates(self, row: int, evidence: Evidence) -> Mapping[str, Estimate]:
        return {name: self.estimate(name, row, evidence) for name in self.names}

    def estimate(self, name: str, row: int, evidence: Evidence) -> Estimate:
        """A number as :func:`pulens.metrics.parts.measure.estimate` tells it."""
        metric, columns = METRICS[name], self.result.columns[name]
        value, at, taken = float(columns.value[row]), self._threshold(metric), rests_on(metric, evidence)
        if math.isnan(value):
            reason = metric.undefined_because or "it is 0/0"
            return Estimate(name, value, undefined_because=reason, threshold=at, rests_on=taken)
        reach, sample = self._reach(metric, columns, row, evidence), self._sample(metric, columns, row)
        sources = {} if reach is None else {"class prior": reach}
        interval = reach
        if sample is not None and self.resampling is not None:
            sources = {"sample": sample, **sources}
            drawn = not evidence.class_prior.is_exact and not self._is_unmoved(metric)
            method = sample.method + (PRIOR_IN_METHOD["drawn"] if drawn else "")
            ends = float(columns.low[row]), float(columns.high[row])
            interval = Interval(*ends, self.resampling.confidence, method)
        if evidence.tally.binning is not None:  # of bins that blur a number the ordinary road takes care
            sources["binning"] = Interval(value, value, None, "what binning can change")
        return withhold(Estimate(name, value, interval, threshold=at, sources=sources, rests_on=taken), metric)

    def _threshold(self, metric: Metric) -> float | None:
        return self.threshold if metric.needs_threshold else None

    def _is_unmoved(self, metric: Metric) -> bool:
        return metric.ignores_class_prior or (not metric.needs_class_prior and self.shared.label_noise == 0)

    def _reach(self, metric: Metric, columns: MetricColumns, row: int, evidence: Evidence) -> Interval | None:
        low, high = float(columns.reach_low[row]), float(columns.reach_high[row])
        reach = evidence.class_prior.unlabelled_interval
        if np.isnan(low) or reach is None:
            return None
        if self._is_unmoved(metric):
            return Interval(low, high, None, "does not depend on the class prior")
        return Interval(low, high, reach.confidence, "range over the class prior")

    def _sample(self, metric: Metric, columns: MetricColumns, row: int) -> Interval | None:
        low, high = float(columns.sample_low[row]), float(columns.sample_high[row])
        if math.isnan(low) or self.resampling is None:
            return None
        method = "Jeffreys" if metric.reads == "threshold" else "DeLong, Student, skewness-corrected"
        return Interval(low, high, self.resampling.confidence, method)
