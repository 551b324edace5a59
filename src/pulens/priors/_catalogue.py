"""A folder of estimators, found by name without importing them all."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from pulens.errors import AssumptionError, listed, nearest


class Catalogue:
    """Names come from file stems; each file declares its facts in one constant."""

    def __init__(self, package: str, path: Iterable[str], constant: str, kind: str) -> None:
        self.package, self.constant, self.kind = package, constant, kind
        self.names = tuple(sorted(e.name for e in pkgutil.iter_modules(path) if not e.name.startswith("_")))

    def knows(self, name: str) -> bool:
        """Whether there is an estimator of that name."""
        return _stem(name) in self.names

    def find(self, name: str) -> Any:
        """The facts of an estimator, or an error that lists the names there are."""
        stem = _stem(name)
        if stem not in self.names:
            raise AssumptionError(
                f"there is no {self.kind} {name!r}; the estimators are {listed(self.names, limit=99)}."
                f"{nearest(stem, self.names)}"
            )
        return getattr(import_module(f"{self.package}.{stem}"), self.constant)


def _stem(name: str) -> str:
    """Words may be joined by dashes, files by underscores."""
    return str(name).replace("-", "_")
