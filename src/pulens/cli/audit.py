"""pulens audit"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, offers, targets
from pulens.errors import AssumptionError, InputError

if TYPE_CHECKING:
    from pulens.audits.plan import AuditPlan
    from pulens.evaluation.audit import QueueResult

GOALS = ("all", "f1", "precision", "recall", "class_prior", "roc_auc")


@click.group(name="audit")
def command() -> None:
    """Choose the rows that a person should check, and read what the answers show.

    \b
    Examples:
      pulens audit plan scores.csv --budget 200 --out queue.csv
      pulens audit read queue.csv
      pulens audit more queue.csv --budget 300 --out queue2.csv
    """


def complete_goal(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What an audit may aim at."""
    return [goal for goal in GOALS if goal.startswith(incomplete)]


@command.command(name="plan")
@click.argument("file", shell_complete=complete_file)
@offers(
    "out* budget* width* goal* threshold* id* keep* show_scores seed ROWS ENGINE ASSUMPTIONS json_path quiet",
    out={
        "required": True,
        "help": "The queue to write (.csv, .tsv, .parquet, .xlsx); its plan, NAME.audit.json, goes to the same folder.",
    },
    goal={"shell_complete": complete_goal},
    id="Column that identifies rows: whole numbers or text. Default: the position in the file; databases, folders and "
    "--where need a column.",
)
def plan(file: str, out: str, **given: Any) -> None:
    """Draw the rows of FILE that a person should check into a queue with an empty column "answer".

    Fill the column in, from the top and as far as time allows: 1, yes, true, positive or + where a row is positive; 0,
    no, false, negative or - where it is not; nothing where it is open, "unsure" where nobody can tell.

    \b
    Examples:
      pulens audit plan scores.csv --budget 200 --out queue.csv
      pulens audit plan scores.parquet --threshold 0.5 --goal f1 --id case --keep text --out queue.xlsx
      pulens audit plan scores.csv --width 0.1 --out queue.csv
    """
    from pulens.evaluation.audit import plan_audit

    if given["unlabelled_prior"] is not None:
        raise AssumptionError("an audit is planned with --class-prior, the share of positives in the population.")
    _write_queue(out, given, [file], lambda: plan_audit(file, **asked(plan_audit, given)))


@command.command(name="read")
@click.argument("queue", shell_complete=complete_file)
@offers(
    "plan confidence* interval anytime at* yes* no* reviewer_errors* second* source allow_changed "
    "explain* html_path* json_path* quiet"
)
def read(queue: str, **given: Any) -> None:
    """Show what the answers in a QUEUE say about the model, however labels were chosen.

    \b
    Examples:
      pulens audit read queue.csv
      pulens audit read queue.csv --html audit.html
      pulens audit read queue.csv --interval strict --json -
      pulens audit read queue.xlsx --yes fraud --no fine
      pulens audit read queue.csv --second answer2
      pulens audit read queue.csv --reviewer-errors 0:0.02,0.05
    """
    from pulens.audits.answers import is_queue_name
    from pulens.cli._output import deliver, working
    from pulens.cli._write import check_targets, to_json
    from pulens.evaluation.audit import read_audit

    others = (given["source"], given["second"] if is_queue_name(given["second"] or "") else None)
    check_targets(targets(given), *_files(queue, given["plan"], *others))
    with working("Reading the answers", quiet=given["quiet"]):
        result = read_audit(queue, **asked(read_audit, given))
    deliver(
        given,
        lambda: answer_text(result, explain=given["explain"]),
        html=lambda: page_of(result),
        json=lambda: to_json(answer_of(result)),
    )


def _files(queue: str, plan: str | None, *others: str | None) -> list[str]:
    """What is read: the queue, its plan, and whatever else was named."""
    from pulens.audits.queue import plan_path

    return [queue, str(plan_path(queue)) if plan is None else plan, *filter(None, others)]


def answer_of(result: QueueResult) -> dict[str, Any]:
    """An audit as plain values; before any answer the forecast alone."""
    if not result.counts.checked.any():
        return {"checked": 0, "forecast": result.plan.forecast.to_dict()}
    return {**result.to_dict(), "forecast": result.forecast.to_dict()}


def answer_text(result: QueueResult, *, explain: bool = False) -> str:
    """The same in words, with what to do next."""
    from pulens.audits.words import forecast_lines

    if not result.counts.checked.any():
        words = ["No row is answered yet.", *forecast_lines(result.plan.forecast, result.plan.budget)]
        return "\n".join([*words, "", *_fill_in(str(result.path))])
    return "\n".join([result._text("command", explain=explain), *_next(result)])


def _fill_in(queue: str) -> list[str]:
    """What to do with a queue, and the command that reads it then."""
    import shlex

    from pulens.evaluation.audit import FILL_IN
    from pulens.report.lines import pasteable, wrapped

    words = FILL_IN.format(queue)
    return [
        *wrapped(f"next: {words[0].lower()}{words[1:]}, then:"),
        *pasteable(shlex.join(["pulens", "audit", "read", queue])),
    ]


def _next(result: QueueResult) -> list[str]:
    """More rows of the same plan, where rows are left."""
    import shlex

    from pulens.audits.queue import next_queue
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import FEWEST_TO_PLAN, MORE_TO_CHECK

    checked, rows = int(result.counts.checked.sum()), int(result.counts.rows.sum())
    if checked + FEWEST_TO_PLAN > rows:
        return []
    budget = str(min(checked + MORE_TO_CHECK, rows))
    words = ["pulens", "audit", "more", str(result.path), "--budget", budget, "--out", next_queue(result.path)]
    return ["", f"next: check {int(budget) - checked:,} more rows of the same plan:", *pasteable(shlex.join(words))]


def _unnamed(result: AuditPlan) -> list[str]:
    """How rows are found again where no column names them."""
    from pulens.report.lines import wrapped

    if result.id is not None:
        return []
    return wrapped("The column row counts the rows of the table from 0. To name them by a column: --id <column>.")


def page_of(result: QueueResult) -> str:
    """The same as a page; before any answer there is nothing to show."""
    if not result.counts.checked.any():
        raise InputError("no row is answered yet, so there is no page to write: fill in the column answer first.")
    return result.to_html()


@command.command(name="more")
@click.argument("queue", shell_complete=complete_file)
@offers(
    "out budget plan source allow_changed json_path quiet",
    out={"required": True, "help": "The larger queue to write; answers are kept."},
    budget={"required": True, "help": "Rows to check in total, earlier ones included."},
    source="The table or database that rows were drawn from. Default: the file named in the plan, in the queue's "
    "folder or this one.",
    allow_changed="Draw from a table that has changed since the plan.",
)
def more(queue: str, out: str, **given: Any) -> None:
    """Add rows to a QUEUE: its answers stay, and the larger queue holds all rows of the smaller one.

    \b
    Examples:
      pulens audit more queue.csv --budget 300 --out queue2.csv
      pulens audit more queue.csv --budget 300 --source scores.parquet --out queue2.xlsx
    """
    from pulens.evaluation.audit import more_audit

    read_from = _files(queue, given["plan"], given["source"])
    _write_queue(out, given, read_from, lambda: more_audit(queue, **asked(more_audit, given)))


def _write_queue(out: str, given: dict[str, Any], read_from: list[str], make: Callable[[], AuditPlan]) -> None:
    """Draw a queue, write it with its plan, all or nothing, and say what to do with it."""
    from pulens.audits.queue import kind_of, plan_path, queue_files, queue_locked, refuse_answered
    from pulens.cli._output import is_shown, show, working
    from pulens.cli._write import check_targets, to_json, write_all

    kind_of(out)
    check_targets({"--out": out, "the plan": str(plan_path(out)), **targets(given)}, *read_from)
    refuse_answered(out)
    with working("Reading and counting rows", quiet=given["quiet"]):
        result = make()
        files = dict(queue_files(result, out))
        if given["json_path"] is not None:
            files[given["json_path"]] = f"{to_json(result.to_dict())}\n".encode()
    with queue_locked(out):
        write_all({str(path): content for path, content in files.items()})
    if is_shown(given):
        show("\n".join([str(result), "", *_unnamed(result), *_fill_in(out)]))
