"""Intervals of metrics where labels are random within cells, each by the construction its facts name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.area import AreaUnderROC
from pulens.inference.bootstrap import PrecisionReadings
from pulens.inference.chosen import NONE, Chooser, ChosenReplicates
from pulens.inference.intervals import EstimatesIntervals, interval_estimator
from pulens.inference.kernels.jackknife import JACKKNIFE, ClusterCounts
from pulens.inference.kernels.quantiles import percentiles
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Measured, Target
from pulens.inference.method import Limits
from pulens.inference.prior_uncertainty import KnownOfPrior, Mixture, Treatment, holding, known_of_prior
from pulens.inference.threshold import values_of
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency
from pulens.scenario import Scenario
from pulens.strata.area import StratifiedArea
from pulens.strata.clustered import ClusterRedraws
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import PriorSetting
from pulens.strata.rates import StratumRates
from pulens.strata.redraws import StratumRedraws
from pulens.strata.weighted import WeightedEvidence
from pulens.types import Floats, Places

DRAWS_ONE_BY_ONE = 40  # class priors at which such a metric is looked at
DRAWS_OF_CONTRAST = 100  # and a difference of two
MOST_TALLIES = 400  # redraws of a metric that has to be computed one by one


@dataclass(frozen=True)
class StratifiedIntervalEstimator(EstimatesIntervals):
    """The intervals of metrics where labels are random within strata: every stratum redrawn, all added up again."""

    evidence: StratifiedEvidence

    takes_own_methods: ClassVar[bool] = False
    words: ClassVar[Mapping[str, str]] = {
        "area": "influence of rows within cells, Student, skewness-corrected",
        "fixed": "Beta with a borrowed row within each cell",
        "chosen": "redraws of each cell with the threshold chosen again each time",
        "redraws": "percentile of redraws of each cell",
        "read twice": "percentile of redraws of each cell",
        "jackknife": f"{JACKKNIFE}, within cells",
        "contrast": "delete-a-bucket jackknife of the difference, within cells, Student",
        "jackknife, chosen": f"redraws of buckets with the threshold chosen again each time, and {JACKKNIFE}, "
        "within cells",
    }

    @cached_property
    def rates(self) -> StratumRates:
        return StratumRates(self.evidence, self.resampling)

    @cached_property
    def area(self) -> StratifiedArea:
        return StratifiedArea(self.evidence)

    @cached_property
    def redraws(self) -> StratumRedraws:
        return (ClusterRedraws if self.is_clustered else StratumRedraws)(self.evidence, self.resampling)

    @cached_property
    def buckets(self) -> ClusterCounts:
        return ClusterCounts(self.evidence.cells.buckets)

    @property
    def few_thresholds(self) -> Any:
        return self.redraws.thresholds

    @property
    def is_clustered(self) -> bool:
        return bool(self.evidence.cells.buckets)

    @property
    def n_labelled(self) -> float:
        return float(self.evidence.cells.totals[:, 0].sum())

    @property
    def has_area(self) -> bool:
        """With known negatives beside the list the area is more than a mean placement."""
        return self.evidence.is_single or not self.evidence.cells.totals[:, 2].any()

    def target(self, asked: Target) -> Target:
        values = self._values(asked)
        return replace(asked, value_at=lambda setting: float(values(setting.shares[None])[0]))

    def known_of_prior(self, target: Target) -> StratumPriorUncertainty:
        metric, values = target.metric, self._values(target)
        # rankings without a form for many class priors are looked at where a few of the draws lie
        read = None if metric.reads == "threshold" or self._is_area(metric, target.parameters) else DRAWS_ONE_BY_ONE
        return StratumPriorUncertainty(self.evidence, lambda: self.order(target), not _is_counted(metric), values, read)

    def order(self, target: Target) -> Floats:
        """The strata's own numbers, in whose order extreme splits fill them."""
        evidence = self.evidence
        if target.metric.reads == "ranking" or target.threshold is None:
            return np.nan_to_num(self.area.means(evidence.priors.shares), nan=0.5)
        recalls = evidence.recalls(target.threshold)
        return np.where(np.isnan(recalls), np.nanmean(recalls), recalls)

    def _is_area(self, metric: Measured, parameters: Mapping[str, Any]) -> bool:
        own = None if metric.construction is None else metric.construction(**parameters)
        return own is AreaUnderROC and self.has_area

    def _values(self, target: Target) -> Callable[[Floats], Floats]:
        """The metric at class priors of shape (settings, strata), the rows as they are."""
        metric, threshold, parameters = target.metric, target.threshold, target.parameters
        if self._is_area(metric, parameters):
            return self.area.values

        def of_tables(shares: Floats) -> Floats:
            table = self.rates.table_at(float(threshold or 0.0), shares)
            return values_of(target, table)

        def one_by_one(shares: Floats) -> Floats:
            evidences = [self.evidence.combined(each) for each in shares]
            extra = () if metric.reads == "ranking" else (threshold,)
            return np.array(
                [metric.compute(own.tally, *extra, own.assumptions, **parameters) for own in evidences], float
            )

        return of_tables if metric.reads == "threshold" else one_by_one

    def _setting(self, prior: PriorSetting | None) -> PriorSetting:
        priors = self.evidence.priors
        return PriorSetting(priors.shares, priors.draws) if prior is None else prior

    def area_limits(self, prior: PriorSetting | None, tail: float) -> Limits:
        return self.area.ends(self._setting(prior), tail)

    def tables_at(self, threshold: float, prior: PriorSetting | None) -> list[Contingency]:
        return self.rates.tables(threshold, self._setting(prior))

    def tail_at(self, target: Target, prior: PriorSetting | None, tail: float) -> float:
        if _is_counted(target.metric):
            return tail
        return self.rates.tail(float(target.threshold or 0.0), self._setting(prior).shares, tail)

    def precision_readings(self, prior: PriorSetting | None) -> Floats:
        setting = self._setting(prior)
        result = self.redraws.of(setting)
        labelled = np.diff(np.asarray(self.redraws.coarse(setting.shares).labelled, float), prepend=0.0)
        return np.stack(PrecisionReadings(result.redrawn, np.maximum(labelled, 0.0)).of(result.recoveries))

    def redrawn_values(self, target: Target, prior: PriorSetting | None) -> Floats:
        result = self.redraws.of(self._setting(prior)).take(slice(MOST_TALLIES))
        return result.values(target.metric, self.redraws.thresholds, target.threshold, **target.parameters)

    def shift(self, target: Target, prior: PriorSetting | None) -> float:
        if target.metric.reads != "ranking":
            return 0.0
        evidence, setting = self.evidence, self._setting(prior)
        share = float(evidence.positives(setting.shares).sum() / evidence.list_rows.sum())
        assumed = Assumptions(share, 0.0, Scenario.CASE_CONTROL)
        coarse = target.metric.compute(self.redraws.coarse(setting.shares), assumed, **target.parameters)
        moved = target.value_at(setting) - float(coarse)
        return 0.0 if math.isnan(moved) else moved

    def of_prior(self, target: Target, known: float) -> Interval | None:
        """What the cells' class priors alone leave open of a metric; ``None`` where they are taken for exact."""
        priors, target, metric = self.evidence.priors, self.target(target), target.metric
        if priors.treatment == "exact" or _is_counted(metric) or metric.reads == "counts":
            return None
        if priors.treatment == "range":
            settings = self.known_of_prior(target).over(0)
            values, confidence = np.array([target.value_at(setting) for setting in settings]), None
            ends = float(np.nanmin(values)), float(np.nanmax(values))
        else:
            assert priors.draws is not None
            values = self._values(target)(priors.draws[: self.known_of_prior(target).read])
            ends, confidence = (
                percentiles(values, self.resampling.tail, self.resampling.tail),
                self.resampling.confidence,
            )
        low, high = holding(known, *ends)
        low, high = (min(max(end, metric.lowest), metric.highest) for end in (low, high))
        return Interval(low, high, confidence, "range over the cells' class priors")

    @cached_property
    def _chosen(self) -> Places:
        """The threshold that each redraw chooses."""
        assert self.choice is not None
        own = self.redraws.of(PriorSetting(self.evidence.priors.shares))
        return self.choice.pick(own, self.redraws.of, np.asarray(self.redraws.thresholds, float))

    @property
    def chosen_thresholds(self) -> tuple[Any, Places]:
        return self.redraws.thresholds, self._chosen

    def chosen_at(self, setting: PriorSetting | None) -> ChosenReplicates:
        """What redraws show at the threshold that each would choose, at a setting of the class priors."""
        priors, some = self.evidence.priors, np.flatnonzero(self._chosen > NONE)
        own = self._setting(setting)
        if own.draws is not None:  # an estimate's own error, seen from the truth, is the other way round
            own = PriorSetting(own.shares, np.clip(2 * own.shares - own.draws, 0.0, priors.caps))
        indices = self._chosen[some]
        redrawn, observed = self.redraws.of(own), self.redraws.data(own.shares)
        return ChosenReplicates(redrawn.take(some).chosen(indices), observed.chosen(indices))


def _is_counted(metric: Measured) -> bool:
    """Whether rows are counted as they are, whatever is positive."""
    return bool(getattr(metric, "counted", False)) or metric.ignores_class_prior


@interval_estimator.register
def _(evidence: WeightedEvidence, resampling: Resampling, choice: Chooser | None = None) -> StratifiedIntervalEstimator:
    return StratifiedIntervalEstimator(evidence.cells, resampling, choice)


@dataclass(frozen=True)
class StratumPriorUncertainty:
    """What is known of the cells' class priors, for a number that rises with the cells in ``order`` of their own.

    ``values`` gives the number at class priors of shape (draws, cells), of which ``read`` are looked at; without it one
    after another.
    """

    evidence: StratifiedEvidence
    order: Callable[[], Floats]
    matters: bool = True
    values: Callable[[Floats], Floats] | None = None
    read: int | None = None

    @property
    def treatment(self) -> Treatment:
        return self.evidence.priors.treatment if self.matters else "exact"

    @cached_property
    def own_setting(self) -> PriorSetting:
        return PriorSetting(self.evidence.priors.shares)

    @cached_property
    def drawn(self) -> PriorSetting:
        return PriorSetting(self.evidence.priors.shares, self.evidence.priors.draws)

    def setting(self, prior: PriorSetting | None) -> PriorSetting:
        return self.drawn if prior is None else prior

    def of_contrast(self) -> StratumPriorUncertainty:
        return replace(self, values=None, read=DRAWS_OF_CONTRAST)

    def over(self, many: int, confidence: float | None = None) -> list[PriorSetting]:
        return self.evidence.priors.settings(self.order(), self.evidence.cells.totals[:, 1])

    def mixture(
        self, prior: PriorSetting | None, value: Callable[[PriorSetting], float], error: Callable[[PriorSetting], float]
    ) -> Mixture | None:
        setting = self.setting(prior)
        if setting.draws is None:
            return None
        draws = setting.draws[: self.read]
        values = np.array([value(PriorSetting(each)) for each in draws]) if self.values is None else self.values(draws)
        values = values[~np.isnan(values)]
        return Mixture(values, np.full(values.size, error(setting)))


@known_of_prior.register
def _(evidence: WeightedEvidence, order: Callable[[Any], Floats]) -> StratumPriorUncertainty:
    return StratumPriorUncertainty(evidence.cells, lambda: order(evidence))


def uncertainty_of(evidence: Evidence, threshold: float) -> KnownOfPrior:
    """What is known of the class prior, or of those of strata, which extreme splits fill in order of their recalls."""

    def order(strata: WeightedEvidence) -> Floats:
        recalls = strata.cells.recalls(threshold if math.isfinite(threshold) else 0.0)
        return np.where(np.isnan(recalls), 0.5, recalls)

    return known_of_prior(evidence, order)
