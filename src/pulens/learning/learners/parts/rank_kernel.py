r"""Smooth regression on a table: Gaussian kernels around some of its rows, in columns made normal by rank.

Trees cut a table along its columns; where a quantity changes smoothly, and along many columns at once, kernels need
fewer rows. Ranks make columns comparable without anybody scaling them. With centres :math:`z_j`, the regression is

.. math:: f(x) = b_0 + \sum_j b_j e^{-\lVert z(x) - z_j \rVert^2 / (h\,m)}, \qquad
          \min_b \sum_i w_i (t_i - f(x_i))^2 + \lambda \lVert f \rVert^2,

m being the median squared distance, and the norm that of the kernel (Williams and Seeger 2001). The width h and the
penalty are those of least generalised cross-validation (Golub, Heath and Wahba 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import ndtri

from pulens.learning.learners.parts.kernel_features import squared_distances
from pulens.learning.learners.saving.checks import check_array, damaged
from pulens.types import Floats

MOST_KNOTS = 256  # places at which the rank of a column is remembered
FURTHEST = 4.0  # deviations; a word that one row in thousands has would else count more than all other columns
WIDTHS = (0.5, 1.0, 2.0)
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
TRIED_ON = 5000  # rows on which width and penalty are chosen
TRIED_CENTRES = 200  # and centres; the kernel is the same, and so are the width and penalty that suit it
AT_ONCE = 20_000  # rows whose features are in memory
NEGLIGIBLE = 1e-6  # of the kernel's largest direction
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NormalRanks:
    """Columns as normal scores of their ranks, each with mean 0 and deviation 1; what is missing becomes 0.

    >>> ranks = NormalRanks.of(np.array([[1.0], [10.0], [100.0]], np.float32))
    >>> ranks(np.array([[1.0], [10.0], [55.0], [1e9], [np.nan]], np.float32)).round(3).ravel().tolist()
    [-1.225, 0.0, 0.612, 1.225, 0.0]
    """

    counts: NDArray[np.int64]  # knots of each column; one knot: the column is constant and says nothing
    knots: Floats
    scores: Floats

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Learn the ranks of a table's columns."""
        result = [_knots(column[~np.isnan(column)]) for column in rows.T.astype(np.float64)]
        return cls(
            np.array([knots.size for knots, _ in result], np.int64),
            np.concatenate([knots for knots, _ in result]) if result else np.empty(0),
            np.concatenate([scores for _, scores in result]) if result else np.empty(0),
        )

    def __call__(self, rows: Rows) -> Floats:
        ends = np.cumsum(self.counts)
        made = np.zeros(rows.shape)
        for column, (first, last) in enumerate(zip(ends - self.counts, ends, strict=True)):
            if last - first > 1:
                made[:, column] = np.interp(rows[:, column], self.knots[first:last], self.scores[first:last])
        return np.nan_to_num(made)


def _knots(values: Floats) -> tuple[Floats, Floats]:
    """Values of a column, and the normal scores of their middle ranks; at most this many, evenly by rank."""
    if not values.size:
        return np.zeros(1), np.zeros(1)
    places, counts = np.unique(values, return_counts=True)
    middle = (np.cumsum(counts) - 0.5 * counts + 0.5) / (values.size + 1)
    scores = ndtri(middle)
    mean = float(np.average(scores, weights=counts))
    deviation = float(np.sqrt(np.average((scores - mean) ** 2, weights=counts)))
    scores = np.clip((scores - mean) / (deviation if deviation > 0 else 1.0), -FURTHEST, FURTHEST)
    if places.size > MOST_KNOTS:
        kept = np.unique(np.searchsorted(middle, np.linspace(middle[0], middle[-1], MOST_KNOTS)))
        places, scores = places[kept], scores[kept]
    return places, scores


@dataclass(frozen=True, slots=True, eq=False)
class RankKernel:
    """A fitted regression: what is stored, and how rows that come later are scored."""

    ranks: NormalRanks
    centres: Floats
    scale: float  # h m, what squared distances are divided by
    weights: Floats  # of the centres
    start: float

    def __call__(self, rows: Rows) -> Floats:
        result = np.empty(len(rows))
        for part in _blocks(len(rows)):
            kernel = np.exp(squared_distances(self.ranks(rows[part]), self.centres) / -self.scale)
            result[part] = self.start + kernel @ self.weights
        return result

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What is stored, under names that begin with one of the learner's."""
        ranks = {f"{name}_{field.name}": getattr(self.ranks, field.name) for field in fields(self.ranks)}
        numbers = np.array([self.scale, self.start])
        return ranks | {f"{name}_centres": self.centres, f"{name}_weights": self.weights, f"{name}_numbers": numbers}

    @classmethod
    def restored(cls, name: str, arrays: Mapping[str, Any], width: int, place: Path) -> Self:
        """A regression from stored arrays, which are looked at first."""
        counts = check_array(place, f"{name}_counts", arrays[f"{name}_counts"], (width,), "iu").astype(np.int64)
        if (counts < 1).any() or (counts > MOST_KNOTS).any():
            raise damaged(place, f"{name}_counts must be numbers of knots, 1 to {MOST_KNOTS}, one for each column")
        knots, scores = (
            check_array(place, f"{name}_{part}", arrays[f"{name}_{part}"], (int(counts.sum()),), "f")
            for part in ("knots", "scores")
        )
        own_first = np.zeros(knots.size, bool)
        own_first[np.cumsum(counts) - counts] = True
        if (np.diff(knots)[~own_first[1:]] <= 0).any():
            raise damaged(place, f"{name}_knots must rise within a column")
        weights = check_array(place, f"{name}_weights", arrays[f"{name}_weights"], (None,), "f")
        centres = check_array(place, f"{name}_centres", arrays[f"{name}_centres"], (weights.size, width), "f")
        scale, start = check_array(place, f"{name}_numbers", arrays[f"{name}_numbers"], (2,), "f").tolist()
        if not scale > 0 or not weights.size:
            raise damaged(place, f"{name}_numbers must begin with a width above 0, and there must be centres")
        return cls(NormalRanks(counts, knots, scores), centres, scale, weights, start)


class KernelRidge:
    """Regressions on the same rows, for one target after the other.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2)).astype(np.float32)
    >>> ridge = KernelRidge(X, np.ones(500), 100, rng)
    >>> unseen, model = ridge.fitted(np.sin(X[:, 0]) * X[:, 1], np.arange(500) % 10)
    >>> bool(np.abs(unseen - np.sin(X[:, 0]) * X[:, 1]).mean() < 0.1)
    True
    """

    def __init__(self, rows: Rows, weights: Floats, centres: int, rng: np.random.Generator) -> None:
        self.rows, self.weights = rows, weights / weights.mean()
        self.ranks = NormalRanks.of(rows)
        order = rng.permutation(len(rows))
        self.tried = order[:TRIED_ON]
        self.centres = self.ranks(rows[order[:centres]])
        distances = squared_distances(self.centres, self.centres)
        self.median = float(np.median(distances[distances > 0])) if (distances > 0).any() else 1.0

    @cached_property
    def _bases(self) -> list[tuple[float, Floats, Floats, Floats]]:
        """For each width: its scale, eigenvalues of the tried rows' features, and weighted kernels and their turn."""
        made = []
        few = self.centres[:TRIED_CENTRES]
        within = squared_distances(few, few)
        distances = squared_distances(self.ranks(self.rows[self.tried]), few)
        weights = self.weights[self.tried]
        roots = np.sqrt(weights)[:, None]
        for width in WIDTHS:
            scale = width * self.median
            turned = _turned(within, scale)
            kernels = np.exp(distances / -scale)
            kernels -= np.average(kernels, axis=0, weights=weights)
            kernels *= roots
            curvature, axes = np.linalg.eigh(turned.T @ (kernels.T @ kernels) @ turned)
            made.append((scale, np.maximum(curvature, 0.0), kernels, turned @ axes))
        return made

    def _chosen(self, target: Floats) -> tuple[float, float]:
        """Scale and penalty of least generalised cross-validation."""
        weights, size = self.weights[self.tried], self.tried.size
        apart = target[self.tried] - np.average(target[self.tried], weights=weights)
        whole, best, result = float(weights @ apart**2), np.inf, None
        for scale, curvature, kernels, turned in self._bases:
            explained = (turned.T @ (kernels.T @ (np.sqrt(weights) * apart))) ** 2
            for penalty in PENALTIES:
                shrunk = curvature + penalty
                loss = whole - float((explained * (2 / shrunk - curvature / shrunk**2)).sum())
                freedom = 1 - (float((curvature / shrunk).sum()) + 1) / size
                judged = max(loss, 0.0) / max(freedom, 1e-3) ** 2
                if result is None or judged < best:
                    best, result = judged, (scale, penalty)
        assert result is not None
        return result

    def fitted(self, target: Floats, part: NDArray[np.int64]) -> tuple[Floats, RankKernel]:
        """Scores of each row by a regression without the rows of its part, and the regression on all."""
        scale, penalty = self._chosen(target)
        turned = _turned(squared_distances(self.centres, self.centres), scale)
        parts = int(part.max()) + 1
        sums = [_Sums.empty(turned.shape[1]) for _ in range(parts)]
        blocks = list(_blocks(len(self.rows)))
        features = np.empty((0, 0))
        for rows in blocks:
            features = self._features(rows, scale, turned)
            for number in np.unique(part[rows]).tolist():
                own = part[rows] == number
                sums[number].add(features[own], target[rows][own], self.weights[rows][own])
        everything = _Sums.empty(turned.shape[1])
        for one in sums:
            everything.join(one, 1.0)
        lines = [everything.without(one, penalty) for one in sums]
        unseen = np.empty(len(self.rows))
        for rows in blocks:
            if len(blocks) > 1:  # of a single block they are still there
                features = self._features(rows, scale, turned)
            for number in np.unique(part[rows]).tolist():
                own = part[rows] == number
                start, line = lines[number]
                unseen[rows][own] = start + features[own] @ line
        start, line = everything.solved(penalty)
        return unseen, RankKernel(self.ranks, self.centres, scale, turned @ line, start)

    def _features(self, rows: slice, scale: float, turned: Floats) -> Floats:
        result: Floats = np.exp(squared_distances(self.ranks(self.rows[rows]), self.centres) / -scale) @ turned
        return result


def _turned(distances: Floats, scale: float) -> Floats:
    """What turns kernels around the centres into features whose squared coefficients add up to the kernel's norm."""
    values, vectors = np.linalg.eigh(np.exp(distances / -scale))
    kept = values > NEGLIGIBLE * values[-1]
    result: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return result


@dataclass(slots=True, eq=False)
class _Sums:
    """Weighted sums over rows that a ridge regression needs; they add up."""

    weight: float
    target: float
    features: Floats
    cross: Floats
    squares: Floats

    @classmethod
    def empty(cls, width: int) -> Self:
        return cls(0.0, 0.0, np.zeros(width), np.zeros(width), np.zeros((width, width)))

    def add(self, features: Floats, target: Floats, weights: Floats) -> None:
        rooted = features * np.sqrt(weights)[:, None]
        self.weight += float(weights.sum())
        self.target += float(weights @ target)
        self.features += weights @ features
        self.cross += (weights * target) @ features
        self.squares += rooted.T @ rooted  # a product with itself costs half of one with another

    def join(self, other: _Sums, sign: float) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + sign * getattr(other, field.name))

    def without(self, other: _Sums, penalty: float) -> tuple[float, Floats]:
        """The regression without some of the rows; with them where nothing else is left."""
        if other.weight >= self.weight * (1 - 1e-9):
            return self.solved(penalty)
        left = _Sums.empty(self.features.size)
        left.join(self, 1.0)
        left.join(other, -1.0)
        return left.solved(penalty)

    def solved(self, penalty: float) -> tuple[float, Floats]:
        """Intercept and coefficients."""
        middle, level = self.features / self.weight, self.target / self.weight
        squares = self.squares - self.weight * np.outer(middle, middle)
        squares[np.diag_indices_from(squares)] += penalty
        line: Floats = solve(squares, self.cross - self.weight * level * middle, assume_a="pos")
        return level - float(middle @ line), line


def _blocks(size: int) -> Iterator[slice]:
    for first in range(0, size, AT_ONCE):
        yield slice(first, min(first + AT_ONCE, size))
