r"""Worlds whose true calibration error is known: what studies and tests compare with.

Both describe the logit of a model's score given the class as a mixture of Gaussians: appendix D of the PU-ECE paper
directly, appendix E after a fit. Masses are normal integrals in closed form; the error itself,

.. math:: TCE = \int \left|\pi\,p(v \mid 1) - \sigma(v)\,p(v)\right| dv \quad\text{(Lemma 7)},

is integrated piece by piece between the places where the difference changes sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import PulensError
from pulens.types import Floats

Component = tuple[float, float, float]  # weight, mean, standard deviation
GRID = 20_001
REACH = 9.0  # standard deviations beyond which a Gaussian holds less than 1e-18


@dataclass(frozen=True)
class LogitMixture:
    """A population of logits: a class prior and a mixture of Gaussians (weight, mean, deviation) for each class.

    >>> world = LogitMixture(0.4, [(1.0, 2.0, 1.0)], [(0.5, -2.0, 1.0), (0.5, 0.0, 0.6)])
    >>> round(world.true_calibration_error(), 9)
    0.18825512
    """

    class_prior: float
    positive: Sequence[Component]
    negative: Sequence[Component]

    def density(self, logits: Floats, *, positive: bool | None = None) -> Floats:
        """Density of one class, or of the population."""
        if positive is None:
            first, second = self.density(logits, positive=True), self.density(logits, positive=False)
            return self.class_prior * first + (1 - self.class_prior) * second
        total = np.zeros_like(logits)
        for weight, mean, deviation in self.positive if positive else self.negative:
            standard = (logits - mean) / deviation
            total += weight * np.exp(-(standard**2) / 2) / (deviation * math.sqrt(2 * math.pi))
        return total

    def posterior(self, logits: Floats) -> Floats:
        """The true probability of being positive."""
        own = self.class_prior * self.density(logits, positive=True)
        other = (1 - self.class_prior) * self.density(logits, positive=False)
        return np.divide(own, own + other, out=np.full_like(own, np.nan), where=own + other > 0)

    @property
    def range(self) -> tuple[float, float]:
        parts = [*self.positive, *self.negative]
        return (
            min(mean - REACH * deviation for _, mean, deviation in parts),
            max(mean + REACH * deviation for _, mean, deviation in parts),
        )

    def _difference(self, logits: Floats) -> Floats:
        from pulens.special import expit

        promised = np.asarray(expit(logits), float) * self.density(logits)
        return self.class_prior * self.density(logits, positive=True) - promised

    def true_calibration_error(self) -> float:
        """The calibration error of the score itself, without bins (Lemma 7), to about 12 digits.

        Gauss-Legendre quadrature in cells that are small beside every component, cut where the difference changes
        its sign.
        """
        from scipy.optimize import brentq

        cells = self._cells()
        heights = self._difference(cells)
        clear = np.abs(heights) > 1e-14 * np.abs(heights).max(initial=1e-300)  # the sign of mere rounding means nothing
        turns = np.flatnonzero(clear[1:] & clear[:-1] & (heights[1:] * heights[:-1] < 0))

        def at(point: float) -> float:
            return float(self._difference(np.array([point]))[0])

        roots = [brentq(at, cells[place], cells[place + 1], xtol=1e-14) for place in turns]
        ends = np.union1d(cells, roots)
        nodes, weights = np.polynomial.legendre.leggauss(8)
        middle, half = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
        values = self._difference((middle[:, None] + half[:, None] * nodes).ravel()).reshape(-1, nodes.size)
        return float(np.abs(half * (values @ weights)).sum())

    def _cells(self) -> Floats:
        """Points so close that every component is smooth between them."""
        spans = [self.range, *((m - REACH * d, m + REACH * d) for _, m, d in (*self.positive, *self.negative))]
        return np.unique(np.concatenate([np.linspace(low, high, 801) for low, high in spans]))

    def binned_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Mass of positives and mass promised by the scores in bins of scores, exactly (infinitely many rows)."""
        logits = score_to_logit(edges)
        return self.class_prior * np.diff(self._share(logits, positive=True)), np.diff(self._promised(logits))

    def population_below(self, score: float) -> float:
        """Share of the population with a score of at most this one."""
        logits = score_to_logit(np.array([score]))
        shares = [float(self._share(logits, positive=which)[0]) for which in (True, False)]
        return self.class_prior * shares[0] + (1 - self.class_prior) * shares[1]

    def binned_calibration_error(self, edges: Floats) -> float:
        """The calibration error of the binned model with these edges: what PU-ECE estimates."""
        positive, promised = self.binned_masses(edges)
        return float(np.abs(positive - promised).sum())

    def mass_edges(self, bins: int) -> Floats:
        """Edges that divide the population into bins of equal mass."""
        grid, share, _ = self._cumulated
        inner = np.interp(np.arange(1, bins) / bins, share, grid)
        return np.concatenate([[0.0], 1 / (1 + np.exp(-inner)), [1.0]])

    def _share(self, logits: Floats, *, positive: bool) -> Floats:
        from pulens.special import ndtr

        parts = self.positive if positive else self.negative
        below = [weight * ndtr((logits - mean) / deviation) for weight, mean, deviation in parts]
        return np.asarray(np.sum(below, axis=0), float)

    def _promised(self, logits: Floats) -> Floats:
        grid, _, promised = self._cumulated
        return np.interp(logits, grid, promised)

    @cached_property
    def _cumulated(self) -> tuple[Floats, Floats, Floats]:
        """A grid of logits with the population's share and promised mass below each point."""
        from pulens.special import expit

        grid = np.linspace(*self.range, GRID)
        density = self.density(grid)
        share = self.class_prior * self._share(grid, positive=True)
        share += (1 - self.class_prior) * self._share(grid, positive=False)
        weighted = density * expit(grid)
        steps = np.diff(grid) * (weighted[1:] + weighted[:-1]) / 2
        return grid, np.maximum.accumulate(share), np.concatenate([[0.0], np.cumsum(steps)])

    def draw(
        self, labelled: int, unlabelled: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Scores of labelled positives and of unlabelled rows, and which of the latter are positive."""
        from pulens.special import expit

        is_positive = rng.random(unlabelled) < self.class_prior
        logits = np.empty(unlabelled)
        logits[is_positive] = self._draw(self.positive, int(is_positive.sum()), rng)
        logits[~is_positive] = self._draw(self.negative, int((~is_positive).sum()), rng)
        return expit(self._draw(self.positive, labelled, rng)), expit(logits), is_positive

    @staticmethod
    def _draw(parts: Sequence[Component], size: int, rng: np.random.Generator) -> Floats:
        weights, means, deviations = (np.array(column, float) for column in zip(*parts, strict=True))
        which = rng.choice(weights.size, size, p=weights / weights.sum()) if weights.size > 1 else np.zeros(size, int)
        return means[which] + deviations[which] * rng.standard_normal(size)


def logistic_world(intercept: float, slope: float, class_prior: float = 0.5) -> LogitMixture:
    r"""The synthetic world of appendix D: :math:`x \mid y \sim N(\pm1, 1)`, score :math:`\sigma(\beta_0 + \beta_1 x)`.

    >>> round(logistic_world(-0.5, 1.5).true_calibration_error(), 9)
    0.074443262
    """
    if not slope > 0:
        raise PulensError(f"slope must be above 0, so that higher scores mean more positive, got {slope!r}.")
    return LogitMixture(class_prior, [(1.0, intercept + slope, slope)], [(1.0, intercept - slope, slope)])


LESS_CALIBRATED = (-0.5, 1.5)
BETTER_CALIBRATED = (-0.2, 1.9)


def fit_logit_mixture(
    positive_logits: Any, negative_logits: Any, class_prior: float, *, most_components: int = 10, seed: int = 0
) -> LogitMixture:
    """Fit one mixture per class to logits, the number of components chosen by BIC (section 5.3, appendix E).

    This takes the class of every row: it builds the truth for studies, not an estimate from PU data.
    """

    def fit(logits: Any) -> list[Component]:
        from sklearn.mixture import GaussianMixture

        column = np.asarray(logits, float).reshape(-1, 1)
        most = min(most_components, np.unique(column).size)
        tried = [GaussianMixture(k, random_state=seed).fit(column) for k in range(1, most + 1)]
        best = min(tried, key=lambda model: model.bic(column))
        deviations = np.sqrt(best.covariances_.reshape(-1))
        return [
            (float(weight), float(mean), float(deviation))
            for weight, mean, deviation in zip(best.weights_, best.means_[:, 0], deviations, strict=True)
        ]

    return LogitMixture(class_prior, fit(positive_logits), fit(negative_logits))


def score_to_logit(scores: Floats) -> Floats:
    """Logits of probabilities; 0 and 1 become minus and plus infinity."""
    from pulens.special import logit

    return np.asarray(logit(scores), float)
