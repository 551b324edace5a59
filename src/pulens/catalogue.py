"""A folder is its own catalogue: names come from file stems, facts from one constant in each file."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any


def load_catalogue(package: str, path: Iterable[str], constant: str) -> dict[str, tuple[ModuleType, Any]]:
    """Import every public file of a package folder and collect the constant that declares its facts.

    Files whose names begin with an underscore are workshop, not catalogue.
    """
    found = {}
    for entry in sorted(pkgutil.iter_modules(path), key=lambda entry: entry.name):
        if entry.name.startswith("_"):
            continue
        module = import_module(f"{package}.{entry.name}")
        found[entry.name] = (module, getattr(module, constant))
    return found
