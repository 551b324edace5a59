"""Models compared within cells on rows that belong together: every difference without one bucket at a time.

A bucket of clusters leaves every cell at once, the cells are added up again for each model, and what a cluster does to
all models cancels in the difference (:mod:`pulens.cells.clustered`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from pulens.cells import CellDoubts, CellEvidence
from pulens.cells.clustered import CellJackknife, mixed_ends
from pulens.cells.priors import PriorSetting
from pulens.comparison.clustered import chances
from pulens.comparison.paired import Difference
from pulens.estimate import Interval
from pulens.intervals.clustered import ends_around
from pulens.intervals.kernels.holm import holm
from pulens.intervals.kernels.jackknife import FEWEST_BUCKETS, jackknife_error, student_quantile
from pulens.intervals.kernels.quantiles import normal_quantile, tail_for_range
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.prior_doubt import PRIOR_IN_METHOD, holding
from pulens.metrics.parts.measure import raw_value
from pulens.metrics.parts.metric import Metric
from pulens.types import Floats

METHOD = "delete-a-bucket jackknife of the difference, within cells, Student"
DRAWS = 100  # class priors at which a difference is looked at where they are drawn


def differences_within(
    name: str,
    metric: Metric,
    by_model: Mapping[str, CellEvidence],
    thresholds: Mapping[str, float],
    resampling: Resampling,
) -> tuple[Difference, ...]:
    """All pairs of models; over a range of the cells' class priors the worst p-value counts."""
    models = {model: _ModelWithin(metric, found, thresholds[model], resampling) for model, found in by_model.items()}
    pairs = list(combinations(models, 2))
    found = [_PairWithin(models[first], models[second], resampling).judged() for first, second in pairs]
    adjusted = holm([part[3] for part in found])
    reason = metric.undefined_because or "it is undefined without some clusters"
    if next(iter(models.values())).jackknife.buckets.fewest < FEWEST_BUCKETS:
        reason = f"labelled or other rows lie in fewer than {FEWEST_BUCKETS} clusters"
    return tuple(
        Difference(name, first, second, *part, corrected, reason if part[1] is None else None)
        for (first, second), part, corrected in zip(pairs, found, adjusted, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _ModelWithin:
    """One model's metric at class priors of the cells, with all rows and without each bucket."""

    metric: Metric
    evidence: CellEvidence
    at: float
    resampling: Resampling
    _known: dict[bytes, Any] = field(default_factory=dict)

    @property
    def threshold(self) -> float | None:
        return self.at if self.metric.needs_threshold else None

    @cached_property
    def doubts(self) -> CellDoubts:
        return CellDoubts(self.evidence, self.resampling)

    @property
    def jackknife(self) -> CellJackknife:
        assert self.doubts.jackknife is not None
        return self.doubts.jackknife

    def value(self, shares: Floats) -> float:
        # not clipped: two models beyond the possible still have an order
        own = self.evidence.combined(shares)
        return raw_value(self.metric, own.tally, own.assumptions, self.threshold)

    def replicates(self, shares: Floats) -> Floats:
        key = shares.tobytes()
        if key not in self._known:
            ask = self.doubts.asked(self.metric, self.threshold)
            self._known[key] = self.jackknife.replicates(ask, shares)[0]
        found: Floats = self._known[key]
        return found


@dataclass(frozen=True, eq=False)
class _PairWithin:
    one: _ModelWithin
    two: _ModelWithin
    resampling: Resampling

    def _value(self, shares: Floats) -> float:
        return self.one.value(shares) - self.two.value(shares)

    def _error(self, shares: Floats) -> float:
        return float(jackknife_error(self.one.replicates(shares) - self.two.replicates(shares)))

    @property
    def _settings(self) -> list[PriorSetting]:
        priors = self.one.evidence.priors
        if priors.treatment != "range":
            return [PriorSetting(priors.shares, priors.draws)]
        order = self.one.doubts.asked(self.one.metric, self.one.threshold).order()
        found = priors.settings(order, self.one.evidence.cells.totals[:, 1])
        return [PriorSetting(priors.shares, priors.draws), *found]

    def judged(self) -> tuple[float, Interval | None, float, float]:
        """Difference, its interval, the chance that the first is better, and the p-value of no difference."""
        metric, jackknife, confidence = self.one.metric, self.one.jackknife, self.resampling.confidence
        settings = self._settings
        seen = np.array([self._value(each.shares) for each in settings])
        errors = np.array([self._error(each.shares) for each in settings])
        if np.isnan(seen).any() or np.isnan(errors).any() or jackknife.buckets.fewest < FEWEST_BUCKETS:
            return math.nan, None, math.nan, 1.0
        treatment = "exact" if metric.ignores_class_prior else self.one.evidence.priors.treatment
        tail, value = self.resampling.tail, float(seen[0])
        if treatment == "range":
            tail = float(tail_for_range(confidence, float(np.ptp(seen)), float(errors.max())))
        ends = [
            self._ends(each, number, error, tail, drawn=treatment != "exact")
            for each, number, error in zip(settings, seen, errors, strict=True)
        ]
        low, high = holding(value, min(low for low, _ in ends), max(high for _, high in ends))
        if treatment == "drawn":
            # the end nearer to no difference: p is the level at which it would just touch that
            reach = student_quantile(jackknife.freedom, self.resampling.tail)
            errors = np.array([(value - low if value > 0 else high - value) / reach])
        better, p_value = chances(value, seen, errors, jackknife.freedom, higher_is_better=metric.higher_is_better)
        return value, Interval(low, high, confidence, METHOD + PRIOR_IN_METHOD[treatment]), better, p_value

    def _ends(
        self, setting: PriorSetting, value: float, error: float, tail: float, *, drawn: bool
    ) -> tuple[float, float]:
        jackknife = self.one.jackknife
        reach = student_quantile(jackknife.freedom, tail), normal_quantile(1 - 2 * tail)
        width = self.one.metric.highest - self.one.metric.lowest
        rows = float(self.one.evidence.cells.totals[:, 0].sum())
        fixed = ends_around(float(value), float(error), tail, reach, jackknife.buckets.fewest, rows, (-width, width))
        if not drawn or setting.draws is None:
            return fixed
        values = np.array([self._value(shares) for shares in setting.draws[:DRAWS]])
        moved = mixed_ends(values[~np.isnan(values)], error * reach[0] / reach[1], tail, rows, (-width, width))
        return min(fixed[0], moved[0]), max(fixed[1], moved[1])
