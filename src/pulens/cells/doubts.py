"""Intervals of metrics where labels are random within cells, each by the construction its facts name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.cells.area import CellArea
from pulens.cells.clustered import CellJackknife, ClusterRedraws
from pulens.cells.evidence import CellEvidence
from pulens.cells.priors import PriorSetting
from pulens.cells.rates import CellRates
from pulens.cells.redraws import CellRedraws
from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.intervals.area import AreaUnderROC
from pulens.intervals.doubts import Choice, Doubt
from pulens.intervals.kernels.quantiles import expanded_tail, normal_quantile, percentiles, tail_for_range
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured
from pulens.intervals.prior_doubt import PRIOR_IN_METHOD, holding
from pulens.intervals.redraw import AveragePrecisionReadTwice
from pulens.intervals.redrawn import at_places, average_precisions, best_places, values_at_threshold
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario
from pulens.types import Floats

Ends = tuple[float, float]
DRAWS_ONE_BY_ONE = 40  # class priors at which such a metric is looked at
MOST_TALLIES = 400  # redraws of a metric that has to be computed one by one


@dataclass(frozen=True)
class CellDoubts:
    """Finds the intervals of metrics within cells; stands where ``intervals.doubts.Doubts`` stands."""

    evidence: CellEvidence
    resampling: Resampling
    choice: Choice | None = None

    @cached_property
    def rates(self) -> CellRates:
        return CellRates(self.evidence, self.resampling)

    @cached_property
    def area(self) -> CellArea:
        return CellArea(self.evidence)

    @cached_property
    def redraws(self) -> CellRedraws:
        of = ClusterRedraws if self.evidence.cells.buckets else CellRedraws
        return of(self.evidence, self.resampling)

    @cached_property
    def jackknife(self) -> CellJackknife | None:
        """Where rows belong together, what leaves out one bucket at a time."""
        return CellJackknife(self.evidence, self.redraws) if self.evidence.cells.buckets else None

    def asked(self, metric: Measured, threshold: float | None, **parameters: Any) -> _AskedWithin:
        """One metric, whose values and replicates can be had at any class priors of the cells."""
        return _AskedWithin(self, metric, threshold, parameters)

    def of(
        self,
        metric: Measured,
        known: float,
        threshold: float | None,
        value_at: Callable[[float], float],
        *,
        cut: float = 0.0,
        **parameters: Any,
    ) -> Doubt | None:
        """The interval of a metric whose value is ``known``, and what the sample alone would give."""
        ask = _AskedWithin(self, metric, threshold, parameters)
        tail, confidence = self.resampling.tail, self.resampling.confidence
        priors = self.evidence.priors
        own = PriorSetting(priors.shares, priors.draws)

        def held(ends: Ends) -> Ends:
            low, high = holding(known, ends[0] + min(cut, 0.0), ends[1] + max(cut, 0.0))
            return min(max(low, metric.lowest), metric.highest), min(max(high, metric.lowest), metric.highest)

        sample = ask.ends(own, tail, with_priors=False)
        if any(map(math.isnan, sample)):
            return None
        sample = held(sample)
        alone = Interval(*sample, confidence, ask.method)
        if priors.treatment == "exact" or ask.is_counted:
            return Doubt(alone, alone)
        method = f"{ask.method}{PRIOR_IN_METHOD[priors.treatment]}"
        if priors.treatment == "drawn":
            return Doubt(Interval(*held(ask.ends(own, tail, with_priors=True)), confidence, method), alone)
        settings = priors.settings(ask.order(), self.evidence.cells.totals[:, 1])
        values = np.array([ask.value(setting) for setting in settings])
        spread = (sample[1] - sample[0]) / (2 * normal_quantile(confidence))
        length = float(np.ptp(values[~np.isnan(values)])) if not np.isnan(values).all() else 0.0
        each = float(tail_for_range(confidence, length, spread))
        found = np.array([held(ask.ends(setting, each, with_priors=True)) for setting in settings])
        low, high = float(np.nanmin(found[:, 0])), float(np.nanmax(found[:, 1]))
        return Doubt(Interval(low, high, confidence, method), alone)

    def of_prior(self, metric: Measured, known: float, threshold: float | None, **parameters: Any) -> Interval | None:
        """What the cells' class priors alone leave open of a metric; ``None`` where they are taken for exact."""
        priors, ask = self.evidence.priors, _AskedWithin(self, metric, threshold, parameters)
        if priors.treatment == "exact" or ask.is_counted or metric.reads == "counts":
            return None
        if priors.treatment == "range":
            settings = priors.settings(ask.order(), self.evidence.cells.totals[:, 1])
            values, confidence = np.array([ask.value(setting) for setting in settings]), None
            ends = float(np.nanmin(values)), float(np.nanmax(values))
        else:
            assert priors.draws is not None
            drawn = priors.draws if metric.reads == "threshold" or ask.is_area else priors.draws[:DRAWS_ONE_BY_ONE]
            values = ask.values(drawn)
            ends, confidence = (
                percentiles(values, self.resampling.tail, self.resampling.tail),
                self.resampling.confidence,
            )
        low, high = holding(known, *ends)
        low, high = (min(max(end, metric.lowest), metric.highest) for end in (low, high))
        return Interval(low, high, confidence, "range over the cells' class priors")

    def of_threshold(self) -> Interval | None:
        """Where redraws choose their threshold, if it was chosen."""
        if self.choice is None:
            return None
        tail = self.resampling.tail
        low, high = percentiles(np.asarray(self.redraws.thresholds, float)[self._chosen[0]], tail, tail)
        known = self.choice.threshold
        return Interval(min(low, known), max(high, known), self.resampling.confidence, "percentile of redraws")

    @cached_property
    def _chosen(self) -> tuple[Any, ...]:
        """The place that each redraw chooses."""
        assert self.choice is not None
        priors = self.evidence.priors
        found = self.redraws.of(PriorSetting(priors.shares, priors.draws), with_priors=False)
        table = found.recoveries.tables(*found.redrawn[:3])
        metric = self.choice.metric
        return (best_places(metric.compute(table), table.is_possible, higher_is_better=metric.higher_is_better),)


@dataclass(frozen=True)
class _AskedWithin:
    """One metric: its value and its ends at a setting of the class priors."""

    doubts: CellDoubts
    metric: Measured
    threshold: float | None
    parameters: dict[str, Any]

    @cached_property
    def _own(self) -> Any:
        return None if self.metric.construction is None else self.metric.construction(**self.parameters)

    @property
    def is_counted(self) -> bool:
        """Whether rows are counted as they are, whatever is positive."""
        return bool(getattr(self.metric, "counted", False)) or self.metric.ignores_class_prior

    @property
    def is_area(self) -> bool:
        evidence = self.doubts.evidence
        apart = evidence.cells.totals[:, 2].any() and not evidence.is_single
        return self._own is AreaUnderROC and not apart

    @property
    def is_chosen(self) -> bool:
        choice = self.doubts.choice
        return self.metric.reads == "threshold" and choice is not None and choice.threshold == self.threshold

    @property
    def method(self) -> str:
        jackknife = self.doubts.jackknife
        if jackknife is not None:
            chosen = f"redraws of buckets with the threshold chosen anew, and {jackknife.method}"
            return chosen if self.is_chosen else jackknife.method
        if self.is_area:
            return "influence of rows within cells, Student, skewness-corrected"
        if self.metric.reads == "ranking":
            return "percentile of redraws of each cell"
        if self.is_chosen:
            return "redraws of each cell with the threshold chosen anew"
        return "Beta with a borrowed row within each cell"

    def order(self) -> Floats:
        """The cells' own numbers, in whose order extreme splits fill them."""
        evidence = self.doubts.evidence
        if self.metric.reads == "ranking" or self.threshold is None:
            return np.nan_to_num(self.doubts.area.means(evidence.priors.shares), nan=0.5)
        recalls = evidence.recalls(self.threshold)
        return np.where(np.isnan(recalls), np.nanmean(recalls), recalls)

    def value(self, setting: PriorSetting) -> float:
        return float(self.values(setting.shares[None])[0])

    def values(self, shares: Floats) -> Floats:
        """The metric at class priors of shape (settings, cells), the rows as they are."""
        if self.is_area:
            return self.doubts.area.values(shares)
        if self.metric.reads == "threshold":
            return self._of_table(self.doubts.rates.table_at(float(self.threshold or 0.0), shares))
        evidences = [self.doubts.evidence.combined(each) for each in shares]
        extra = () if self.metric.reads == "ranking" else (self.threshold,)
        return np.array(
            [self.metric.compute(own.tally, *extra, own.assumptions, **self.parameters) for own in evidences], float
        )

    def _of_table(self, table: Any) -> Floats:
        return values_at_threshold(
            self.metric.compute, table, self.metric.lowest, self.metric.highest, **self.parameters
        )

    @property
    def draws_read(self) -> int | None:
        """How many draws of class priors are looked at; ``None`` for all."""
        return None if self.metric.reads == "threshold" or self.is_area else DRAWS_ONE_BY_ONE

    def ends(self, setting: PriorSetting, tail: float, *, with_priors: bool) -> Ends:
        jackknife = self.doubts.jackknife
        if jackknife is not None:
            given = jackknife.ends(self, setting, tail, with_priors=with_priors)
            if not self.is_chosen or math.isnan(given[0]):
                return given
            return self._chosen_anew(setting, tail, given, with_priors=with_priors)
        if self.is_area:
            return self.doubts.area.ends(setting, tail, with_priors=with_priors)
        if self._own is AveragePrecisionReadTwice:
            return self._of_average_precision(setting, tail, with_priors=with_priors)
        if self.metric.reads != "threshold":
            return self._of_ranking(setting, tail, with_priors=with_priors)
        given = self._as_given(setting, tail, with_priors=with_priors)
        return self._chosen_anew(setting, tail, given, with_priors=with_priors) if self.is_chosen else given

    def _as_given(self, setting: PriorSetting, tail: float, *, with_priors: bool) -> Ends:
        threshold = float(self.threshold or 0.0)
        tables = self.doubts.rates.tables(threshold, setting, with_priors=with_priors)
        each = tail if self.is_counted else self.doubts.rates.tail(threshold, setting.shares, tail)
        both = [percentiles(self._of_table(table), each, each) for table in tables]
        return min(low for low, _ in both), max(high for _, high in both)

    def _tail(self, tail: float) -> float:
        jackknife = self.doubts.jackknife
        rows = float(self.doubts.evidence.cells.totals[:, 0].sum())
        return expanded_tail(tail, rows if jackknife is None else jackknife.buckets.fewest)

    def _chosen_anew(self, setting: PriorSetting, tail: float, given: Ends, *, with_priors: bool) -> Ends:
        """What a redraw shows at the threshold it chose, less what the rows show there: the optimism of choosing."""
        (places,) = self.doubts._chosen
        found = self.doubts.redraws.of(self._mirrored(setting), with_priors=with_priors)
        here, known = self.doubts.redraws.data(setting.shares)
        redrawn = self._of_table(found.recoveries.tables(*at_places(found.redrawn, places)))
        seen = self._of_table(known.tables(*(rates[0, places] for rates in here[:3])))
        errors = redrawn - seen
        optimism = float(np.nanmean(errors)) if not np.isnan(errors).all() else 0.0
        low, high = percentiles(errors, self._tail(tail), self._tail(tail))
        value = self.value(setting)
        return min(value - high, given[0] - optimism), max(value - low, given[1] - optimism)

    def _mirrored(self, setting: PriorSetting) -> PriorSetting:
        """An estimate's own error, seen from the truth, is the other way round."""
        if setting.draws is None:
            return setting
        caps = self.doubts.evidence.priors.caps
        return PriorSetting(setting.shares, np.clip(2 * setting.shares - setting.draws, 0.0, caps))

    def _shift(self, setting: PriorSetting) -> float:
        """What fewer thresholds change in the value."""
        evidence = self.doubts.evidence
        share = float(evidence.positives(setting.shares).sum() / evidence.list_rows.sum())
        coarse = self.doubts.redraws.coarse(setting.shares)
        assumed = Assumptions(share, 0.0, Scenario.CASE_CONTROL)
        moved = self.value(setting) - float(self.metric.compute(coarse, assumed, **self.parameters))
        return 0.0 if math.isnan(moved) else moved

    def _of_average_precision(self, setting: PriorSetting, tail: float, *, with_priors: bool) -> Ends:
        found = self.doubts.redraws.of(setting, with_priors=with_priors)
        labelled = np.diff(np.asarray(self.doubts.redraws.coarse(setting.shares).labelled, float), prepend=0.0)
        readings = average_precisions(found.recoveries, found.redrawn, np.maximum(labelled, 0.0))
        moved, each = self._shift(setting), self._tail(min(1.2 * tail, max(tail, 0.5)))
        ends = [percentiles(reading + moved, each, each) for reading in readings]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _of_ranking(self, setting: PriorSetting, tail: float, *, with_priors: bool) -> Ends:
        """Any other metric, one redraw after another."""
        found, thresholds = self.doubts.redraws.of(setting, with_priors=with_priors), self.doubts.redraws.thresholds
        recoveries = found.recoveries
        priors = recoveries.positive / (recoveries.positive + recoveries.negative)
        many = min(len(found.redrawn), MOST_TALLIES)
        extra = () if self.metric.reads == "ranking" else (self.threshold,)
        values = []
        for row in range(many):
            kinds = [
                rates[row] * total[row] for rates, total in zip(found.redrawn[:3], found.redrawn.totals, strict=True)
            ]
            assumed = Assumptions(float(priors[row]), 0.0, Scenario.CASE_CONTROL)
            values.append(self.metric.compute(Tally(thresholds, *kinds), *extra, assumed, **self.parameters))
        each = self._tail(tail)
        shift = self._shift(setting) if self.metric.reads == "ranking" else 0.0
        return percentiles(np.array(values, float) + shift, each, each)
