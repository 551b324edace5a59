"""Studies that rebuild a table or figure of the papers, one per file; the file name is the study's name.

``pulp_table_1.py`` is run by ``pulens reproduce pulp-table-1`` and declares a constant ``STUDY``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from pulens.errors import PulensError, listed, nearest
from pulens.studies._study import Claim, Outcome, Study, Workbench

__all__ = ["Claim", "Outcome", "Study", "Workbench", "check", "find", "names"]


def names() -> tuple[str, ...]:
    """All studies; found without importing them, since some need heavy libraries."""
    stems = (entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_"))
    return tuple(sorted(stem.replace("_", "-") for stem in stems))


def check(name: str) -> None:
    """Refuse a name that no study has, with a list of the names there are."""
    if name not in names():
        raise PulensError(
            f"there is no study {name!r}; the studies are {listed(names(), limit=99)}.{nearest(name, names())}"
        )


def find(name: str) -> Study:
    """A study by name, or an error that lists the names there are."""
    check(name)
    study: Study = import_module(f"{__name__}.{name.replace('-', '_')}").STUDY
    return study
