"""Trees of numbers as arrays: read from fitted scikit-learn models, stored, checked and walked without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pulens.learning.learners.forest.growth import check_children, nodes_of
from pulens.learning.learners.saving.checks import check_array
from pulens.types import Floats

WALKERS = 1 << 15  # rows times trees that walk side by side: few steps of Python, and all in cache


@dataclass(frozen=True, slots=True, eq=False)
class NumericTrees:
    """Trees whose leaves hold a number, one tree after the other, each from its root.

    ``feature`` is -1 in a leaf; children are places within the tree; ``missing_left`` is where a missing value goes.
    """

    nodes: NDArray[np.int64]  # of each tree
    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: Floats

    def total(self, rows: NDArray[np.float32]) -> Floats:
        """The sum over trees of the leaf that each row ends in."""
        total = np.zeros(len(rows))
        firsts = np.cumsum(self.nodes) - self.nodes
        at_once = max(1, WALKERS // max(1, len(rows)))
        for start in range(0, self.nodes.size, at_once):
            for values in self._values(firsts[start : start + at_once], rows):
                total += values
        return total

    def _values(self, firsts: NDArray[np.int64], rows: NDArray[np.float32]) -> Floats:
        """Trees x rows: the leaf that each row ends in, of trees that begin at these nodes, walked side by side."""
        place = np.repeat(firsts, len(rows))
        first, row = place.copy(), np.tile(np.arange(len(rows)), firsts.size)
        moving = np.flatnonzero(self.feature[place] >= 0)
        while moving.size:
            node = place[moving]
            values = rows[row[moving], self.feature[node]]
            goes_left = np.where(np.isnan(values), self.missing_left[node], values <= self.threshold[node])
            node = first[moving] + np.where(goes_left, self.left[node], self.right[node])
            place[moving] = node
            moving = moving[self.feature[node] >= 0]
        return self.value[place].reshape(firsts.size, len(rows))

    @classmethod
    def joined(cls, trees: Iterable[Mapping[str, NDArray[Any]]]) -> Self:
        """Trees of which each is given by its nodes."""
        given = list(trees)
        kinds = {"feature": np.int32, "left": np.int32, "right": np.int32, "missing_left": np.bool_}
        together: dict[str, Any] = {
            field.name: np.concatenate([tree[field.name] for tree in given]).astype(kinds.get(field.name, np.float64))
            for field in fields(cls)
            if field.name != "nodes"
        }
        return cls(nodes=np.array([tree["feature"].size for tree in given], np.int64), **together)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What is stored, under names that begin with one of the learner's."""
        return {f"{name}_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restored(cls, name: str, arrays: Mapping[str, Any], width: int, place: Path) -> Self:
        """Trees from stored arrays, in which no row can walk in circles or look at a feature that is not there."""
        parts = {field.name: arrays[f"{name}_{field.name}"] for field in fields(cls)}
        sizes = nodes_of(place, parts, f"{name}_")
        total = sum(sizes.tolist())
        for field, kinds in {"threshold": "f", "value": "f", "missing_left": "b"}.items():
            check_array(place, f"{name}_{field}", parts[field], (total,), kinds)
        for field in ("feature", "left", "right"):
            check_array(place, f"{name}_{field}", parts[field], (total,), "i")
        check_children(place, parts, width, f"{name}_")
        return cls(**{**parts, "nodes": sizes})


def boosted_trees(models: Sequence[Any]) -> tuple[NumericTrees, float]:
    """The trees of fitted ``HistGradientBoostingRegressor`` of numeric features, and the sum of where they start."""
    start = sum(float(np.ravel(model._baseline_prediction)[0]) for model in models)
    each = [one[0].nodes for model in models for one in model._predictors]
    most = np.finfo(np.float64).max
    return NumericTrees.joined(
        {
            "feature": np.where(nodes["is_leaf"], -1, nodes["feature_idx"]),
            "threshold": np.clip(nodes["num_threshold"], -most, most),  # infinite where only missing values go right
            "left": nodes["left"],
            "right": nodes["right"],
            "missing_left": nodes["missing_go_to_left"].astype(bool),
            "value": nodes["value"],
        }
        for nodes in each
    ), start


def forest_trees(trees: Iterable[Any], stand_ins: Floats) -> NumericTrees:
    """Trees of ``sklearn.tree`` regressors; a missing value goes where its column's stand-in would."""
    result = []
    for tree in trees:
        feature = np.where(tree.children_left < 0, -1, tree.feature)
        result.append(
            {
                "feature": feature,
                "threshold": tree.threshold,
                "left": np.maximum(tree.children_left, 0),
                "right": np.maximum(tree.children_right, 0),
                "missing_left": stand_ins[feature] <= tree.threshold,
                "value": tree.value[:, 0, 0],
            }
        )
    return NumericTrees.joined(result)
