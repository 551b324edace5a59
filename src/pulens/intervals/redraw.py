"""Intervals from redraws of the tally: average precision, and metrics that have no form of their own."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from pulens.counts.tally import Tally
from pulens.intervals.construction import Ends
from pulens.intervals.kernels.quantiles import jeffreys_quantiles, percentiles
from pulens.intervals.kernels.redraws import Redrawn, redraw_tally
from pulens.intervals.of_metric import MetricConstruction
from pulens.intervals.replicates import Replicates
from pulens.types import Floats

LONG_LOOP_ROWS, LONG_LOOP_REDRAWS = 20_000, 400  # metrics without a vectorised form may take time in every row
READINGS_TAIL = 1.2  # the hull of two readings of average precision misses less often than either


@dataclass(frozen=True)
class OfRanking(MetricConstruction):
    """A metric that reads the whole ranking, of which redraws keep fewer thresholds."""

    def _moved(self, prior: float | None) -> float:
        """What fewer thresholds standing for all of them change in the value, to be taken out of the redraws again."""
        shop, target = self.shop, self.target
        if len(shop.compressed) == len(shop.evidence.tally):
            return 0.0
        fixed = shop.evidence.class_prior.unlabelled if prior is None else prior
        coarse = target.metric.compute(shop.compressed, shop.evidence.assumptions_at(fixed), **target.parameters)
        moved = target.value_at(fixed) - float(coarse)
        return 0.0 if math.isnan(moved) else moved


@dataclass(frozen=True)
class RedrawByRedraw(MetricConstruction):
    """Percentiles of a metric that is computed in every redraw; fewer redraws where each may take long."""

    method = "percentile of redraws"

    @abstractmethod
    def basis(self) -> Tally:
        """The counts that are redrawn."""

    def shift(self, prior: float | None) -> float:
        """What is added to every redraw."""
        return 0.0

    def ends(self, prior: float | None, tail: float) -> Ends:
        evidence, draws, resampling = self.shop.evidence, self.shop.draws, self.shop.resampling
        if evidence.tally.totals.rows > LONG_LOOP_ROWS:
            resampling = replace(resampling, redraws=min(resampling.redraws, LONG_LOOP_REDRAWS))
        basis, target = self.basis(), self.target

        def work(redrawn: Redrawn) -> Floats:
            priors = np.broadcast_to(draws.priors(prior, redrawn.normal, redrawn.totals), (len(redrawn),))
            found = Replicates(redrawn, priors, evidence.label_noise, evidence.recovery_scenario, of_rows=True)
            return found.values(target.metric, basis.thresholds, target.threshold, **target.parameters)

        chunks = redraw_tally(basis, resampling, work, random_totals=draws.random_totals)
        each = draws.tail(tail)
        return percentiles(np.concatenate(chunks) + self.shift(prior), each, each)


@dataclass(frozen=True)
class RankingRedraws(OfRanking, RedrawByRedraw):
    """Any metric of the ranking."""

    def basis(self) -> Tally:
        return self.shop.compressed

    def shift(self, prior: float | None) -> float:
        return self._moved(prior)


@dataclass(frozen=True)
class CountsRedraws(RedrawByRedraw):
    """Metrics that read the rows counted at a threshold: a tally of two scores holds all of that."""

    def basis(self) -> Tally:
        tally, threshold = self.shop.evidence.tally, float(self.target.threshold or 0.0)
        scores = np.array([threshold, min(threshold - 1.0, float(tally.thresholds[-1]))])
        kinds = zip(tally.at(threshold), tally.totals, strict=True)
        labelled, unlabelled, negative = (np.array(pair) for pair in kinds)
        return Tally(scores, labelled, unlabelled, negative)


@dataclass(frozen=True)
class AveragePrecisionReadTwice(OfRanking):
    """Average precision of each redraw with precision cut to [0, 1] and without: the hull of both percentiles."""

    method = "percentile of redraws, read twice"

    def ends(self, prior: float | None, tail: float) -> Ends:
        moved, readings = self._moved(prior), self.shop.average_precisions[prior]
        labelled = self.shop.evidence.tally.totals.labelled
        if labelled < 2:  # a single row says nothing of how rows differ
            return -math.inf, math.inf
        if np.ptp(readings) == 0:  # no redraw differs: as little as if n of n rows had been found
            low = float(jeffreys_quantiles(labelled, labelled, np.array([tail]))[0])
            return low * float(readings.min() + moved), 1.0
        each = self.shop.draws.tail(_of_readings(tail))
        found = [percentiles(reading + moved, each, each) for reading in readings]
        return min(low for low, _ in found), max(high for _, high in found)


def _of_readings(tail: float) -> float:
    """The tail at which the hull of two readings misses as often as asked; near a confidence of 0 it has no room."""
    return min(READINGS_TAIL * tail, max(tail, 0.5))
