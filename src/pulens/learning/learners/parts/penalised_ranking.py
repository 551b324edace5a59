r"""Scores linear in features that rank rows by :math:`p(x \mid s=1)/p(x)`: two convex risks with a squared penalty.

Labelled rows enter through the mean of their features alone, since both risks are linear in their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from pulens.types import Floats


@dataclass(frozen=True)
class RankedRows:
    """Features of the rows that follow the population, and the labelled rows' mean feature."""

    population: Floats
    labelled_mean: Floats
    class_prior: float


def logistic_risk(rows: RankedRows, coefficients: Floats) -> Floats:
    r"""PUSB's pseudo-risk, one number for each column of coefficients (Kato, Teshima & Honda 2019).

    .. math:: J(f) = -\pi\,\overline{f}_P + \overline{\log(1 + e^f)}_U

    >>> unlabelled, labelled = np.array([[0.5], [-0.5], [1.0], [-2.0]]), np.array([[2.0], [-1.0]])
    >>> logistic_risk(RankedRows(unlabelled, labelled.mean(0), 0.4), np.ones((1, 1))).round(6)
    array([0.522086])
    """
    scores = rows.population @ coefficients
    result: Floats = np.logaddexp(0, scores).mean(0) - rows.class_prior * (rows.labelled_mean @ coefficients)
    return result


def fit_logistic(rows: RankedRows, penalties: Sequence[float], tolerance: float = 1e-6) -> Floats:
    r"""Coefficients, one column each, that minimise :math:`J(b) + \lambda \lVert b \rVert^2`.

    Largest penalty first, each from the last one's answer. Variables are scaled by a bound of the curvature, without
    which the directions of a Gaussian kernel, whose sizes differ by many powers of ten, take hundreds of steps.
    """
    population, n = rows.population, len(rows.population)
    ours = rows.class_prior * rows.labelled_mean
    size = np.einsum("ij,ij->j", population, population) / n
    result = np.empty((population.shape[1], len(penalties)))
    b = np.zeros(population.shape[1])
    for place in np.argsort(penalties)[::-1]:
        penalty = penalties[place]
        scale = 1 / np.sqrt(size / 4 + 2 * penalty)

        def value_and_gradient(u: Floats, scale: Floats = scale, penalty: float = penalty) -> tuple[float, Floats]:
            b = scale * u
            scores = population @ b
            value = np.logaddexp(0, scores).mean() - ours @ b + penalty * (b @ b)
            gradient = population.T @ expit(scores) / n - ours + 2 * penalty * b
            return float(value), scale * gradient

        options = {"gtol": tolerance, "ftol": 1e-15, "maxiter": 2000, "maxfun": 4000, "maxcor": 20}
        answer = minimize(value_and_gradient, b / scale, jac=True, method="L-BFGS-B", options=options)
        b = scale * answer.x
        result[:, place] = b
    return result


def ratio_risk(rows: RankedRows, coefficients: Floats) -> Floats:
    r"""The squared distance of r to the density ratio but for a constant, :math:`\frac12 \overline{r^2}_U - \bar r_P`.

    >>> ratio_risk(RankedRows(np.array([[1.0], [3.0]]), np.array([2.0]), 0.4), np.ones((1, 1)))
    array([0.5])
    """
    scores = rows.population @ coefficients
    result: Floats = (scores**2).mean(0) / 2 - rows.labelled_mean @ coefficients
    return result


def fit_ratio(rows: RankedRows, penalties: Sequence[float], tolerance: float = 0.0) -> Floats:
    r"""uLSIF in closed form: :math:`(H + 2\lambda I)^{-1} h`, H the population's mean product of features, h labelled.

    The minimiser of :func:`ratio_risk` :math:`+ \lambda \lVert b \rVert^2` (Kanamori, Hido & Sugiyama 2009, without
    their rounding of negative coefficients up to zero).

    >>> fit_ratio(RankedRows(np.array([[1.0], [3.0]]), np.array([2.0]), 0.4), [0.5, 2.5])
    array([[0.33333333, 0.2       ]])
    """
    values, vectors = np.linalg.eigh(rows.population.T @ rows.population / len(rows.population))
    turned = vectors.T @ rows.labelled_mean
    result: Floats = vectors @ (turned[:, None] / (np.maximum(values, 0)[:, None] + 2 * np.asarray(penalties)))
    return result


RANKINGS = MappingProxyType({"logistic": (fit_logistic, logistic_risk), "density-ratio": (fit_ratio, ratio_risk)})
