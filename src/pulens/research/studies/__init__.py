"""Studies that rebuild a table or figure of the papers, one per file; the file name is the study's name.

``pulp_table_1.py`` is run by ``pulens reproduce pulp-table-1`` and declares a constant ``STUDY``.
"""

from __future__ import annotations

from pulens.catalogue import Catalogue
from pulens.errors import PulensError, listed, nearest
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

__all__ = ["Claim", "Outcome", "Study", "Workbench", "check", "find", "names"]


_FOLDER: Catalogue[Study] = Catalogue(__name__, __path__, "STUDY", "study", plural="studies", dashes=True)


def names() -> tuple[str, ...]:
    """All studies; found without importing them, since some need heavy libraries."""
    return tuple(stem.replace("_", "-") for stem in _FOLDER.names)


def check(name: str) -> None:
    """Refuse a name that no study has, with a list of the names there are."""
    if name not in names():
        raise PulensError(
            f"there is no study {name!r}; the studies are {listed(names(), limit=99)}.{nearest(name, names())}"
        )


def find(name: str) -> Study:
    """A study by name, or an error that lists the names there are."""
    check(name)
    return _FOLDER[name]
