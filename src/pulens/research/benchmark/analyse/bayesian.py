"""Bayesian comparison: how likely one learner is better, practically equal, or worse.

Differences within a region of practical equivalence (the rope, one point of accuracy by default) count as equal
(Benavoli, Corani, Demšar and Zaffalon 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from scipy import stats

from pulens.errors import InputError
from pulens.research.benchmark.analyse.cells import Cells, datasets_of
from pulens.research.benchmark.analyse.paired import differences

DRAWS = 20_000


@dataclass(frozen=True)
class Belief:
    """Posterior probabilities that add up to 1."""

    better: float
    equal: float
    worse: float
    n: int

    def verdict(self, level: float = 0.95) -> str:
        """What the posterior is sure of, or "undecided"."""
        words = {"better": self.better, "equal": self.equal, "worse": self.worse}
        best = max(words, key=lambda word: words[word])
        return best if words[best] >= level else "undecided"

    def __str__(self) -> str:
        return f"better {self.better:.2f}, practically equal {self.equal:.2f}, worse {self.worse:.2f}"


def on_one_dataset(values: np.ndarray, rope: float = 0.01) -> Belief:
    r"""From differences over seeds: :math:`\mu \mid d \sim t_{n-1}(\bar d, s^2 / n)` under a flat prior.

    >>> print(on_one_dataset(np.array([0.05, 0.06, 0.04, 0.05, 0.055])))
    better 1.00, practically equal 0.00, worse 0.00
    """
    _check_rope(rope)
    n = values.size
    if n < 2:
        raise InputError(f"a belief about one data set needs at least 2 seeds, got {n}.")
    mean, scale = float(values.mean()), float(values.std(ddof=1)) / sqrt(n)
    if scale < 1e-12:  # all seeds agree
        return Belief(float(mean > rope), float(abs(mean) <= rope), float(mean < -rope), n)
    below, above = (float(stats.t.cdf(end, n - 1, mean, scale)) for end in (-rope, rope))
    return Belief(1 - above, above - below, below, n)


def over_datasets(
    means: np.ndarray, rope: float = 0.01, *, prior_strength: float = 0.5, seed: int = 0, draws: int = DRAWS
) -> Belief:
    r"""The Bayesian signed-rank test on one difference per data set.

    Weights of data sets are drawn from a Dirichlet distribution, one pseudo-observation of strength ``prior_strength``
    standing at 0; a draw says "better" by the weight of pairs with :math:`d_i + d_j > 2 r`, and so on. The answer is
    how often each of the three has the largest weight.

    >>> belief = over_datasets(np.array([0.05, 0.03, 0.04, 0.06, 0.02, 0.05]))
    >>> belief.better > 0.95
    True
    """
    _check_rope(rope)
    values = np.concatenate([[0.0], means])
    sums = values[:, None] + values[None]
    kinds = np.stack([sums > 2 * rope, np.abs(sums) <= 2 * rope, sums < -2 * rope]).astype(float)
    strengths = np.concatenate([[prior_strength], np.ones(means.size)])
    weights = _weights(tuple(strengths), seed, draws)
    totals = np.stack([((weights @ kind) * weights).sum(1) for kind in kinds], axis=1)
    better, equal, worse = (np.bincount(totals.argmax(1), minlength=3) / draws).tolist()
    return Belief(better, equal, worse, int(means.size))


@lru_cache(maxsize=8)
def _weights(strengths: tuple[float, ...], seed: int, draws: int) -> np.ndarray:
    """The same draws for every pair of learners: their answers differ by what the learners do, not by luck."""
    return np.random.default_rng(seed).dirichlet(strengths, draws)


def compare(cells: Cells, learner: str, against: str, rope: float = 0.01, seed: int = 0) -> Belief:
    """One learner against another over the data sets that both have."""
    pairs = [differences(cells, learner, against, one) for one in datasets_of(cells)]
    means = np.array([pair.mean() for pair in pairs if pair.size])
    if means.size < 2:
        raise InputError(f"{learner} and {against} have {means.size} data sets in common; at least 2 are needed.")
    return over_datasets(means, rope, seed=seed)


def _check_rope(rope: float) -> None:
    if not 0 <= rope < 1:
        raise InputError(f"rope must be a difference of at least 0 and below 1, got {rope!r}: write one point as 0.01.")
