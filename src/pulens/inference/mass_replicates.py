"""Masses of positives and of the population in replicates of the rows: whatever is linear in them has its error there.

Calibration and decisions read their numbers off how much of the population, and of its positives, lies at or above each
score. Replicates are the rows without each bucket of clusters; of strata also redraws of each, and draws of their class
priors (:mod:`pulens.strata.weighted`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import ClusterCounts, student_quantile
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.redraws import compress
from pulens.inference.recovered_counts import recovered_counts
from pulens.inference.replicates import Replicates
from pulens.types import Floats

BLOCKS = 2048  # thresholds of replicates of clusters, beside those asked for
REDRAWS = 500  # behind a standard error: known to 3%
USUAL = 0.95  # the confidence at which Student's width stands for a normal one where many are asked for


def student_factor(freedom: float, confidence: float = USUAL) -> float:
    """How many times as wide as the normal interval Student's is.

    >>> round(student_factor(3.0), 4), student_factor(3.0, 0.0)
    (1.6237, 1.0)
    """
    if confidence == 0:  # neither reaches anywhere
        return 1.0
    return student_quantile(freedom, (1 - confidence) / 2) / normal_quantile(confidence)


@dataclass(frozen=True, eq=False)
class MassReplicates:
    """Mass of positives and of the population at or above falling thresholds, of shape (replicates, thresholds).

    ``weights`` says how much the square of each replicate's distance from the mean counts in a variance.
    """

    thresholds: Floats
    positive: Floats
    population: Floats
    weights: Floats
    freedom: float = math.inf  # degrees of freedom of their spread, where it is a jackknife's

    @classmethod
    def of(cls, thresholds: Floats, drawn: Replicates, jackknife: ClusterCounts | None = None) -> MassReplicates:
        recall, alarms = drawn.recoveries.rates(*drawn.redrawn[:3])
        rows = drawn.recoveries.positive + drawn.recoveries.negative
        prior = np.broadcast_to(drawn.recoveries.positive / rows, len(recall))[:, None]
        positive = prior * recall
        many = len(recall)
        each = 1 / max(many - 1, 1) if jackknife is None else (many - 1) / many
        population = positive + (1 - prior) * alarms
        freedom = math.inf if jackknife is None else jackknife.freedom
        return cls(thresholds, positive, population, np.full(many, each), freedom)

    def times_as_wide(self, confidence: float = USUAL) -> float:
        """How many times as wide as the normal interval Student's is."""
        return 1.0 if math.isinf(self.freedom) else student_factor(self.freedom, confidence)

    def beside_priors(self, other: MassReplicates) -> MassReplicates:
        """Independent doubts together: distances of the others are added as replicates of their own."""
        moved = [
            each - each.mean(axis=0) + mine.mean(axis=0)
            for each, mine in ((other.positive, self.positive), (other.population, self.population))
        ]
        return replace(
            self,
            positive=np.concatenate([self.positive, moved[0]]),
            population=np.concatenate([self.population, moved[1]]),
            weights=np.concatenate([self.weights, other.weights]),
        )

    def away(self, numbers: Floats) -> Floats:
        """Distances of replicates of a number (or of many, in columns) from their mean, scaled so that squares add."""
        scale = np.sqrt(self.weights)
        return np.asarray((numbers - numbers.mean(axis=0)) * (scale if numbers.ndim == 1 else scale[:, None]))

    def error(self, numbers: Floats) -> Any:
        """Standard errors of a number, or of many in columns."""
        return np.sqrt((self.away(numbers) ** 2).sum(axis=0))

    def at(self, threshold: float) -> tuple[Floats, Floats]:
        """Both masses at or above one of the thresholds."""
        index = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        if index < 0:
            return np.zeros(len(self.positive)), np.zeros(len(self.positive))
        return self.positive[:, index], self.population[:, index]

    def between(self) -> tuple[Floats, Floats]:
        """Masses between a threshold and the next one above it."""
        positive, population = (np.diff(each, axis=1, prepend=0.0) for each in (self.positive, self.population))
        return positive, population

    def places(self, scores: Any) -> Any:
        """For each score the block that it lies in."""
        return np.minimum(
            np.searchsorted(-self.thresholds, -np.asarray(scores, float), side="left"), self.thresholds.size - 1
        )


@singledispatch
def mass_replicates(
    evidence: Evidence, share: float, thresholds: Any = (), *, redraws: int = REDRAWS
) -> MassReplicates | None:
    """Replicates of the masses at or above some thresholds, those given among them.

    ``share`` is that of positives among the unlabelled rows. ``None`` where rows are independent: what is linear in
    their rates has a variance in closed form.
    """
    counts = evidence.by_bucket
    if counts is None or evidence.buckets is None:
        return None
    few = np.asarray(compress(evidence.buckets.without([]), BLOCKS).thresholds, float)
    at = np.unique(np.concatenate([few, np.asarray(thresholds, float)]))[::-1]
    left = recovered_counts(evidence, *counts.left_out(at), np.array([share]))
    return MassReplicates.of(at, left, jackknife=counts)
