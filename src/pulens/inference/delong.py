"""The interval of the recovered ROC AUC: DeLong's variance from placements, no redraws.

One ranking is a batch of one: all arrays have a leading axis over segments, and one over class priors after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.inference.kernels.placements import PlacementMoments
from pulens.inference.kernels.quantiles import (
    effective_degrees_of_freedom,
    studentised_mixture_ends,
    studentised_quantile,
)
from pulens.inference.method import Limits
from pulens.inference.prior_draws import AssumedRows
from pulens.types import Floats

POINTS, REACH = 33, 4.0
NORMAL = np.linspace(-REACH, REACH, POINTS)  # quantiles that stand for the class prior's distribution
STEP = 1e-4  # of the rows of a kind, for slopes by finite differences


@dataclass(frozen=True, eq=False)
class AreaLimits:
    """Student's quantiles with Welch's degrees of freedom, bent for skewness, around the areas of one or many segments.

    Class priors have the shape (segments, priors), the ``rows``' columns the shape (segments, 1).
    """

    moments: PlacementMoments
    rows: AssumedRows

    def at(self, priors: Floats, tail: float) -> Limits:
        """At one class prior for each segment."""
        value, error, skew, freedom = (part[:, 0] for part in self.parts(priors))
        low, high = (value - error * studentised_quantile(level, skew, freedom) for level in (1 - tail, tail))
        return low, high

    def mixed(self, priors: Floats, tail: float) -> Limits:
        """Over the class prior's own distribution: a mixture of what it gives at each of :data:`NORMAL`'s quantiles."""
        return studentised_mixture_ends(self.parts(priors), np.exp(-(NORMAL**2) / 2), tail)

    def parts(self, priors: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Value, standard error, skewness and degrees of freedom at each class prior."""
        maps = self.rows.recoveries(self.rows.totals, priors)
        value, variances, thirds = self.moments.bilinear(maps.hits, maps.alarms)
        freedom = effective_degrees_of_freedom(variances, self.moments.totals[:, None])
        variance = variances.sum(-1)
        if self.rows.random_totals:
            variance = variance + self._variance_from_totals(priors)
        error = np.sqrt(np.maximum(variance, 0.0))
        skew = np.divide(thirds.sum(-1), error**3, out=np.zeros(error.shape), where=error > 0)
        return value, error, skew, freedom

    def _variance_from_totals(self, priors: Floats) -> Floats:
        """What the numbers of labelled and unlabelled rows, random in one sample, add to the area's variance."""
        totals = self.rows.totals
        squares: Any = 0.0
        crossed: Any = 0.0
        for kind in self.moments.kinds:
            step = STEP * totals[kind]
            result = []
            for sign in (1, -1):
                changed = list(totals)
                changed[kind] = changed[kind] + sign * step
                maps = self.rows.recoveries(tuple(changed), self.rows.moved(priors, tuple(changed)))
                result.append(self.moments.value(maps.hits, maps.alarms))
            slope = np.divide(result[0] - result[1], 2 * step, out=np.zeros(priors.shape), where=step > 0)
            squares = squares + totals[kind] * slope**2
            crossed = crossed + totals[kind] * slope
        return np.asarray(squares - crossed**2 / sum(totals))
