"""Worlds whose true ranking metrics are known: how often an interval holds the truth can be counted in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.types import Floats

__all__ = ["Family", "RankingWorld"]

Family = Literal["gaussian", "unequal", "beta", "skewed"]
POINTS = 400_001  # of the grid on which areas are summed
SURE = 1e-9  # mass beyond the grid's ends


@dataclass(frozen=True)
class RankingWorld:
    """Scores of both classes with a given ROC AUC, the class prior, and how many rows a test set has.

    ``family`` is the shape: ``"gaussian"``, ``"unequal"`` (positives spread twice as wide), ``"beta"`` (scores between
    0 and 1), ``"skewed"`` (exponential). ``levels`` rounds scores to this many distinct values. In a single set
    ``labelled`` is how many positives carry a label on average.

    >>> world = RankingWorld("gaussian", 0.9, 0.3, labelled=50, unlabelled=500)
    >>> labels, scores = world.draw(np.random.default_rng(0))
    >>> int(labels.sum()), labels.size
    (50, 550)
    >>> print({name: round(value, 3) for name, value in world.values.items()})
    {'recall': 0.77, 'precision': 0.699, 'f1': 0.733, 'average_precision': 0.812, 'roc_auc': 0.9}
    """

    family: Family
    auc: float
    class_prior: float
    labelled: int
    unlabelled: int
    scenario: Literal["case-control", "single-set"] = "case-control"
    levels: int = 0

    @property
    def threshold(self) -> float:
        """A threshold near the best F1."""
        return _truth(self)[0]

    @property
    def values(self) -> Mapping[str, float]:
        """True ``roc_auc`` and ``average_precision``, and ``recall``, ``precision``, ``f1`` at :attr:`threshold`."""
        return _truth(self)[1]

    def values_at(self, threshold: float) -> dict[str, float]:
        """True recall, precision (nan where no row scores so high) and F1 at a threshold."""
        if self.levels:
            grid = self._grid()
            here = np.array([grid[int(np.argmin(abs(grid - threshold)))]])
        else:
            here = np.array([threshold])
        hits, alarms = (float(rate[0]) for rate in self._rates(here))
        called = self.class_prior * hits + (1 - self.class_prior) * alarms
        return {
            "recall": hits,
            "precision": self.class_prior * hits / called if called else math.nan,
            "f1": 2 * self.class_prior * hits / (self.class_prior + called),
        }

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.int8], Floats]:
        """Labels (1 labelled, 0 unlabelled) and scores of a test set."""
        positive, negative = _pair(self.family, self.auc)
        if self.scenario == "single-set":
            rows = self.labelled + self.unlabelled
            n_positive = rng.binomial(rows, self.class_prior)
            labels = np.zeros(rows, np.int8)
            labels[:n_positive] = rng.random(n_positive) < self.labelled / (rows * self.class_prior)
            scores = np.concatenate([_drawn(positive, rng, n_positive), _drawn(negative, rng, rows - n_positive)])
        else:
            n_positive = rng.binomial(self.unlabelled, self.class_prior)
            labels = np.repeat(np.array([1, 0], np.int8), [self.labelled, self.unlabelled])
            scores = np.concatenate(
                [
                    _drawn(positive, rng, self.labelled + n_positive),
                    _drawn(negative, rng, self.unlabelled - n_positive),
                ]
            )
        if self.levels:
            grid = self._grid()
            scores = grid[np.clip(np.rint((scores - grid[0]) / (grid[1] - grid[0])), 0, grid.size - 1).astype(int)]
        return labels, scores

    def draw_models(
        self, aucs: Mapping[str, float], rng: np.random.Generator, agreement: float = 0.5
    ) -> tuple[NDArray[np.int8], dict[str, Floats]]:
        """Labels, and the scores that several models give the same rows; ``agreement`` correlates their errors.

        >>> world = RankingWorld("beta", 0.8, 0.2, labelled=20, unlabelled=100)
        >>> labels, models = world.draw_models({"a": 0.8, "b": 0.7}, np.random.default_rng(0))
        >>> sorted(models), labels.size
        (['a', 'b'], 120)
        """
        from pulens.special import ndtr

        if self.scenario == "single-set":
            positive = rng.random(self.labelled + self.unlabelled) < self.class_prior
            frequency = self.labelled / (positive.size * self.class_prior)
            labels = (positive & (rng.random(positive.size) < frequency)).astype(np.int8)
        else:
            labels = np.repeat(np.array([1, 0], np.int8), [self.labelled, self.unlabelled])
            positive = (labels == 1) | (rng.random(labels.size) < self.class_prior)
        common, *own = rng.standard_normal((1 + len(aucs), labels.size))
        models = {}
        for (name, auc), errors in zip(aucs.items(), own, strict=True):
            places = ndtr(math.sqrt(agreement) * common + math.sqrt(1 - agreement) * errors)
            high, low = _pair(self.family, auc)
            scores = np.empty(labels.size)
            scores[positive], scores[~positive] = high.ppf(places[positive]), low.ppf(places[~positive])
            models[name] = scores
        return labels, models

    def with_auc(self, auc: float) -> RankingWorld:
        """The same rows, scored by another model."""
        return replace(self, auc=auc)

    def _grid(self) -> Floats:
        """Fine enough for truth by summation; exactly the levels, where scores are rounded."""
        positive, negative = _pair(self.family, self.auc)
        if self.levels:
            return np.linspace(negative.ppf(0.01), positive.ppf(0.99), self.levels)
        low = min(positive.ppf(SURE), negative.ppf(SURE))
        return np.linspace(low, max(positive.ppf(1 - SURE), negative.ppf(1 - SURE)), POINTS)

    def _rates(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """True and false positive rates at thresholds that scores can have."""
        cuts = thresholds
        if self.levels:
            levels = self._grid()
            cuts = np.where(thresholds <= levels[0], -np.inf, thresholds - (levels[1] - levels[0]) / 2)
        positive, negative = _pair(self.family, self.auc)
        return positive.sf(cuts), negative.sf(cuts)


@lru_cache
def _truth(world: RankingWorld) -> tuple[float, dict[str, float]]:
    """A threshold near the best F1, and the value of every metric."""
    grid = world._grid()[::-1]
    hits, alarms = (np.append(0.0, rates) for rates in world._rates(grid))
    prior = world.class_prior
    called = prior * hits + (1 - prior) * alarms
    precision = np.divide(prior * hits, called, out=np.ones_like(called), where=called > 0)
    threshold = float(grid[int(np.argmax(2 * prior * hits / (prior + called))) - 1])
    if not world.levels:
        threshold = round(threshold, 3)
    values = world.values_at(threshold)
    middle = precision[1:] if world.levels else (precision[1:] + precision[:-1]) / 2
    values["average_precision"] = float(np.diff(hits) @ middle)
    values["roc_auc"] = float(np.diff(alarms) @ (hits[1:] + hits[:-1]) / 2)
    return threshold, values


@lru_cache
def _pair(family: str, auc: float) -> tuple[Any, Any]:
    """Positives and negatives of a family with this ROC AUC, as frozen distributions of scipy."""
    from scipy import optimize, stats

    gap = math.sqrt(2) * stats.norm.ppf(auc)
    if family == "gaussian":
        return stats.norm(gap), stats.norm(0)
    if family == "unequal":  # negatives never look unlike positives at the top
        return stats.norm(gap * math.sqrt(2.5), 2), stats.norm(0)
    if family == "skewed":  # AUC = scale / (1 + scale)
        return stats.expon(scale=auc / (1 - auc)), stats.expon(scale=1.0)

    def area(shape: float) -> float:
        x = np.linspace(0, 1, 20001)
        return float(np.trapezoid(stats.beta(2, shape).pdf(x) * stats.beta(shape, 2).sf(x), x))

    shape = optimize.brentq(lambda k: area(k) - auc, 2.0, 40.0)
    return stats.beta(shape, 2), stats.beta(2, shape)


def _drawn(distribution: Any, rng: np.random.Generator, size: int) -> Floats:
    return np.asarray(distribution.rvs(size=size, random_state=rng))
