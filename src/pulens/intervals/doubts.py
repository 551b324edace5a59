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
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.intervals.area import AreaInterval
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured
from pulens.intervals.prior_doubt import PRIOR_IN_METHOD, PRIORS_IN_RANGE, holding, range_tail
from pulens.intervals.prior_draws import EndsAt, PriorDraws
from pulens.intervals.redraw import Choice, RedrawInterval
from pulens.intervals.threshold import ThresholdInterval

__all__ = ["Choice", "Doubt", "Doubts"]


class Doubt(NamedTuple):
    """Interval of a metric, and the part of it that the sample alone would give."""

    interval: Interval
    sample: Interval


@dataclass(frozen=True)
class Doubts:
    """Finds the intervals of one evidence's metrics; what several metrics need is computed once."""

    evidence: Evidence
    resampling: Resampling
    choice: Choice | None = None

    @cached_property
    def _draws(self) -> PriorDraws:
        return PriorDraws(self.evidence, self.resampling.among_many)

    @cached_property
    def _area(self) -> AreaInterval:
        return AreaInterval(self._draws)

    @cached_property
    def _beforehand(self) -> ThresholdInterval:
        return ThresholdInterval(self._draws, self.resampling)

    @cached_property
    def _redraws(self) -> RedrawInterval:
        return RedrawInterval(self._draws, self.resampling, self._beforehand, self.choice)

    def of_threshold(self) -> Interval | None:
        """Where redraws choose their threshold, if it was chosen."""
        if self.choice is None:
            return None
        low, high = self._redraws.thresholds(self.resampling.tail)
        known = self.choice.threshold
        return Interval(min(low, known), max(high, known), self.resampling.confidence, "percentile of redraws")

    def of(
        self,
        name: str,
        metric: Measured,
        known: float,
        threshold: float | None,
        point: Callable[[float], float],
        *,
        cut: float = 0.0,
        **parameters: Any,
    ) -> Doubt | None:
        """The interval of a metric whose value is ``known``; ``point`` gives the value at another class prior.

        ``cut`` is what clipping added to the value: an estimate beyond the edge of what is possible counts as one at
        the edge, with its own spread. What lies within the edges then only grows.
        """
        ends, method = self._construction(name, metric, threshold, point, parameters)
        prior = self.evidence.class_prior
        own = self.resampling.tail
        sample = self._interval(ends(prior.unlabelled)(own), known, cut, metric, method)
        if sample is None:
            return None
        treatment = self._draws.doubt.treatment
        unmoved = metric.ignores_class_prior or (not metric.needs_class_prior and self.evidence.label_noise == 0)
        if treatment == "exact" or unmoved:
            return Doubt(sample, sample)
        found = self._over_range(ends, point, sample) if treatment == "range" else ends(None)(own)
        both = self._interval(found, known, cut, metric, f"{method}{PRIOR_IN_METHOD[treatment]}")
        return None if both is None else Doubt(both, sample)

    def _interval(
        self, ends: tuple[float, float], known: float, cut: float, metric: Measured, method: str
    ) -> Interval | None:
        low, high = ends[0] + min(cut, 0.0), ends[1] + max(cut, 0.0)
        if math.isnan(low) or math.isnan(high):
            return None
        low, high = (min(max(end, metric.lowest), metric.highest) for end in holding(known, low, high))
        return Interval(low, high, self.resampling.confidence, method)

    def _over_range(self, ends: EndsAt, point: Callable[[float], float], sample: Interval) -> tuple[float, float]:
        """Hull of the intervals at class priors over the range, each at the level of Imbens and Manski."""
        from scipy.special import ndtri

        priors = self._draws.doubt.over(PRIORS_IN_RANGE)
        spread = sample.width / (2 * float(ndtri((1 + self.resampling.confidence) / 2)))
        tail = range_tail(self.resampling.confidence, [point(prior) for prior in priors], spread)
        found = np.array([ends(prior)(tail) for prior in priors])
        return float(np.nanmin(found[:, 0])), float(np.nanmax(found[:, 1]))

    def _construction(
        self,
        name: str,
        metric: Measured,
        threshold: float | None,
        point: Callable[[float], float],
        parameters: dict[str, Any],
    ) -> tuple[EndsAt, str]:
        """The ends at a class prior (``None``: drawn from its interval), and the construction's name."""
        if metric.reads == "threshold":
            if self.choice is not None and threshold == self.choice.threshold:
                return self._redraws.chosen(metric, parameters), "redraws with the threshold chosen anew"
            return self._beforehand.fixed(metric, float(threshold or 0.0), parameters), "Jeffreys"
        if name == "roc_auc" and parameters.get("method", "direct") == "direct":
            return self._area.at, "DeLong, Student, skewness-corrected"
        if name == "average_precision" and parameters.get("form", "point") == "point":
            return self._redraws.average_precision(metric, point, parameters), "percentile of redraws, read twice"
        if metric.reads == "counts":
            return self._redraws.counted(metric, float(threshold or 0.0), parameters), "percentile of redraws"
        return self._redraws.ranked(metric, point, parameters), "percentile of redraws"
