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
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pulens import learners
from pulens.errors import InputError, PulensError, listed, nearest

_runs_files: ContextVar[bool] = ContextVar("runs_files", default=True)
GROUP = "pulens.learners"
RISK, DISAMBIGUATION, GENERATIVE, REFERENCE = (
    "risk estimators",
    "disambiguation-guided",
    "generative",
    "reference",
)
# paper 004, section 3 and Table 1: names as printed there, by our name without underscores
PAPER = MappingProxyType(
    {
        "nnpu": ("nnPU", RISK),
        "pusb": ("PUSB", RISK),
        "vpu": ("VPU", RISK),
        "mpepu": ("MPE-PU", RISK),
        "lbe": ("LBE-PU", RISK),
        "puet": ("PUET", RISK),
        "distpu": ("Dist-PU", RISK),
        "pulda": ("PULDA", RISK),
        "selfpu": ("Self-PU", DISAMBIGUATION),
        "p3mixe": ("P3Mix-E", DISAMBIGUATION),
        "p3mixc": ("P3Mix-C", DISAMBIGUATION),
        "robustpu": ("Robust-PU", DISAMBIGUATION),
        "holisticpu": ("Holistic-PU", DISAMBIGUATION),
        "lagam": ("LaGAM-PU (true support labels)", DISAMBIGUATION),
        "pulcpbf": ("PUL-CPBF", DISAMBIGUATION),
        "vaepu": ("VAE-PU", GENERATIVE),
        "pan": ("PAN", GENERATIVE),
        "cgenpu": ("CGenPU", GENERATIVE),
    }
)
REFERENCES = {"pn": "PN", "naive_network": "naive"}  # trained on the truth; unlabelled taken for negative
EXPECTED = frozenset(PAPER)
# who trains a forest or wraps a classifier has no network of the benchmark's own
OTHER_TITLES = {
    "kernel_pusb": ("PUSB (kernel)", RISK),
    "lagam_pu_only": ("LaGAM, PU only", DISAMBIGUATION),
    "upu": ("uPU", RISK),
    "elkan_noto": ("Elkan-Noto", "other"),
    "weighted_elkan_noto": ("Elkan-Noto, weighted", "other"),
    "pu_bagging": ("PU bagging", "other"),
    "naive": ("naive (logistic regression)", REFERENCE),
    "oracle": ("PN (logistic regression)", REFERENCE),
}


@dataclass(frozen=True)
class Method:
    """A learner with the name, title and family under which tables show it."""

    name: str
    title: str
    family: str
    learner: Any
    source: str | None = None  # the file it came from, where it is one of the user's
    digest: str | None = None  # of that file: a changed method is another method

    @property
    def is_network(self) -> bool:
        """Whether runs of it can be stacked by ``fit_many``."""
        return hasattr(self.learner, "_program")

    @property
    def uses_truth(self) -> bool:
        return bool(getattr(self.learner, "uses_truth", False))

    @property
    def needs_support(self) -> bool:
        """Whether it asks for a few rows with true labels of both classes, which PU data do not have."""
        return bool(getattr(self.learner, "needs_support", False))

    @property
    def settings(self) -> tuple[str, ...]:
        if is_dataclass(self.learner):
            return tuple(field.name for field in fields(self.learner))
        return tuple(name for name in inspect.signature(self.learner).parameters)


def names() -> tuple[str, ...]:
    """Every method by name: the paper's in its order, the references, the rest."""
    own = {plain(name): name for name in learners.names()}
    paper = [own[name] for name in PAPER if name in own]
    rest = [name for key, name in own.items() if key not in PAPER]
    return (*paper, *REFERENCES, *sorted(rest), *sorted(_installed()))


def everything() -> tuple[str, ...]:
    """What "all" means: the methods of paper 004 that there are, and the two references."""
    own = {plain(name): name for name in learners.names()}
    return (*(own[name] for name in PAPER if name in own), *REFERENCES)


def missing() -> tuple[str, ...]:
    """Methods of paper 004 without a learner here, as the paper names them."""
    own = {plain(name) for name in learners.names()}
    return tuple(title for name, (title, _) in PAPER.items() if name not in own)


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
        from pulens.benchmark import references

        return Method(name, REFERENCES[name], REFERENCE, references.LEARNERS[name])
    own = {plain(known): known for known in learners.names()}
    if plain(name) in own:
        known = own[plain(name)]
        title, family = PAPER.get(plain(name)) or OTHER_TITLES.get(known, (known, "other"))
        return Method(known, title, family, learners.find(known))
    installed = _installed()
    if name in installed:
        with its_own_fault(f"the installed method {name!r}"):
            learner = installed[name].load()
        return Method(name, getattr(learner, "title", name), getattr(learner, "family", "other"), learner)
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
    from pulens.benchmark.method_facts import read_method

    _check_is_file(place)
    facts = read_method(place)
    return Method(place.stem, facts.title, facts.family, facts.learner, str(place), _digest(place))


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
    learner = getattr(module, "LEARNER", None)
    if learner is None:
        raise InputError(f"{path}: declares no LEARNER; end the file with `LEARNER = YourClass`.")
    if not inspect.isclass(learner):
        raise InputError(f"{path}: LEARNER must be a class, got {type(learner).__name__}.")
    title, family = getattr(module, "TITLE", place.stem), getattr(module, "FAMILY", "other")
    for name, word in (("TITLE", title), ("FAMILY", family)):
        if not isinstance(word, str):
            raise InputError(f"{path}: {name} must be a word, got {type(word).__name__}.")
    return Method(place.stem, title, family, learner, path, _digest(place))
