"""What the intervals of one evidence's metrics share: computed once, whichever construction asks first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.inference.bootstrap import PrecisionReadings
from pulens.inference.chosen import NONE, ChosenReplicates
from pulens.inference.delong import NORMAL, AreaLimits
from pulens.inference.design_distribution import DesignDistribution
from pulens.inference.kernels.jackknife import JACKKNIFE, ClusterCounts, redraw_buckets
from pulens.inference.kernels.placements import PlacementMoments, placement_moments
from pulens.inference.kernels.redraws import BootstrapCounts, compress, redraw_tally
from pulens.inference.measured import Target, depends_on_class_prior
from pulens.inference.method import Limits
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, PriorUncertainty
from pulens.inference.rates import DrawsByCount, PlausibleRates, RateDraws
from pulens.inference.replicates import Replicates
from pulens.recovery.contingency import Contingency
from pulens.types import Floats, Places

Result = TypeVar("Result")
LONG_LOOP_ROWS, LONG_LOOP_REDRAWS = 20_000, 400


class ChosenCounts(NamedTuple):
    """For each redraw the index of the threshold it would choose, and its counts there."""

    indices: Places
    redrawn: BootstrapCounts


@dataclass(frozen=True)
class SamplingDistribution(DesignDistribution):
    """Placements, plausible rates and redraws of one sample of rows."""

    evidence: Evidence

    takes_own_methods: ClassVar[bool] = True
    words: ClassVar[Mapping[str, str]] = {
        "area": "DeLong, Student, skewness-corrected",
        "fixed": "Jeffreys",
        "chosen": "redraws with the threshold chosen again each time",
        "redraws": "percentile of redraws",
        "read twice": "percentile of redraws, read twice",
        "jackknife": JACKKNIFE,
        "contrast": "delete-a-bucket jackknife of the difference, Student",
        "jackknife, chosen": f"redraws of buckets with the threshold chosen again each time, and {JACKKNIFE}",
    }

    def known_of_prior(self, target: Target) -> PriorUncertainty:
        matters = depends_on_class_prior(target.metric, self.evidence.label_noise)
        return self.draws.doubt if matters else replace(self.draws.doubt, matters=False)

    @property
    def n_labelled(self) -> float:
        return self.evidence.tally.totals.labelled

    @property
    def is_clustered(self) -> bool:
        return self.evidence.buckets is not None

    def area_limits(self, prior: float | None, tail: float) -> Limits:
        normal = np.zeros(1) if prior is not None else NORMAL
        priors = np.broadcast_to(self.draws.priors(prior, normal, self.draws.rows.totals), normal.shape)[None]
        limits = AreaLimits(self.moments, self.draws.rows)
        (low,), (high,) = (limits.mixed if prior is None else limits.at)(priors, tail)
        return float(low), float(high)

    def precision_readings(self, prior: float | None) -> Floats:
        return self._redrawn[0][prior]

    def redrawn_values(self, target: Target, prior: float | None) -> Floats:
        """Of long rankings in fewer redraws: metrics without a vectorised form may take time in every row."""
        evidence, draws, resampling = self.evidence, self.draws, self.resampling
        if evidence.tally.totals.rows > LONG_LOOP_ROWS:
            resampling = replace(resampling, redraws=min(resampling.redraws, LONG_LOOP_REDRAWS))
        basis = self._counts_at(float(target.threshold or 0.0)) if target.metric.reads == "counts" else self.compressed

        def work(redrawn: BootstrapCounts) -> Floats:
            priors = np.broadcast_to(draws.priors(prior, redrawn.normal, redrawn.totals), (len(redrawn),))
            result = Replicates(redrawn, priors, evidence.label_noise, evidence.recovery_scenario, of_rows=True)
            return result.values(target.metric, basis.thresholds, target.threshold, **target.parameters)

        return np.concatenate(redraw_tally(basis, resampling, work, random_totals=draws.random_totals))

    def _counts_at(self, threshold: float) -> Tally:
        """All that a metric of rows counted at a threshold reads: a tally of two scores."""
        tally = self.evidence.tally
        scores = np.array([threshold, min(threshold - 1.0, float(tally.thresholds[-1]))])
        return Tally(scores, *(np.array(pair) for pair in zip(tally.at(threshold), tally.totals, strict=True)))

    def shift(self, target: Target, prior: float | None) -> float:
        if target.metric.reads != "ranking" or len(self.compressed) == len(self.evidence.tally):
            return 0.0
        fixed = self.draws.doubt.setting(prior)
        coarse = target.metric.compute(self.compressed, self.evidence.assumptions_at(fixed), **target.parameters)
        moved = target.value_at(fixed) - float(coarse)
        return 0.0 if math.isnan(moved) else moved

    @cached_property
    def draws(self) -> PriorDraws:
        return PriorDraws(self.evidence)

    @cached_property
    def moments(self) -> PlacementMoments:
        return placement_moments(self.evidence.tally)

    @cached_method()
    def rates_at(self, threshold: float) -> PlausibleRates:
        """Plausible rates at a threshold: a batch of one."""
        tally = self.evidence.tally
        above, totals = np.array([tally.at(threshold)], float), np.array([tally.totals], float)
        return PlausibleRates(above, totals, self.draws.rows, DrawsByCount(self.resampling))

    def drawn_at(self, threshold: float) -> RateDraws:
        """Plausible rates and numbers of rows at a threshold, without the axis of a batch."""
        normal, rates, totals = self.rates_at(threshold).drawn
        return RateDraws(normal, *((one[0], two[0], three[0]) for one, two, three in (rates, totals)))

    @cached_method()
    def tables_at(self, threshold: float, prior: float | None) -> list[Contingency]:
        """Tables of all plausible rates, as an interval reads them; metrics at one threshold share them."""
        rates = self.rates_at(threshold)
        shares = self.draws.priors(prior, rates.drawn.normal, rates.drawn.totals)
        own = self.evidence.class_prior.unlabelled if prior is None else prior
        return [table for table, _ in rates.tables(np.atleast_2d(shares), np.array([[own]]))]

    @cached_property
    def compressed(self) -> Tally:
        """Few thresholds that stand for all; of rows counted by bucket those at which the buckets' counts are known."""
        buckets = self.evidence.buckets
        return compress(self.evidence.tally if buckets is None else buckets.without([]))

    @cached_property
    def buckets(self) -> ClusterCounts:
        result = self.evidence.buckets
        assert result is not None, "asked for buckets of rows that were not counted by cluster"
        return ClusterCounts((result,))

    @property
    def few_thresholds(self) -> Any:
        return self.compressed.thresholds

    @cached_property
    def along_the_list(self) -> dict[tuple[float | None, float], dict[float, Any]]:
        """Ends of the number of positives at places of the list, by class prior and tail: they must fit together."""
        return {}

    @cached_property
    def chosen(self) -> ChosenCounts:
        """What each redraw would choose, where the threshold was chosen."""
        normal, indices, *counted = self._redrawn[1]
        some = indices > NONE
        first, second, third = (rates[some, None] for rates in counted[3:])
        one, two, three = (totals[some] for totals in counted[:3])
        return ChosenCounts(indices[some], BootstrapCounts(first, second, third, (one, two, three), normal[some]))

    @cached_method()
    def chosen_at(self, prior: float | None) -> ChosenReplicates:
        """What redraws show at the threshold that each would choose, at a class prior or with it drawn."""
        evidence, (indices, redrawn) = self.evidence, self.chosen
        shares = self.draws.priors(prior, redrawn.normal, redrawn.totals, mirrored=True)
        assumed = evidence.label_noise, evidence.recovery_scenario
        fixed = evidence.class_prior.unlabelled if prior is None else prior
        return ChosenReplicates(
            Replicates(redrawn, shares, *assumed),
            Replicates(self._observed, np.array([fixed]), *assumed).chosen(indices),
        )

    @cached_property
    def _observed(self) -> BootstrapCounts:
        """The rows themselves at the few thresholds."""
        tally, totals = self.compressed, self.evidence.tally.totals
        kinds = zip((tally.labelled, tally.unlabelled, tally.negative), totals, strict=True)
        first, second, third = (np.asarray(kind, float)[None] / (total or 1.0) for kind, total in kinds)
        one, two, three = (np.array([total]) for total in totals)
        return BootstrapCounts(first, second, third, (one, two, three), np.zeros(1))

    @property
    def chosen_thresholds(self) -> tuple[Any, Places]:
        return self.compressed.thresholds, self.chosen.indices

    def redrawn(self, tally: Tally, work: Callable[[BootstrapCounts], Result]) -> list[Result]:
        """What ``work`` finds in chunks of redraws at a tally's thresholds: of rows, or of buckets of clusters."""
        if self.is_clustered:
            return redraw_buckets(self.buckets.above(tally.thresholds)[:, 0], self.resampling, work)
        return redraw_tally(tally, self.resampling, work, random_totals=self.draws.random_totals)

    @cached_property
    def _redrawn(self) -> tuple[dict[float | None, Floats], tuple[Any, ...]]:
        """One pass over the redraws for all that needs them."""
        doubt, own = self.draws.doubt, self.evidence.class_prior.unlabelled
        asked: list[float | None] = [own]
        if doubt.treatment != "exact":
            asked += [None] if doubt.treatment == "drawn" else doubt.over(PRIORS_IN_RANGE)
        if self.choice is not None and not self.choice.is_of_rankings:
            asked = []
        labelled_at = np.asarray(self.compressed.increments()[0], float)

        def work(redrawn: BootstrapCounts) -> tuple[list[Floats], tuple[Any, ...]]:
            @lru_cache
            def at(prior: float | None) -> Replicates:
                priors = np.broadcast_to(self.draws.priors(prior, redrawn.normal, redrawn.totals), (len(redrawn),))
                return Replicates(redrawn, priors, self.evidence.label_noise, self.evidence.recovery_scenario)

            precision = PrecisionReadings(redrawn, labelled_at, labels_are_right=not self.evidence.label_noise)
            readings = [np.stack(precision.of(at(prior).recoveries)) for prior in asked]
            if self.choice is None:
                return readings, ()
            indices = self.choice.pick(at(own), at, np.asarray(self.compressed.thresholds, float))
            rates = at(own).chosen(indices).redrawn[:3]
            return readings, (redrawn.normal, indices, *redrawn.totals, *(rate[:, 0] for rate in rates))

        chunks = self.redrawn(self.compressed, work)
        readings = {prior: np.concatenate([chunk[0][i] for chunk in chunks], axis=1) for i, prior in enumerate(asked)}
        parts = zip(*(chunk[1] for chunk in chunks), strict=True)
        return readings, tuple(np.concatenate(part) for part in parts)
