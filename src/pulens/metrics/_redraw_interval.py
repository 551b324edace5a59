"""Intervals from redraws of the tally: average precision, thresholds chosen on the same rows, any other metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.intervals.kernels.quantiles import jeffreys_quantiles, percentiles
from pulens.intervals.kernels.redraws import Redrawn, compress, redraw_tally, tallies_of
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.prior_doubt import PRIORS_IN_RANGE
from pulens.intervals.prior_draws import Ends, EndsAt, PriorDraws
from pulens.intervals.redrawn import at_places, average_precisions, best_places, values_at_threshold
from pulens.intervals.threshold import ThresholdInterval
from pulens.metrics.parts.metric import Metric
from pulens.recovery.assumptions import Assumptions
from pulens.types import Floats

LONG_LOOP_ROWS, LONG_LOOP_REDRAWS = 20_000, 400  # metrics without a vectorised form may take time in every row
READINGS_TAIL = 1.2  # the hull of two readings of average precision misses less often than either


@dataclass(frozen=True)
class Choice:
    """A threshold that was chosen on the same rows, as the best of a metric."""

    metric: Metric
    threshold: float


@dataclass(frozen=True)
class RedrawInterval:
    """Percentiles over redraws; one pass over them serves all metrics that have a vectorised form."""

    draws: PriorDraws
    resampling: Resampling
    beforehand: ThresholdInterval
    choice: Choice | None = None

    @cached_property
    def _compressed(self) -> Tally:
        return compress(self.draws.evidence.tally)

    @cached_property
    def _redrawn(self) -> tuple[dict[float | None, Floats], tuple[Any, ...]]:
        """One pass over the redraws for all that needs them.

        Both readings of average precision at each class prior that will be asked for; and, where the threshold
        was chosen, for each redraw a normal number, its totals, the threshold it would choose and the rates there.
        """
        doubt = self.draws.doubt
        asked: list[float | None] = [self.draws.evidence.class_prior.unlabelled]
        if doubt.treatment != "exact":
            asked += [None] if doubt.treatment == "drawn" else doubt.over(PRIORS_IN_RANGE)
        labelled_at = np.asarray(self._compressed.increments()[0], float)

        def work(redrawn: Redrawn) -> tuple[list[Floats], tuple[Any, ...]]:
            maps = []
            for prior in asked:
                priors = self.draws.priors(prior, redrawn.normal, redrawn.totals)
                maps.append(self.draws.recoveries(redrawn.totals, np.broadcast_to(priors, (len(redrawn),))))
            readings = [np.stack(average_precisions(recoveries, redrawn, labelled_at)) for recoveries in maps]
            if self.choice is None:
                return readings, ()
            metric, table = self.choice.metric, maps[0].tables(*redrawn[:3])
            places = best_places(metric.compute(table), table.is_possible, higher_is_better=metric.higher_is_better)
            return readings, (redrawn.normal, places, *redrawn.totals, *at_places(redrawn, places))

        chunks = redraw_tally(self._compressed, self.resampling, work, random_totals=self.draws.random_totals)
        readings = {prior: np.concatenate([chunk[0][i] for chunk in chunks], axis=1) for i, prior in enumerate(asked)}
        parts = zip(*(chunk[1] for chunk in chunks), strict=True)
        return readings, tuple(np.concatenate(part) for part in parts)

    def thresholds(self, tail: float) -> tuple[float, float]:
        """Percentiles of the thresholds that redraws choose."""
        chosen = np.asarray(self._compressed.thresholds, float)[self._redrawn[1][1]]
        return percentiles(chosen, tail, tail)

    def chosen(self, metric: Metric, parameters: dict[str, Any]) -> EndsAt:
        """What a redraw shows at the threshold it chose, less what the data show there: the optimism of choosing."""
        normal, places, *counted = self._redrawn[1]
        totals, rates = tuple(counted[:3]), tuple(counted[3:])
        observed = [
            np.asarray(kind, float)[places] / total if total else np.zeros(places.size)
            for kind, total in zip(
                (self._compressed.labelled, self._compressed.unlabelled, self._compressed.negative),
                self.draws.evidence.tally.totals,
                strict=True,
            )
        ]
        assert self.choice is not None
        own = self.draws.evidence.tally.totals
        threshold = self.choice.threshold
        above = self.draws.evidence.tally.at(threshold)
        here = [hits / total if total else 0.0 for hits, total in zip(above, own, strict=True)]

        def values(at_rates: Any, at_totals: Any, priors: Floats) -> Floats:
            table = self.draws.recoveries(at_totals, priors).tables(*at_rates)
            return values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **parameters)

        def at(prior: float | None) -> Ends:
            fixed = self.draws.evidence.class_prior.unlabelled if prior is None else prior
            redrawn = values(rates, totals, self.draws.priors(prior, normal, totals, mirrored=True))
            known = values(observed, tuple(own), np.full(places.size, fixed))
            value = values([np.array([rate]) for rate in here], tuple(own), np.array([fixed]))[0]
            errors = redrawn - known

            optimism = float(np.nanmean(errors)) if not np.isnan(errors).all() else 0.0
            beforehand = self.beforehand.fixed(metric, threshold, parameters)(prior)

            def ends(tail: float) -> tuple[float, float]:
                low, high = percentiles(errors, self.draws.tail(tail), self.draws.tail(tail))
                as_given = beforehand(tail)
                return min(value - high, as_given[0] - optimism), max(value - low, as_given[1] - optimism)

            return ends

        return at

    def ranked(self, metric: Metric, point: Callable[[float], float], parameters: dict[str, Any]) -> EndsAt:
        def compute(tally: Tally, assumptions: Assumptions) -> Any:
            return metric.compute(tally, assumptions, **parameters)

        return self._read_off(self._compressed, compute, lambda prior: self._moved(metric, prior, point, parameters))

    def counted(self, metric: Metric, threshold: float, parameters: dict[str, Any]) -> EndsAt:
        """Metrics that read the rows counted at a threshold: a tally of two scores holds all of that."""
        tally = self.draws.evidence.tally
        scores = np.array([threshold, min(threshold - 1.0, float(tally.thresholds[-1]))])
        kinds = zip(tally.at(threshold), tally.totals, strict=True)
        labelled, unlabelled, negative = (np.array(pair) for pair in kinds)

        def compute(redrawn: Tally, assumptions: Assumptions) -> Any:
            return metric.compute(redrawn, threshold, assumptions, **parameters)

        return self._read_off(Tally(scores, labelled, unlabelled, negative), compute, lambda _: 0.0)

    def _read_off(
        self, basis: Tally, compute: Callable[[Tally, Assumptions], Any], moved: Callable[[float | None], float]
    ) -> EndsAt:
        """Percentiles of a metric that is computed redraw by redraw; fewer redraws where each may take long."""
        noise, resampling = self.draws.evidence.label_noise, self.resampling
        if self.draws.evidence.tally.totals.rows > LONG_LOOP_ROWS:
            resampling = replace(resampling, redraws=min(resampling.redraws, LONG_LOOP_REDRAWS))

        def at(prior: float | None) -> Ends:
            def work(redrawn: Redrawn) -> Floats:
                priors = np.broadcast_to(self.draws.priors(prior, redrawn.normal, redrawn.totals), (len(redrawn),))
                values = [
                    compute(tally, Assumptions(float(share), noise, self.draws.evidence.recovery_scenario))
                    for tally, share in zip(tallies_of(redrawn, basis.thresholds), priors, strict=True)
                ]
                return np.array(values, float)

            chunks = redraw_tally(basis, resampling, work, random_totals=self.draws.random_totals)
            values = np.concatenate(chunks) + moved(prior)
            return lambda tail: percentiles(values, self.draws.tail(tail), self.draws.tail(tail))

        return at

    def _moved(
        self, metric: Metric, prior: float | None, point: Callable[[float], float], parameters: dict[str, Any]
    ) -> float:
        """What fewer thresholds standing for all of them change in the value, to be taken out of the redraws again."""
        if len(self._compressed) == len(self.draws.evidence.tally):
            return 0.0
        fixed = self.draws.evidence.class_prior.unlabelled if prior is None else prior
        coarse = metric.compute(self._compressed, self.draws.evidence.assumptions_at(fixed), **parameters)
        moved = point(fixed) - float(coarse)
        return 0.0 if math.isnan(moved) else moved

    def average_precision(self, metric: Metric, point: Callable[[float], float], parameters: dict[str, Any]) -> EndsAt:
        def at(prior: float | None) -> Ends:
            moved = self._moved(metric, prior, point, parameters)
            readings = self._redrawn[0][prior]

            def ends(tail: float) -> tuple[float, float]:
                labelled = self.draws.evidence.tally.totals.labelled
                if labelled < 2:  # a single row says nothing of how rows differ
                    return -math.inf, math.inf
                if np.ptp(readings) == 0:  # no redraw differs: as little as if n of n rows had been found
                    low = float(jeffreys_quantiles(labelled, labelled, np.array([tail]))[0])
                    return low * float(readings.min() + moved), 1.0
                each = self.draws.tail(READINGS_TAIL * tail)
                found = [percentiles(reading + moved, each, each) for reading in readings]
                return min(low for low, _ in found), max(high for _, high in found)

            return ends

        return at
