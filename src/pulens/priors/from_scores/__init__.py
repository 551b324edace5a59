"""Estimators that need only scores and labels, one per file; the file's name is the estimator's name."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from pulens.errors import AssumptionError, listed
from pulens.priors._estimator import Estimator


def names() -> tuple[str, ...]:
    """All estimators, found without importing them."""
    return tuple(sorted(entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_")))


def find(name: str) -> Estimator:
    """An estimator by name, or an error that lists the names there are.

    >>> find("tilt").has_interval
    True
    """
    stem = str(name).replace("-", "_")
    if stem not in names():
        from difflib import get_close_matches

        near = get_close_matches(stem, names(), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AssumptionError(
            f"there is no class-prior estimator {name!r}; the estimators are {listed(names(), limit=99)}.{hint}"
        )
    estimator: Estimator = import_module(f"{__name__}.{stem}").ESTIMATOR
    return estimator
