"""Intervals of metrics, each by the construction its facts name, with the class prior's own doubt carried along."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.area import AreaUnderROC
from pulens.inference.chosen import Choice, Chooser
from pulens.inference.clustered import ChosenWithBuckets, ClusterJackknife
from pulens.inference.design_distribution import DesignDistribution
from pulens.inference.kernels.jackknife import FEWEST_BUCKETS
from pulens.inference.kernels.quantiles import normal_quantile, percentiles
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Measured, Target
from pulens.inference.method import Clipped, IntervalMethod
from pulens.inference.of_metric import MetricIntervalMethod
from pulens.inference.percentile import RankingRedraws
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import KnownOfPrior, holding
from pulens.inference.sampling_distribution import SamplingDistribution
from pulens.inference.threshold import ChosenThreshold, FixedThreshold

__all__ = ["Choice", "IntervalEstimator", "MetricInterval", "MetricIntervals", "interval_estimator"]


class MetricInterval(NamedTuple):
    """Interval of a metric, and the part of it that the sample alone would give."""

    interval: Interval
    sample: Interval


class MetricIntervals(ABC):
    """Finds intervals of the metrics of one evidence, however its labels are taken to have come about."""

    evidence: Any

    @abstractmethod
    def of(self, target: Target, known: float, cut: float = 0.0) -> MetricInterval | None:
        """The interval of a number whose value is ``known``; ``cut`` is what clipping added to that (``Clipped``).

        ``None`` where the number is undefined in every redraw.
        """

    def of_threshold(self) -> Interval | None:
        """Where redraws choose their threshold; ``None`` where it was given, or redraws choose none."""
        return None

    def design_effect(self, target: Target) -> float | None:
        """How many times the variance is what it would be if rows were independent; ``None`` where that is unknown."""
        return None


class EstimatesIntervals(DesignDistribution, MetricIntervals):
    """Finds the intervals of metrics of any design: each by the method its facts name, with the one policy."""

    def of_threshold(self) -> Interval | None:
        """Where redraws choose their threshold, if it was chosen."""
        if not isinstance(self.choice, Choice):
            return None
        thresholds, chosen = self.chosen_thresholds
        ends = percentiles(np.asarray(thresholds, float)[chosen], self.resampling.tail, self.resampling.tail)
        low, high = holding(self.choice.threshold, *ends)
        return Interval(low, high, self.resampling.confidence, "percentile of redraws")

    def of(self, target: Target, known: float, cut: float = 0.0) -> MetricInterval | None:
        target = self.target(target)
        return in_doubt(self.method(target), self.known_of_prior(target), target.metric, known, self.resampling, cut)

    def of_sample(self, target: Target, known: float) -> Interval | None:
        """What the rows alone leave open of a number, the class prior as it is."""
        target = self.target(target)
        return _of_sample(self.method(target), self.known_of_prior(target), target.metric, known, self.resampling)[1]

    def method(self, target: Target) -> MetricIntervalMethod:
        if not self.is_clustered:
            return self.independent(target)
        return (ChosenWithBuckets if self._is_chosen(target) else ClusterJackknife)(self, target)

    def independent(self, target: Target) -> MetricIntervalMethod:
        """The method that the metric's facts name, or else the one for what it reads."""
        metric = target.metric
        own: type[MetricIntervalMethod] | None = None
        if metric.construction is not None:
            own = metric.construction(**target.parameters)
        if own is AreaUnderROC and not self.has_area:
            own = None
        if own is not None and (self.takes_own_methods or own.fits_any_design):
            return own(self, target)
        if metric.reads != "threshold":
            return RankingRedraws(self, target)
        return (ChosenThreshold if self._is_chosen(target) else FixedThreshold)(self, target)

    def _is_chosen(self, target: Target) -> bool:
        at_chosen = isinstance(self.choice, Choice) and target.threshold == self.choice.threshold
        return at_chosen and target.metric.reads == "threshold"


@dataclass(frozen=True)
class IntervalEstimator(EstimatesIntervals, SamplingDistribution):
    """The intervals of metrics of one sample of rows."""

    def design_effect(self, target: Target) -> float | None:
        if self.buckets.fewest < FEWEST_BUCKETS:
            return None
        own = self.evidence.class_prior.unlabelled
        low, high = self.independent(target).ends(own, self.resampling.tail)
        alone = (high - low) / (2 * normal_quantile(self.resampling.confidence))
        error = ClusterJackknife(self, target).error(own)
        result = (error / alone) ** 2 if alone > 0 else math.nan
        return result if math.isfinite(result) else None


@singledispatch
def interval_estimator(evidence: Evidence, resampling: Resampling, choice: Chooser | None = None) -> EstimatesIntervals:
    """What finds the intervals of an evidence's metrics, by what kind of evidence it is.

    Strata register their own where it is defined: nothing else asks what the design is.
    """
    return IntervalEstimator(evidence, resampling, choice)


def in_doubt(
    construction: IntervalMethod,
    doubt: KnownOfPrior,
    metric: Measured,
    known: float,
    resampling: Resampling,
    cut: float = 0.0,
) -> MetricInterval | None:
    """The interval of a number whose value is ``known``, by the policy; ``None`` where no redraw defines it."""
    clipped, sample = _of_sample(construction, doubt, metric, known, resampling, cut)
    if sample is None:
        return None
    confidence = resampling.confidence
    low, high, method = ends_in_doubt(clipped, doubt, confidence, resampling.tail)
    if math.isnan(low) or math.isnan(high):
        return None
    return MetricInterval(Interval(low, high, confidence, f"{method}{_wider(resampling)}"), sample)


def _of_sample(
    construction: IntervalMethod,
    doubt: KnownOfPrior,
    metric: Measured,
    known: float,
    resampling: Resampling,
    cut: float = 0.0,
) -> tuple[Clipped, Interval | None]:
    """The construction within what is possible, and its interval at the class prior's own value."""
    tail, own = resampling.tail, construction.own_setting(doubt)
    clipped = Clipped(construction, known, own, tail, cut, metric.lowest, metric.highest, resampling.factor)
    low, high = clipped.ends(own, tail)
    if math.isnan(low) or math.isnan(high):
        return clipped, None
    return clipped, Interval(low, high, resampling.confidence, f"{clipped.method}{_wider(resampling)}")


def _wider(resampling: Resampling) -> str:
    return "" if resampling.factor == 1 else f", errors of the rows times {resampling.factor:.3g}"
