"""An evaluation where labels are random within cells only: clinics or channels that label at rates of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pulens.evaluation.evaluate import Evaluation, best_threshold
from pulens.evaluation.review_options import ReviewOptions
from pulens.evaluation.reviewed_groups import GroupedReviews
from pulens.evaluation.reviews import Reviewed
from pulens.evidence import Evidence, IntervalOptions
from pulens.evidence.combinations import refuse_together
from pulens.inputs import ReadOptions
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords
from pulens.metrics.parts.measure import check_threshold
from pulens.metrics.parts.possible_worlds import within_what_is_possible
from pulens.notice import Notice, Severity
from pulens.scenario import DEFAULT_SCENARIO
from pulens.strata import PriorsWithin, StratifiedEvidence, WeightedEvidence, gather_cells, priors_within
from pulens.types import Clusters, Column, LabelValues, RowsLike, Strata, Values


def evaluate_within(
    source: Any,
    scores: Any,
    within: Any,
    question: IntervalOptions,
    reading: ReadOptions,
    threshold: float | None,
    split: str,
    multiple: float,
) -> Evaluation:
    """What :func:`pulens.evaluate` gives with ``labelled_within``."""
    result = gather_cells(source, scores, within, question, reading, split)
    choice = "best f1 on these rows" if threshold is None else "given"
    if len(result.cells) == 1:
        plain = without_cells(result, question)
        number = best_threshold(plain) if threshold is None else check_threshold(threshold)
        return Evaluation(plain, number, choice, question.resampling, multiple, beside=(one_cell(result),))
    weighted = WeightedEvidence.of(result)  # refuses cells that hold no positives
    number = best_threshold(weighted) if threshold is None else check_threshold(threshold)
    pooled = Evaluation(without_cells(result, question), number, choice, question.resampling, multiple)
    return Evaluation(weighted, number, choice, question.resampling, multiple, pooled=pooled)


def evaluate_reviewed(
    source: Any,
    scores: Any,
    within: Any,
    question: IntervalOptions,
    reading: ReadOptions,
    asked: ReviewOptions,
    checked: Reviewed,
    threshold: tuple[float | None, str],
    split: str | None,
    multiple: float,
) -> Evaluation:
    """What :func:`pulens.evaluate` gives with checked rows beside cells, clusters, or both."""
    grouped = GroupedReviews.read(source, scores, reading, asked, within, scenario=question.scenario)
    result = None if within is None else grouped.cell_evidence(question, split)
    beside = () if result is None or len(result.cells) > 1 else (one_cell(result),)
    if result is None:
        question = grouped.question(question)
        evidence = within_what_is_possible(grouped.evidence(question))
    else:
        evidence = WeightedEvidence.of(result)
    fixed, choice = threshold
    number = best_threshold(evidence) if fixed is None else check_threshold(fixed)
    choice = choice if fixed is not None else "best f1 on these rows"
    proved = (checked.at(number), checked.identified(number))
    if result is None:
        return Evaluation(evidence, number, choice, question.resampling, multiple, *proved)
    whole = without_cells(result, replace(question, audit={}) if question.is_silent_on_prior else question)
    if beside:
        return Evaluation(whole, number, choice, question.resampling, multiple, *proved, beside=beside)
    pooled = Evaluation(whole, number, choice, question.resampling, multiple)
    return Evaluation(evidence, number, choice, question.resampling, multiple, *proved, pooled=pooled)


@forwards_keywords(ReadOptions)
def estimate_prior_within(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
    labelled_within: Strata,
    method: str | None = None,
    scenario: str = DEFAULT_SCENARIO,
    label_noise: float = 0.0,
    audit: Mapping[Any, Any] | None = None,
    seed: int = 0,
    **reading: Any,
) -> PriorsWithin:
    """Estimate the class prior of every cell within which labels are random, and of all rows together.

    Each cell is estimated from its own rows, as :func:`pulens.estimate_prior` does, and borrows from the others what
    it cannot know by itself (:mod:`pulens.priors.pooling`). ``audit`` maps cells to (positives, checked) instead.
    The other arguments are those of :func:`pulens.estimate_prior` and :func:`pulens.evaluate`.

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table or the path of a file, alone.
    score, label
        Columns of scores and labels, where the first argument is a table, file or database; ``"score"`` and
        ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
    cluster
        Refused, with the reason: see docs/concepts/limits.md.
    labelled_within
        The column of cells, several that cross, or one value per row for arrays.
    method, scenario, label_noise, audit, seed
        As in :func:`pulens.estimate_prior`.

    Returns
    -------
    PriorsWithin
        The class prior of every cell, and of all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(["a", "b"], 3000)
    >>> positive = rng.random(6000) < np.where(site == "a", 0.1, 0.4)
    >>> labels = positive & (rng.random(6000) < np.where(site == "a", 0.5, 0.1))
    >>> found = estimate_prior_within(labels * 1, rng.normal(2 * positive), labelled_within=site)
    >>> bool(found.cells[0].value < 0.2 < found.cells[1].value)
    True

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> columns = {"score": "risk_v2", "label": "outcome", "positive": "fraud"}
    >>> found = estimate_prior_within(table, **columns, labelled_within="region")
    >>> [cell.name for cell in found.cells]
    ['north', 'south']
    """
    reading |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    if reading.get("cluster") is not None:
        refuse_together("clusters-cell-priors")
    question = IntervalOptions(class_prior=method, label_noise=label_noise, scenario=scenario, audit=audit, seed=seed)
    return priors_within(gather_cells(labels, scores, labelled_within, question, ReadOptions(**reading)))


def one_cell(result: StratifiedEvidence) -> Notice:
    """One cell is no cells: labels that are random within it are random among all rows."""
    said = f"Every row has the same value of {result.cells.words}, so the numbers are those without cells."
    return Notice(Severity.NOTE, "one-cell", said)


def without_cells(result: StratifiedEvidence, question: IntervalOptions) -> Evidence:
    """The same rows and class prior, were labels random among all of them."""
    by_cell = any(isinstance(getattr(question, name), Mapping) for name in ("class_prior", "unlabelled_prior", "audit"))
    if not by_cell:
        return within_what_is_possible(question.settle(result.cells.whole_buckets or result.cells.whole))
    prior = replace(result.class_prior, notices=())
    return within_what_is_possible(replace(result.evidence, class_prior=prior))
