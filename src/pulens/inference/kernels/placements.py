r"""Placements: where the rows of one kind stand among those of another (DeLong, DeLong & Clarke-Pearson 1988).

The area under a recovered ROC curve is bilinear in the distributions of labelled, unlabelled and known negative
rows. Its first-order (Hajek) expansion is a sum over the rows of each kind of a linear combination of placements,
so that variance and skewness of the area need only second and third moments of placements within each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.segment_block import SegmentBlock
from pulens.counts.tally import Tally
from pulens.types import Floats

SKEW_OF_NO_SPREAD = 1.2  # with it the limit of a rate seen n times of n is the exact one, about 1 - 3.7 / n
NO_SPREAD = 1e-15
KINDS = 3  # labelled, unlabelled, known negative

#: Rows at some scores: the segment of each score, rows of each kind there, the share of each kind that it outscores.
Walk = Callable[[], Iterator[tuple[NDArray[np.intp], Any, Any]]]


class PlacementMoments(NamedTuple):
    """Moments of placements in one or many segments, from which the doubt of any bilinear area follows.

    ``areas[:, i, j]`` is the chance that a row of kind i outscores one of kind j, ties counting one half.
    ``second[i, j, k]`` and ``third[i, j, k, l]`` are central moments over the rows of kind i of the shares of the other
    kinds that they outscore; all have an entry for each segment, and so have the ``totals``.
    """

    areas: Floats
    second: Mapping[tuple[int, ...], Floats]
    third: Mapping[tuple[int, ...], Floats]
    totals: Floats

    @property
    def kinds(self) -> list[int]:
        """Which kinds of row there are."""
        return [int(kind) for kind in np.flatnonzero(self.totals.any(axis=0))]

    def take(self, segments: Any) -> PlacementMoments:
        """Those of some segments."""
        second, third = ({key: each[segments] for key, each in part.items()} for part in (self.second, self.third))
        return PlacementMoments(self.areas[segments], second, third, self.totals[segments])

    def value(self, left: Any, right: Any) -> Any:
        r""":math:`a^T \Theta b` of coefficients for each kind, numbers or arrays of shape (segments, ...)."""
        value: Any = 0.0
        for i, j in product(self.kinds, repeat=2):
            value = value + left[i] * self.areas[:, i, j, None] * right[j]
        return value

    def bilinear(self, left: Any, right: Any) -> tuple[Any, Floats, Floats]:
        r"""The value, and what each kind adds to its variance and third cumulant, along the last axis.

        A row of kind k at score s contributes :math:`\sum_j (a_k b_j - b_k a_j) F_j(s)`, with :math:`F_j(s)` the
        share of kind j that it outscores; the term j = k vanishes by itself.
        """
        value, kinds = self.value(left, right), self.kinds
        variances, thirds = np.zeros((*value.shape, KINDS)), np.zeros((*value.shape, KINDS))
        for kind in kinds:
            rows = self.totals[:, kind, None]
            size = np.maximum(rows, 2.0)
            weights = {other: left[kind] * right[other] - right[kind] * left[other] for other in kinds if other != kind}
            second: Any = sum(
                weights[j] * weights[k] * self.second[kind, j, k][:, None] for j, k in product(weights, repeat=2)
            )
            second = second * size / (size - 1)  # unbiased, so that with few rows the variance is not too small
            third: Any = sum(
                weights[j] * weights[k] * weights[m] * self.third[kind, j, k, m][:, None]
                for j, k, m in product(weights, repeat=3)
            )
            floor = 0.5 / (size + 1.0) ** 2
            for other, weight in weights.items():
                # where all rows outscore the same share of another kind (perfect separation, or a single row), no
                # spread seen is not no spread: such placements vary like a rate that was seen n times of n
                present = (rows > 0) & (self.totals[:, other, None] > 0)
                flat = present & (self.second[kind, other, other][:, None] < NO_SPREAD)
                if flat.any():
                    bend = -np.sign(self.areas[:, kind, other, None] - 0.5) * flat * SKEW_OF_NO_SPREAD
                    second = second + weight**2 * flat * floor * size
                    third = third + weight**3 * bend * floor**1.5 * size**2
            variances[..., kind] = np.where(rows > 0, second / size, 0.0)
            thirds[..., kind] = np.where(rows > 0, third / size**2, 0.0)
        return value, variances, thirds


def placement_moments(rows: Tally | SegmentBlock) -> PlacementMoments:
    """Of one ranking, or of many segments: walked once for the means, once for the central moments.

    Of a tally memory stays at one block.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([3, 2, 2, 1]))
    >>> placement_moments(tally).areas[0, 0, 1]  # (1 + 0.75) / 2
    np.float64(0.875)
    """
    if isinstance(rows, Tally):
        totals = np.array([rows.totals], float)
        return _moments(totals, lambda: _blocks_of(rows, totals[0]))
    return _moments(rows.totals, lambda: iter([_whole(rows)]))


def _moments(totals: Floats, walk: Walk) -> PlacementMoments:
    size, present = len(totals), np.flatnonzero(totals.any(axis=0)).tolist()
    pairs = [(i, j) for i, j in product(present, repeat=2) if i != j]
    sums = {pair: np.zeros(size) for pair in pairs}
    for owner, at, outscored in walk():
        for i, j in pairs:
            sums[i, j] += np.bincount(owner, at[i] * outscored[j], minlength=size)
    areas = np.full((size, KINDS, KINDS), 0.5)
    for (i, j), each in sums.items():
        both = (totals[:, i] > 0) & (totals[:, j] > 0)
        np.divide(each, totals[:, i], out=areas[:, i, j], where=both)
    second: dict[tuple[int, ...], Floats] = {(i, j, k): np.zeros(size) for i, j in pairs for k in present if k != i}
    third: dict[tuple[int, ...], Floats] = {(*key, m): np.zeros(size) for key in second for m in present if m != key[0]}
    for owner, at, outscored in walk():
        for kind in present:
            rows = np.flatnonzero(at[kind])
            mine, weight = owner[rows], at[kind][rows]
            others = [other for other in present if other != kind]
            gaps = {j: outscored[j][rows] - areas[mine, kind, j] for j in others}
            for j, k in product(others, repeat=2):
                weighted = weight * gaps[j] * gaps[k]
                second[kind, j, k] += np.bincount(mine, weighted, minlength=size)
                for m in others:
                    third[kind, j, k, m] += np.bincount(mine, weighted * gaps[m], minlength=size)
    for part in (second, third):
        for key, each in part.items():
            has_rows = (totals[:, list(key)] > 0).all(axis=1)
            part[key] = np.divide(each, totals[:, key[0]], out=np.zeros(size), where=has_rows)
    return PlacementMoments(areas, second, third, totals)


def _blocks_of(tally: Tally, totals: Floats) -> Iterator[tuple[NDArray[np.intp], Any, Any]]:
    """A ranking block by block."""
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    before = np.zeros(KINDS)
    for block in tally.blocks():
        size = tally.thresholds[block].size
        at, outscored = np.zeros((KINDS, size)), np.zeros((KINDS, size))
        for kind in np.flatnonzero(totals):
            running = kinds[kind][block].astype(float)
            at[kind] = np.diff(running, prepend=before[kind])
            outscored[kind] = 1.0 - (running - at[kind] / 2) / totals[kind]
            before[kind] = running[-1]
        yield np.zeros(size, np.intp), at, outscored


def _whole(block: SegmentBlock) -> tuple[NDArray[np.intp], Any, Any]:
    """All scores of many segments."""
    at, outscored = [own.astype(float) for own in block.at], []
    for kind in range(KINDS):
        total = block.spread(block.totals[:, kind])
        passed = block.running[kind].astype(float) - at[kind] / 2
        outscored.append(1.0 - np.divide(passed, total, out=np.zeros(total.shape), where=total > 0))
    return block.owner, at, outscored
