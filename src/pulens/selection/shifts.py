"""How far plausible labelling moves numbers of several models, or groups, that are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.prior_uncertainty import KnownOfPrior
from pulens.recovery.assumptions import Assumptions
from pulens.selection.tilted import MIXED, TiltedEvidence
from pulens.selection.tilts import mixed
from pulens.types import Floats

Value = Callable[[Tally, Assumptions], float]


def correlated_levels(draws: int, correlations: Floats, seed: int) -> Floats:
    """Levels from 0 to 1 for each of several models or groups in every draw, by a normal copula; even for each of them.

    >>> levels = correlated_levels(4001, np.array([[1.0, 0.7], [0.7, 1.0]]), seed=0)
    >>> levels.shape, round(float(np.corrcoef(levels.T)[0, 1]), 1), float(levels[:, 0].mean())
    ((4001, 2), 0.7, 0.5)
    """
    rng = np.random.Generator(np.random.PCG64([seed, 103]))
    size, vectors = np.linalg.eigh(correlations)
    normal = rng.standard_normal((draws, len(size))) @ (vectors * np.sqrt(np.maximum(size, 0.0))).T
    ranks = normal.round(9).argsort(axis=0, kind="stable").argsort(axis=0)
    return np.asarray((ranks + 0.5) / max(draws, 1))


def rank_correlations(columns: Sequence[Any], weights: Floats) -> Floats:
    """Spearman's rank correlation of each pair of columns, whose rows count so often; 0 of a column that never changes.

    >>> rank_correlations([[1, 2, 3], [1, 2, 9], [3, 3, 3]], np.array([1.0, 1.0, 1.0])).round(9).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    held = np.asarray(weights, float) > 0
    weights = np.asarray(weights, float)[held]
    ranks = []
    for column in columns:
        _, which = np.unique(np.asarray(column)[held], return_inverse=True)
        rows = np.bincount(which, weights)
        ranks.append((np.cumsum(rows) - rows / 2)[which])
    away = np.array([rank - np.average(rank, weights=weights) for rank in ranks])
    products = (away * weights) @ away.T
    size = np.sqrt(np.diag(products))
    both = np.outer(size, size)
    result = np.divide(products, both, out=np.zeros(products.shape), where=both > 0)
    np.fill_diagonal(result, 1.0)
    return np.asarray(result)


def moved_by(evidence: Evidence, value: Value, share: float, levels: Floats, *, at_threshold: bool) -> Floats:
    """What the labelling at these levels adds to a number, at a share of positives among the unlabelled rows.

    The change is that from the labelling in the middle. It is found at a few levels, of few thresholds that stand for
    all, and linear in between; labels that are a random draw add nothing.
    """
    if not isinstance(evidence, TiltedEvidence):
        return np.zeros(levels.shape)
    coarse, tried = evidence.coarse, evidence.tilts.levels
    tilted = coarse.at_share(share, tried, evidence.spread(at_threshold=at_threshold))
    found = np.array([value(each.tally, each.assumptions) for each in tilted])
    return np.asarray(np.interp(levels, tried, found - value(*coarse.rows_at(share))))


@dataclass(frozen=True, eq=False)
class WithShifts(IntervalMethod):
    """A construction with draws of the labelling as one more source of uncertainty.

    ``shifts`` gives, at a share of positives among the unlabelled rows, what the labelling in the middle adds to the
    value, and what draws of it add to that.
    """

    own: Any  # a construction that knows its standard error
    shifts: Callable[[float], tuple[float, Floats]]

    @property
    def method(self) -> str:  # type: ignore[override]
        return f"{self.own.method}, {MIXED}"

    def value(self, prior: Any) -> float:
        return float(self.own.value(prior)) + self._shifts(prior)[0]

    def error(self, prior: Any) -> float:
        """The standard error at a setting of the class prior."""
        return float(np.hypot(self.own.error(prior), self._shifts(prior)[1].std()))

    def ends(self, prior: Any, tail: Any) -> Limits:
        (low, high), (middle, moved) = self.own.ends(prior, tail), self._shifts(prior)
        return mixed(self.value(prior), low + middle, high + middle, moved, tail)

    def over(self, doubt: KnownOfPrior) -> Any:
        return self.own.over(doubt)

    def _shifts(self, prior: Any) -> tuple[float, Floats]:
        return self._shifts_at(float(self.own.doubt.setting(prior)))

    @cached_method()
    def _shifts_at(self, share: float) -> tuple[float, Floats]:
        return self.shifts(share)
