"""Rows that people checked, beside the table they were drawn from: what the answers prove at a threshold."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from pulens.audits import AuditResult, Identified, ReviewLog, Reviews, identify
from pulens.audits.plan import AuditPlan
from pulens.audits.queue import plan_path
from pulens.audits.review_log import UNCHECKED
from pulens.confidence import check_confidence
from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError, PulensError
from pulens.estimate import Estimate
from pulens.evidence import IntervalOptions
from pulens.evidence.review_options import NothingLabelledError, ReviewOptions
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs import ReadOptions, read_sample
from pulens.inputs.addresses import is_address
from pulens.inputs.arrays import python_values
from pulens.inputs.frames import is_frame, open_frame
from pulens.inputs.reading import RowKeywords
from pulens.inputs.tables.whole import read_table
from pulens.keywords import forwards_keywords
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import check_threshold
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior
from pulens.recovery import recover_at
from pulens.scenario import DEFAULT_SCENARIO
from pulens.types import RowsLike, Values


@dataclass(frozen=True, eq=False, kw_only=True)
class Reviewed:
    """A table and the answers about its rows: its counts with checked rows put back, and the audit at any threshold."""

    tally: Tally
    confidence: float
    seed: int
    rows: Reviews | None = None  # where rows are at hand
    planned: AuditResult | None = None  # where a plan says what was drawn

    @property
    def threshold(self) -> float | None:
        """The threshold that was fixed before anybody looked, if one was."""
        return None if self.planned is None else self.planned.threshold

    def at(self, threshold: float) -> AuditResult:
        """What the answers prove about "flagged when score >= threshold"."""
        if self.planned is not None:
            own = self.planned.threshold
            return self.planned if own is None or own == threshold else self.planned.at(threshold)
        assert self.rows is not None  # one of the two is always given
        decision = self.rows.scores >= threshold
        return AuditResult(
            counts=self.rows.counts(decision),
            checked_rows=self.rows.checked_rows(decision),
            tally=self.tally,
            threshold=float(threshold),
            confidence=self.confidence,
            seed=self.seed,
            score_ranges=self.rows.are_ranges(decision),
            unchecked_share=self.rows.sibling_share(decision),
            told=self.rows.notices,
        )

    def identified(self, threshold: float) -> Identified | None:
        """What follows and what is only bounded, where rows are at hand."""
        if self.rows is None:
            return None
        return identify(self.rows, self.rows.scores >= threshold, confidence=self.confidence)

    @cached_property
    def class_prior(self) -> ClassPrior:
        """The audit's; refused where rows were left out of it altogether. It does not depend on the threshold."""
        anywhere = float(self.tally.thresholds[-1]) if self.threshold is None else self.threshold
        return self.at(anywhere).class_prior

    @property
    def prior_of_audit(self) -> ClassPrior | None:
        """The same, or ``None`` where rows were left out."""
        try:
            return self.class_prior
        except AssumptionError:
            return None


@forwards_keywords(ReadOptions)
def read_reviews(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    reviews: RowsLike | None = None,
    reviewed_above: float | None = None,
    reviewed_below_share: float | None = None,
    threshold: float | None = None,
    scenario: str = DEFAULT_SCENARIO,
    confidence: float = 0.95,
    seed: int = 0,
    id: str | None = None,
    **reading: Unpack[RowKeywords],
) -> AuditResult:
    """What rows that were checked already prove about a classifier, without any assumption about labelling.

    Parameters
    ----------
    labels, scores, score, label, positive, negative, unlabelled, cluster, reading
        As for :func:`pulens.evaluate`; labels need not hold a positive.
    reviews
        A file, a table or a mapping of columns: ``answer`` (1 or yes, 0 or no, ``?``, empty), and ``probability``, the
        chance that the row would be checked; ``row`` (0 is the first) or the column that ``id`` names says which row a
        line is about, unless there is a line for every row. Or an :class:`pulens.audits.AuditResult`, or the queue of
        ``pulens audit plan``.
    reviewed_above, reviewed_below_share
        Instead of chances: every row that scores so much was checked, and a random share of the others. Without
        ``reviews`` the labels 1 and -1 are the answers.
    threshold
        Rows with ``score >= threshold`` are flagged; by default the plan's, or ``reviewed_above``.
    id
        The column that identifies rows, in the table and in ``reviews``.
    scenario, confidence, seed
        As for :func:`pulens.evaluate`.

    Returns
    -------
    AuditResult
        Metrics at the threshold with intervals, and the test whether labels are random.

    Examples
    --------
    >>> result = read_reviews([1, 1, -1, 0, 0, 0], [9, 8, 7, 3, 2, 1], reviewed_above=7)
    >>> print(result.estimates["precision"])
    precision 0.667 [0.667, 0.667]
    >>> print(result.estimates["recall"].interval, result.estimates["recall"].basis)
    [0.400, 1.000] bounds

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> reviews = {"answer": table["fraud"].astype(int).where(table.index % 10 == 0), "probability": [0.1] * 1000}
    >>> found = read_reviews(table, score="risk_v2", label="outcome", positive="fraud", reviews=reviews, threshold=0.5)
    >>> print(found.estimates["precision"])
    precision 0.678 [0.503, 0.828]
    """
    asked = ReviewOptions(
        reviews=reviews, reviewed_above=reviewed_above, reviewed_below_share=reviewed_below_share, id=id
    )
    result = reviewed(
        labels, scores, ReadOptions(**reading), asked, scenario=scenario, confidence=confidence, seed=seed, check=False
    )
    if result is None:
        raise InputError("say what was reviewed: reviews= (a file or a table of answers), or reviewed_above=.")
    at = fixed_threshold(result, threshold, reviewed_above)
    if at is None:
        raise InputError("say the threshold: threshold= (--threshold). It must not be chosen by the answers.")
    return result.at(at)


@forwards_keywords(ReadOptions)
def join_reviews(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    reviews: RowsLike | None = None,
    reviewed_above: float | None = None,
    reviewed_below_share: float | None = None,
    scenario: str = DEFAULT_SCENARIO,
    id: str | None = None,
    **reading: Unpack[RowKeywords],
) -> Reviews:
    """The answers of a review on the rows of a table, for whatever judges rows by them.

    Arguments are those of :func:`read_reviews`; the queue of a plan is joined by the ranges it was drawn from.

    Parameters
    ----------
    labels, scores, score, label, positive, negative, unlabelled, cluster, reading
        As for :func:`pulens.evaluate`.
    reviews, reviewed_above, reviewed_below_share, scenario, id
        As for :func:`read_reviews`.

    Returns
    -------
    Reviews
        Score, answer and chance of being checked of every unlabelled row.

    Examples
    --------
    >>> from pulens.calibration import reviewed_reliability
    >>> scores = [0.9, 0.8, 0.4, 0.2]
    >>> rows = join_reviews([0, 0, 0, 0], scores, reviews={"answer": [1, 1, 0, 0], "probability": [1, 1, 1, 1]})
    >>> print(rows, round(reviewed_reliability(rows, scores, bins=2).error, 3))
    Reviews(4 rows checked, 2 positive, 1 chances) 0.225

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> reviews = {"answer": table["fraud"].astype(int).where(table.index % 10 == 0), "probability": [0.1] * 1000}
    >>> print(join_reviews(table, score="risk_v2", label="outcome", positive="fraud", reviews=reviews))
    Reviews(100 rows checked, 15 positive, 1 chances)
    """
    asked = ReviewOptions(
        reviews=reviews, reviewed_above=reviewed_above, reviewed_below_share=reviewed_below_share, id=id
    )
    if asked.is_silent:
        raise InputError("say what was reviewed: reviews= (a file or a table of answers), or reviewed_above=.")
    return row_reviews(labels, scores, ReadOptions(**reading), asked, scenario=scenario)


def fixed_threshold(result: Reviewed, given: float | None, reviewed_above: float | None) -> float | None:
    """The threshold that was said, or planned, or the review's own cutoff."""
    for one in (given, result.threshold, reviewed_above):
        if one is not None:
            return check_threshold(one)
    return None


def reviewed(
    labels: Any,
    scores: Any,
    reading: ReadOptions,
    asked: ReviewOptions,
    *,
    scenario: str,
    confidence: float,
    seed: int,
    check: bool = True,
) -> Reviewed | None:
    """Read the answers beside the rows; ``None`` if nobody spoke of reviews. ``check``: rows must hold a label."""
    if asked.is_silent:
        return None
    confidence, seed = check_confidence(confidence), check_seed(seed)
    if reading.weights is not None or reading.weight is not None:
        raise InputError("an audit counts rows; weighted rows are not supported. Leave the weights out.")
    planned = _planned(asked, confidence)
    if planned is not None:
        _refuse_other_scenario(planned, scenario)
        return _beside_the_plan(planned, labels, scores, reading, confidence, seed)
    rows = row_reviews(labels, scores, reading, asked, scenario=scenario)
    tally = Tally.from_arrays(rows.labels, rows.scores)
    if check and not tally.totals.labelled:
        raise NothingLabelledError(
            "every labelled row is an answer of the review, so nothing can be recovered from labels: see what the "
            "review itself proves with pulens.read_reviews(...)."
        )
    return Reviewed(tally=tally, confidence=confidence, seed=seed, rows=rows)


def row_reviews(labels: Any, scores: Any, reading: ReadOptions, asked: ReviewOptions, *, scenario: str) -> Reviews:
    """The answers joined to the rows of a file, a table in memory or arrays; those of a plan by its ranges."""
    if scores is None and not is_frame(labels) and not isinstance(labels, str | Path):
        raise InputError(
            f"reviews are joined to rows: give labels and scores, a table in memory or a file, got "
            f"{type(labels).__name__}."
        )
    if reading.table is not None or reading.where is not None or (isinstance(labels, str) and is_address(labels)):
        raise InputError(
            "reviews are joined to the rows of a file or of a table in memory; of a database give the queue that "
            "pulens audit plan wrote, with its plan next to it."
        )
    sample = read_sample(labels, scores, allow_one_kind=True, **reading.rows)
    planned = _planned(asked, 0.95)
    if planned is not None:
        plan = getattr(planned, "plan", None)
        if plan is None:
            raise InputError(
                "counts alone do not say which rows were checked: give the queue, with its plan next to it."
            )
        _refuse_other_scenario(planned, scenario)
        ids = None if plan.id is None else column_of(labels, scores, plan.id, reading)
        return of_plan(planned, plan, sample, ids)
    answers: Any = None
    notices: tuple[Notice, ...] = ()
    if asked.reviews is not None:
        log = ReviewLog.of(asked.reviews, id=asked.id)
        ids = None if asked.id is None else column_of(labels, scores, asked.id, reading)
        if asked.reviewed_above is None:
            return Reviews.joined(log, sample.labels, sample.scores, ids=ids, scenario=scenario)
        indices = log.places(len(sample), ids)
        kept, notices = log.once(indices)
        answers = np.full(len(sample), UNCHECKED, np.int8)
        answers[indices[kept]] = log.answers[kept]
    result = Reviews.reviewed_above(
        sample.labels,
        sample.scores,
        asked.reviewed_above,
        below_share=asked.reviewed_below_share,
        answers=answers,
        scenario=scenario,
    )
    return replace(result, notices=(*result.notices, *notices))


def of_plan(result: AuditResult, plan: AuditPlan, sample: PUSample, ids: Sequence[Any] | None) -> Reviews:
    """The answers of a queue on the rows of the table, each in the range of scores that it was drawn from."""
    assert result.checked_rows is not None  # a queue's answers always name their rows
    names = plan.rows.name[: len(result.checked_rows)]
    known = {str(one): index for index, one in enumerate(range(len(sample)) if ids is None else ids)}
    lost = [name for name in names if name not in known]
    if lost:
        raise InputError(f"the table has changed since the plan: it has no row {lost[0]!r}, which was checked.")
    indices = np.array([known[name] for name in names], np.int64)
    answer = np.full(len(sample), UNCHECKED, np.int8)
    answer[indices] = result.checked_rows.answer
    labels = np.where(answer != UNCHECKED, 0, sample.labels).astype(np.int8)
    cell = np.where(labels == 0, plan.strata.of(sample.scores), -1).astype(np.int64)
    rows = np.bincount(cell[cell >= 0], minlength=len(plan.strata))
    same = np.array_equal(rows, plan.strata.rows) and np.array_equal(cell[indices], result.checked_rows.stratum)
    if not same:
        raise InputError(
            f"the table has changed since the plan: its ranges of scores hold {rows.tolist()} unlabelled rows, those "
            f"of the plan {plan.strata.rows.tolist()}, or the rows have other scores. Give the table and the column "
            "of scores that the rows were drawn by."
        )
    return Reviews(
        cell=cell,
        answer=answer,
        labels=labels,
        scores=sample.scores,
        probability=plan.probability,
        scenario=plan.scenario,
        how=f"drawn by a plan with seed {plan.seed}",
        relabelled=int((labels != sample.labels).sum()),
        notices=result.told,
    )


def column_of(labels: Any, scores: Any, name: str, reading: ReadOptions) -> Sequence[Any]:
    """One column of the table that rows were read from."""
    if scores is not None:
        raise InputError(f"id={name!r} names a column of a table or file; arrays are joined by row.")
    if is_frame(labels):
        return python_values(open_frame(labels, name).get_column(name))
    return read_table(labels, reading.dialect, reading.format).column(name)


def _planned(asked: ReviewOptions, confidence: float) -> AuditResult | None:
    """The answer of a queue that has its plan next to it, or one that was read before."""
    if isinstance(asked.reviews, AuditResult):
        result: AuditResult | None = asked.reviews
    elif isinstance(asked.reviews, str | Path) and os.path.isfile(plan_path(asked.reviews)):
        from pulens.evaluation.audit import read_audit

        result = read_audit(asked.reviews, confidence=confidence)
    else:
        result = None
    if result is not None and not result.counts.checked.any():
        raise InputError(
            "no row of the queue is answered yet, so the reviews prove nothing: fill in the column answer. pulens "
            "audit read forecasts what the answers will show."
        )
    if result is not None and asked.reviewed_above is not None:
        raise AssumptionError(
            "the plan says how rows were chosen: leave out reviewed_above= and reviewed_below_share=."
        )
    return result


def plan_score(asked: ReviewOptions) -> str | None:
    """The column of scores by which a plan drew its rows; ``None`` without a plan."""
    planned = _planned(asked, 0.95)
    plan = getattr(planned, "plan", None)
    return None if plan is None else str(plan.reading.get("score", "score"))


def _refuse_other_scenario(planned: AuditResult, scenario: str) -> None:
    own = planned.counts.scenario
    if str(own) != str(scenario):
        raise AssumptionError(
            f"the rows were drawn for scenario {own}, and {scenario} is asked for: say scenario='{own}' (--scenario "
            f"{own}), or plan again. In the single set numbers are about all rows, in case-control of the unlabelled."
        )


def _beside_the_plan(
    planned: AuditResult, labels: Any, scores: Any, reading: ReadOptions, confidence: float, seed: int
) -> Reviewed:
    from pulens.inputs import read_tally

    tally = read_tally(labels, scores, **reading.arguments)
    return Reviewed(tally=put_back(tally, planned), confidence=confidence, seed=seed, planned=planned)


def put_back(tally: Tally, planned: AuditResult) -> Tally:
    """The counts of the table as they were when rows were drawn; refused where it has changed since.

    Answers that were written into the table as labels since then are taken out again: a found positive is an unlabelled
    row that was looked at. Which of the answers were written is what makes the counts those of the plan.
    """
    if tally.binning is not None:
        raise InputError(
            "the scores were binned, and the ranges that rows were drawn from cut bins: keep every distinct score "
            "(tolerance=0, --tolerance 0)."
        )
    checked = planned.checked_rows
    moves = ((), (1,), (0,), (1, 0)) if checked is not None else ((),)
    for codes in moves:
        one = _moved_back(tally, checked, codes) if codes else tally
        if _is_as_planned(one, planned):
            return one
    totals, counts = tally.totals, planned.counts
    raise InputError(
        f"the table has changed since the plan: it has {totals.labelled:,.10g} labelled, {totals.unlabelled:,.10g} "
        f"unlabelled and {totals.negative:,.10g} known negative rows, the plan {counts.labelled.sum():,}, "
        f"{counts.rows.sum():,} and {counts.known_negative.sum():,}, or scores differ. Give the table that the rows "
        "were drawn from, or draw new ones."
    )


def _is_as_planned(tally: Tally, planned: AuditResult) -> bool:
    """Whether each range of scores holds as many rows of each kind as when rows were drawn."""
    counts, plan = planned.counts, getattr(planned, "plan", None)
    if plan is None:  # counts alone: all that is known of the ranges is where the threshold lies
        edges = [] if planned.threshold is None else [planned.threshold]
        cut = [counts.flagged] if edges else []
    else:
        edges, cut = list(plan.strata.edges), list(range(1, len(plan.strata)))
    seen = np.array([*(tally.at(edge) for edge in edges), tally.totals])
    kinds = (counts.labelled, counts.rows, counts.known_negative)
    known = np.array([[kind[:end].sum() for kind in kinds] for end in (*cut, counts.strata)])
    return bool(np.array_equal(seen.astype(np.int64), known))


def _moved_back(tally: Tally, checked: Any, codes: tuple[int, ...]) -> Tally:
    """Answers of these codes taken from the labelled (1) and known negative (0) rows to the unlabelled."""
    labelled, unlabelled, negative = (kind.astype(np.int64) for kind in tally.increments())
    indices = np.searchsorted(-tally.thresholds.astype(np.float64), -checked.score)
    indices = np.minimum(indices, len(tally) - 1)
    for code, kind in ((1, labelled), (0, negative)):
        if code in codes:
            moved = np.bincount(indices[checked.answer == code], minlength=len(tally))
            kind -= moved
            unlabelled += moved
    if (labelled < 0).any() or (negative < 0).any():
        return tally
    return Tally.from_increments(tally.thresholds, labelled, unlabelled, negative if negative.any() else None)


def contradiction(result: AuditResult) -> Notice | None:
    """Above every recovered number, where the answers contradict random labelling."""
    verdict = result.labelling
    if verdict is None or not verdict.contradicted:
        return None
    return Notice(
        Severity.SERIOUS,
        "labelling-not-random",
        f"{verdict.verdict} Recovered numbers assume random labelling and do not hold for these rows: use the "
        "numbers of the audit, which assume nothing about labels.",
    )


def recovered_beside(result: AuditResult) -> Mapping[str, Estimate]:
    """The audit's metrics as formulas recover them that take labels for random; none where nothing is labelled.

    The class prior is the audit's own, so what differs is what labels that are not random do.
    """
    tally = result.tally
    if tally is None or result.threshold is None or not tally.totals.labelled or not tally.totals.unlabelled:
        return FrozenMapping()
    try:
        evidence = IntervalOptions(class_prior=result.class_prior, scenario=str(result.counts.scenario)).settle(tally)
        table = recover_at(tally, evidence.assumptions, result.threshold)
    except PulensError:  # an audit that found every row positive, or left rows out: nothing can be recovered
        return FrozenMapping()
    names = [name for name in result.estimates if name in METRICS and METRICS[name].reads == "threshold"]
    values = {name: float(METRICS[name].compute(table)[0]) for name in names}
    return FrozenMapping({name: Estimate(name, value) for name, value in values.items() if not math.isnan(value)})
