"""Estimators of the class prior and the label noise together, one per file."""

from __future__ import annotations

from pulens.priors._catalogue import Catalogue
from pulens.priors._estimator import NoiseEstimator

__all__ = ["find", "names"]

_FOLDER = Catalogue(__name__, __path__, "ESTIMATOR", "estimator of class prior and label noise")


def names() -> tuple[str, ...]:
    """All estimators of class prior and label noise."""
    return _FOLDER.names


def find(name: str) -> NoiseEstimator:
    """An estimator by name, or an error that lists the names there are.

    >>> find("roc_slope").rank_based
    True
    """
    found: NoiseEstimator = _FOLDER.find(name)
    return found
