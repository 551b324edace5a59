"""Intervals of metrics: which construction holds for which, with the class prior's own doubt carried along.

Three constructions, each the one that kept its level in simulation (see docs/intervals.md):

* areas that are bilinear in the observed distributions (ROC AUC): DeLong's variance from placements, Student's
  quantiles and a correction for skewness; no redraws;
* metrics at a threshold fixed beforehand: the observed rates are binomial, and each is drawn from its Jeffreys
  posterior;
* anything else that reads the ranking: percentiles over redraws of the tally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.assumptions import Assumptions
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.metrics._metric import Metric
from pulens.metrics._redrawn import at_places, average_precisions, best_places, values_at_threshold
from pulens.recovery.many import ManyRecoveries, priors_in_redraws, recover_many
from pulens.scenario import Scenario
from pulens.tally import Tally
from pulens.uncertainty.placements import PlacementMoments, placement_moments
from pulens.uncertainty.quantiles import (
    effective_degrees_of_freedom,
    expanded_tail,
    jeffreys_quantiles,
    latin_levels,
    percentiles,
    spread_of_interval,
    studentised_quantile,
    tail_for_range,
)
from pulens.uncertainty.redraws import Redrawn, compress, redraw_tally, tallies_of
from pulens.uncertainty.resampling import Resampling

Floats = NDArray[np.float64]
Ends = Callable[[float], tuple[float, float]]  # from the chance of a miss on either side to both ends
PRIORS_IN_RANGE = 5  # points of a bare range of class priors at which an interval is found
LONG_LOOP_ROWS, LONG_LOOP_REDRAWS = 20_000, 400  # metrics without a vectorised form may take time in every row
READINGS_TAIL = 1.2  # the hull of two readings of average precision misses less often than either
GRID = 201  # quantiles of the class prior, and of the area given it, that are mixed


class Doubt(NamedTuple):
    """Interval of a metric, and its parts."""

    interval: Interval
    sample: Interval


@dataclass(frozen=True)
class Choice:
    """A threshold that was chosen on the same rows, as the best of a metric."""

    metric: Metric
    threshold: float


@dataclass(frozen=True)
class Doubts:
    """Finds the intervals of one evidence's metrics; what several metrics need is computed once."""

    evidence: Evidence
    resampling: Resampling
    choice: Choice | None = None

    def of(
        self,
        name: str,
        metric: Metric,
        known: float,
        threshold: float | None,
        point: Callable[[float], float],
        **parameters: Any,
    ) -> Doubt | None:
        """The interval of a metric whose value is ``known``; ``point`` gives the value at another class prior."""
        ends, method = self._construction(name, metric, threshold, point, parameters)
        prior = self.evidence.class_prior
        own = self.resampling.tail
        sample = self._interval(ends(prior.unlabelled)(own), known, metric, method)
        if sample is None:
            return None
        reach = prior.unlabelled_interval
        unmoved = metric.ignores_class_prior or (not metric.needs_class_prior and self.evidence.label_noise == 0)
        if prior.is_exact or reach is None or unmoved:
            return Doubt(sample, sample)
        if reach.confidence is None:
            low, high = self._over_range(ends, point, reach, sample)
            both = self._interval((low, high), known, metric, f"{method}, over the range of the class prior")
        else:
            both = self._interval(ends(None)(own), known, metric, f"{method}, class prior drawn")
        return None if both is None else Doubt(both, sample)

    def _interval(self, ends: tuple[float, float], known: float, metric: Metric, method: str) -> Interval | None:
        low, high = ends
        if math.isnan(low) or math.isnan(high):
            return None
        low, high = (min(max(end, metric.lowest), metric.highest) for end in (low, high))
        return Interval(min(low, known), max(high, known), self.resampling.confidence, method)

    def _over_range(
        self, ends: Callable[[float | None], Ends], point: Callable[[float], float], reach: Interval, sample: Interval
    ) -> tuple[float, float]:
        """Hull of the intervals at class priors over the range, each at the level of Imbens and Manski."""
        from scipy.special import ndtri

        priors = priors_over(reach)
        values = [point(prior) for prior in priors]
        values = [value for value in values if not math.isnan(value)]
        length = max(values) - min(values) if values else 0.0
        spread = sample.width / (2 * float(ndtri((1 + self.resampling.confidence) / 2)))
        tail = tail_for_range(self.resampling.confidence, length, spread)
        found = np.array([ends(prior)(tail) for prior in priors])
        return float(np.nanmin(found[:, 0])), float(np.nanmax(found[:, 1]))

    def _construction(
        self,
        name: str,
        metric: Metric,
        threshold: float | None,
        point: Callable[[float], float],
        parameters: dict[str, Any],
    ) -> tuple[Callable[[float | None], Ends], str]:
        """The ends at a class prior (``None``: drawn from its interval), and the construction's name."""
        if metric.reads == "threshold":
            if self.choice is not None and threshold == self.choice.threshold:
                return self._chosen(metric, parameters), "redraws with the threshold chosen anew"
            return self._fixed(metric, float(threshold or 0.0), parameters), "Jeffreys"
        if name == "roc_auc" and parameters.get("method", "direct") == "direct":
            return self._area, "DeLong, Student, skewness-corrected"
        if name == "average_precision" and parameters.get("form", "point") == "point":
            return self._average_precision(metric, point, parameters), "percentile of redraws, read twice"
        if metric.reads == "counts":
            return self._counted(metric, float(threshold or 0.0), parameters), "percentile of redraws"
        return self._ranked(metric, point, parameters), "percentile of redraws"

    # --- the class prior -------------------------------------------------------------------------------------

    def _priors(self, prior: float | None, normal: Floats, totals: Any, *, mirrored: bool = False) -> Floats:
        """Share of positives among the unlabelled rows in each redraw."""
        from scipy.special import ndtr

        known = self.evidence.class_prior
        base: Any = prior
        reach = known.unlabelled_interval
        if prior is None and reach is not None and reach.confidence is not None:
            if known.distribution is not None:
                levels, quantiles = self._prior_quantiles
                base = np.interp(ndtr(normal), levels, quantiles)
            else:
                base = spread_of_interval(known.unlabelled, reach.low, reach.high, reach.confidence, normal)
            if mirrored:  # the estimate's own error, seen from the truth, is the other way round
                base = 2 * known.unlabelled - base
        elif prior is None:
            base = known.unlabelled
        return priors_in_redraws(
            base,
            tuple(self.evidence.tally.totals),  # type: ignore[arg-type]
            totals,
            self.evidence.label_noise,
            held=self.evidence.prior_held,
            scenario=self.evidence.recovery_scenario,
        )

    @cached_property
    def _prior_quantiles(self) -> tuple[Floats, Floats]:
        """Quantiles of the estimated class prior's own distribution."""
        distribution = self.evidence.class_prior.distribution
        assert distribution is not None
        levels = np.concatenate([[0.0], (np.arange(GRID) + 0.5) / GRID, [1.0]])
        return levels, np.array([distribution.quantile(level) for level in levels.tolist()])

    def _recoveries(self, totals: Any, priors: Floats) -> ManyRecoveries:
        return recover_many(totals, priors, self.evidence.label_noise, self.evidence.recovery_scenario)

    @property
    def _random_totals(self) -> bool:
        return self.evidence.recovery_scenario is Scenario.SINGLE_SET

    # --- areas -----------------------------------------------------------------------------------------------

    @cached_property
    def _moments(self) -> PlacementMoments:
        return placement_moments(self.evidence.tally)

    def _area(self, prior: float | None) -> Ends:
        from scipy.special import ndtri

        totals = tuple(self.evidence.tally.totals)
        if prior is None:
            levels = (np.arange(GRID) + 0.5) / GRID
            priors = self._priors(None, ndtri(levels), totals)
        else:
            priors = self._priors(prior, np.zeros(1), totals)
        value, error, skew, freedom = self._area_parts(priors)

        def ends(tail: float) -> tuple[float, float]:
            if priors.size == 1:
                bend = [studentised_quantile(level, skew, freedom)[0] for level in (1 - tail, tail)]
                return float(value[0] - error[0] * bend[0]), float(value[0] - error[0] * bend[1])
            given = (np.arange(GRID) + 0.5) / GRID
            mixed = value - error * studentised_quantile(given[:, None], skew, freedom)
            return percentiles(mixed.ravel(), tail, tail)

        return ends

    def _area_parts(self, priors: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Value, standard error, skewness and degrees of freedom of the area at each class prior."""
        moments = self._moments
        totals = self.evidence.tally.totals
        recoveries = self._recoveries(tuple(totals), priors)
        value, variances, thirds = moments.bilinear(recoveries.true_positive_rate, recoveries.false_positive_rate)
        freedom = effective_degrees_of_freedom(variances, moments.totals)
        variance = variances.sum(-1)
        if self._random_totals:
            variance = variance + self._variance_from_totals(priors)
        error = np.sqrt(np.maximum(variance, 0.0))
        skew = np.divide(thirds.sum(-1), error**3, out=np.zeros(error.shape), where=error > 0)
        return value, error, skew, freedom

    def _variance_from_totals(self, priors: Floats) -> Floats:
        """What the numbers of labelled and unlabelled rows, random in one sample, add to the area's variance."""
        totals = np.array(self.evidence.tally.totals)
        slopes = []
        for kind in range(3):
            step = 1e-4 * totals[kind]
            if not step:
                slopes.append(np.zeros(priors.shape))
                continue
            found = []
            for sign in (1, -1):
                moved = totals.copy()
                moved[kind] += sign * step
                shifted = priors_in_redraws(
                    priors,
                    tuple(totals),
                    tuple(moved),
                    self.evidence.label_noise,
                    held=self.evidence.prior_held,
                    scenario=self.evidence.recovery_scenario,
                )
                maps = self._recoveries(tuple(moved), shifted)
                found.append(self._moments.bilinear(maps.true_positive_rate, maps.false_positive_rate)[0])
            slopes.append((found[0] - found[1]) / (2 * step))
        slope = np.stack(slopes, axis=-1)
        return np.asarray((totals * slope**2).sum(-1) - (slope @ totals) ** 2 / totals.sum())

    # --- a threshold fixed beforehand ------------------------------------------------------------------------

    @cached_property
    def _plausible_rates(self) -> dict[float, tuple[Floats, tuple[Floats, ...], Any]]:
        return {}

    def _rates_at(self, threshold: float) -> tuple[Floats, tuple[Floats, ...], Any]:
        """Plausible rates of the three kinds of row at a threshold, with a normal number and totals for each."""
        if threshold in self._plausible_rates:
            return self._plausible_rates[threshold]
        from scipy.special import ndtri

        totals, size = self.evidence.tally.totals, self.resampling.redraws
        rng = np.random.Generator(np.random.PCG64(self.resampling.seed))
        normal = ndtri(latin_levels(size, rng))
        rates = tuple(
            jeffreys_quantiles(hits, total, latin_levels(size, rng)) if total else np.zeros(size)
            for hits, total in zip(self.evidence.tally.at(threshold), totals, strict=True)
        )
        drawn: Any = tuple(totals)
        if self._random_totals:
            counts = rng.multinomial(max(round(totals.rows), 1), np.array(totals) / totals.rows, size)
            drawn = tuple(np.where(np.array(totals) > 0, np.maximum(counts, 1), 0).T.astype(float))
        self._plausible_rates[threshold] = normal, rates, drawn
        return normal, rates, drawn

    def _fixed(self, metric: Metric, threshold: float, parameters: dict[str, Any]) -> Callable[[float | None], Ends]:
        normal, rates, drawn = self._rates_at(threshold)
        size = normal.size

        def at(prior: float | None) -> Ends:
            priors = np.broadcast_to(self._priors(prior, normal, drawn), (size,))
            table = self._recoveries(drawn, priors).tables(*rates)
            values = values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **parameters)
            return lambda tail: percentiles(np.broadcast_to(values, (size,)), tail, tail)

        return at

    # --- a threshold chosen on the same rows, and metrics of the ranking --------------------------------------

    @cached_property
    def _compressed(self) -> Tally:
        return compress(self.evidence.tally)

    @cached_property
    def _redrawn(self) -> tuple[dict[float | None, Floats], tuple[Any, ...]]:
        """One pass over the redraws for all that needs them.

        Both readings of average precision at each class prior that will be asked for; and, where the threshold
        was chosen, for each redraw a normal number, its totals, the threshold it would choose and the rates there.
        """
        known, reach = self.evidence.class_prior, self.evidence.class_prior.unlabelled_interval
        asked: list[float | None] = [known.unlabelled]
        if reach is not None and not known.is_exact:
            asked += [None] if reach.confidence is not None else priors_over(reach)
        labelled_at = np.asarray(self._compressed.increments()[0], float)

        def work(redrawn: Redrawn) -> tuple[list[Floats], tuple[Any, ...]]:
            maps = []
            for prior in asked:
                priors = self._priors(prior, redrawn.normal, redrawn.totals)
                maps.append(self._recoveries(redrawn.totals, np.broadcast_to(priors, (len(redrawn),))))
            readings = [np.stack(average_precisions(recoveries, redrawn, labelled_at)) for recoveries in maps]
            if self.choice is None:
                return readings, ()
            metric, table = self.choice.metric, maps[0].tables(*redrawn[:3])
            places = best_places(metric.compute(table), table.is_possible, higher_is_better=metric.higher_is_better)
            return readings, (redrawn.normal, places, *redrawn.totals, *at_places(redrawn, places))

        chunks = redraw_tally(self._compressed, self.resampling, work, random_totals=self._random_totals)
        readings = {prior: np.concatenate([chunk[0][i] for chunk in chunks], axis=1) for i, prior in enumerate(asked)}
        parts = zip(*(chunk[1] for chunk in chunks), strict=True)
        return readings, tuple(np.concatenate(part) for part in parts)

    def _chosen(self, metric: Metric, parameters: dict[str, Any]) -> Callable[[float | None], Ends]:
        """What a redraw shows at the threshold it chose, less what the data show there: the optimism of choosing."""
        normal, places, *counted = self._redrawn[1]
        totals, rates = tuple(counted[:3]), tuple(counted[3:])
        observed = [
            np.asarray(kind, float)[places] / total if total else np.zeros(places.size)
            for kind, total in zip(
                (self._compressed.labelled, self._compressed.unlabelled, self._compressed.negative),
                self.evidence.tally.totals,
                strict=True,
            )
        ]
        assert self.choice is not None
        own = self.evidence.tally.totals
        threshold = self.choice.threshold
        above = self.evidence.tally.at(threshold)
        here = [hits / total if total else 0.0 for hits, total in zip(above, own, strict=True)]

        def values(at_rates: Any, at_totals: Any, priors: Floats) -> Floats:
            table = self._recoveries(at_totals, priors).tables(*at_rates)
            return values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **parameters)

        def at(prior: float | None) -> Ends:
            fixed = self.evidence.class_prior.unlabelled if prior is None else prior
            redrawn = values(rates, totals, self._priors(prior, normal, totals, mirrored=True))
            known = values(observed, tuple(own), np.full(places.size, fixed))
            value = values([np.array([rate]) for rate in here], tuple(own), np.array([fixed]))[0]
            errors = redrawn - known

            optimism = float(np.nanmean(errors)) if not np.isnan(errors).all() else 0.0
            beforehand = self._fixed(metric, threshold, parameters)(prior)

            def ends(tail: float) -> tuple[float, float]:
                low, high = percentiles(errors, self._tail(tail), self._tail(tail))
                as_given = beforehand(tail)
                return min(value - high, as_given[0] - optimism), max(value - low, as_given[1] - optimism)

            return ends

        return at

    def _tail(self, tail: float) -> float:
        return expanded_tail(tail, self.evidence.tally.totals.labelled)

    def _ranked(
        self, metric: Metric, point: Callable[[float], float], parameters: dict[str, Any]
    ) -> Callable[[float | None], Ends]:
        def compute(tally: Tally, assumptions: Assumptions) -> Any:
            return metric.compute(tally, assumptions, **parameters)

        return self._read_off(self._compressed, compute, lambda prior: self._moved(metric, prior, point, parameters))

    def _counted(self, metric: Metric, threshold: float, parameters: dict[str, Any]) -> Callable[[float | None], Ends]:
        """Metrics that read the rows counted at a threshold: a tally of two scores holds all of that."""
        tally = self.evidence.tally
        scores = np.array([threshold, min(threshold - 1.0, float(tally.thresholds[-1]))])
        kinds = zip(tally.at(threshold), tally.totals, strict=True)
        labelled, unlabelled, negative = (np.array(pair) for pair in kinds)

        def compute(redrawn: Tally, assumptions: Assumptions) -> Any:
            return metric.compute(redrawn, threshold, assumptions, **parameters)

        return self._read_off(Tally(scores, labelled, unlabelled, negative), compute, lambda _: 0.0)

    def _read_off(
        self, basis: Tally, compute: Callable[[Tally, Assumptions], Any], moved: Callable[[float | None], float]
    ) -> Callable[[float | None], Ends]:
        """Percentiles of a metric that is computed redraw by redraw; fewer redraws where each may take long."""
        noise, resampling = self.evidence.label_noise, self.resampling
        if self.evidence.tally.totals.rows > LONG_LOOP_ROWS:
            resampling = replace(resampling, redraws=min(resampling.redraws, LONG_LOOP_REDRAWS))

        def at(prior: float | None) -> Ends:
            def work(redrawn: Redrawn) -> Floats:
                priors = np.broadcast_to(self._priors(prior, redrawn.normal, redrawn.totals), (len(redrawn),))
                values = [
                    compute(tally, Assumptions(float(share), noise, self.evidence.recovery_scenario))
                    for tally, share in zip(tallies_of(redrawn, basis.thresholds), priors, strict=True)
                ]
                return np.array(values, float)

            chunks = redraw_tally(basis, resampling, work, random_totals=self._random_totals)
            values = np.concatenate(chunks) + moved(prior)
            return lambda tail: percentiles(values, self._tail(tail), self._tail(tail))

        return at

    def _moved(
        self, metric: Metric, prior: float | None, point: Callable[[float], float], parameters: dict[str, Any]
    ) -> float:
        """What fewer thresholds standing for all of them change in the value, to be taken out of the redraws again."""
        if len(self._compressed) == len(self.evidence.tally):
            return 0.0
        fixed = self.evidence.class_prior.unlabelled if prior is None else prior
        coarse = metric.compute(self._compressed, self.evidence.assumptions_at(fixed), **parameters)
        moved = point(fixed) - float(coarse)
        return 0.0 if math.isnan(moved) else moved

    def _average_precision(
        self, metric: Metric, point: Callable[[float], float], parameters: dict[str, Any]
    ) -> Callable[[float | None], Ends]:
        def at(prior: float | None) -> Ends:
            moved = self._moved(metric, prior, point, parameters)
            readings = self._redrawn[0][prior]

            def ends(tail: float) -> tuple[float, float]:
                each = self._tail(READINGS_TAIL * tail)
                found = [percentiles(reading + moved, each, each) for reading in readings]
                return min(low for low, _ in found), max(high for _, high in found)

            return ends

        return at


def priors_over(reach: Interval) -> list[float]:
    """Class priors over a bare range at which an interval is found."""
    return [float(prior) for prior in np.linspace(reach.low, reach.high, PRIORS_IN_RANGE)]
