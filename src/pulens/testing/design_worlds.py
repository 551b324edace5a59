"""Worlds whose rows lie in strata, within which labels are random, and in clusters, which move their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.special import expit
from pulens.types import Booleans, Floats

__all__ = ["DesignRows", "DesignWorld"]


class DesignRows(NamedTuple):
    """One sample: ``score`` is the log odds of being positive, so that ``expit(score)`` is calibrated."""

    labels: NDArray[np.int_]
    score: Floats
    stratum: NDArray[np.int_]
    cluster: NDArray[np.int_]
    positive: Booleans


@dataclass(frozen=True, eq=False)
class DesignWorld:
    r"""Strata of a single-set sample; in stratum s the log odds of being positive are :math:`N(m_s, d_s^2)`.

    ``rates`` says how likely positives of each stratum are to be labelled, relative to one another. The rows of a
    cluster, which lies across the strata, share a part of their log odds with standard deviation ``effect``; sizes of
    clusters differ (gamma) and are ``cluster_rows`` on average, or rows are independent where it is 0.

    >>> world = DesignWorld.drawn(np.random.default_rng(0), strata=3)
    >>> rows = world.draw(np.random.default_rng(1), 5000, labelled=300)
    >>> bool(abs(rows.positive.mean() - world.mean(expit)) < 0.02)
    True
    """

    shares: Floats
    middles: Floats
    spreads: Floats
    rates: Floats
    effect: float = 0.0
    cluster_rows: float = 0.0

    @classmethod
    def drawn(
        cls, rng: np.random.Generator, *, strata: int = 1, effect: float = 0.0, cluster_rows: float = 0.0
    ) -> DesignWorld:
        """A world at random: shares, class priors, spreads of scores and labelling rates of the strata."""
        return cls(
            rng.dirichlet(np.full(strata, 4.0)),
            rng.normal(-1.5, 0.6, strata),
            rng.uniform(0.9, 1.6, strata),
            np.exp(rng.normal(0, 0.8, strata)),
            effect,
            cluster_rows,
        )

    def draw(self, rng: np.random.Generator, size: int, labelled: int) -> DesignRows:
        """This many rows, about this many of them labelled."""
        stratum = rng.choice(self.shares.size, size, p=self.shares)
        cluster, shared = np.arange(size), np.zeros(size)
        if self.cluster_rows:
            many = max(int(size / self.cluster_rows), 2)
            worth = rng.gamma(1.5, size=many)
            cluster = rng.choice(many, size, p=worth / worth.sum())
            shared = rng.normal(0, self.effect, many)[cluster]
        own = np.sqrt(np.maximum(self.spreads[stratum] ** 2 - self.effect**2, 0.0))
        score = self.middles[stratum] + shared + own * rng.normal(size=size)
        positive = rng.random(size) < expit(score)
        wanted = labelled / (size * float(self.shares @ (self.rates * self.class_priors)))
        labels = (positive & (rng.random(size) < np.minimum(wanted * self.rates, 0.95)[stratum])).astype(int)
        return DesignRows(labels, score, stratum, cluster, positive)

    def independent(self) -> DesignWorld:
        """The same population without clusters, to look up truths in a very large sample."""
        return DesignWorld(self.shares, self.middles, self.spreads, self.rates)

    @property
    def class_priors(self) -> Floats:
        """Of every stratum."""
        return np.array([float(weight @ expit(at)) for at, weight in self._grid()])

    def mean(self, of: Callable[[Floats], Any]) -> float:
        """Over the population, of a function of the score."""
        return float(
            sum(share * (weight @ of(at)) for share, (at, weight) in zip(self.shares, self._grid(), strict=True))
        )

    def _grid(self) -> list[tuple[Floats, Floats]]:
        """Of every stratum: scores and their weights."""
        normal = np.linspace(-7, 7, 4001)
        weight = np.exp(-(normal**2) / 2)
        return [(m + s * normal, weight / weight.sum()) for m, s in zip(self.middles, self.spreads, strict=True)]
