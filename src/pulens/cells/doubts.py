"""Intervals of metrics where labels are random within cells, each by the construction its facts name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.cells.area import CellArea
from pulens.cells.clustered import ClusterRedraws, LeftOutOfCells, widest
from pulens.cells.evidence import CellEvidence
from pulens.cells.priors import PriorSetting
from pulens.cells.rates import CellRates
from pulens.cells.redraws import CellRedraws
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.intervals.area import AreaUnderROC
from pulens.intervals.clustered import Jackknife
from pulens.intervals.construction import Construction
from pulens.intervals.doubts import Choice, Doubt, Doubts, in_doubt
from pulens.intervals.kernels.quantiles import expanded_tail, percentiles
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured
from pulens.intervals.prior_doubt import Mixture, Treatment, holding
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
    def left_out(self) -> LeftOutOfCells | None:
        """Where rows belong together, what leaves out one bucket at a time."""
        return LeftOutOfCells(self.evidence, self.redraws) if self.evidence.cells.buckets else None

    def asked(self, metric: Measured, threshold: float | None, **parameters: Any) -> MetricOfCells:
        """One metric, whose values and replicates can be had at any class priors of the cells."""
        return MetricOfCells(self, metric, threshold, parameters)

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
        ask = MetricOfCells(self, metric, threshold, parameters)
        return in_doubt(ask, ask.doubt, metric, known, self.resampling, cut)

    def of_prior(self, metric: Measured, known: float, threshold: float | None, **parameters: Any) -> Interval | None:
        """What the cells' class priors alone leave open of a metric; ``None`` where they are taken for exact."""
        priors, ask = self.evidence.priors, MetricOfCells(self, metric, threshold, parameters)
        if priors.treatment == "exact" or ask.is_counted or metric.reads == "counts":
            return None
        if priors.treatment == "range":
            values, confidence = np.array([ask.value(setting) for setting in ask.over(ask.doubt)]), None
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
        found = self.redraws.of(PriorSetting(priors.shares))
        table = found.recoveries.tables(*found.redrawn[:3])
        metric = self.choice.metric
        return (best_places(metric.compute(table), table.is_possible, higher_is_better=metric.higher_is_better),)


def doubts_of(evidence: Evidence, resampling: Resampling) -> Doubts | CellDoubts:
    """What finds the intervals of an evidence's metrics."""
    return Doubts(evidence, resampling) if evidence.within is None else CellDoubts(evidence.within, resampling)


@dataclass(frozen=True)
class CellsDoubt:
    """What is known of the cells' class priors, for a number that rises with the cells in ``order`` of their own.

    ``values`` gives the number at class priors of shape (draws, cells), of which ``read`` are looked at; without it one
    after another.
    """

    evidence: CellEvidence
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


@dataclass(frozen=True)
class MetricOfCells(Construction):
    """One metric: its value and its ends at a setting of the class priors."""

    doubts: CellDoubts
    metric: Measured
    threshold: float | None
    parameters: dict[str, Any]

    @cached_property
    def doubt(self) -> CellsDoubt:
        # rankings without a form for many class priors are looked at where a few of the draws lie
        read = None if self.metric.reads == "threshold" or self.is_area else DRAWS_ONE_BY_ONE
        return CellsDoubt(self.doubts.evidence, self.order, not self.is_counted, self.values, read)

    @cached_property
    def jackknife(self) -> Jackknife:
        """Where rows belong together, the number without each bucket."""
        left = self.doubts.left_out
        assert left is not None

        def replicates(setting: PriorSetting) -> Floats:
            return widest(self.readings(setting))

        return left.jackknife(self.metric, self.value, replicates, self.doubt)

    def readings(self, setting: PriorSetting) -> list[Floats]:
        """The number without each bucket, as an interval reads it."""
        left, key = self.doubts.left_out, setting.shares.tobytes()
        assert left is not None
        if key not in self._known:
            self._known[key] = left.readings(self.metric, self.threshold, setting.shares, self.parameters)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, list[Floats]]:
        return {}

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
    def method(self) -> str:  # type: ignore[override]
        left = self.doubts.left_out
        if left is not None:
            chosen = f"redraws of buckets with the threshold chosen anew, and {left.method}"
            return chosen if self.is_chosen else left.method
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

    def value(self, prior: PriorSetting | None) -> float:
        return float(self.values(self.doubt.setting(prior).shares[None])[0])

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

    def ends(self, prior: PriorSetting | None, tail: float) -> Ends:
        setting = self.doubt.setting(prior)
        if self.doubts.left_out is not None:
            given = self.jackknife.ends(setting, tail)
            return given if not self.is_chosen or math.isnan(given[0]) else self._chosen_anew(setting, tail, given)
        if self.is_area:
            return self.doubts.area.ends(setting, tail)
        if self._own is AveragePrecisionReadTwice:
            return self._of_average_precision(setting, tail)
        if self.metric.reads != "threshold":
            return self._of_ranking(setting, tail)
        given = self._as_given(setting, tail)
        return self._chosen_anew(setting, tail, given) if self.is_chosen else given

    def _as_given(self, setting: PriorSetting, tail: float) -> Ends:
        threshold = float(self.threshold or 0.0)
        each = tail if self.is_counted else self.doubts.rates.tail(threshold, setting.shares, tail)
        both = [
            percentiles(self._of_table(table), each, each) for table in self.doubts.rates.tables(threshold, setting)
        ]
        return min(low for low, _ in both), max(high for _, high in both)

    def _tail(self, tail: float) -> float:
        left, rows = self.doubts.left_out, float(self.doubts.evidence.cells.totals[:, 0].sum())
        return expanded_tail(tail, rows if left is None else left.buckets.fewest)

    def _chosen_anew(self, setting: PriorSetting, tail: float, given: Ends) -> Ends:
        """What a redraw shows at the threshold it chose, less what the rows show there: the optimism of choosing."""
        (places,) = self.doubts._chosen
        found = self.doubts.redraws.of(self._mirrored(setting))
        data = self.doubts.redraws.data(setting.shares)
        redrawn = self._of_table(found.recoveries.tables(*at_places(found.redrawn, places)))
        seen = self._of_table(data.recoveries.tables(*(rates[0, places] for rates in data.redrawn[:3])))
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

    def _of_average_precision(self, setting: PriorSetting, tail: float) -> Ends:
        found = self.doubts.redraws.of(setting)
        labelled = np.diff(np.asarray(self.doubts.redraws.coarse(setting.shares).labelled, float), prepend=0.0)
        readings = average_precisions(found.recoveries, found.redrawn, np.maximum(labelled, 0.0))
        moved, each = self._shift(setting), self._tail(min(1.2 * tail, max(tail, 0.5)))
        ends = [percentiles(reading + moved, each, each) for reading in readings]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _of_ranking(self, setting: PriorSetting, tail: float) -> Ends:
        """Any other metric, one redraw after another."""
        found, thresholds = self.doubts.redraws.of(setting), self.doubts.redraws.thresholds
        values = found.first(MOST_TALLIES).values(self.metric, thresholds, self.threshold, **self.parameters)
        each = self._tail(tail)
        shift = self._shift(setting) if self.metric.reads == "ranking" else 0.0
        return percentiles(values + shift, each, each)
