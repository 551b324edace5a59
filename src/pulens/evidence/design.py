"""The design of the data: how rows and labels came about, which rows belong together, what is answered separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from pulens.errors import PulensError
from pulens.evidence.combinations import COMBINATIONS, refuse_together
from pulens.evidence.evidence import Evidence
from pulens.evidence.question import IntervalOptions
from pulens.evidence.review_options import ReviewOptions
from pulens.inputs import ReadOptions
from pulens.notice import Notice
from pulens.scenario import DEFAULT_SCENARIO

#: The field of a design that a keyword sets, where it has another name.
FIELDS = {"labelled_within": "strata", "group_by": "segments", "per": "queries"}
SILENT = ReviewOptions()
OF_CELLS = ("class_prior", "unlabelled_prior", "audit")  # what may be said of single strata


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """What ``svydesign`` and ``twophase`` are in R's survey: every function builds one from its keywords.

    What goes together is checked here, by the table :data:`pulens.evidence.combinations.COMBINATIONS`; what a function
    adds of its own (``bounds``, ``watch``, ``practice``) is checked by :meth:`check`.

    >>> Design.among({"labelled_within": "clinic", "per": "query"})
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: cells (--within) cannot be combined with first rows of each query (--per): ...
    """

    scenario: str = DEFAULT_SCENARIO
    label_noise: float = 0.0  # share of labelled rows that are negative
    strata: Any = None  # columns, or a value per row: labels are random within these
    split: str | None = None  # how one class prior of all rows divides among strata
    cluster: Any = None  # a column, or an id per row: rows that belong together
    segments: Any = None  # a column: answered separately
    queries: Any = None  # a column: ranks are taken within these
    second_phase: ReviewOptions = SILENT  # rows that people checked
    given: frozenset[str] = frozenset()  # the facets of evidence that was given in place of rows

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def among(cls, *arguments: Mapping[str, Any]) -> Design:
        """The design that a function was told: of all its arguments, ``locals()`` as it begins, those of a design.

        Evidence among them was read by a design of its own, which is looked up in it.

        >>> Design.among({"cluster": "patient", "threshold": 0.5}).cluster
        'patient'
        """
        given = {name: value for each in arguments for name, value in each.items()}
        own = {FIELDS.get(name, name): value for name, value in given.items()}
        kept = {field.name: own[field.name] for field in fields(cls) if own.get(field.name) is not None}
        reviews = {field.name: given.get(field.name) for field in fields(ReviewOptions)}
        facets = (value.facets for value in given.values() if isinstance(value, Evidence))
        return cls(**{**kept, "second_phase": ReviewOptions(**reviews), "given": frozenset().union(*facets)})

    @property
    def facets(self) -> frozenset[str]:
        """What this design has beyond independent rows of one sample, as the table of combinations names it."""
        has = {
            "cells": self.strata is not None,
            "clusters": self.cluster is not None,
            "segments": self.segments is not None,
            "queries": self.queries is not None,
            "reviews": not self.second_phase.is_silent,
            "noise": bool(self.label_noise),
        }
        return self.given.union(name for name, is_there in has.items() if is_there)

    def check(self, *asked: str) -> None:
        """Refuse what is known to work only by itself, also beside what else is asked for.

        >>> Design(cluster="patient").check("watch")
        Traceback (most recent call last):
        ...
        pulens.errors.AssumptionError: several rows per person (--cluster) cannot be combined with windows over time...
        """
        every = {*self.facets, *asked}
        for which in COMBINATIONS:
            if set(which.split("-", 1)) <= every:
                refuse_together(which)

    def refused_beside(self, asked: str) -> dict[str, bool]:
        """Which combinations with ``asked`` this design would meet."""
        return {which: which.split("-", 1)[1] in self.facets for which in COMBINATIONS if which.startswith(asked)}

    def check_priors(self, question: IntervalOptions) -> None:
        """What is said of single strata means nothing where none are named."""
        if self.strata is not None:
            return
        if self.split is not None:
            raise PulensError(
                f"split={self.split!r} divides positives among cells: name their column with labelled_within=."
            )
        for name in OF_CELLS:
            if isinstance(getattr(question, name), Mapping):
                raise PulensError(
                    f"{name} is a mapping, which is for cells (labelled_within= names their column) or for segments "
                    "(pulens.evaluate_by): give one number or range."
                )


@dataclass(frozen=True, eq=False)
class Gathered:
    """What rows show that were read as their design says."""

    evidence: Evidence
    without_strata: Callable[[], Evidence] | None = None  # the same rows, were labels random among all of them
    notices: tuple[Notice, ...] = ()

    @property
    def pooled(self) -> Evidence | None:
        """The rows without strata, where there are any; counted only for those who ask."""
        return None if self.without_strata is None else self.without_strata()


def gather_unstratified(
    source: Any, scores: Any, question: IntervalOptions, reading: ReadOptions, design: Design
) -> Gathered:
    """Rows of a design without strata; :func:`pulens.strata.gather_design` takes any."""
    design.check_priors(question)
    return Gathered(question.evidence(source, scores, reading))
