"""The rising shares of positives that fit recovered masses best (pool adjacent violators)."""

from __future__ import annotations

import numpy as np

from pulens.calibration._risk import Points
from pulens.types import Floats


def isotonic_shares(points: Points) -> Floats:
    r"""Share of positives at each score, rising with the score and within [0, 1].

    Minimises :math:`\sum_j m_j y_j^2 - 2 m^+_j y_j`, the PU risk with the squared loss, over rising y; its optimum
    within [0, 1] is the unbounded one clipped. With clean labels the likelihood of the labels has the same optimum:
    pooling labelled against unlabelled rows or against the population gives the same blocks. A score at which only
    labelled rows stand has no population mass: its positives belong to the next higher score of the population, or to
    the highest.
    """
    from scipy.optimize import isotonic_regression  # takes a fifth of a second to import

    standing = np.flatnonzero(points.population > 0)
    index = np.minimum(np.searchsorted(standing, np.arange(points.scores.size)), standing.size - 1)
    positive = np.bincount(index, points.positive, minlength=standing.size)
    population = points.population[standing]
    fitted = isotonic_regression(positive / population, weights=population).x
    shares: Floats = np.clip(np.asarray(fitted, float), 0.0, 1.0)[index]
    return shares
