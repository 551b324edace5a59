"""The best random split of many nodes at once.

Rows lie node by node, so that smallest and largest values, and counts on either side of a cut, are segment sums over
a table of rows x features. Chance is a pure function of (node, feature): the path to a node is hashed to 64 bits, and
so is every draw in it. Trees therefore do not depend on how the work is divided among batches, threads or machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.learning.learners.forest.impurity import NodeRisk
from pulens.splitmix import GOLDEN, mixed
from pulens.types import Booleans, Floats

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

ELEMENTS = 2_000_000  # rows times features looked at in one go: tables of this size are quick to pass over
SIDE, CUT = (np.uint64(c) for c in (0xD6E8FEB86659FD93, 0xA0761D6478BD642F))


@dataclass(frozen=True, slots=True)
class Growth:
    """When nodes stop, and how many splits are tried in each."""

    max_features: int
    max_candidates: int = 1
    max_depth: float = np.inf
    min_samples_leaf: int = 1
    strict_leaves: bool = True


@dataclass(slots=True, eq=False)
class Level:
    """Nodes of one depth that still have rows; rows lie node by node."""

    rows: Ints
    starts: Ints
    labelled: Ints
    unlabelled: Ints
    keys: Keys
    width: Ints  # how many features to look at first: as many as the parent needed

    def sizes(self) -> Ints:
        return np.diff(self.starts, append=self.rows.size)

    def keep(self, kept: Booleans) -> Level:
        sizes = self.sizes()
        return Level(
            self.rows[np.repeat(kept, sizes)],
            starts_of(sizes[kept]),
            self.labelled[kept],
            self.unlabelled[kept],
            self.keys[kept],
            self.width[kept],
        )


@dataclass(slots=True, eq=False)
class Splits:
    """The split of each node: ``feature`` is -1 where there is none; counts are those of the left child."""

    feature: Ints
    threshold: Floats
    risk: Floats  # of both children together
    labelled: Ints
    unlabelled: Ints
    size: Ints
    width: Ints
    is_left: Booleans  # one per row of the level

    @classmethod
    def none_yet(cls, level: Level) -> Splits:
        m = level.starts.size
        return cls(
            feature=np.full(m, -1),
            threshold=np.zeros(m),
            risk=np.zeros(m),
            labelled=np.zeros(m, np.int64),
            unlabelled=np.zeros(m, np.int64),
            size=np.zeros(m, np.int64),
            width=level.width.copy(),
            is_left=np.zeros(level.rows.size, bool),
        )


def starts_of(sizes: Ints) -> Ints:
    """Where segments of these sizes begin when they lie end to end."""
    return np.cumsum(sizes) - sizes


def cut_range(lowest: Any, second: Any, last_but_one: Any, highest: Any) -> tuple[Any, Any]:
    """Where cut points are drawn: both children get rows, and rounding at the extremes cannot matter.

    >>> cut_range(0.0, 1.0, 3.0, 7.0)
    (0.4, 5.4)
    """
    return lowest + 0.4 * (second - lowest), last_but_one + 0.6 * (highest - last_but_one)


@dataclass(frozen=True, slots=True, eq=False)
class NodeSearch:
    """Searches nodes of trees over one table.

    ``pooled``: labelled rows belong to the sample of the population too, as in the single set.
    """

    X: Any
    labelled: Booleans
    pooled: bool
    risk: NodeRisk
    growth: Growth

    def splits(self, level: Level) -> Splits:
        """Search every node. Nodes whose first features are constant look at more of them, up to all."""
        d = self.X.shape[1]
        result = Splits.none_yet(level)
        sizes = level.sizes()
        waiting = np.ones(sizes.size, bool)
        while waiting.any():
            width = int(result.width[waiting].min())
            batch = np.flatnonzero(waiting & (result.width == width))
            cost = np.cumsum(np.maximum(sizes[batch] * width, d))
            for part in np.split(batch, np.flatnonzero(np.diff(cost // ELEMENTS)) + 1):
                done = self._look(level, sizes, part, width, result)
                waiting[part[done]] = False
                result.width[part[~done]] = min(2 * width, d)
        return result

    def _look(self, level: Level, sizes: Ints, part: Ints, width: int, result: Splits) -> Booleans:
        """Try to settle the nodes of a part by looking at ``width`` features of each; says which are settled."""
        d = self.X.shape[1]
        k = min(self.growth.max_features, d)
        size = sizes[part]
        positions = np.repeat(level.starts[part] - starts_of(size), size) + np.arange(int(size.sum()))
        starts, node = starts_of(size), np.repeat(np.arange(part.size), size)
        features, chance = self._random_features(level.keys[part], width)
        places = np.repeat(features, size, axis=0)  # a row of the table per row of the level
        places += (level.rows[positions] * d)[:, None]
        values = self.X.ravel().take(places)
        low, high = np.minimum.reduceat(values, starts, 0), np.maximum.reduceat(values, starts, 0)
        varies = low < high
        enough = varies.sum(1)
        done: Booleans = (enough >= k) | (width == d)
        usable = done & (enough > 0)
        if not usable.any():
            return done
        tables: list[Any] = [features, chance, varies, low, high]
        if not usable.all():
            kept = usable[node]
            positions, values = positions[kept], values[kept]
            size, part, tables = size[usable], part[usable], [table[usable] for table in tables]
            starts, node = starts_of(size), np.repeat(np.arange(part.size), size)
        if width > k or not varies.all():
            # the first k features that vary; where fewer do, constant ones fill the row and are ruled out later
            first = np.argsort(~tables[2], axis=1, kind="stable")[:, :k]
            tables = [np.take_along_axis(table, first, 1) for table in tables]
            places = np.repeat(first, size, axis=0)
            places += (np.arange(node.size) * width)[:, None]
            values = values.ravel().take(places)
        nodes = _Nodes(part, node, starts, size, positions, self.labelled[level.rows[positions]], values, *tables)
        self._cut(nodes, result)
        return done

    def _random_features(self, keys: Keys, width: int) -> tuple[Ints, Keys]:
        """The first features of each node's random order, and the chance that belongs to each."""
        d = self.X.shape[1]
        steps: Keys = np.arange(1, d + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        chance = mixed(keys[:, None] + steps)
        features = np.broadcast_to(np.arange(d), chance.shape)
        if width < d:
            features = np.argpartition(chance, width - 1, axis=1)[:, :width]
            chance = np.take_along_axis(chance, features, 1)
        order = np.argsort(chance, axis=1)
        return np.take_along_axis(features, order, 1), np.take_along_axis(chance, order, 1)

    def _cut(self, nodes: _Nodes, result: Splits) -> None:
        """Draw cut points for every feature that varies; keep the one of lowest risk, the first among equals."""
        values, node, everyone = nodes.values, nodes.node, np.arange(nodes.part.size)
        lowest_here, highest_here = (np.repeat(table, nodes.size, axis=0) for table in (nodes.low, nodes.high))
        second = np.minimum.reduceat(np.where(values > lowest_here, values, highest_here), nodes.starts, 0)
        before = np.maximum.reduceat(np.where(values < highest_here, values, lowest_here), nodes.starts, 0)
        low, second, before, high = (table.astype(float) for table in (nodes.low, second, before, nodes.high))
        least, most = cut_range(low, second, before, high)
        # a node without labelled rows is a leaf already, so every node has a segment among the labelled rows
        labelled_at = np.flatnonzero(nodes.labelled)
        n_labelled = np.bincount(node[labelled_at], minlength=everyone.size)
        n_counted = nodes.size if self.pooled else nodes.size - n_labelled
        best = np.full(everyone.size, np.inf)
        for candidate in range(self.growth.max_candidates):
            chance = (mixed(nodes.chance ^ np.uint64((candidate + 1) * int(CUT) % 2**64)) >> np.uint64(11)).astype(
                float
            ) * 2.0**-53
            cut = least + chance * (most - least)
            cut = np.where(cut >= high, before, np.maximum(cut, low))  # adjacent numbers leave no room between
            is_left = values <= np.repeat(cut, nodes.size, axis=0)
            size = np.add.reduceat(is_left, nodes.starts, 0, dtype=np.int64)
            labelled = np.add.reduceat(is_left[labelled_at], starts_of(n_labelled), 0, dtype=np.int64)
            counted = size if self.pooled else size - labelled
            total = self.risk.impurity(labelled, counted) + self.risk.impurity(
                n_labelled[:, None] - labelled, n_counted[:, None] - counted
            )
            possible = nodes.varies & self._large_enough(size, nodes.size)
            total = np.where(possible, total, np.inf)
            choice = np.argmin(total, axis=1)
            lowest = total[everyone, choice]
            better = (lowest < best) & possible[everyone, choice]
            best[better] = lowest[better]
            at, where, chosen = nodes.part[better], everyone[better], choice[better]
            result.feature[at] = nodes.features[where, chosen]
            result.threshold[at] = cut[where, chosen]
            result.risk[at] = lowest[better]
            result.labelled[at] = labelled[where, chosen]
            result.unlabelled[at] = counted[where, chosen]
            result.size[at] = size[where, chosen]
            moved = np.flatnonzero(better[node])
            result.is_left[nodes.positions[moved]] = is_left[moved, choice[node[moved]]]

    def _large_enough(self, left: Ints, size: Ints) -> Booleans | bool:
        fewest = self.growth.min_samples_leaf
        if not self.growth.strict_leaves or fewest == 1:
            return True
        smaller: Booleans = np.minimum(left, size[:, None] - left) >= fewest
        return smaller


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Nodes whose features are settled: values are rows x features, the other tables nodes x features."""

    part: Ints
    node: Ints  # of each row
    starts: Ints
    size: Ints
    positions: Ints  # of each row in the level
    labelled: Booleans
    values: Any
    features: Ints
    chance: Keys
    varies: Booleans
    low: Any
    high: Any
