"""pulens audit"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_column, complete_file
from pulens.cli._options import (
    Number,
    Whole,
    assumption_options,
    engine_arguments,
    engine_options,
    offers,
    reading_arguments,
    reading_options,
)
from pulens.errors import AssumptionError, InputError

if TYPE_CHECKING:
    from pulens.audits.plan import AuditPlan
    from pulens.doors.audit import QueueResult

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


class ErrorRates(click.ParamType[Any]):
    """Two rates of errors, each a number or low:high; which of them can be is checked where numbers are made."""

    name = "FP,FN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        rates = [[_number(end) for end in rate.split(":")] for rate in str(value).split(",")]
        if len(rates) != 2 or any(len(ends) > 2 or None in ends for ends in rates):
            self.fail(
                "must be two rates, of negatives called positive and of positives called negative, each a number or "
                f"low:high: 0.02,0.05 or 0:0.02,0:0.1; got {value!r}",
                param,
                ctx,
            )
        return tuple(tuple(ends) if len(ends) == 2 else ends[0] for ends in rates)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@command.command(name="plan")
@click.argument("file", shell_complete=complete_file)
@offers(
    out={
        "required": True,
        "help": "The queue to write (.csv, .tsv, .parquet, .xlsx); its plan, NAME.audit.json, goes to the same folder.",
    }
)
@click.option("--budget", type=Whole(), help="How many rows to check.  [default: 200]")
@click.option(
    "--width",
    type=Number(),
    help="Instead of --budget: width of the goal's interval (F1 for all); the number of rows follows.",
)
@click.option(
    "--goal",
    default="all",
    show_default=True,
    shell_complete=complete_goal,
    metavar="NAME",
    help="What to measure best: precision, recall, f1, class_prior, or all of them.",
)
@offers("threshold")
@click.option(
    "--id",
    "id_column",
    metavar="COLUMN",
    shell_complete=complete_column,
    help="Column that identifies rows: whole numbers or text. Default: the position in the file; databases, folders "
    "and --where need a column.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    shell_complete=complete_column,
    help="Column that the reviewer needs to see; once for each.",
)
@click.option(
    "--show-scores", is_flag=True, help="Show score and stratum. Reviewers who see a high score tend to say yes."
)
@offers("seed")
@reading_options
@engine_options
@assumption_options
@offers("json_path", "quiet")
def plan(
    file: str,
    out: str,
    budget: int | None,
    width: float | None,
    goal: str,
    threshold: float | None,
    id_column: str | None,
    keep: tuple[str, ...],
    show_scores: bool,
    seed: int,
    class_prior: Any,
    unlabelled_prior: Any,
    label_noise: float,
    scenario: str,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Draw the rows of FILE that a person should check into a queue with an empty column "answer".

    Fill the column in, from the top and as far as time allows: 1, yes, true, positive or + where a row is positive; 0,
    no, false, negative or - where it is not; nothing where it is open, "unsure" where nobody can tell.

    \b
    Examples:
      pulens audit plan scores.csv --budget 200 --out queue.csv
      pulens audit plan scores.parquet --threshold 0.5 --goal f1 --id case --keep text --out queue.xlsx
      pulens audit plan scores.csv --width 0.1 --out queue.csv
    """
    from pulens.audits.queue import kind_of, plan_path, queue_files, queue_locked, refuse_answered
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_all
    from pulens.doors.audit import plan_audit

    if unlabelled_prior is not None:
        raise AssumptionError("an audit is planned with --class-prior, the share of positives in the population.")
    kind_of(out)
    check_targets({"--out": out, "the plan": str(plan_path(out)), "--json": json_path}, file)
    refuse_answered(out)
    with working("Reading and counting rows", quiet=quiet):
        found = plan_audit(
            file,
            budget=budget,
            width=width,
            goal=goal,
            threshold=threshold,
            id=id_column,
            keep=keep,
            seed=seed,
            show_scores=show_scores,
            scenario=scenario,
            class_prior=class_prior,
            label_noise=label_noise,
            **reading_arguments(given),
            **engine_arguments(given),
        )
        files = dict(queue_files(found, out))
        if json_path is not None:
            files[json_path] = f"{to_json(found.to_dict())}\n".encode()
    with queue_locked(out):
        write_all({str(path): content for path, content in files.items()})
    _show(found, out, quiet=quiet or json_path == "-")


@command.command(name="read")
@click.argument("queue", shell_complete=complete_file)
@click.option("--plan", "plan_file", metavar="PATH", help="The plan, if it is not in the same folder as the queue.")
@offers("confidence")
@click.option(
    "--interval",
    default="balanced",
    show_default=True,
    metavar="KIND",
    help="balanced, or strict: wider, with proven coverage where there is a proof.",
)
@click.option("--anytime", is_flag=True, help="Intervals that are valid whenever checking stops; wider.")
@click.option("--at", "at_threshold", type=Number(), help="Another threshold than the plan's.")
@click.option("--yes", multiple=True, metavar="WORD", help="A further word that means positive; once for each.")
@click.option("--no", multiple=True, metavar="WORD", help="A further word that means negative; once for each.")
@click.option(
    "--reviewer-errors",
    type=ErrorRates(),
    help="Share of negatives that a reviewer calls positive and of positives called negative: 0.02,0.05, or ranges "
    "0:0.02,0:0.1. Adds corrected numbers.",
)
@click.option(
    "--second",
    metavar="COLUMN|FILE",
    help="A second reviewer's answers on some rows: a column of the queue, or another queue file. Adds agreement and "
    "the error rates it suggests.",
)
@click.option(
    "--nearly-random",
    type=Number(),
    metavar="FACTOR",
    help="Add numbers for labels that favour one side of the threshold by at most this factor, such as 3.",
)
@click.option("--source", metavar="FILE", help="The table; the answers are refused if it has changed.")
@click.option("--allow-changed", is_flag=True, help="With --source: use the plan's counts if it has changed.")
@offers("explain", "html_path", "json_path", "quiet")
def read(
    queue: str,
    plan_file: str | None,
    confidence: float,
    interval: str,
    anytime: bool,
    at_threshold: float | None,
    yes: tuple[str, ...],
    no: tuple[str, ...],
    reviewer_errors: Any,
    second: str | None,
    nearly_random: float | None,
    source: str | None,
    allow_changed: bool,
    explain: bool,
    html_path: str | None,
    json_path: str | None,
    quiet: bool,
) -> None:
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
    from pulens.audits.queue import plan_path
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.doors.audit import read_audit

    read_from = [queue, str(plan_path(queue)) if plan_file is None else plan_file]
    read_from += [] if source is None else [source]
    read_from += [] if second is None or not is_queue_name(second) else [second]
    check_targets({"--html": html_path, "--json": json_path}, *read_from)
    shown = not quiet and json_path != "-"
    with working("Reading the answers", quiet=quiet):
        result = read_audit(
            queue,
            confidence=confidence,
            interval=interval,
            anytime=anytime,
            yes=yes,
            no=no,
            at=at_threshold,
            plan=plan_file,
            source=source,
            allow_changed=allow_changed,
            reviewer_errors=reviewer_errors,
            second=second,
            nearly_random=nearly_random,
        )
        words = answer_text(result, explain=explain) if shown else ""  # a forecast is made for JSON and page only
        texts = {} if json_path is None else {json_path: to_json(answer_of(result))}
        if html_path is not None:
            texts[html_path] = page_of(result)
    write_texts(texts)
    if shown:
        click.echo(words)


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
        return "\n".join(words)
    return "\n".join([result._text("command", explain=explain), *_next(result)])


def _next(result: QueueResult) -> list[str]:
    """More rows of the same plan, where rows are left."""
    import shlex

    from pulens.report.lines import pasteable
    from pulens.report.next_steps import FEWEST_TO_PLAN, MORE_TO_CHECK

    checked, rows = int(result.counts.checked.sum()), int(result.counts.rows.sum())
    if checked + FEWEST_TO_PLAN > rows:
        return []
    budget = str(min(checked + MORE_TO_CHECK, rows))
    words = ["pulens", "audit", "more", str(result.path), "--budget", budget, "--out", "queue2.csv"]
    return ["", f"next: check {int(budget) - checked:,} more rows of the same plan:", *pasteable(shlex.join(words))]


def page_of(result: QueueResult) -> str:
    """The same as a page; before any answer there is nothing to show."""
    if not result.counts.checked.any():
        raise InputError("no row is answered yet, so there is no page to write: fill in the column answer first.")
    return result.to_html()


@command.command(name="more")
@click.argument("queue", shell_complete=complete_file)
@offers(out={"required": True, "help": "The larger queue to write; answers are kept."})
@click.option("--budget", type=Whole(), required=True, help="Rows to check in total, earlier ones included.")
@click.option("--plan", "plan_file", metavar="PATH", help="The plan, if it is not in the same folder as the queue.")
@click.option(
    "--source",
    metavar="FILE",
    help="The table or database that rows were drawn from. Default: the file named in the plan, in the queue's folder "
    "or this one.",
)
@click.option("--allow-changed", is_flag=True, help="Draw from a table that has changed since the plan.")
@offers("json_path", "quiet")
def more(
    queue: str,
    out: str,
    budget: int,
    plan_file: str | None,
    source: str | None,
    allow_changed: bool,
    json_path: str | None,
    quiet: bool,
) -> None:
    """Add rows to a QUEUE: its answers stay, and the larger queue holds all rows of the smaller one.

    \b
    Examples:
      pulens audit more queue.csv --budget 300 --out queue2.csv
      pulens audit more queue.csv --budget 300 --source scores.parquet --out queue2.xlsx
    """
    from pulens.audits.queue import kind_of, plan_path, queue_files, queue_locked, refuse_answered
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_all
    from pulens.doors.audit import more_audit

    kind_of(out)
    read_from = (queue, str(plan_path(queue)) if plan_file is None else plan_file)
    targets = {"--out": out, "the plan": str(plan_path(out)), "--json": json_path}
    check_targets(targets, *read_from, *([] if source is None else [source]))
    refuse_answered(out)
    with working("Reading and counting rows", quiet=quiet):
        found = more_audit(queue, budget=budget, source=source, plan=plan_file, allow_changed=allow_changed)
        files = dict(queue_files(found, out))
        if json_path is not None:
            files[json_path] = f"{to_json(found.to_dict())}\n".encode()
    with queue_locked(out):
        write_all({str(path): content for path, content in files.items()})
    _show(found, out, quiet=quiet or json_path == "-")


def _show(found: AuditPlan, out: str, *, quiet: bool) -> None:
    if quiet:
        return
    click.echo(str(found))
    click.echo(f"\nnext: fill in the column answer of {out}, then:\n  pulens audit read {out}")
