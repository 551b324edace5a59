r"""Tilt: the density ratio of unlabelled to labelled rows falls exponentially to a floor, and the floor is the prior.

With :math:`f_0/f_1 = e^{a_0 + a_1 z}` for a scale z of the score and positives of any distribution,

.. math:: f_U/f_1 = \alpha + (1 - \alpha)\,e^{a_0 + a_1 z} .

Instead of waiting for the ratio to reach its floor, as best bins and ROC slopes do, the fit extrapolates it, so
overlapping classes do not push the estimate up. Right whenever Platt scaling would be right: the log odds of being
positive are linear in z. The scale (score, logit, normal scores) is the one with the highest likelihood. Interval:
profile likelihood. Qin (1999); the one-score case of Liu et al. (2025).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors._cells import cut
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.priors._shapes import Shape, profile
from pulens.special import chdtri

CELLS = 200


def tilt(
    tally: Tally,
    *,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    shape: Literal["line", "parabola", "step"] = "line",
) -> Finding:
    """Most likely floor, and the floors whose likelihood is not too far below.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> round(tilt(tally).value, 2)
    0.2
    """
    result = profile(cut(tally, CELLS), (Shape(shape),), label_noise)
    best = int(np.argmax(result.fitted.max(axis=1)))
    curve = result.fitted[best]
    value, height = _summit(result.values, curve)
    drop = chdtri(1, 1 - confidence) / 2
    low, high = _reach(result.values, curve, height - drop)
    scale = result.models[best][1]
    return Finding(
        value,
        min(low, value),
        max(high, value),
        standard_error=(high - low) / 2 / float(np.sqrt(2 * drop)),
        trace=Trace(result.values, curve - height, "share of positives among the unlabelled", "log likelihood"),
        details={"scale": scale, "coefficients": result.coefficients[best][int(np.argmax(curve))].tolist()},
    )


def _summit(values: np.ndarray, curve: np.ndarray) -> tuple[float, float]:
    """Top of the parabola through the best grid point and its neighbours."""
    top = int(np.argmax(curve))
    if 0 < top < values.size - 1:
        x, y = values[top - 1 : top + 2], curve[top - 1 : top + 2]
        left, right = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
        bend = (right - left) / (x[2] - x[0])
        if bend < 0:
            value = float(np.clip((x[0] + x[1]) / 2 - left / (2 * bend), x[0], x[2]))
            return value, float(max(y[1], y[1] + (value - x[1]) * (left + bend * (value - x[0]))))
    elif top == 0 and curve[0] - curve[1] > 0:
        return 0.0, float(curve[0])  # the likelihood still rises towards zero
    return float(values[top]), float(curve[top])


def _reach(values: np.ndarray, curve: np.ndarray, level: float) -> tuple[float, float]:
    """Ends of the range in which the curve stays above a level, linear between grid points."""
    above = np.flatnonzero(curve >= level)
    if not above.size:  # billions of rows: the summit is narrower than a step of the grid, and lies within two
        top = int(np.argmax(curve))
        return float(values[max(top - 1, 0)]), float(values[min(top + 1, values.size - 1)])
    first, last = above[0], above[-1]
    low, high = 0.0, 1.0
    if first > 0:
        low = float(np.interp(level, curve[first - 1 : first + 1], values[first - 1 : first + 1]))
    if last < values.size - 1:
        high = float(np.interp(-level, -curve[last : last + 2], values[last : last + 2]))
    return low, high


ESTIMATOR = Estimator(
    tilt,
    "Exponential tilt with a floor, by profile likelihood",
    "The log odds of being positive are linear in the score, its logit or its normal score.",
    "Qin 1999; Liu et al. 2025",
    rank_based=False,
    has_interval=True,
    parameters={"shape": "line"},
    reads_negatives=True,
)
