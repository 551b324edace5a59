r"""KM1 and KM2: kernel means of labelled and unlabelled rows, and where their extrapolation leaves the data.

For :math:`\lambda \ge 1` let :math:`d(\lambda)` be the distance from :math:`\lambda\mu_U - (\lambda - 1)\mu_L` to the
nearest mixture of all rows, in the feature space of a Gaussian kernel. It is 0 up to :math:`1/(1-\alpha)` and grows
linearly after; bisection finds where its slope crosses a threshold: Ramaswamy, Scott and Tewari (2016). Needs features,
costs the cube of the number of rows and therefore sees at most a few hundred. KM1 was erratic and KM2 worse than
every estimator from scores in our measurements: a cross-check, not a default.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy.optimize import nnls

from pulens.errors import AssumptionError
from pulens.priors.from_features._rows import check_features
from pulens.types import Floats

WIDTHS = (0.1, 0.32, 1.0, 3.2, 10.0)
LARGEST, PRECISION, STEP = 8.0, 0.04, 0.02


def kernel_mean(
    features: Any, labels: Any, *, variant: Literal["km1", "km2"] = "km2", most_rows: int = 250, seed: int = 0
) -> float:
    """Share of positives among the unlabelled rows.

    >>> rng = np.random.default_rng(0)
    >>> features = np.concatenate([rng.normal(2, 1, (150, 2)), rng.normal(-2, 1, (100, 2))])
    >>> 0 <= kernel_mean(features, np.repeat([1, 0], [100, 150]), most_rows=60) < 1
    True
    """
    if variant not in ("km1", "km2"):
        raise AssumptionError(f"variant must be 'km1' or 'km2', got {variant!r}.")
    table, is_labelled = check_features(features, labels)
    rng = np.random.default_rng(seed)
    labelled, unlabelled = (_some(table[kind], most_rows, rng) for kind in (is_labelled, ~is_labelled))
    rows = np.concatenate([labelled, unlabelled])
    rows = _principal((rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-12))
    n, m = len(labelled), len(unlabelled)
    kernel, distance = _best_kernel(rows, n)
    of_labelled, of_unlabelled = np.repeat([1 / n, 0.0], [n, m]), np.repeat([0.0, 1 / m], [n, m])
    root = np.linalg.cholesky(kernel + 1e-8 * np.eye(n + m)).T

    def depart(scale: float) -> float:
        """Distance from the extrapolated mean to the mixtures of the rows."""
        target = root @ (scale * of_unlabelled - (scale - 1) * of_labelled)
        heavy = 1e3  # makes the weights sum to one
        weights, _ = nnls(np.vstack([root, np.full((1, n + m), heavy)]), np.append(target, heavy))
        return float(np.linalg.norm(root @ weights - target))

    threshold = 1 / math.sqrt(min(n, m))
    if variant == "km1" or threshold > 0.9 * distance:
        threshold = 0.8 * (depart(1.05) - depart(1.0)) / 0.05 + 0.2 * distance
    low, high = 1.0, LARGEST
    while high - low > PRECISION:
        middle = (low + high) / 2
        slope = (depart(middle + STEP / 2) - depart(middle - STEP / 2)) / STEP
        low, high = (low, middle) if slope > threshold else (middle, high)
    return 1 - 2 / (low + high)


def _some(rows: Floats, most: int, rng: np.random.Generator) -> Floats:
    return rows if len(rows) <= most else rows[rng.choice(len(rows), most, replace=False)]


def _principal(rows: Floats, most: int = 50) -> Floats:
    if rows.shape[1] <= most:
        return rows
    _, _, axes = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(rows @ axes[:most].T)


def _best_kernel(rows: Floats, n: int) -> tuple[Floats, float]:
    """The Gaussian kernel whose means are furthest apart, and how far."""
    norms = (rows**2).sum(axis=1)
    squared = np.maximum(norms[:, None] + norms - 2 * rows @ rows.T, 0)
    median = math.sqrt(float(np.median(squared[np.triu_indices(len(rows), 1)]))) or 1.0
    result: tuple[Floats, float] | None = None
    for width in WIDTHS:
        kernel = np.exp(-squared / (2 * (median * width) ** 2))
        apart = kernel[:n, :n].mean() + kernel[n:, n:].mean() - 2 * kernel[:n, n:].mean()
        distance = math.sqrt(max(float(apart), 0.0))
        if result is None or distance > result[1]:
            result = (kernel, distance)
    assert result is not None
    return result
