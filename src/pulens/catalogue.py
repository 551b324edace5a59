"""A folder is its own catalogue: names come from file stems, facts from one constant in each file."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeVar

from pulens.errors import PulensError

Facts = TypeVar("Facts")


def load_catalogue(package: str, path: Iterable[str], constant: str) -> dict[str, tuple[ModuleType, Any]]:
    """Import every public file of a package folder and collect the constant that declares its facts.

    Folders, and files whose names begin with an underscore, are workshop, not catalogue.
    """
    found = {}
    for entry in sorted(pkgutil.iter_modules(path), key=lambda entry: entry.name):
        if entry.ispkg or entry.name.startswith("_"):
            continue
        module = import_module(f"{package}.{entry.name}")
        found[entry.name] = (module, getattr(module, constant))
    return found


def load_guests(group: str, kind: type[Facts], taken: Iterable[str]) -> dict[str, Facts]:
    """What installed packages add to a catalogue, through entry points of a group.

    A package that cannot be loaded, or that brings a name a second time, is named in the error: the numbers that
    people expect from it would be missing or another's.
    """
    found: dict[str, Facts] = {}
    names = set(taken)
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if entry.name in names | set(found):
            raise PulensError(
                f"{_owner(entry)} brings {entry.name!r} to {group}, where there is one already: "
                "give it another name in the package's entry points, or uninstall it."
            )
        found[entry.name] = _loaded(entry, group, kind)
    return found


def _loaded(entry: EntryPoint, group: str, kind: type[Facts]) -> Facts:
    try:
        facts = entry.load()
    except Exception as error:
        raise PulensError(
            f"{_owner(entry)} brings {entry.name!r} to {group}, but {entry.value} cannot be loaded: "
            f"{type(error).__name__}: {error}. Upgrade or uninstall that package."
        ) from error
    if not entry.name.isidentifier() or entry.name.startswith("_"):
        raise PulensError(f"{_owner(entry)}: {entry.name!r} cannot be a name in {group}; write it like 'my_metric'.")
    if not isinstance(facts, kind):
        raise PulensError(f"{_owner(entry)}: {entry.value} must be a {kind.__name__}, got {type(facts).__name__}.")
    return facts


def _owner(entry: EntryPoint) -> str:
    return f"the installed package {entry.dist.name!r}" if entry.dist is not None else "an installed package"
