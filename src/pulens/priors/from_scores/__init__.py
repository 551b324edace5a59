"""Estimators that need only scores and labels, one per file; the file's name is the estimator's name."""

from __future__ import annotations

from pulens.priors._catalogue import Catalogue
from pulens.priors._estimator import Estimator

__all__ = ["find", "knows", "names"]

_FOLDER = Catalogue(__name__, __path__, "ESTIMATOR", "class-prior estimator")


def names() -> tuple[str, ...]:
    """All estimators of the class prior from scores."""
    return _FOLDER.names


def knows(name: str) -> bool:
    """Whether there is an estimator of that name.

    >>> knows("best-bin"), knows("guess")
    (True, False)
    """
    return _FOLDER.knows(name)


def find(name: str) -> Estimator:
    """An estimator by name, or an error that lists the names there are.

    >>> find("tilt").has_interval
    True
    """
    found: Estimator = _FOLDER.find(name)
    return found
