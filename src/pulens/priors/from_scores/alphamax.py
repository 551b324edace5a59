r"""AlphaMax: the likelihood of the unlabelled scores when positives are forced to a share, and where it bends.

With labelled and unlabelled histograms p and w and :math:`b_i` the share of bin i of the unlabelled rows that is
positive, :math:`\sum w_i b_i = \alpha`, the loss

.. math:: D(\alpha) = \min_b \mathrm{KL}(p \,\|\, b w/\alpha) + \mathrm{KL}(w \,\|\, \alpha p + (1 - b) w)

is zero up to the histogram's own limit and grows after it; the estimate is the bend: Jain, White, Trosset and
Radivojac (2016). The inner problem is solved exactly through its one-dimensional dual. Too high when classes
overlap. Two passes, the second on (0, 0.3], and a cap at 1.2 times the ROC slope keep the bend rule usable at small
class priors and with clear separation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.priors._cells import Cells, cut
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.priors.from_scores.roc_slope import roc_slope
from pulens.types import Floats

WINDOW = 10
FEW_DISTINCT = 50


def alphamax(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95) -> Finding:
    """Bend of the loss curve.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(3, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> abs(alphamax(tally).value - 0.2) < 0.06
    True
    """
    labelled, unlabelled = histograms(tally)
    cap = 1.2 * roc_slope(tally).value
    grid = np.linspace(0.01, 0.99, 99)
    grid = grid[: max(np.count_nonzero(grid <= cap), 3 * WINDOW)]
    value, loss = bend(grid, labelled, unlabelled)
    if value <= 0.2:
        grid = np.linspace(0.003, 0.3, 100)
        grid = grid[: max(np.count_nonzero(grid <= cap), 3 * WINDOW)]
        value, loss = bend(grid, labelled, unlabelled)
    return Finding(
        value * (1 - label_noise),
        trace=Trace(grid, loss, "share of positives among the unlabelled", "loss of likelihood"),
    )


def histograms(tally: Tally) -> tuple[Floats, Floats]:
    """Masses in bins of Scott's width for the labelled scores; bins without unlabelled rows join a neighbour."""
    n, m, _ = tally.totals
    if len(tally) < FEW_DISTINCT:
        counts = [np.diff(kind.astype(float), prepend=0.0)[::-1] for kind in (tally.labelled, tally.unlabelled)]
    else:
        cells = cut(tally, 2000)
        thresholds, scores = tally.thresholds, cells.scores
        power = int(np.frexp(max(abs(float(thresholds[0])), abs(float(thresholds[-1]))))[1])
        if power > 300:  # squares and differences would leave the range of doubles
            thresholds, scores = np.ldexp(thresholds, -power), np.ldexp(scores, -power)
        low, high = float(thresholds[-1]), float(thresholds[0])
        bins = int(np.clip(np.ceil((high - low) / _scott(cells, scores)), 5, 400))
        edges = np.linspace(low, high, bins + 1)[1:-1]
        indices = np.searchsorted(-thresholds, -edges, side="right")
        counts = []
        for running in (tally.labelled, tally.unlabelled):
            above = np.concatenate([[0.0], running])[indices]
            counts.append(np.diff(np.concatenate([[0.0], running[-1] - above, [running[-1]]])))
    labelled, unlabelled = _without_holes(*counts)
    return labelled / n, unlabelled / m


def _scott(cells: Cells, scores: Floats) -> float:
    mean = cells.labelled @ scores / cells.n_labelled
    spread = np.sqrt(cells.labelled @ (scores - mean) ** 2 / cells.n_labelled)
    return float(max(3.5 * spread * cells.n_labelled ** (-1 / 3), 1e-300))


def _without_holes(labelled: Floats, unlabelled: Floats) -> tuple[Floats, Floats]:
    """Merge bins without unlabelled rows into the bin below: they would pin the limit to zero."""
    group = np.maximum(np.cumsum(unlabelled > 0) - 1, 0)
    return np.bincount(group, labelled).astype(float), np.bincount(group, unlabelled).astype(float)


def loss_curve(labelled: Floats, unlabelled: Floats, grid: Floats) -> tuple[Floats, Floats]:
    r"""Loss D at each class prior, and the shares b that attain it.

    With :math:`r = p/w`, :math:`t = \alpha r + 1` and a multiplier :math:`\lambda` for :math:`\sum w b = \alpha`,
    each b solves :math:`\lambda b^2 - (r + 1 + \lambda t) b + r t = 0`; the sum falls in :math:`\lambda`, so bisection
    finds it.

    >>> p, w = np.array([0, 0.1, 0.3, 0.6]), np.array([0.5, 0.2, 0.15, 0.15])
    >>> loss_curve(p, w, np.array([0.25, 0.3, 0.4, 0.6]))[0].round(6)
    array([0.      , 0.024722, 0.157736, 0.626104])
    """
    ratio = labelled / unlabelled
    alpha = grid[:, None]
    above = alpha * ratio + 1

    def shares(multiplier: Floats) -> Floats:
        scaled = multiplier[:, None]
        middle = ratio + 1 + scaled * above
        root = np.sqrt(np.maximum(middle**2 - 4 * scaled * ratio * above, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            stable = 2 * ratio * above / (middle + root)
            other = (middle - root) / (2 * scaled)
            empty = np.where(scaled >= -1, 0.0, 1 + 1 / scaled)
        result = np.where(ratio > 0, np.where(middle >= 0, stable, other), empty)
        return np.asarray(np.clip(np.nan_to_num(result, nan=1.0), 0.0, 1.0))

    low, high = np.full(grid.size, -1.0), np.full(grid.size, 1.0)
    for _ in range(60):
        short = shares(low) @ unlabelled < grid
        if not short.any():
            break
        low[short] *= 2
    for _ in range(60):
        over = shares(high) @ unlabelled > grid
        if not over.any():
            break
        high[over] *= 2
    for _ in range(60):
        middle = (low + high) / 2
        over = shares(middle) @ unlabelled > grid
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    best = shares((low + high) / 2)
    mixture = alpha * labelled + (1 - best) * unlabelled
    implied = best * unlabelled / alpha
    tiny = 1e-300
    seen = labelled > 0
    of_labelled = np.log(labelled[seen] / np.maximum(implied[:, seen], tiny)) @ labelled[seen]
    of_unlabelled = np.log(unlabelled / np.maximum(mixture, tiny)) @ unlabelled
    return np.maximum(of_labelled + of_unlabelled, 0.0), best


def bend(grid: Floats, labelled: Floats, unlabelled: Floats) -> tuple[float, Floats]:
    """Class prior at the sharpest bend of the loss curve, and the curve.

    >>> p, w = np.array([0, 0.1, 0.3, 0.6]), np.array([0.5, 0.2, 0.15, 0.15])
    >>> round(bend(np.linspace(0.01, 0.99, 99), p, w)[0], 2)
    0.29
    """
    loss = loss_curve(labelled, unlabelled, grid)[0]
    curve = np.maximum.accumulate(loss)
    padded = np.pad(curve, 2, mode="edge")
    curve = np.median(np.stack([padded[i : i + curve.size] for i in range(5)]), axis=0)
    height = curve[-1] - curve[0]
    if height <= 0:
        return float(grid[-1]), loss
    curve = (curve - curve[0]) / height
    starts = np.arange(grid.size - 2 * WINDOW + 1)
    left = _supporting_slopes(grid, curve, starts)
    right = _supporting_slopes(grid, curve, starts + WINDOW)
    level = np.array([np.median(curve[start : start + WINDOW]) for start in starts])
    best = int(np.argmax((right - left) / (level + 0.01)))
    return float(grid[starts[best] + WINDOW - 1]), loss


def _supporting_slopes(grid: Floats, curve: Floats, starts: NDArray[np.intp]) -> Floats:
    """Slope of the least-squares line of each window that stays on or below the whole curve."""
    windows = starts[:, None] + np.arange(WINDOW)
    x, y = grid[windows], curve[windows]
    overall = (curve[-1] - curve[0]) / (grid[-1] - grid[0])
    low = np.full(starts.size, overall / 100)
    high = np.full(starts.size, max(float((np.diff(curve) / np.diff(grid)).max()), overall))

    def misfit(slope: Floats) -> Floats:
        free = y.mean(axis=1) - slope * x.mean(axis=1)
        ceiling = (curve - slope[:, None] * grid).min(axis=1)
        intercept = np.minimum(free, ceiling)
        return np.asarray(((y - slope[:, None] * x - intercept[:, None]) ** 2).sum(axis=1))

    golden = (np.sqrt(5) - 1) / 2
    for _ in range(50):  # least squares is convex in the slope, so golden sections close in on its minimum
        first, second = high - golden * (high - low), low + golden * (high - low)
        lower = misfit(first) < misfit(second)
        low, high = np.where(lower, low, first), np.where(lower, second, high)
    return np.asarray((low + high) / 2)


ESTIMATOR = Estimator(
    alphamax,
    "Bend of the histogram likelihood as the share of positives is forced up",
    "Some region of scores holds positives and almost no negatives.",
    "Jain, White, Trosset and Radivojac 2016",
    rank_based=False,
)
