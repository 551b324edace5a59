"""Estimators that need only scores and labels, named by their files; Elkan and Noto's three share one."""

from __future__ import annotations

from pulens.catalogue import Catalogue
from pulens.errors import AssumptionError
from pulens.priors._estimator import Estimator

__all__ = ["find", "knows", "names"]

_FOLDER: Catalogue[Estimator] = Catalogue(
    __name__,
    __path__,
    "ESTIMATOR",
    "class-prior estimator",
    plural="estimators",
    several={"elkan_noto": ("elkan_noto_e1", "elkan_noto_e2", "elkan_noto_e3")},
    dashes=True,
    error=AssumptionError,
)


def names() -> tuple[str, ...]:
    """All estimators of the class prior from scores."""
    return _FOLDER.names


def knows(name: str) -> bool:
    """Whether there is an estimator of that name.

    >>> knows("best-bin"), knows("guess")
    (True, False)
    """
    return name in _FOLDER


def find(name: str) -> Estimator:
    """An estimator by name, or an error that lists the names there are.

    >>> find("tilt").has_interval
    True
    """
    return _FOLDER.find(name)
