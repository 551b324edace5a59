"""Which rows a person should check, and what their answers prove: plan, read, more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from pulens.answer import written
from pulens.audits.allocation import FEWEST_ROWS, MOST_ROWS, allocate, check_budget, check_goal, thinly_checked
from pulens.audits.answers import cells_of, read_answers, read_second
from pulens.audits.counts import Counts
from pulens.audits.forecast import AUDITS, BUDGETS, METRICS, AuditForecast, forecast_of
from pulens.audits.formulas import in_words
from pulens.audits.judges import Agreement, ReviewerErrors, agreement_of
from pulens.audits.plan import AuditPlan, PlannedRows, planned
from pulens.audits.queue import RESERVED, ROW, read_plan, read_queue
from pulens.audits.result import AuditResult
from pulens.audits.strata import RANGES_BELOW, Strata, cut_strata
from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError, InputError, shown
from pulens.estimate import Estimate
from pulens.evaluation.evaluate import best_threshold
from pulens.evaluation.reviews import recovered_beside
from pulens.evidence.question import IntervalOptions
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs import ReadOptions, read_tally
from pulens.inputs.addresses import is_address, shown_address
from pulens.inputs.drawn import check_drawable, read_drawn, read_totals_at
from pulens.inputs.reading import ScoreKeywords
from pulens.keywords import forwards_keywords, names_of
from pulens.metrics.parts.measure import check_threshold
from pulens.metrics.parts.possible_worlds import within_what_is_possible
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.scalars import real
from pulens.scenario import DEFAULT_SCENARIO, Scenario
from pulens.types import RowsLike, Values

if TYPE_CHECKING:
    from pulens.audits.labelling_test import LabellingVerdict

DEFAULT_BUDGET = 200
MORE_ROWS = 100  # that an answer looks ahead by
AnyPath = str | PathLike[str]


@forwards_keywords(ReadOptions)
def plan_audit(
    source: RowsLike,
    scores: Values | None = None,
    *,
    budget: int | None = None,
    width: float | None = None,
    goal: str = "all",
    threshold: float | None = None,
    id: str | None = None,
    keep: Iterable[str] | str = (),
    seed: int = 0,
    show_scores: bool = False,
    scenario: str = DEFAULT_SCENARIO,
    class_prior: GivenPrior | ClassPrior | str | None = None,
    label_noise: float = 0.0,
    **reading: Unpack[ScoreKeywords],
) -> AuditPlan:
    """Choose the unlabelled rows that a person should check, so that their answers prove most.

    Rows are drawn at random within ranges of scores, more densely where answers matter more, and every row's chance of
    being drawn is known: precision, recall, F1 and the class prior then follow from the answers without any assumption
    about labelling (:func:`read_audit`).

    Parameters
    ----------
    source, scores
        As in :func:`pulens.evaluate`; a table, file or database can hand over further columns of its rows.
    score, label, positive, negative, unlabelled
        Columns of a table, and what its label values mean, as in :func:`pulens.evaluate`.
    budget, width
        How many rows to check, 200 by default; or, instead, how wide the interval of the goal should be (that of F1,
        where the goal is ``"all"``).
    goal
        What to measure best: ``"precision"``, ``"recall"``, ``"f1"``, ``"class_prior"``, or ``"all"`` of them.
    threshold
        Rows that score as much are flagged; by default the threshold with the best recovered F1. It is fixed here,
        before any answer is seen.
    id, keep
        The column that identifies rows (by default their position in the file or table), and columns that the reviewer
        needs to see.
    seed
        The same seed draws the same rows from every kind of source.
    show_scores
        Show score and stratum in the queue. Reviewers who see a high score tend to say yes.
    scenario, class_prior, label_noise
        As in :func:`pulens.evaluate`. A class prior moves rows to where positives are expected, and nothing else.

    Returns
    -------
    AuditPlan
        The rows to check; ``write("queue.csv")`` makes the queue that :func:`read_audit` reads.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(2000) / 2000
    >>> plan = plan_audit((scores > 0.99).astype(int), scores, threshold=0.9, budget=100)
    >>> plan.allocation.tolist(), len(plan.rows)
    ([43, 11, 13, 15, 18], 100)

    A table is taken as it is, with the names of its columns:

    >>> import polars
    >>> claims = polars.DataFrame({"risk": [.9, .8, .7, .6, .4, .3, .2, .1] * 20,
    ...                            "outcome": (["fraud", "", "fraud"] + [""] * 5) * 20})
    >>> plan = plan_audit(claims, score="risk", label="outcome", positive="fraud", threshold=0.5, budget=30)
    >>> len(plan.rows)
    30
    """
    asked = ReadOptions(**reading)
    rows = _check_rows_asked(budget, width)
    check_goal(goal)
    seed = check_seed(seed)
    kept = _kept(id, keep, show_scores)
    question = IntervalOptions(class_prior=class_prior, scenario=scenario, label_noise=label_noise)
    if question.label_noise > 0 and question.scenario is Scenario.SINGLE_SET:
        raise AssumptionError(
            f"label_noise {label_noise!r} leaves it open which labelled rows are positive, and in the single-set "
            "scenario they belong to the population of the answers. Say scenario='case-control' (--scenario "
            "case-control) if they were collected separately, or label_noise=0."
        )
    check_drawable(source, asked, id)
    tally = read_tally(source, scores, allow_one_kind=True, **asked.arguments)
    _check_whole(tally)
    chosen, choice = _threshold(question, tally, threshold)
    at_threshold = _exact_totals(source, tally, chosen, asked)
    positives = _expected(question, tally)
    if rows is None:
        rows = _rows_for_width(tally, chosen, at_threshold, goal, positives, question, float(width or 0), seed)
    strata, allocation = _allocated(tally, chosen, at_threshold, rows, goal, positives)
    drawn = read_drawn(
        source,
        scores,
        reading=replace(asked, weights=None),
        edges=strata.edges,
        many=allocation.tolist(),
        seed=seed,
        id=id,
        kept=kept,
    )
    _check_drawn(drawn.stratum, allocation)
    return AuditPlan(
        strata=strata,
        batches=(allocation,),
        rows=planned(drawn, allocation, seed),
        tally=tally,
        goal=goal,
        scenario=Scenario(question.scenario),
        seed=seed,
        label_noise=question.label_noise,
        positives=positives,
        threshold_choice=choice,
        source=_source_name(source),
        id=id,
        reading=FrozenMapping(_plain_reading(asked)),
        show_scores=bool(show_scores),
    )


FILL_IN = "Fill in the column answer of {} (1 where a row is positive, 0 where it is not)"


@dataclass(repr=False, frozen=True, eq=False, kw_only=True)
class QueueResult(AuditResult):
    """What the answers of a queue prove, with the plan they belong to; see :class:`pulens.audits.AuditResult`.

    ``agreement`` compares them with those of a second judge; ``reviewer_errors`` are the rates that were allowed for.
    """

    plan: AuditPlan = field(repr=False)
    path: str = field(default="", repr=False)
    reviewer_errors: ReviewerErrors | None = None
    agreement: Agreement | None = None

    @cached_property
    def labelling(self) -> LabellingVerdict | None:
        """The test of random labelling; none where labelled rows may be negative."""
        return None if self.plan.label_noise > 0 else super().labelling

    @cached_property
    def forecast(self) -> AuditForecast:
        """How wide intervals would be with more rows, after what was found."""
        return forecast_of(self.counts, goal=self.plan.goal, confidence=self.confidence, seed=self.seed)

    @cached_property
    def judged(self) -> Mapping[str, Estimate]:
        """The numbers without assumption on labelling at the rates of errors that were given; none without rates."""
        return FrozenMapping() if self.reviewer_errors is None else self.if_judges_err(self.reviewer_errors)

    @cached_property
    def recovered(self) -> Mapping[str, Estimate]:
        """The same metrics by formulas that take labels for random, at the class prior of the audit."""
        return recovered_beside(self)

    @cached_property
    def outlook(self) -> str:
        """What a hundred more rows would give, in one sentence; empty where there are no more."""
        checked, rows = int(self.counts.checked.sum()), int(self.counts.rows.sum())
        if not checked or checked >= rows:
            return ""
        more = min(MORE_ROWS, rows - checked)
        # one budget only: the whole forecast takes longer than everything else that is read
        expected = forecast_of(
            self.counts,
            goal=self.plan.goal,
            budgets=(checked + more,),
            confidence=self.confidence,
            seed=self.seed,
            with_labels=False,
        )
        widths = [(name, expected.width(name, checked + more)[1]) for name in ("f1", "recall", "precision")]
        told = ", ".join(f"{in_words(name)} {width:.2f}" for name, width in widths)
        return f"With {more:,} more rows intervals that assume nothing would be about this wide: {told}."

    def to_html(self, path: AnyPath | None = None, *, title: str | None = None) -> str:
        """One self-contained page: numbers, strata, labelling curve, forecast and where all of it comes from."""
        from pulens.report.audit_page import audit_page

        return written(
            path,
            audit_page(
                self,
                title=title or _title(self.plan),
                recovered=self.recovered,
                forecast=self.forecast if self.outlook else None,
                plan=self.plan,
                more=self.outlook,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values; what was asked for beside the numbers has keys of its own."""
        told = super().to_dict()
        if self.agreement is not None:
            told["agreement"] = self.agreement.to_dict()
        if self.reviewer_errors is not None:
            result = {name: one.to_dict() for name, one in self.judged.items()}
            told["if_judges_err"] = self.reviewer_errors.to_dict() | {"estimates": result}
        return told

    def __str__(self) -> str:
        return self._text("python", explain=False)

    def _text(self, way: str, *, explain: bool) -> str:
        from pulens.audits.words import forecast_lines
        from pulens.report.audit_text import audit_text
        from pulens.report.judges_text import judges_text
        from pulens.report.lines import wrapped

        if not self.counts.checked.any():
            empty = f"No row is answered yet. {FILL_IN.format(self.path)}."
            return "\n".join([*wrapped(empty, 0), "", *forecast_lines(self.plan.forecast, self.plan.budget)])
        text = audit_text(self, recovered=self.recovered, more=self.outlook, way=way, explain=explain)
        return "\n\n".join([text, *judges_text(self)])

    def more(self, budget: int, *, source: Any = None, allow_changed: bool = False) -> AuditPlan:
        """The plan enlarged to this many rows in all; write it to a new queue, which keeps the answers."""
        return more_audit(self.path, budget=budget, source=source, plan=None, allow_changed=allow_changed)


@forwards_keywords()
def read_audit(
    path: AnyPath,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    anytime: bool = False,
    yes: Iterable[str] | str = (),
    no: Iterable[str] | str = (),
    at: float | None = None,
    plan: AnyPath | None = None,
    source: RowsLike | None = None,
    allow_changed: bool = False,
    reviewer_errors: Any = None,
    second: AnyPath | None = None,
) -> QueueResult:
    """What the answers in a queue prove; nothing is needed beside the queue and the plan that lies next to it.

    Rows after the last answered one were not reached, and the audit is valid without them. Rows in between without an
    answer were too hard: values count them half, intervals hold whatever they are.

    Parameters
    ----------
    path
        The queue that :meth:`pulens.audits.AuditPlan.write` wrote, filled in, in any order.
    confidence, interval, anytime
        Level of the intervals; ``"balanced"`` or ``"strict"``; ``anytime=True`` for intervals that hold however it was
        decided when to stop.
    yes, no
        Further words that mean positive and negative, beside 1, yes, true, positive, + and 0, no, false, negative, -.
    at
        Another threshold than that of the plan, as a number. One that the answers themselves chose would need rows of
        its own, so there is no ``"best"``.
    plan
        The plan's file, where it does not lie beside the queue.
    source, allow_changed
        The table: it is counted again and must be as it was when rows were drawn, unless ``allow_changed`` says that
        the plan's counts shall hold.
    reviewer_errors
        How often a judge calls a negative positive and a positive negative, each a number or a range (low, high):
        numbers that allow for it stand beside the others (``result.judged``).
    second
        The answers of a second judge on some of the rows: a column of the queue, or a queue of its own, told by the
        ending of its name (.csv, .tsv, .parquet, .xlsx). How often both agree is in ``result.agreement``; numbers rest
        on the first judge alone.

    Returns
    -------
    QueueResult
        Metrics at the threshold that assume nothing about labelling, and the test whether labels are random.

    Examples
    --------
    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> queue = f"{folder.name}/queue.csv"
    >>> columns = {"score": "risk_v2", "label": "outcome", "positive": "fraud", "id": "claim"}
    >>> _ = plan_audit(table, **columns, threshold=0.5, budget=60).write(queue)
    >>> rows = pandas.read_csv(queue)  # a person fills in the column answer
    >>> rows["answer"] = rows["claim"].map(table.set_index("claim")["fraud"]).astype(int)
    >>> rows.to_csv(queue, index=False)
    >>> print(read_audit(queue).estimates["precision"])
    precision 0.896 [0.795, 0.954]
    >>> folder.cleanup()
    """
    made = read_plan(path if plan is None else plan)
    errors = _check_errors(reviewer_errors, anytime)
    if source is not None:
        _recounted(made, source, None, allow_changed)
    answers = read_answers(made, path, yes=yes, no=no)
    result = QueueResult(
        counts=answers.counts,
        checked_rows=answers.checked,
        tally=made.tally,
        threshold=made.threshold,
        goal=made.goal,
        confidence=confidence,
        interval=interval,
        anytime=anytime,
        seed=made.seed,
        told=(*answers.notices, *_about_labels(made)),
        plan=made,
        path=str(path),
        reviewer_errors=errors,
        agreement=None if second is None else _agreement(made, path, second, yes, no, confidence),
    )
    if at is None:
        return result
    if isinstance(at, str):
        raise AssumptionError(
            f"at must be a number, got {shown(at)}: a threshold that the answers choose needs rows of its own to be "
            "judged by. Plan an audit at that threshold."
        )
    other = result.at(check_threshold(at))
    assert isinstance(other, QueueResult)
    return other


def _check_errors(reviewer_errors: Any, anytime: bool) -> ReviewerErrors | None:
    if reviewer_errors is None:
        return None
    errors = ReviewerErrors.of(reviewer_errors)
    if anytime:
        raise AssumptionError(
            "limits that hold at every moment are not known for judges who err: leave out anytime (--anytime) or "
            "reviewer_errors (--reviewer-errors)."
        )
    return errors


def _agreement(plan: AuditPlan, path: AnyPath, second: AnyPath, yes: Any, no: Any, confidence: float) -> Agreement:
    first, other = read_second(plan, path, second, yes=yes, no=no)
    return agreement_of(first, other, confidence=confidence, seed=plan.seed)


def more_audit(
    path: AnyPath,
    *,
    budget: int,
    source: RowsLike | None = None,
    scores: Values | None = None,
    plan: AnyPath | None = None,
    allow_changed: bool = False,
) -> AuditPlan:
    """A queue enlarged to ``budget`` rows in all: answers stay, new rows are added as another batch.

    Edges and proportions are those of the plan. What was found is not looked at: rows chosen by answers would bias
    recall. ``source`` is the table that rows were drawn from; by default the file named in the plan, beside the queue
    or in the folder you are in.

    Parameters
    ----------
    path
        The queue, answered in part or in full.
    budget
        Rows to check in total, those of the queue included.
    source, scores
        The table that rows were drawn from, or labels and scores; by default the file named in the plan.
    plan
        The plan's file, where it does not lie beside the queue.
    allow_changed
        Draw from a table that has changed since the plan.

    Returns
    -------
    AuditPlan
        The larger queue; its ``write`` keeps the answers.

    Examples
    --------
    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> queue = f"{folder.name}/queue.csv"
    >>> columns = {"score": "risk_v2", "label": "outcome", "positive": "fraud", "id": "claim"}
    >>> _ = plan_audit(table, **columns, threshold=0.5, budget=60).write(queue)
    >>> rows = pandas.read_csv(queue)  # a person fills in the column answer
    >>> rows["answer"] = rows["claim"].map(table.set_index("claim")["fraud"]).astype(int)
    >>> rows.to_csv(queue, index=False)
    >>> len(more_audit(queue, budget=90, source=table).rows)
    90
    >>> folder.cleanup()
    """
    made = read_plan(path if plan is None else plan)
    carried = cells_of(made, read_queue(path))
    rows = check_budget(budget)
    if rows <= made.budget:
        raise AssumptionError(
            f"budget is the number of rows in all, those of before included: {made.budget:,} are planned already, got "
            f"{rows:,}."
        )
    table = source if source is not None else _find_source(made, path)
    asked = _recounted(made, table, scores, allow_changed)
    allocation = made.allocated(rows)
    drawn = read_drawn(
        table,
        scores,
        reading=asked,
        edges=made.strata.edges,
        many=(allocation + (made.allocation if allow_changed else 0)).tolist(),
        seed=made.seed,
        id=made.id,
        kept=tuple(made.rows.kept),
    )
    larger = made.enlarged(allocation, drawn, carried)
    if not allow_changed and not np.array_equal(larger.allocation, allocation):
        raise InputError(
            "the rows of the plan are not those with the smallest keys any more: the table has changed since the plan, "
            "though its counts have not. Say allow_changed=True (--allow-changed) to add rows of the table as it is."
        )
    return larger


def _about_labels(plan: AuditPlan) -> list[Notice]:
    """Why numbers that rest on labels are left out."""
    if plan.label_noise > 0:
        words = (
            f"With a label noise of {plan.label_noise:g} labelled rows may be negative: they are not compared with the "
            "positives found, and only numbers without an assumption on labelling are given."
        )
        return [Notice(Severity.NOTE, "noisy-labels", words)]
    return [one for one in plan.notices if one.code == "few-labelled"]


def _check_rows_asked(budget: Any, width: Any) -> int | None:
    """The number of rows; ``None`` where a width says it."""
    if width is None:
        return check_budget(DEFAULT_BUDGET if budget is None else budget)
    if budget is not None:
        raise AssumptionError("give budget= (how many rows) or width= (how wide an interval may be), not both.")
    if not 0 < real(width) < 1:
        raise AssumptionError(f"width must lie between 0 and 1, got {shown(width)}: write 10 points as 0.1.")
    return None


def _kept(id: str | None, keep: Iterable[str] | str, show_scores: bool) -> tuple[str, ...]:
    names = names_of("keep", keep)
    taken = RESERVED if show_scores else RESERVED[:3]
    for name in (*names, *([] if id is None else [id])):
        if not isinstance(name, str) or name in taken or (name == ROW and name != id and id is None):
            raise InputError(
                f"a column named {shown(name)} cannot be kept: the queue has one of its own ({', '.join(taken)}, row). "
                "Rename it, or leave it out."
            )
    return tuple(name for name in dict.fromkeys(names) if name != id)


def _check_whole(tally: Tally) -> None:
    if tally.is_weighted:
        raise InputError("an audit counts rows; weighted rows are not supported. Leave the weights out.")
    if tally.totals.rows == 0 or tally.totals.unlabelled == 0:
        raise InputError(
            f"there is no unlabelled row among {tally.totals.rows:,.0f} rows, so there is nothing that a person could "
            "check. Check which label value means labelled positive (positive=..., --positive)."
        )


def _threshold(question: IntervalOptions, tally: Tally, threshold: Any) -> tuple[float, str]:
    """The threshold as given, or the best one as in evaluate."""
    if threshold is not None:
        number = check_threshold(threshold)
        if not math.isfinite(number):
            raise AssumptionError(f"threshold must be a finite number, got {threshold!r}.")
        return number, "given"
    if not tally.totals.labelled:
        raise InputError(
            "there is no labelled positive, so no best threshold can be found: say which rows are flagged "
            "(threshold=..., --threshold)."
        )
    return best_threshold(within_what_is_possible(question.settle(tally)), "f1"), "best F1"


def _exact_totals(source: Any, tally: Tally, threshold: float, reading: ReadOptions) -> Totals | None:
    """Counts at the threshold where it lies inside a bin of the tally; ``None`` where the tally knows them."""
    if tally.binning is None:
        return None
    number = in_precision(threshold, tally.thresholds.dtype)
    index = int(np.searchsorted(-tally.thresholds.astype(float), -number, "right"))
    if index == len(tally) or tally.highest[index] < number or number == tally.thresholds[max(index - 1, 0)]:
        return None
    return read_totals_at(source, number, reading=reading)


def _expected(question: IntervalOptions, tally: Tally) -> float | None:
    """Positives among the unlabelled rows, where a class prior was given."""
    if question.class_prior is None:
        return None
    if not tally.totals.labelled and isinstance(question.class_prior, str):
        return None
    return float(question.settle(tally).class_prior.unlabelled * tally.totals.unlabelled)


def _allocated(
    tally: Tally, threshold: float, at_threshold: Totals | None, budget: int, goal: str, positives: float | None
) -> tuple[Strata, Counts]:
    """Strata and rows in each; ranges below the threshold are fewer where some would be checked too thinly."""
    for ranges in range(RANGES_BELOW, 0, -1):
        strata = cut_strata(tally, threshold, ranges, at_threshold)
        result = allocate(strata.rows, strata.labelled, strata.flagged, budget, goal, positives=positives)
        if not thinly_checked(strata.rows, result, strata.flagged):
            break
    return strata, result


def expected_widths(
    tally: Tally,
    threshold: float,
    scenario: Scenario,
    budgets: Sequence[int],
    *,
    goal: str = "all",
    positives: float | None = None,
    seed: int = 0,
    at_threshold: Totals | None = None,
    audits: int = AUDITS,
) -> AuditForecast:
    """How wide intervals would be after checking this many rows, before any is drawn.

    >>> import numpy as np
    >>> scores = np.arange(2000) / 2000
    >>> rows = Tally.from_arrays((scores > 0.99).astype(int), scores)
    >>> few, many = expected_widths(rows, 0.9, Scenario.SINGLE_SET, (60, 200)).widths["default guess"]["f1"]
    >>> few > many
    True
    """
    strata, _ = _allocated(tally, threshold, at_threshold, DEFAULT_BUDGET, goal, positives)
    nothing = np.zeros(len(strata), np.int64)
    empty = PlannedRows((), nothing[:0].astype(np.intp), np.zeros(0), nothing[:0].astype(np.intp))
    draft = AuditPlan(strata=strata, batches=(nothing,), rows=empty, tally=tally, goal=goal, scenario=scenario)
    asked: dict[str, Any] = {"goal": goal, "positives": positives, "seed": seed, "with_labels": False, "audits": audits}
    return forecast_of(draft.counts, budgets=budgets, **asked)


def _rows_for_width(
    tally: Tally,
    threshold: float,
    at_threshold: Totals | None,
    goal: str,
    positives: float | None,
    question: IntervalOptions,
    width: float,
    seed: int,
) -> int:
    asked: dict[str, Any] = {"goal": goal, "positives": positives, "seed": seed, "at_threshold": at_threshold}
    expected = expected_widths(tally, threshold, Scenario(question.scenario), BUDGETS, **asked)
    needed = expected.rows_for(goal if goal in METRICS else "f1", width=width)
    if needed.most > MOST_ROWS:
        raise AssumptionError(
            f"a width of {width:g} would take about {needed.most:,} rows; at most {MOST_ROWS:,} are planned."
        )
    return max(FEWEST_ROWS, needed.most)


def _check_drawn(stratum: Any, allocation: Counts) -> None:
    result = np.bincount(stratum, minlength=len(allocation))
    if not np.array_equal(result, allocation):
        raise InputError(
            f"the table held other rows when they were drawn than when they were counted ({result.tolist()} of "
            f"{allocation.tolist()} were found): it changed meanwhile. Read from a snapshot, or try again."
        )


def _source_name(source: Any) -> str:
    """What rows came from, without folders, users or passwords."""
    if isinstance(source, str | Path):
        name = str(source)
        if is_address(name):
            scheme, _, index = shown_address(name).partition("://")
            return f"{scheme}://{index.rpartition('/')[2]}"
        return Path(name).name
    return ""


_STORED = (
    *("score", "label", "positive", "negative", "unlabelled", "format", "delimiter", "decimal", "thousands"),
    *("encoding", "sheet", "table", "where", "tolerance"),
)


def _plain_reading(reading: ReadOptions) -> dict[str, Any]:
    """What was said about the rows, as far as JSON can hold it."""
    result = {}
    for name, value in reading.arguments.items():
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else value
        many = values if isinstance(values, list) else [values]
        if name in _STORED and all(isinstance(one, str | int | float | bool) for one in many):
            result[name] = values
    return result


def _find_source(plan: AuditPlan, path: AnyPath) -> str:
    """The file that the plan names, beside the queue or here."""
    if plan.source and not is_address(plan.source):
        for folder in (Path(path).parent, Path()):
            if (folder / plan.source).exists():
                return str(folder / plan.source)
    named = f"{plan.source!r} is neither next to the queue nor here" if plan.source else "the plan names no file"
    raise InputError(
        f"more rows are drawn from the table of the plan, and {named}: say where it is (source=..., --source)."
    )


def _recounted(plan: AuditPlan, source: Any, scores: Any, allow_changed: bool) -> ReadOptions:
    """Count the table again and refuse one that is not as it was; what the plan says about its columns."""
    reading = ReadOptions(**{name: value for name, value in plan.reading.items() if name in _STORED})
    check_drawable(source, reading, plan.id)
    tally = read_tally(source, scores, allow_one_kind=True, **reading.arguments)
    if allow_changed:
        return reading
    seen = [_totals_at(source, tally, edge, reading) for edge in plan.strata.edges]
    counts = np.diff(np.array([(0, 0, 0), *seen, tally.totals]), axis=0).astype(np.int64)
    now = replace(plan.strata, rows=counts[:, 1], labelled=counts[:, 0], known_negative=counts[:, 2])
    if not np.array_equal(now.rows, plan.strata.rows) or not np.array_equal(now.labelled, plan.strata.labelled):
        raise InputError(
            f"the table has changed since the plan: it has {int(now.rows.sum()):,} unlabelled and "
            f"{int(now.labelled.sum()):,} labelled rows in the ranges {now.rows.tolist()} and {now.labelled.tolist()}, "
            f"and had {plan.strata.rows.tolist()} and {plan.strata.labelled.tolist()}. Say allow_changed=True "
            "(--allow-changed) to go on with the counts of the plan."
        )
    return reading


def _totals_at(source: Any, tally: Tally, edge: float, reading: ReadOptions) -> Totals:
    exact = _exact_totals(source, tally, edge, reading)
    return tally.at(edge) if exact is None else exact


def _title(plan: AuditPlan) -> str | None:
    """The score and the table that a page is about."""
    score = plan.reading.get("score")
    return f"{score} in {plan.source}" if isinstance(score, str) and plan.source else plan.source or None
