"""The interval of the recovered ROC AUC: DeLong's variance from placements, no redraws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.intervals.construction import Ends
from pulens.intervals.kernels.quantiles import (
    effective_degrees_of_freedom,
    studentised_mixture_ends,
    studentised_quantile,
)
from pulens.intervals.of_metric import MetricConstruction
from pulens.types import Floats

POINTS, REACH = 33, 4.0  # normal quantiles that stand for the class prior's distribution


@dataclass(frozen=True)
class AreaUnderROC(MetricConstruction):
    """Student's quantiles with Welch's degrees of freedom, bent for skewness, around the direct area."""

    method = "DeLong, Student, skewness-corrected"

    def ends(self, prior: float | None, tail: float) -> Ends:
        totals = tuple(self.shop.evidence.tally.totals)
        if prior is None:
            return self._mixed(totals, tail)
        value, error, skew, freedom = self._parts(self.shop.draws.priors(prior, np.zeros(1), totals))
        bend = [studentised_quantile(level, skew, freedom)[0] for level in (1 - tail, tail)]
        return float(value[0] - error[0] * bend[0]), float(value[0] - error[0] * bend[1])

    def _mixed(self, totals: tuple[float, ...], tail: float) -> Ends:
        """Over the class prior's own distribution: a mixture of what each of its quantiles gives."""
        normal = np.linspace(-REACH, REACH, POINTS)
        parts = self._parts(self.shop.draws.priors(None, normal, totals))
        low, high = studentised_mixture_ends(parts, np.exp(-(normal**2) / 2), tail)
        return float(low), float(high)

    def _parts(self, priors: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Value, standard error, skewness and degrees of freedom of the area at each class prior."""
        moments = self.shop.moments
        totals = self.shop.evidence.tally.totals
        recoveries = self.shop.draws.recoveries(tuple(totals), priors)
        value, variances, thirds = moments.bilinear(recoveries.true_positive_rate, recoveries.false_positive_rate)
        freedom = effective_degrees_of_freedom(variances, moments.totals)
        variance = variances.sum(-1)
        if self.shop.draws.random_totals:
            variance = variance + self._variance_from_totals(priors)
        error = np.sqrt(np.maximum(variance, 0.0))
        skew = np.divide(thirds.sum(-1), error**3, out=np.zeros(error.shape), where=error > 0)
        return value, error, skew, freedom

    def _variance_from_totals(self, priors: Floats) -> Floats:
        """What the numbers of labelled and unlabelled rows, random in one sample, add to the area's variance."""
        totals = np.array(self.shop.evidence.tally.totals)
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
                maps = self.shop.draws.recoveries(tuple(moved), self.shop.draws.moved(priors, tuple(moved)))
                found.append(self.shop.moments.bilinear(maps.true_positive_rate, maps.false_positive_rate)[0])
            slopes.append((found[0] - found[1]) / (2 * step))
        slope = np.stack(slopes, axis=-1)
        return np.asarray((totals * slope**2).sum(-1) - (slope @ totals) ** 2 / totals.sum())
