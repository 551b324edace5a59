"""Packages' names for users, wherever the source stands: ``pulens.learners`` is ``pulens.learning.learners``.

Importing the one or the other gives the same module object, however deep, so that nothing is imported twice and files
pickled under an older place are read.

>>> import pulens.learners.vpu, pulens.learning.learners.vpu
>>> pulens.learners.vpu is pulens.learning.learners.vpu
True
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

FLOORS = {
    "learning": ("backbones", "fitting", "labelling", "learners", "risks", "synthesis"),
    "research": ("benchmark", "studies"),
}
MOVED = {
    **{f"pulens.{name}": f"pulens.{floor}.{name}" for floor, names in FLOORS.items() for name in names},
    **{
        f"pulens.doors.{name}": f"pulens.groups.{name}"
        for name in ("segments", "gaps", "compare_groups", "common_prior", "segment_priors")
    },
    "pulens.doors.within": "pulens.evaluation.stratified",
    "pulens.doors": "pulens.evaluation",
    "pulens.watching": "pulens.monitoring",
    "pulens.intervals": "pulens.inference",
    "pulens.cells": "pulens.strata",
    "pulens.evaluation.sensitivity": "pulens.selection.favouring",
    "pulens.evaluation.combinations": "pulens.evidence.combinations",
    "pulens.evaluation.review_options": "pulens.evidence.review_options",
    "pulens.evaluation.top_of_queries": "pulens.evaluation.top",
    "pulens.calibration.classwise": "pulens.research.classwise",
    "pulens.calibration.guarantees": "pulens.research.guarantees",
}


def place_of(name: str) -> str | None:
    """The module that is meant by an alias; None where the name is no alias.

    >>> place_of("pulens.benchmark.plan"), place_of("pulens.evaluation")
    ('pulens.research.benchmark.plan', None)
    """
    alias, rest = name, ""
    while alias not in MOVED:
        alias, dot, last = alias.rpartition(".")
        if not dot:
            return None
        rest = f".{last}{rest}"
    return f"{MOVED[alias]}{rest}"


class _Alias:
    """Loads a module by importing the one that stands for it."""

    def __init__(self, place: str) -> None:
        self.place = place

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.place)
        self.own = module.__spec__  # importing writes the alias's over it
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own


class _Finder:
    """Asked before files are looked for: folders of byte code may be left where a package once stood."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        place = place_of(name) if name.startswith("pulens.") else None
        if place is None or find_spec(place) is None:
            return None
        return ModuleSpec(name, _Alias(place))  # type: ignore[arg-type]


def install() -> None:
    """Make the aliases importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
