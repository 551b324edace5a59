"""Estimators of the class prior and the label noise together, one per file but those that are run twice."""

from __future__ import annotations

from pulens.catalogue import Catalogue
from pulens.errors import AssumptionError
from pulens.priors._estimator import NoiseEstimator

__all__ = ["find", "names"]

_FOLDER: Catalogue[NoiseEstimator] = Catalogue(
    __name__,
    __path__,
    "ESTIMATOR",
    "estimator of class prior and label noise",
    plural="estimators",
    several={"run_twice": ("alphamax", "best_bin", "roc_slope")},
    dashes=True,
    error=AssumptionError,
)


def names() -> tuple[str, ...]:
    """All estimators of class prior and label noise."""
    return _FOLDER.names


def find(name: str) -> NoiseEstimator:
    """An estimator by name, or an error that lists the names there are.

    >>> find("roc_slope").rank_based
    True
    """
    return _FOLDER.find(name)
