"""The methods a benchmark can run: learners of this package, of other packages, or of one file of yours.

Other packages add theirs under the entry point group ``pulens.learners``; a file is named by its path.

>>> find("nnpu").title, find("nnpu").family
('nnPU', 'risk estimators')
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pulens.errors import InputError, PulensError, listed, nearest
from pulens.learning import learners
from pulens.learning.learners.base.facts import DISAMBIGUATION, GENERATIVE, OTHER, REFERENCE, RISK, Learner

__all__ = [
    "DISAMBIGUATION",
    "GENERATIVE",
    "OTHER",
    "REFERENCE",
    "REFERENCES",
    "RISK",
    "Method",
    "everything",
    "find",
    "its_own_fault",
    "names",
    "plain",
    "without_running",
]

_runs_files: ContextVar[bool] = ContextVar("runs_files", default=True)
GROUP = "pulens.learners"
# trained on the truth; unlabelled taken for negative, with three cuts
REFERENCES = ("pn", "naive_network", "naive_quantile", "naive_label_frequency")


@dataclass(frozen=True, kw_only=True)
class Method(Learner):
    """A learner with the name under which protocols and archives have it."""

    name: str
    source: str | None = None  # the file it came from, where it is one of the user's
    digest: str | None = None  # of that file: a changed method is another method

    @classmethod
    def of(cls, name: str, facts: Learner, file: Path | None = None) -> Method:
        """The method that some facts declare, where they do so in a file of the user's."""
        own = {field.name: getattr(facts, field.name) for field in fields(Learner)}
        source, digest = (None, None) if file is None else (str(file), _digest(file))
        return cls(name=name, source=source, digest=digest, **own)


def names() -> tuple[str, ...]:
    """Every method by name: the paper's in its order, the references, the rest."""
    compared = learners.compared()
    rest = [name for name in learners.names() if name not in compared]
    return (*compared, *REFERENCES, *sorted(rest), *sorted(_installed()))


def everything() -> tuple[str, ...]:
    """What "all" means: the methods of PU-Bench, in its order, and the references."""
    return (*learners.compared(), *REFERENCES)


def plain(name: str) -> str:
    """A name without the marks in which spellings differ.

    >>> plain("Dist-PU"), plain("dist_pu")
    ('distpu', 'distpu')
    """
    return name.lower().replace("_", "").replace("-", "")


def find(name: str) -> Method:
    """A method by name, or by the path of the file that declares it as ``LEARNER``."""
    if name.endswith(".py"):
        if not _runs_files.get():
            return _from_text(Path(name).resolve())
        return _from_file(
            str(Path(name).resolve()), Path(name).resolve().stat().st_mtime_ns if Path(name).is_file() else 0
        )
    if name in REFERENCES:
        from pulens.research.benchmark import references

        return Method.of(name, references.LEARNERS[name])
    own = {plain(known): known for known in learners.names()}
    if plain(name) in own:
        known = own[plain(name)]
        return Method.of(known, learners.facts(known))
    installed = _installed()
    if name in installed:
        with its_own_fault(f"the installed method {name!r}"):
            result = installed[name].load()
        beside = {"TITLE": getattr(result, "title", None), "FAMILY": getattr(result, "family", None)}
        return Method.of(name, _facts(result, f"the installed method {name!r}", beside, name))
    raise InputError(
        f"there is no learner {name!r}; the learners are {listed(names(), limit=40)}.{nearest(name, names())}"
    )


def _installed() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


@contextmanager
def without_running() -> Iterator[None]:
    """Inside, files of methods are read and not run; what only running could tell is an error."""
    before = _runs_files.set(False)
    try:
        yield
    finally:
        _runs_files.reset(before)


def _from_text(place: Path) -> Method:
    from pulens.research.benchmark.method_facts import read_method

    _check_is_file(place)
    return Method.of(place.stem, read_method(place), place)


def _check_is_file(place: Path) -> None:
    if not place.is_file():
        raise InputError(f"there is no file {str(place)!r}; `pulens bench new-learner` writes one to start from.")


def _digest(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()[:12]


@contextmanager
def its_own_fault(what: str) -> Iterator[None]:
    """Code of somebody else may raise anything, or end the process: that is said in a sentence."""
    try:
        yield
    except (PulensError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{what} cannot be used: it raised {type(error).__name__}: {said}{where}.") from error


@lru_cache(maxsize=32)
def _from_file(path: str, changed: int) -> Method:
    """A method of the user's own: the file is run, as any script of theirs would be."""
    place = Path(path)
    _check_is_file(place)
    specification = importlib.util.spec_from_file_location(f"pulens_method_{place.stem}", place)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    import sys

    sys.modules[specification.name] = module  # dataclasses look their module up
    with its_own_fault(f"the method {path}"):
        specification.loader.exec_module(module)
    if not hasattr(module, "LEARNER"):
        raise InputError(f"{path}: declares no LEARNER; end the file with `LEARNER = Learner(YourClass, title=...)`.")
    return Method.of(place.stem, _facts(module.LEARNER, f"{path}: LEARNER", vars(module), place.stem), place)


def _facts(declared: Any, what: str, beside: Mapping[str, Any], name: str) -> Learner:
    """Facts as they are declared; or of a class alone, with a title and a family."""
    if isinstance(declared, Learner):
        result = declared
    else:
        result = Learner(declared, beside.get("TITLE") or name, beside.get("FAMILY") or OTHER)
    if not inspect.isclass(result.learner):
        raise InputError(f"{what} must be a class, got {type(result.learner).__name__}.")
    for key, word in (("TITLE", result.title), ("FAMILY", result.family)):
        if not isinstance(word, str):
            raise InputError(f"{what.removesuffix(': LEARNER')}: {key} must be a word, got {type(word).__name__}.")
    return result
