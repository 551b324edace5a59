"""Learners from positive and unlabelled rows, with scikit-learn's manners: ``NNPU(class_prior=0.2).fit(X, labels)``.

One file per method, and the folder is the catalogue: a file's ``LEARNER`` says the class and its facts. Nothing heavy
is imported until a learner is used; those that train networks need PyTorch (``pip install 'pulens[torch]'``).

>>> from pulens import learners
>>> "NNPU" in dir(learners)
True
>>> learners.facts("nnpu").title
'nnPU'
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pulens.errors import InputError, MissingDependencyError, listed, nearest

if TYPE_CHECKING:
    from pulens.learning.learners.advice.advising import advise as advise
    from pulens.learning.learners.base.facts import Learner
    from pulens.learning.learners.base.rescues import Rescue as Rescue
    from pulens.learning.learners.saving.loading import load as load
    from pulens.learning.learners.stack.fitting import fit_many as fit_many
    from pulens.learning.learners.tables.pipeline import save_pipeline as save_pipeline
    from pulens.learning.learners.tables.pipeline import table_pipeline as table_pipeline
    from pulens.learning.learners.tables.table_columns import TableColumns as TableColumns

_TOOLS = {
    "advise": "advice.advising",
    "fit_many": "stack.fitting",
    "load": "saving.loading",
    "Rescue": "base.rescues",
    "TableColumns": "tables.table_columns",
    "save_pipeline": "tables.pipeline",
    "table_pipeline": "tables.pipeline",
}
_DECLARATION = re.compile(r"^LEARNER = (Learner\(.*?\))$", re.MULTILINE | re.DOTALL)


class _Declared(NamedTuple):
    file: str
    place: int | None  # in Table 1 of PU-Bench
    title: str


def _declared() -> Iterator[tuple[str, _Declared]]:
    """Public names and the files that declare them: read, not imported, since importing takes seconds."""
    for file in sorted(Path(__file__).parent.glob("[!_]*.py")):
        said = _DECLARATION.search(file.read_text(encoding="utf-8"))
        if said is None:
            continue
        call = ast.parse(said[1], mode="eval").body
        assert isinstance(call, ast.Call)
        said_of = {given.arg: given.value for given in call.keywords if isinstance(given.value, ast.Constant)}
        place, title = (ast.literal_eval(said_of[name]) if name in said_of else None for name in ("place", "title"))
        yield ast.unparse(call.args[0]), _Declared(file.stem, place, title or file.stem)


_LEARNERS = dict(_declared())
_HOMES = {**{public: said.file for public, said in _LEARNERS.items()}, **_TOOLS}

__all__ = sorted(_HOMES)


def names() -> tuple[str, ...]:
    """Names by which the command line knows the learners.

    >>> "nnpu" in names()
    True
    """
    return tuple(sorted(said.file for said in _LEARNERS.values()))


def titles() -> dict[str, str]:
    """What tables call each learner, by its name; read from the files without importing them.

    >>> titles()["pu_bagging"]
    'PU bagging'
    """
    return {said.file: said.title for said in _LEARNERS.values()}


def compared() -> tuple[str, ...]:
    """Names of the learners that PU-Bench compares, in the order of its Table 1.

    >>> compared()[:3]
    ('nnpu', 'pusb', 'vpu')
    """
    result = [(said.place, said.file) for said in _LEARNERS.values() if said.place is not None]
    return tuple(file for _, file in sorted(result))


def facts(name: str) -> Learner:
    """What a learner's file says about it, by its public name or its file's.

    >>> facts("lagam").told
    'true labels of a few rows of both classes'
    """
    public = next((public for public, said in _LEARNERS.items() if name in (public, said.file)), None)
    if public is None:
        raise InputError(
            f"there is no learner {name!r}; the learners are {listed(names(), limit=99)}.{nearest(name, names())}"
        )
    result: Learner = _imported(public).LEARNER
    return result


def find(name: str) -> Any:
    """The learner's class, by its public name or its file's."""
    return facts(name).learner


def _imported(name: str) -> Any:
    """The file of a public name."""
    try:
        return import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingDependencyError("PyTorch", purpose=f"{name}: training networks", extra="torch") from None


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pulens.learners' has no attribute {name!r}")
    result = getattr(_imported(name), name)
    globals()[name] = result
    return result


def __dir__() -> list[str]:
    return sorted({*__all__, "compared", "facts", "find", "names"})
