"""Rows counted per cell with the class prior of each, and the evidence of all of them as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any

from pulens.counts.tally import Tally
from pulens.evidence import ASSUMED, Design, Evidence, IntervalOptions, gather
from pulens.evidence.design import OF_CELLS, Gathered, gather_unstratified
from pulens.inputs import ReadOptions
from pulens.keywords import forwards_keywords
from pulens.metrics.parts.possible_worlds import within_what_is_possible
from pulens.notice import Notice, Severity
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import Scenario
from pulens.strata.counts import LabellingCells
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import one_cell, resolve_strata
from pulens.strata.reading import read_cells
from pulens.strata.weighted import WeightedEvidence


def gather_cells(
    source: Any, scores: Any, within: Any, question: IntervalOptions, reading: ReadOptions, split: str = "estimated"
) -> StratifiedEvidence:
    """Rows counted per cell, and the class prior of each."""

    def errors_of_bins(tally: Tally) -> list[Any]:
        silent = replace(question, class_prior=None, unlabelled_prior=0.0, audit=None, combine=False)
        return bin_errors(tally, silent.settle(tally).assumptions)

    cells = read_cells(source, scores, within, reading, bin_errors=errors_of_bins)
    return settled(cells, question, split)


def settled(cells: LabellingCells, question: IntervalOptions, split: str = "estimated") -> StratifiedEvidence:
    """Counts per cell with their class priors."""
    priors = resolve_strata(cells, question, split)
    return StratifiedEvidence(cells, priors, question.label_noise, Scenario(question.scenario))


@singledispatch
def resolved(counted: Any, question: IntervalOptions, split: str | None = None) -> Evidence:
    """What counts show under these assumptions, whatever their design."""
    result: Evidence = question.settle(counted)
    return result


@resolved.register
def _(counted: LabellingCells, question: IntervalOptions, split: str | None = None) -> Evidence:
    return gathered(settled(counted, question, split or "estimated"), question).evidence


def gather_design(
    source: Any, scores: Any, question: IntervalOptions, reading: ReadOptions, design: Design
) -> Gathered:
    """Rows read and counted as their design says, with the class prior of all of them, or of each stratum."""
    if design.strata is None:
        return gather_unstratified(source, scores, question, reading, design)
    split = design.split or "estimated"
    return gathered(gather_cells(source, scores, design.strata, question, reading, split), question)


def gathered(result: StratifiedEvidence, question: IntervalOptions) -> Gathered:
    """Strata with their class priors. One stratum is none: labels random within it are random among all rows."""
    if len(result.cells) > 1:
        return Gathered(WeightedEvidence.of(result), lambda: within_what_is_possible(pooled(result, question)))
    said = f"Every row has the same value of {result.cells.words}, so the numbers are those without cells."
    return Gathered(pooled(result, question), notices=(Notice(Severity.NOTE, "one-cell", said),))


def pooled(result: StratifiedEvidence, question: IntervalOptions) -> Evidence:
    """The same rows and class prior, were labels random among all of them."""
    if not any(isinstance(getattr(question, name), Mapping) for name in OF_CELLS):
        return question.settle(result.cells.whole_buckets or result.cells.whole)
    return replace(result.evidence, class_prior=replace(result.class_prior, notices=()))


@forwards_keywords(gather, ("labelled_within", "split"))
def gather_within(source: Any, scores: Any = None, **named: Any) -> Evidence:
    """What ``pulens.evidence.gather`` gives; with ``labelled_within``, strata that stand for one tally.

    >>> labels, scores, site = [1] * 10 + [0] * 20, list(range(30)), ["a", "b"] * 15
    >>> gather_within(labels, scores, labelled_within=site, class_prior={"a": 0.4, "b": 0.5}).within.cells.names
    ('a', 'b')
    """
    design = Design.among(named)
    question = IntervalOptions(**{name: named.pop(name) for name in ASSUMED if name in named})
    for name in ("labelled_within", "split"):
        named.pop(name, None)
    return gather_design(source, scores, question, ReadOptions(**named), design).evidence


def as_one_cell(evidence: Evidence, question: IntervalOptions) -> StratifiedEvidence:
    """All rows as one cell, with the class prior that they have."""
    buckets = () if evidence.buckets is None else (evidence.buckets,)
    cells = LabellingCells(("all rows",), ("all rows",), (evidence.tally,), buckets)
    priors = one_cell(cells, replace(question, class_prior=None, unlabelled_prior=None, audit=None), evidence)
    return StratifiedEvidence(cells, priors, evidence.label_noise, evidence.scenario)
