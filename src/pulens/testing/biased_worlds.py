"""Worlds whose labels are not drawn at random: the chance of a label rises with a positive's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.types import Booleans, Floats

__all__ = ["BiasedWorld"]


@dataclass(frozen=True)
class BiasedWorld:
    """Scores of both classes, and a preference for positives that score high.

    ``factor`` is how many times likelier the best placed positive is to carry a label than the worst placed;
    ``preference`` says how the chance rises between them.

    >>> world = BiasedWorld("beta", 0.2, "straight", 5.0, labelled=100, rows=1000)
    >>> labels, scores = world.draw(np.random.default_rng(0))
    >>> int(labels.sum()), labels.size
    (100, 1100)
    """

    family: Literal["student", "gamma", "beta", "laplace", "mixture"]
    class_prior: float
    preference: Literal["quarter", "top fifth", "two steps", "straight", "late"]
    factor: float
    scenario: Literal["case-control", "single-set"] = "case-control"
    labelled: int = 1000
    rows: int = 10_000

    def scores(self, rng: np.random.Generator, positive: Booleans) -> Floats:
        """Scores of rows whose classes are given."""
        size = positive.size
        if self.family == "student":
            return np.asarray(rng.standard_t(5, size) + 3.5 * positive)
        if self.family == "gamma":
            return np.where(positive, rng.gamma(6.0, 1.0, size), rng.gamma(1.5, 1.0, size))
        if self.family == "beta":
            return np.where(positive, rng.beta(5, 1.5, size), rng.beta(1, 6, size))
        if self.family == "laplace":
            return rng.laplace(3.5 * positive, np.where(positive, 1.0, 0.8))
        mixed = positive & (rng.random(size) < 0.3)  # "mixture": three in ten positives look like negatives
        return rng.normal(np.where(positive & ~mixed, 4.0, np.where(mixed, 0.8, 0.0)), 1)

    def chance(self, place: Any) -> Floats:
        """Relative chance of a label, from a positive's place among the positives (0 lowest, 1 highest).

        >>> BiasedWorld("beta", 0.2, "straight", 5.0).chance(np.array([0.0, 0.5, 1.0]))
        array([0.2, 0.6, 1. ])
        """
        steps = {
            "quarter": ((0.25, self.factor),),
            "top fifth": ((0.8, self.factor),),
            "two steps": ((0.35, np.sqrt(self.factor)), (0.7, self.factor)),
        }
        if self.preference in steps:
            result = np.ones_like(place)
            for begins, height in steps[self.preference]:
                result = np.where(place > begins, height, result)
            return np.asarray(result / self.factor)
        if self.preference == "straight":
            return np.asarray((1 + (self.factor - 1) * place) / self.factor)
        return np.asarray(self.factor ** (place**2) / self.factor)  # "late": most of the rise among the highest

    def draw(self, rng: np.random.Generator, reference: Floats | None = None) -> tuple[NDArray[np.int_], Floats]:
        """Labels and scores; ``reference`` holds sorted scores of positives, among which a row has its place.

        In a single set the likeliest positive carries a label every other time.
        """
        ranks = np.sort(self.scores(rng, np.ones(10_000, bool))) if reference is None else reference

        def chances(scores: Floats) -> Floats:
            return self.chance(np.searchsorted(ranks, scores) / ranks.size)

        positive = rng.random(self.rows) < self.class_prior
        scores = self.scores(rng, positive)
        if self.scenario == "single-set":
            return (positive & (rng.random(self.rows) < 0.5 * chances(scores))).astype(int), scores
        pool = self.scores(rng, np.ones(40 * self.labelled, bool))
        pool = pool[rng.random(pool.size) < chances(pool)][: self.labelled]
        return np.repeat([1, 0], [pool.size, self.rows]), np.concatenate([pool, scores])
