"""Worlds for estimators of the class prior: scores of both classes, and whether the prior can be told from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pulens.counts.tally import Tally
from pulens.types import Floats

__all__ = ["PRIOR_WORLDS", "PriorWorld"]

Sampler = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class PriorWorld:
    """How scores of both classes are drawn; ``identifiable`` where some scores belong to positives only."""

    positive: Sampler
    negative: Sampler
    identifiable: bool

    def draw(
        self, class_prior: float, labelled: int, unlabelled: int, rng: np.random.Generator, label_noise: float = 0.0
    ) -> tuple[Tally, float, float]:
        """A case-control tally, the share of positives among its unlabelled rows, and that of wrong labels.

        >>> tally, share, noise = PRIOR_WORLDS["normal 1.5"].draw(0.2, 50, 500, np.random.default_rng(0))
        >>> int(tally.totals.labelled), int(tally.totals.unlabelled), 0.1 < share < 0.3, noise
        (50, 500, True, 0.0)
        """
        hidden = rng.binomial(unlabelled, class_prior)
        wrong = round(label_noise * labelled)
        scores = [
            self.positive(rng, labelled - wrong),
            self.negative(rng, wrong),
            self.positive(rng, hidden),
            self.negative(rng, unlabelled - hidden),
        ]
        tally = Tally.from_arrays(np.repeat([1, 0], [labelled, unlabelled]), np.concatenate(scores))
        return tally, hidden / unlabelled, wrong / labelled


def _normal(mean: float, spread: float = 1.0) -> Sampler:
    return lambda rng, size: rng.normal(mean, spread, size)


def _beta(a: float, b: float) -> Sampler:
    return lambda rng, size: rng.beta(a, b, size)


def _laplace(mean: float) -> Sampler:
    return lambda rng, size: rng.laplace(mean, 1, size)


def _distorted(mean: float) -> Sampler:
    def draw(rng: np.random.Generator, size: int) -> Floats:
        x = rng.normal(mean, 1, size)
        return np.asarray(np.sign(x) * np.abs(x) ** 1.7)

    return draw


def _two_humps(rng: np.random.Generator, size: int) -> Floats:
    return np.where(rng.random(size) < 0.3, rng.normal(-3, 1, size), rng.normal(0, 1, size))


PRIOR_WORLDS = {
    "normal 2.5": PriorWorld(_normal(2.5), _normal(0), True),
    "normal 1.5": PriorWorld(_normal(1.5), _normal(0), True),
    "normal 0.8": PriorWorld(_normal(0.8), _normal(0), True),
    "distorted": PriorWorld(_distorted(1.5), _distorted(0), True),
    "two humps": PriorWorld(_normal(1.5), _two_humps, True),
    "narrow neg": PriorWorld(_normal(1.5), _normal(0, 0.7), True),
    "beta 5,2": PriorWorld(_beta(5, 2), _beta(2, 5), True),
    "beta 3,1": PriorWorld(_beta(3, 1), _beta(1, 3), True),
    "laplace": PriorWorld(_laplace(2), _laplace(0), False),
    "wide neg": PriorWorld(_normal(1.5), _normal(0, 1.5), False),
    "beta 4,2": PriorWorld(_beta(4, 2), _beta(2, 2), False),
}
