"""Rows counted per cell with the class prior of each, and the evidence of all of them as one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.evidence import ASSUMED, Evidence, IntervalOptions, gather
from pulens.inputs import ReadOptions
from pulens.keywords import forwards_keywords
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


@forwards_keywords(gather)
def gather_within(
    source: Any, scores: Any = None, *, labelled_within: Any = None, split: str | None = None, **named: Any
) -> Evidence:
    """What ``pulens.evidence.gather`` gives; with ``labelled_within``, cells that stand for one tally.

    >>> labels, scores, site = [1] * 10 + [0] * 20, list(range(30)), ["a", "b"] * 15
    >>> gather_within(labels, scores, labelled_within=site, class_prior={"a": 0.4, "b": 0.5}).within.cells.names
    ('a', 'b')
    """
    if labelled_within is None:
        if split is not None:
            raise PulensError(
                f"split={split!r} divides positives among cells: name their column with labelled_within=."
            )
        return gather(source, scores, **named)
    question = IntervalOptions(**{name: named.pop(name) for name in ASSUMED if name in named})
    result = gather_cells(source, scores, labelled_within, question, ReadOptions(**named), split or "estimated")
    return WeightedEvidence.of(result)


def as_one_cell(evidence: Evidence, question: IntervalOptions) -> StratifiedEvidence:
    """All rows as one cell, with the class prior that they have."""
    buckets = () if evidence.buckets is None else (evidence.buckets,)
    cells = LabellingCells(("all rows",), ("all rows",), (evidence.tally,), buckets)
    priors = one_cell(cells, replace(question, class_prior=None, unlabelled_prior=None, audit=None), evidence)
    return StratifiedEvidence(cells, priors, evidence.label_noise, evidence.scenario)
