"""An evaluation where labels are random within cells only: clinics or channels that label at rates of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pulens.cells import CellEvidence, LabellingCells, read_cells, settle_cells
from pulens.counts.tally import Tally
from pulens.doors.evaluate import Evaluation, best_threshold
from pulens.evidence import Evidence, Question
from pulens.inputs import Reading
from pulens.metrics.parts.measure import check_threshold
from pulens.metrics.parts.possible_worlds import within_what_is_possible
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import Scenario


def gather_cells(
    source: Any, scores: Any, within: Any, question: Question, reading: Reading, split: str = "estimated"
) -> CellEvidence:
    """Rows counted per cell, and the class prior of each."""

    def errors_of_bins(tally: Tally) -> list[Any]:
        silent = replace(question, class_prior=None, unlabelled_prior=0.0, audit=None, combine=False)
        return bin_errors(tally, silent.settle(tally).assumptions)

    cells = read_cells(source, scores, within, reading, bin_errors=errors_of_bins)
    return settled(cells, question, split)


def settled(cells: LabellingCells, question: Question, split: str = "estimated") -> CellEvidence:
    """Counts per cell with their class priors."""
    priors = settle_cells(cells, question, split)
    return CellEvidence(cells, priors, question.label_noise, Scenario(question.scenario))


def evaluate_within(
    source: Any,
    scores: Any,
    within: Any,
    question: Question,
    reading: Reading,
    threshold: float | None,
    split: str,
    multiple: float,
) -> Evaluation:
    """What :func:`pulens.evaluate` gives with ``labelled_within``."""
    found = gather_cells(source, scores, within, question, reading, split)
    number, choice = best_threshold(found.weighted), "best f1 on these rows"
    if threshold is not None:
        number, choice = check_threshold(threshold), "given"
    pooled = Evaluation(without_cells(found, question), number, choice, question.resampling, multiple)
    return Evaluation(found.evidence, number, choice, question.resampling, multiple, found, pooled)


def without_cells(found: CellEvidence, question: Question) -> Evidence:
    """The same rows and class prior, were labels random among all of them."""
    by_cell = any(isinstance(getattr(question, name), Mapping) for name in ("class_prior", "unlabelled_prior", "audit"))
    if not by_cell:
        return within_what_is_possible(question.settle(found.cells.whole))
    prior = replace(found.class_prior, notices=())
    return within_what_is_possible(replace(found.evidence, class_prior=prior))
