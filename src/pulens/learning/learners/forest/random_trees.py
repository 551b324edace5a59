"""Extremely randomised trees, grown one by one: on small tables scikit-learn's forests spend most time around them.

A tree of shares is a regression on 0 and 1. Its splits are those of a classification by Gini impurity, since p(1 - p)
is the variance of 0s and 1s, and the value of a leaf is the share (Geurts, Ernst and Wehenkel 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from pulens.types import Floats

Rows = NDArray[np.float32]


def random_trees(
    count: int,
    rows: Rows,
    target: Floats,
    weights: Floats,
    seed: int,
    *,
    bootstrap: bool = False,
    n_jobs: int | None = None,
    **options: Any,
) -> RandomTrees:
    """Grow this many trees; with ``bootstrap`` each sees a bag of rows drawn with replacement.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(400, 3)).astype(np.float32)
    >>> target = (rows[:, 0] > 0).astype(float)
    >>> trees = random_trees(20, rows, target, np.ones(400), 0, bootstrap=True, min_samples_leaf=5)
    >>> bool(np.mean((trees.mean(rows) > 0.5) == (target == 1)) > 0.95)
    True
    >>> bool(np.mean((trees.mean_out_of_bag(rows, 0.5) > 0.5) == (target == 1)) > 0.95)
    True
    """
    rows, target = np.ascontiguousarray(rows, np.float32), np.ascontiguousarray(target, np.float64)
    seeds = np.random.default_rng(seed).integers(2**31, size=count).tolist()

    def grown(own: int) -> Any:
        from sklearn import config_context
        from sklearn.tree import ExtraTreeRegressor

        counted = weights * _bag(own, len(rows)) if bootstrap else weights
        with config_context(skip_parameter_validation=True):
            model = ExtraTreeRegressor(random_state=own, **options)
            return model.fit(rows, target, sample_weight=counted, check_input=False).tree_

    return RandomTrees(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(grown)(own) for own in seeds), seeds)


def _bag(seed: int, size: int) -> NDArray[np.int64]:
    """How often each row is in the bag of a tree; found again from its seed, since all bags would fill the memory."""
    return np.bincount(np.random.default_rng(seed).integers(size, size=size), minlength=size)


@dataclass(frozen=True)
class RandomTrees:
    """Grown trees (of ``sklearn.tree``), and the seed of each."""

    trees: list[Any]
    seeds: list[int]

    def mean(self, rows: Rows) -> Floats:
        """The mean over trees of the leaf that each row ends in."""
        total = np.zeros(len(rows))
        for tree in self.trees:
            total += tree.predict(rows)[:, 0]
        return total / len(self.trees)

    def mean_out_of_bag(self, rows: Rows, otherwise: float) -> Floats:
        """The mean over trees whose bag a row is not in, of the rows that they were grown on; or ``otherwise``."""
        total, count = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
        for tree, seed in zip(self.trees, self.seeds, strict=True):
            apart = np.flatnonzero(_bag(seed, len(rows)) == 0)
            total[apart] += tree.predict(rows[apart])[:, 0]
            count[apart] += 1
        return np.where(count > 0, total / np.maximum(count, 1), otherwise)
