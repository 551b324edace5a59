"""Growing trees level by level: all nodes of a depth, and several trees, in a few array operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.learning.learners.forest.node_search import CUT, SIDE, Ints, Keys, Level, NodeSearch, Splits, starts_of
from pulens.learning.learners.saving.checks import check_array, damaged
from pulens.splitmix import mixed
from pulens.types import Floats

MOST_NODES = 1 << 31  # places in a tree are 32-bit numbers


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Nodes as parallel arrays, the root first; ``feature`` is -1 in a leaf, children are places in these arrays."""

    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    labelled: Ints
    unlabelled: Ints
    gain: Floats
    coin: NDArray[np.bool_]  # a fair coin per node, for leaves that are undecided

    def apply(self, X: Any) -> Ints:
        """The leaf that each row ends in."""
        place = np.zeros(len(X), np.int64)
        moving = np.arange(len(X)) if self.feature[0] >= 0 else np.empty(0, np.int64)
        while moving.size:
            node = place[moving]
            goes_left = X[moving, self.feature[node]] <= self.threshold[node]
            node = np.where(goes_left, self.left[node], self.right[node])
            place[moving] = node
            moving = moving[self.feature[node] >= 0]
        return place

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        return self.feature < 0


def nodes_of(place: Path, arrays: Mapping[str, Any], named: str = "") -> NDArray[np.int64]:
    """How many nodes each stored tree has; ``named`` is what the names of the arrays begin with."""
    nodes = check_array(place, f"{named}nodes", arrays["nodes"], (None,), "iu")
    if not nodes.size or (nodes < 1).any() or (nodes > MOST_NODES).any():
        raise damaged(place, f"{named}nodes must be the numbers of nodes of the trees, each at least 1")
    return np.asarray(nodes.astype(np.int64))


def check_children(place: Path, arrays: Mapping[str, Any], features: int, named: str = "") -> None:
    """Refuse nodes that look at a feature that is not there, or whose children do not follow them in their tree."""
    sizes, feature = arrays["nodes"].astype(np.int64), arrays["feature"].astype(np.int64)
    if (feature < -1).any() or (feature >= features).any():
        raise damaged(place, f"{named}feature must be places among {features:,} features, or -1 in a leaf")
    own = np.arange(feature.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inner = feature >= 0
    for side in ("left", "right"):
        child = arrays[side].astype(np.int64)[inner]
        if (child <= own[inner]).any() or (child >= np.repeat(sizes, sizes)[inner]).any():
            raise damaged(place, f"{named}{side} must name nodes that come after their parent in the same tree")


def check_forest(place: Path, arrays: Mapping[str, Any], features: int) -> None:
    """Refuse stored trees whose children do not follow their parents: rows would walk in circles without end."""
    total = sum(nodes_of(place, arrays).tolist())
    kinds = {"threshold": "f", "gain": "f", "coin": "b"}  # the others are whole numbers
    for field in fields(Tree):
        # an unbiased risk may drop without bound, so a gain need not be finite
        kind, finite = kinds.get(field.name, "iu"), field.name != "gain"
        check_array(place, field.name, arrays[field.name], (total,), kind, finite=finite)
    check_children(place, arrays, features)
    for name in ("labelled", "unlabelled"):
        if (arrays[name].astype(float) < 0).any():
            raise damaged(place, f"{name} must be numbers of rows, none below 0")


def grow(search: NodeSearch, keys: Keys) -> list[Tree]:
    """Grow one tree per key; every tree sees all rows."""
    risk, growth = search.risk, search.growth
    n, d = search.X.shape
    trees = keys.size
    level = Level(
        rows=np.tile(np.arange(n), trees),
        starts=np.arange(trees) * n,
        labelled=np.full(trees, risk.labelled),
        unlabelled=np.full(trees, risk.unlabelled),
        keys=keys,
        width=np.full(trees, min(growth.max_features, d)),
    )
    tree_of, levels = [np.arange(trees)], []
    made, depth = trees, 0
    while level.starts.size:
        impurity = risk.impurity(level.labelled, level.unlabelled)
        nodes = _leaves(level)
        levels.append(nodes)
        stopped = risk.is_final(level.labelled, impurity) | (level.sizes() <= growth.min_samples_leaf)
        stopped |= depth >= growth.max_depth
        active = level.keep(~stopped)
        result = search.splits(active)
        split = result.feature >= 0
        here = np.flatnonzero(~stopped)[split]
        nodes["feature"][here] = result.feature[split]
        nodes["threshold"][here] = result.threshold[split]
        with np.errstate(invalid="ignore"):  # unbiased risks may be minus infinity on both sides
            nodes["gain"][here] = impurity[here] - result.risk[split]
        nodes["left"][here] = made + 2 * np.arange(here.size)
        nodes["right"][here] = nodes["left"][here] + 1
        level = _descend(active, result)
        tree_of.append(np.repeat(tree_of[-1][here], 2))
        made += 2 * here.size
        depth += 1
    return _separate(levels, np.concatenate(tree_of), trees)


def _leaves(level: Level) -> dict[str, Any]:
    m = level.starts.size
    return {
        "feature": np.full(m, -1, np.int32),
        "threshold": np.zeros(m),
        "left": np.zeros(m, np.int32),
        "right": np.zeros(m, np.int32),
        "labelled": level.labelled,
        "unlabelled": level.unlabelled,
        "gain": np.zeros(m),
        "coin": (mixed(level.keys ^ CUT) >> np.uint64(63)).astype(bool),
    }


def _descend(level: Level, result: Splits) -> Level:
    """The next level: rows of each split node, left ones first; rows of leaves are gone."""
    split = result.feature >= 0
    sizes = level.sizes()
    kept = np.repeat(split, sizes)
    rows, is_left = level.rows[kept], result.is_left[kept]
    sizes, left_sizes = sizes[split], result.size[split]
    starts, node = starts_of(sizes), np.repeat(np.arange(sizes.size), sizes)
    before: Ints = np.cumsum(is_left) - is_left  # left rows anywhere before this one
    left_rank: Ints = before - before[starts][node]
    right_rank = np.arange(rows.size) - starts[node] - left_rank
    moved = np.empty_like(rows)
    moved[starts[node] + np.where(is_left, left_rank, left_sizes[node] + right_rank)] = rows

    def children(left: Ints, total: Ints) -> Ints:
        return np.stack([left, total - left], 1).ravel()

    keys = level.keys[split]
    return Level(
        rows=moved,
        starts=starts_of(children(left_sizes, sizes)),
        labelled=children(result.labelled[split], level.labelled[split]),
        unlabelled=children(result.unlabelled[split], level.unlabelled[split]),
        keys=np.stack([mixed(keys ^ SIDE), mixed(keys ^ (SIDE << np.uint64(1)))], 1).ravel(),
        width=np.repeat(result.width[split], 2),
    )


def _separate(levels: list[dict[str, Any]], tree_of: Ints, trees: int) -> list[Tree]:
    """Nodes of each tree in arrays of its own."""
    joined = {name: np.concatenate([nodes[name] for nodes in levels]) for name in levels[0]}
    order = np.argsort(tree_of, kind="stable")
    ends = np.cumsum(np.bincount(tree_of, minlength=trees))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    grown = []
    for first, last in zip(ends - np.diff(ends, prepend=0), ends, strict=True):
        own = order[first:last]
        parts = {name: values[own] for name, values in joined.items()}
        for side in ("left", "right"):
            children = place[parts[side]] - first
            parts[side] = np.where(parts["feature"] >= 0, children, 0).astype(np.int32)
        grown.append(Tree(**parts))
    return grown
