r"""DEDPUL: smoothed density ratio on the score, then expectation maximisation from above.

Kernel densities of labelled and unlabelled scores (on the logit when scores lie in [0, 1]) give
:math:`r = f_L/f_U` at the unlabelled rows; r is smoothed and made to rise with the score. Starting from 1,
:math:`\alpha \leftarrow \mathrm{mean}\,\min(1, \alpha r)` falls to the largest fixed point; a bend of the error curve
is a safety net against falling too far: Ivanov (2020). Binned: 2048 cells for the densities, 1000 quantiles of the
unlabelled scores for the ratio. Too high when classes overlap, less so than best bins.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import gaussian_filter1d

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.special import expit, logit
from pulens.types import Floats

GRID, POINTS = 2048, 1000
LARGEST_RATIO = 50.0


def dedpul(
    tally: Tally,
    *,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    labelled_bandwidth: float = 0.1,
    unlabelled_bandwidth: float = 0.05,
) -> Finding:
    """Share of positives from the smoothed density ratio.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(3, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> abs(dedpul(tally).value - 0.2) < 0.04
    True
    """
    ratio = density_ratio(tally, labelled_bandwidth, unlabelled_bandwidth)
    value = prior_from_ratio(ratio)
    shown = np.arange(1, ratio.size + 1) / ratio.size
    return Finding(
        value * (1 - label_noise),
        trace=Trace(shown, 1 / np.maximum(ratio, 1e-3), "unlabelled rows, lowest scores first", "f_U / f_L, smoothed"),
    )


def density_ratio(tally: Tally, labelled_bandwidth: float, unlabelled_bandwidth: float) -> Floats:
    """Labelled over unlabelled density at quantiles of the unlabelled scores, smoothed, lowest score first."""
    low, high = float(tally.thresholds[-1]), float(tally.thresholds[0])
    on_logit = low >= 0 and high <= 1 and high - low > 1e-6
    if on_logit:
        ends = np.clip([low, high], 1e-9, 1 - 1e-9)
        low, high = logit(ends)
    edges = np.linspace(low, high, GRID + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    borders = expit(edges) if on_logit else edges
    # rows below a border: everything less those at or above it
    indices = np.searchsorted(-tally.thresholds, -borders[1:-1], side="right")
    masses = []
    for running in (tally.labelled, tally.unlabelled):
        above = np.concatenate([[0.0], running])[indices]
        masses.append(np.diff(np.concatenate([[0.0], running[-1] - above, [running[-1]]])) / running[-1])
    width = edges[1] - edges[0]
    densities = []
    for mass, factor in zip(masses, (labelled_bandwidth, unlabelled_bandwidth), strict=True):
        steps = middles / width  # squares of very large scores would leave the range of doubles
        spread = np.sqrt(mass @ (steps - mass @ steps) ** 2)
        densities.append(gaussian_filter1d(mass, max(factor * spread, 0.5), mode="constant", truncate=5))
    cells = np.searchsorted(np.cumsum(masses[1]), (np.arange(POINTS) + 0.5) / POINTS)
    cells = np.minimum(cells, GRID - 1)
    ratio = np.minimum(densities[0][cells] / np.maximum(densities[1][cells], 1e-300), LARGEST_RATIO)
    ratio = _rolling_median(ratio, max(round(5 * POINTS / max(tally.totals.unlabelled, POINTS)), 1))
    halfway = (masses[0] @ middles + masses[1] @ middles) / 2
    upper = int(np.searchsorted(middles[cells], halfway))
    ratio[upper:] = np.maximum.accumulate(ratio[upper:])
    return np.sort(_rolling_median(ratio, POINTS // 20))


def prior_from_ratio(ratio: Floats) -> float:
    """Expectation maximisation from above, with the bend of the error curve as a safety net.

    >>> round(prior_from_ratio(np.array([4, 4, 3, 2, 1, 0.5, 0.2, 0.1, 0.1, 0.1])), 4)
    0.5
    """
    value = 1.0
    for _ in range(1000):
        following = float(np.minimum(1, value * ratio).mean())
        done = abs(following - value) < 1e-5 or value * ratio.max() <= 1
        value = following
        if done:
            break
    tried = np.arange(0.001, 1.0, 0.001)
    error = tried - np.minimum(1, tried[:, None] * ratio).mean(axis=1)
    if np.count_nonzero(error < 0) > 1 and 0.001 < value < 0.999:
        return value
    bends = np.diff(error, 2)
    inside = np.flatnonzero(error[1:-1] < 0.05)
    bend = float(tried[inside[np.argmax(bends[inside])] + 1]) if inside.size else value
    return value if bend <= value else bend


def _rolling_median(values: Floats, half: int) -> Floats:
    """Median of each value and its neighbours; windows are cut off at the ends."""
    padded = np.pad(values, half, constant_values=np.nan)
    return np.asarray(np.nanmedian(sliding_window_view(padded, 2 * half + 1), axis=1))


ESTIMATOR = Estimator(
    dedpul,
    "Smoothed density ratio and expectation maximisation from above",
    "Some region of scores holds positives and almost no negatives.",
    "Ivanov 2020",
    rank_based=False,
    parameters={"labelled_bandwidth": 0.1, "unlabelled_bandwidth": 0.05},
)
