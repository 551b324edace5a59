"""pulens evaluate"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._cells import cell_arguments, cell_options
from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Number,
    assumption_options,
    audit_options,
    cluster_option,
    engine_arguments,
    engine_options,
    files_read,
    offers,
    page_options,
    reading_arguments,
    reading_options,
    review_arguments,
    review_options,
)
from pulens.cli._segments import refuse_without_group_by, segment_options
from pulens.errors import PulensError

if TYPE_CHECKING:
    from pulens.doors.bounds import Bounds
    from pulens.doors.evaluate import Evaluation
    from pulens.doors.sensitivity import Sensitivity
    from pulens.doors.top import Top
    from pulens.doors.top_of_queries import TopOfQueries


@click.command(name="evaluate")
@click.argument("file", shell_complete=complete_file)
@reading_options
@engine_options
@cluster_option
@segment_options
@cell_options
@assumption_options
@audit_options
@review_options
@offers("threshold", "confidence", "redraws", "seed", "labelling", "all_metrics", "explain")
@click.option(
    "--sensitivity",
    type=Number(),
    metavar="FACTOR",
    help="Also show the range of every metric if positives with high scores were up to FACTOR times as likely to be "
    "labelled as others.",
)
@click.option(
    "--worlds",
    type=Number(),
    default=3.0,
    show_default=True,
    metavar="MULTIPLE",
    help="If the data contradict random labels: how far from random the labels may be, as a multiple of the least "
    "departure that fits the data.",
)
@click.option("--bounds", "with_bounds", is_flag=True, help="Also show bounds that need no class prior.")
@click.option(
    "--top",
    multiple=True,
    metavar="ROWS or 1%",
    help="Judge the first rows of the list: precision, recall, enrichment, DCG. Repeat it for another depth.",
)
@click.option(
    "--per",
    metavar="COLUMN",
    help="With --top: column of queries (users, targets); the first rows of each, averaged over positives and queries.",
)
@page_options
@click.option(
    "--scores-are",
    type=click.Choice(["probability", "logit"]),
    help="Say that scores are probabilities or logits: adds a reliability diagram to the page.",
)
def command(file: str, **given: Any) -> None:
    """Show how good a classifier is on positives versus negatives, from a table of scores and PU labels.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, a folder or quoted glob of them, a .tally file,
    a database address with --table, or - for standard input.

    \b
    Examples:
      pulens evaluate scores.csv
      pulens evaluate scores.csv --class-prior 0.1
      pulens evaluate scores.csv --class-prior 0.1 --html report.html
      pulens evaluate scores.csv --class-prior 0.1 --top 200 --html report.html
      pulens evaluate scores.csv --reviews queue.csv
      pulens evaluate scores.parquet --score p --label fraud --positive confirmed --class-prior 0.02:0.05
      pulens evaluate duckdb:///scores.db --table t --where "day > '2024-01-01'" --group-by country --class-prior 0.1
      pulens evaluate scores.csv --group-by sex --gaps recall --threshold 0.4 --html gaps.html
      pulens evaluate visits.csv --within clinic --class-prior 0.1
      pulens evaluate visits.csv --class-prior 0.1 --cluster patient
      pulens evaluate run.parquet --top 10 --per query --class-prior 0.02
      cat scores.csv | pulens evaluate - --class-prior 0.1 --json -
    """
    from pulens.cli._output import answer_texts, page_title, working
    from pulens.cli._typed import typed_command
    from pulens.cli._write import check_targets, write_texts
    from pulens.doors.evaluate import evaluate
    from pulens.doors.reviews_asked import NothingLabelledError

    typed = typed_command(click.get_current_context())
    checked = review_arguments(given)
    paths = {form: given[f"{form}_path"] for form in ("html", "markdown", "json")}
    check_targets({f"--{form}": path for form, path in paths.items()}, *files_read(file, checked))
    quiet, scores_are, sensitivity = given["quiet"], given["scores_are"], given["sensitivity"]
    group_by, top, per = given["group_by"], given["top"], given["per"]
    arguments = {
        **{name: given[name] for name in PASSED},
        **{name: given[name] for name in ("per", "cluster") if given[name] is not None},
        **cell_arguments(given, given["class_prior"]),
        **reading_arguments(given),
        **engine_arguments(given),
    }
    by_segment = {name: given[name] for name in BY_SEGMENT}
    if group_by:
        from pulens.cli._cells import refuse_beside_segments
        from pulens.cli._segments import show_segments
        from pulens.doors.combinations import refuse_together

        refuse_beside_segments(arguments)
        if arguments.pop("labelling") not in (None, "random"):
            refuse_together("practice-segments")
        if any(value is not None for value in checked.values()):
            refuse_together("reviews-segments")
        whole = {
            "--sensitivity": sensitivity is not None,
            "--bounds": given["with_bounds"],
            "--scores-are": bool(scores_are),
        }
        whole |= {"--top": bool(top), "--per": arguments.pop("per", None) is not None}
        show_segments(file, group_by, paths, page_title(file, given), arguments, by_segment, whole, quiet=quiet)
        return
    refuse_without_group_by(by_segment)
    if per is not None and not top:
        raise PulensError(f"--per {per} takes ranks within queries: say how many rows of each with --top 10.")
    with working("Reading and counting rows", quiet=quiet):
        try:
            evaluation = evaluate(file, **arguments, **checked)
        except NothingLabelledError:  # every label is an answer: what the review itself proves is all there is
            show_review_alone(file, arguments, checked, paths=tuple(paths.values()), quiet=quiet)
            return
        dict(evaluation.estimates)  # found on first use, and that may take a while
        ranges, refused = ({}, "") if sensitivity is None else _ranges(evaluation, sensitivity)
        limits = evaluation.bounds(confidence=given["confidence"]) if given["with_bounds"] else None
        tops = [evaluation.top(k) for k in top if per is None]
        of_queries = [evaluation.top(k, per=per) for k in top if per is not None]
    texts = answer_texts(
        evaluation,
        paths,
        page_title(file, given),
        quiet=quiet,
        scores_are=scores_are,
        more=_asked_beside(ranges, refused, limits, [*tops, *of_queries]),
        typed=typed,
        tops=tops,
    )
    write_texts(texts)
    if not quiet and "-" not in paths.values():
        from rich.console import Console

        from pulens.cli._terminal import show_evaluation

        console = Console()
        for each in [*tops, *of_queries]:
            console.print(f"{each}\n", highlight=False, markup=False)
        show_evaluation(evaluation, console, typed, all_metrics=given["all_metrics"], explain=given["explain"])
        for line in _lines_beside(sensitivity, ranges, refused, limits):
            console.print(line, highlight=False, markup=False)


#: Options that :func:`pulens.evaluate` takes as they are.
PASSED = (
    *("class_prior", "unlabelled_prior", "label_noise", "scenario", "audit", "combine", "threshold", "confidence"),
    *("redraws", "seed", "worlds", "labelling"),
)
BY_SEGMENT = ("gaps", "segment_priors", "class_prior_column", "same_prior", "metrics")


def _lines_beside(
    sensitivity: float | None, ranges: dict[str, Sensitivity], refused: str, limits: Bounds | None
) -> Iterator[str]:
    """What stands on the terminal below an evaluation."""
    if ranges:
        yield f"\nif positives with high scores were labelled up to {sensitivity:g} times as often as others"
        yield f"{'':34}with sampling error   without"
        for found in ranges.values():
            without = f"{found.possible.low:.3f} to {found.possible.high:.3f}"
            yield f"  {found.metric:<24} {found.value:.3f}  {found.interval!s:<19}   {without}"
    if refused:
        yield f"\nno sensitivity: {refused}"
    if limits is not None:
        yield f"\n{limits}"


def _asked_beside(
    ranges: dict[str, Sensitivity], refused: str, limits: Bounds | None, tops: list[Top | TopOfQueries]
) -> dict[str, Any]:
    """What a JSON file holds beside the evaluation."""
    more: dict[str, Any] = {}
    if ranges:
        more["sensitivity"] = {name: found.to_dict() for name, found in ranges.items()}
    if refused:
        more["sensitivity"] = {"refused": refused}
    if limits is not None:
        more["bounds"] = limits.to_dict()
    if tops:
        more["top"] = [each.to_dict() for each in tops]
    return more


def _ranges(evaluation: Evaluation, factor: float) -> tuple[dict[str, Sensitivity], str]:
    """Of every metric that is defined; or why there are none, where random labels are impossible."""
    ranges = {}
    for name, found in evaluation.estimates.items():
        if found.undefined_because:
            continue
        try:
            ranges[name] = evaluation.sensitivity(name, factor=factor)
        except PulensError as error:
            if evaluation._random_labels().contradiction is None:
                raise
            return {}, str(error)
    return ranges, ""


def show_review_alone(
    file: str, arguments: dict[str, Any], checked: dict[str, Any], *, paths: tuple[str | None, ...], quiet: bool
) -> None:
    """The answer where nothing is labelled beside the review: nothing is recovered, the review speaks alone."""
    from pulens.cli._write import to_json, write_texts
    from pulens.doors.reviews import read_reviews
    from pulens.report.audit_text import audit_text

    html_path, markdown_path, json_path = paths
    if markdown_path is not None:
        raise PulensError("every label is an answer of the review, and of such a review there is no Markdown.")
    known = ("scenario", "threshold", "confidence", "seed")
    reading = {name: value for name, value in arguments.items() if name in READ}
    result = read_reviews(file, **{name: arguments[name] for name in known}, **checked, **reading)
    texts = {} if json_path is None else {json_path: to_json({"audit": result.to_dict()})}
    if html_path is not None:
        texts[html_path] = result.to_html()
    write_texts(texts)
    if not quiet and json_path != "-":
        click.echo(audit_text(result))


READ = (
    *("score", "label", "format", "delimiter", "decimal", "thousands", "encoding", "sheet"),
    *("positive", "negative", "unlabelled"),
)
