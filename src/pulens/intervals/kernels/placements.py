r"""Placements: where the rows of one kind stand among those of another (DeLong, DeLong & Clarke-Pearson 1988).

The area under a recovered ROC curve is bilinear in the distributions of labelled, unlabelled and known negative
rows. Its first-order (Hajek) expansion is a sum over the rows of each kind of a linear combination of placements,
so that variance and skewness of the area need only second and third moments of placements within each kind.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.types import Floats

SKEW_OF_NO_SPREAD = 1.2  # with it the limit of a rate seen n times of n is the exact one, about 1 - 3.7 / n
KINDS = 3  # labelled, unlabelled, known negative


class PlacementMoments(NamedTuple):
    """Moments of placements, from which the doubt of any bilinear area follows.

    ``areas[i, j]`` is the chance that a row of kind i outscores one of kind j, ties counting one half.
    ``covariances[i]`` and ``third[i]`` are the second and third central moments over the rows of kind i of
    the share of each other kind that they outscore.
    """

    areas: Floats
    covariances: Floats
    third: Floats
    totals: Floats

    @property
    def _unspread(self) -> NDArray[np.bool_]:
        """Kinds whose rows all outscore the same share of another kind: perfect separation, or a single row.

        No spread seen is not no spread: such placements vary like a rate that was seen n times of n.
        """
        flat = np.array([np.diag(covariance) < 1e-15 for covariance in self.covariances])
        present = (self.totals > 0)[:, None] & (self.totals > 0)[None, :]
        return np.asarray(flat & present & ~np.eye(KINDS, dtype=bool))

    def bilinear(self, left: Floats, right: Floats) -> tuple[Any, Any, Any]:
        r"""Value of :math:`a^T \Theta b`, and what each kind adds to its variance and third cumulant.

        Coefficients have the shape (..., 3), and so have the two parts.

        A row of kind k at score s contributes :math:`\sum_j (a_k b_j - b_k a_j) F_j(s)`, with :math:`F_j(s)` the
        share of kind j that it outscores; the term j = k vanishes by itself.
        """
        value = np.einsum("...i,ij,...j->...", left, self.areas, right)
        weights = left[..., :, None] * right[..., None, :] - right[..., :, None] * left[..., None, :]
        size = np.maximum(self.totals, 2.0)
        # unbiased second moment, so that with few rows the variance is not too small
        second = np.einsum("...ki,...kj,kij->...k", weights, weights, self.covariances) * size / (size - 1)
        third = np.einsum("...ki,...kj,...kl,kijl->...k", weights, weights, weights, self.third)
        if self._unspread.any():
            floor = 0.5 / (size + 1.0) ** 2
            second = second + (weights**2 * self._unspread).sum(-1) * floor * size
            bend = -np.sign(self.areas - 0.5) * self._unspread * SKEW_OF_NO_SPREAD
            third = third + (weights**3 * bend).sum(-1) * floor**1.5 * size**2
        has_rows = self.totals > 0
        return value, np.where(has_rows, second / size, 0.0), np.where(has_rows, third / size**2, 0.0)


def placement_moments(tally: Tally) -> PlacementMoments:
    """Walk the tally once for the means, once for the central moments; memory stays at one block.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([3, 2, 2, 1]))
    >>> placement_moments(tally).areas[0, 1]  # (1 + 0.75) / 2
    np.float64(0.875)
    """
    totals = np.array(tally.totals, float)
    present = np.flatnonzero(totals > 0)
    areas = np.full((KINDS, KINDS), 0.5)
    raw = np.zeros((KINDS, KINDS))
    for at, outscored in _walk(tally, totals, present):
        raw += at.T @ outscored
    for i in present:
        for j in present:
            if i != j:
                areas[i, j] = raw[i, j] / totals[i]
    covariances = np.zeros((KINDS, KINDS, KINDS))
    third = np.zeros((KINDS, KINDS, KINDS, KINDS))
    for at, outscored in _walk(tally, totals, present):
        for kind in present:
            others = [j for j in present if j != kind]
            rows = np.flatnonzero(at[:, kind])
            if not rows.size:
                continue
            weight = at[rows, kind]
            gaps = outscored[rows] - areas[kind]
            for j in others:
                for k in others:
                    product = weight * gaps[:, j] * gaps[:, k]
                    covariances[kind, j, k] += product.sum()
                    for m in others:
                        third[kind, j, k, m] += product @ gaps[:, m]
    for kind in present:
        covariances[kind] /= totals[kind]
        third[kind] /= totals[kind]
    return PlacementMoments(areas, covariances, third, totals)


def _walk(tally: Tally, totals: Floats, present: NDArray[np.intp]) -> Any:
    """Block by block: rows of each kind at each score, and the share of each kind that the score outscores."""
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    before = np.zeros(KINDS)
    for block in tally.blocks():
        size = tally.thresholds[block].size
        at, outscored = np.zeros((size, KINDS)), np.zeros((size, KINDS))
        for kind in present:
            running = kinds[kind][block].astype(float)
            at[:, kind] = np.diff(running, prepend=before[kind])
            outscored[:, kind] = 1.0 - (running - at[:, kind] / 2) / totals[kind]
            before[kind] = running[-1]
        yield at, outscored
