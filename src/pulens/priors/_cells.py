"""A tally cut into a bounded number of cells that never split tied scores: what every estimator works on.

A tally holds running counts, so a cell's counts are differences of them and only the cuts have to be found: the
work is one binary search per cut, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.containers import distinct
from pulens.counts.tally import Tally
from pulens.special import logit, ndtri
from pulens.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows of each kind in each cell, lowest scores first, and a score that stands for the cell."""

    scores: Floats
    labelled: Floats
    unlabelled: Floats
    negative: Floats

    @property
    def n_labelled(self) -> float:
        return float(self.labelled.sum())

    @property
    def n_unlabelled(self) -> float:
        return float(self.unlabelled.sum())

    @property
    def auc(self) -> float:
        """Chance that a labelled row outscores an unlabelled one; rows of one cell count one half."""
        below = (self.unlabelled.cumsum() - self.unlabelled / 2) / self.n_unlabelled
        return float(self.labelled @ below / self.n_labelled)

    def __len__(self) -> int:
        return int(self.scores.size)

    def exchanged(self) -> Cells:
        """Labelled and unlabelled rows trade places and the score is turned round.

        What an estimator then answers is how much of the labelled sample could be more of the unlabelled one.
        """
        return Cells(-self.scores[::-1], self.unlabelled[::-1], self.labelled[::-1], self.negative[::-1])


def cut(tally: Tally, most: int = 200) -> Cells:
    """Cells between quantiles of the labelled and of the unlabelled scores, half of the cuts each.

    With at most ``most`` distinct scores each keeps a cell of its own, and nothing is lost.

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([0.9, 0.4, 0.9, 0.3, 0.1]))
    >>> cut(tally).scores
    array([0.1, 0.3, 0.4, 0.9])
    >>> cut(tally, most=2).unlabelled.sum()
    np.float64(3.0)
    """
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    if len(tally) <= most:
        ends = np.arange(len(tally))
        scores = tally.thresholds.astype(float)
    else:
        shares = np.linspace(0, 1, most // 2 + 1)[1:]
        ends = distinct(np.concatenate([_places(kind, shares) for kind in kinds[:2]] + [[len(tally) - 1]]))
        scores = _typical_scores(tally, ends)
    counts = [np.diff(kind[ends].astype(float), prepend=0.0)[::-1] for kind in kinds]
    kept = counts[0] + counts[1] + counts[2] > 0  # rows of weight zero may leave a cell empty
    return Cells(scores[::-1][kept], *(count[kept] for count in counts))


def _places(running: NDArray[np.float64], shares: Floats) -> NDArray[np.intp]:
    """Where the running count first reaches each share of its total."""
    indices = np.searchsorted(running, shares * running[-1] * (1 - 1e-12))
    return np.asarray(np.minimum(indices, running.size - 1), np.intp)


def _typical_scores(tally: Tally, ends: NDArray[np.intp]) -> Floats:
    """Mean score of eight rows spread evenly over each cell: one row alone would stand for it badly."""
    running = tally.labelled + tally.unlabelled
    last = running[ends].astype(float)
    first = np.concatenate([[0.0], last[:-1]])
    wanted = first[:, None] + (last - first)[:, None] * (np.arange(8) + 0.5) / 8
    rows = np.minimum(np.searchsorted(running, wanted), ends[:, None])
    return np.asarray((tally.thresholds[rows].astype(float) / 8).sum(axis=1))  # a sum of eight may leave the doubles


def normal_scores(cells: Cells) -> Floats:
    r"""Rank-invariant scale :math:`\Phi^{-1}(\frac12 F_P + \frac12 F_U)`, by mid-ranks.

    Clipped at a quarter of a row, so that the ends stay finite.
    """
    middle = np.zeros(len(cells))
    for counts in (cells.labelled, cells.unlabelled):
        middle += 0.5 * (np.cumsum(counts) - counts / 2) / counts.sum()
    edge = 0.25 / max(cells.n_labelled, cells.n_unlabelled, 1.0)
    return np.asarray(ndtri(np.clip(middle, edge, 1 - edge)))


def scales(cells: Cells) -> dict[str, Floats]:
    """Scales on which a shape may be simple: the score as given, its logit if it lies in [0, 1], normal scores.

    Nothing is guessed about the score: each scale is tried, and the likelihood says which one fits.
    """
    result = {"score": cells.scores}
    low, high = cells.scores[0], cells.scores[-1]
    if low >= 0 and high <= 1:
        inside = cells.scores[(cells.scores > 0) & (cells.scores < 1)]
        if inside.size:
            edge = max(min(inside[0], 1 - inside[-1]) / 2, 1e-12)  # beyond that a double cannot tell 1 - p from 1
            result["logit"] = np.asarray(logit(np.clip(cells.scores, edge, 1 - edge)))
    result["normal scores"] = normal_scores(cells)
    tried = {name: standardised(scale, cells) for name, scale in result.items() if scale.max() > scale.min()}
    return {name: scale for name, scale in tried.items() if np.isfinite(scale).all()}


def standardised(scale: Floats, cells: Cells) -> Floats:
    """Mean zero and standard deviation one when labelled and unlabelled rows weigh half each.

    Not finite where a known negative lies so far away that all of them are one point next to it.
    """
    weights = 0.5 * (cells.labelled / cells.n_labelled + cells.unlabelled / cells.n_unlabelled)
    scale = scale / np.abs(scale).max()  # squares of very large or small scores would leave the range of doubles
    mean = weights @ scale
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((scale - mean) / np.sqrt(weights @ (scale - mean) ** 2))
