"""Intervals of metrics, each by the construction its facts name, with the class prior's own doubt carried along."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pulens.estimate import Interval
from pulens.intervals.clustered import DeleteABucket, construction_with_buckets
from pulens.intervals.construction import Construction, Held
from pulens.intervals.kernels.jackknife import FEWEST_BUCKETS
from pulens.intervals.kernels.quantiles import normal_quantile, percentiles
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured, depends_on_class_prior
from pulens.intervals.of_metric import MetricConstruction, Target
from pulens.intervals.policy import ends_in_doubt
from pulens.intervals.prior_doubt import KnownOfPrior
from pulens.intervals.redraw import CountsRedraws, RankingRedraws
from pulens.intervals.threshold import ChosenThreshold, FixedThreshold
from pulens.intervals.workshop import Choice, Workshop

__all__ = ["Choice", "Doubt", "Doubts"]


class Doubt(NamedTuple):
    """Interval of a metric, and the part of it that the sample alone would give."""

    interval: Interval
    sample: Interval


@dataclass(frozen=True)
class Doubts(Workshop):
    """Finds the intervals of one evidence's metrics: the workshop, and who hands out its work."""

    def of_threshold(self) -> Interval | None:
        """Where redraws choose their threshold, if it was chosen."""
        if self.choice is None:
            return None
        chosen = np.asarray(self.compressed.thresholds, float)[self.chosen_anew.places]
        low, high = percentiles(chosen, self.resampling.tail, self.resampling.tail)
        known = self.choice.threshold
        return Interval(min(low, known), max(high, known), self.resampling.confidence, "percentile of redraws")

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
        """The interval of a metric whose value is ``known``; ``value_at`` gives the value at another class prior.

        ``cut`` is what clipping added to the value (:class:`~pulens.intervals.construction.Held`). ``None`` where the
        metric is undefined in every redraw.
        """
        doubt = self.draws.doubt
        if not depends_on_class_prior(metric, self.evidence.label_noise):
            doubt = replace(doubt, matters=False)
        construction = self._construction(Target(metric, value_at, threshold, parameters))
        return in_doubt(construction, doubt, metric, known, self.resampling, cut)

    def design_effect(
        self, metric: Measured, threshold: float | None, value_at: Callable[[float], float], **parameters: Any
    ) -> float | None:
        """How many times the variance is what it would be if rows were independent; ``None`` where that is unknown."""
        if self.fewest_buckets < FEWEST_BUCKETS:
            return None
        target, own = Target(metric, value_at, threshold, parameters), self.evidence.class_prior.unlabelled
        low, high = self._independent(target).ends(own, self.resampling.tail)
        alone = (high - low) / (2 * normal_quantile(self.resampling.confidence))
        error = DeleteABucket(self, target).error(own)
        found = (error / alone) ** 2 if alone > 0 else math.nan
        return found if math.isfinite(found) else None

    def _construction(self, target: Target) -> MetricConstruction:
        if self.evidence.buckets is None:
            return self._independent(target)
        is_chosen = self.choice is not None and target.threshold == self.choice.threshold
        return construction_with_buckets(self, target, is_chosen=is_chosen)

    def _independent(self, target: Target) -> MetricConstruction:
        """The construction that the metric's facts name, or else the one for what it reads."""
        metric = target.metric
        own: type[MetricConstruction] | None = None
        if metric.construction is not None:
            own = metric.construction(**target.parameters)
        if own is not None:
            return own(self, target)
        if metric.reads == "counts":
            return CountsRedraws(self, target)
        if metric.reads == "ranking":
            return RankingRedraws(self, target)
        is_chosen = self.choice is not None and target.threshold == self.choice.threshold
        return (ChosenThreshold if is_chosen else FixedThreshold)(self, target)


def in_doubt(
    construction: Construction,
    doubt: KnownOfPrior,
    metric: Measured,
    known: float,
    resampling: Resampling,
    cut: float = 0.0,
) -> Doubt | None:
    """The interval of a number whose value is ``known``, by the policy; ``None`` where no redraw defines it."""
    confidence, tail, own = resampling.confidence, resampling.tail, construction.own_setting(doubt)
    held = Held(construction, known, own, tail, cut, metric.lowest, metric.highest, resampling.factor)
    low, high = held.ends(own, tail)
    if math.isnan(low) or math.isnan(high):
        return None
    wider = "" if resampling.factor == 1 else f", errors of the rows times {resampling.factor:.3g}"
    sample = Interval(low, high, confidence, f"{held.method}{wider}")
    low, high, method = ends_in_doubt(held, doubt, confidence, tail)
    if math.isnan(low) or math.isnan(high):
        return None
    return Doubt(Interval(low, high, confidence, f"{method}{wider}"), sample)
