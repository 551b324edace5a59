"""The weight of a score: mean 0 over the reference's population, mean 1 over its labelled positives."""

from __future__ import annotations

import numpy as np

from pulens.special import expit, ndtri
from pulens.types import Floats

RIDGE = 0.001
FARTHEST = 30.0  # of the log of a density ratio
COMPRESSION = 0.1


def placements(shares: Floats) -> Floats:
    """The share of rows below each cell, those within it counted half.

    >>> placements(np.array([0.25, 0.25, 0.5]))
    array([0.125, 0.375, 0.75 ])
    """
    return np.cumsum(shares) - shares / 2


def tilt(p: Floats, q: Floats, n_labelled: float, rows: float) -> Floats:
    """The density ratio of labelled positives to population, a quadratic in normal placement, compressed.

    The identity d = (E_U1 h - E_U0 h)/(E_P h - E_U0 h) holds for every h, so a wrong ratio costs precision, not truth;
    r/(0.9 + 0.1 r) keeps single rows far out from deciding everything.
    """
    margin = 1 / (2 * rows)
    x = ndtri(np.clip(placements(q), margin, 1 - margin))
    ratio = np.exp(np.clip(_quadratic(x, n_labelled * p, n_labelled * q), -FARTHEST, FARTHEST))
    return ratio / (1 - COMPRESSION + COMPRESSION * ratio)


def _quadratic(x: Floats, labelled: Floats, population: Floats) -> Floats:
    """The linear predictor of a logistic regression on (1, x, x^2) with a small ridge, by Newton's steps."""
    design = np.column_stack([np.ones_like(x), x, x * x])
    weight = labelled + population

    def loss(b: Floats) -> float:
        eta = design @ b
        return float(np.sum(weight * np.logaddexp(0, eta) - labelled * eta) + RIDGE / 2 * b @ b)

    b = np.zeros(3)
    at = loss(b)
    for _ in range(200):
        chance = expit(design @ b)
        slope = design.T @ (labelled - weight * chance) - RIDGE * b
        bend = design.T @ (design * (weight * chance * (1 - chance))[:, None]) + RIDGE * np.eye(3)
        step = np.linalg.solve(bend, slope)
        scale = 1.0
        while loss(b + scale * step) > at and scale > 1e-10:
            scale /= 2
        b = b + scale * step
        at = loss(b)
        if np.max(np.abs(scale * step)) < 1e-12 * (1 + np.max(np.abs(b))):
            break
    result: Floats = design @ b
    return result


def weights(p: Floats, q: Floats, n_labelled: float, rows: float) -> Floats:
    r"""The weight of every cell, standardised to mean 0 over the population and mean 1 over labelled positives.

    .. math:: w_k = (h_k - \sum_i q_i h_i) / \sum_i (p_i - q_i) h_i

    >>> weights(np.array([0.1, 0.9]), np.array([0.9, 0.1]), 30, 100).round(6)
    array([-0.125,  1.125])
    """
    h = tilt(p, q, n_labelled, rows)
    result: Floats = (h - q @ h) / ((p - q) @ h)
    return result
