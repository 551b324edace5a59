"""Gaussian kernel features, and the few directions in which they differ at all."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from pulens.types import Floats

# a direction in which the mean squared feature is below this moves no score by more than rounding does
NEGLIGIBLE = 1e-13


def squared_distances(X: Floats, centres: Floats) -> Floats:
    """Rows x centres. Both are moved to the centres' mean first: distances of far-off rows keep their digits."""
    middle = centres.mean(0)
    result: Floats = euclidean_distances(X - middle, centres - middle, squared=True)
    return result


def gaussian_features(distances: Floats, bandwidth: float) -> Floats:
    r""":math:`e^{-d^2 / 2\sigma^2}` for every centre, and a constant last.

    >>> gaussian_features(np.array([[0.0, 2.0]]), 1.0).round(3)
    array([[1.   , 0.368, 1.   ]])
    """
    features = np.empty((len(distances), distances.shape[1] + 1))
    np.multiply(distances, -0.5 / bandwidth**2, out=features[:, :-1])
    np.exp(features[:, :-1], out=features[:, :-1])
    features[:, -1] = 1.0
    return features


def directions(features: Floats) -> Floats:
    """Orthonormal columns that span the features' rows: coefficients in them have the same length as before.

    Wide kernels overlap so much that some tens of directions do for hundreds of centres. Where all directions are
    needed the features keep their own: which way alike features are turned is a matter of rounding.

    >>> directions(np.array([[1.0, 1.0], [2.0, 2.0]])).shape
    (2, 1)
    """
    values, vectors = np.linalg.eigh(features.T @ features / len(features))
    needed = values > NEGLIGIBLE
    result: Floats = np.eye(needed.size) if needed.all() else vectors[:, needed]
    return result
