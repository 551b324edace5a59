"""pulens evaluate"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, files_read, offers, targets
from pulens.cli._segments import refuse_without_group_by, show_segments
from pulens.errors import PulensError

if TYPE_CHECKING:
    from pulens.evaluation.bounds import Bounds
    from pulens.evaluation.top import Top, TopOfQueries


@click.command(name="evaluate")
@click.argument("file", shell_complete=complete_file)
@offers(
    "ROWS ENGINE cluster* SEGMENTS WITHIN ASSUMPTIONS AUDIT REVIEWS threshold* INTERVALS labelling* all_metrics* "
    "explain* sensitivity worlds with_bounds top per html_path* markdown_path json_path* quiet scores_are"
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
    from pulens.cli._output import answer_texts, is_shown, page_title, working
    from pulens.cli._typed import typed_command
    from pulens.cli._write import check_targets, write_texts
    from pulens.evaluation.evaluate import evaluate
    from pulens.evidence.review_options import NothingLabelledError

    typed = typed_command(click.get_current_context())
    given["labelling"] = _labelling(given["labelling"], given["sensitivity"])
    check_targets(targets(given), *files_read(file, given))
    if given["group_by"]:
        show_segments(file, given)
        return
    refuse_without_group_by(given)
    quiet, top, per = (given[name] for name in ("quiet", "top", "per"))
    if per is not None and not top:
        raise PulensError(f"--per {per} takes ranks within queries: say how many rows of each with --top 10.")
    with working("Reading and counting rows", quiet=quiet):
        try:
            evaluation = evaluate(file, **asked(evaluate, given))
        except NothingLabelledError:  # every label is an answer: what the review itself proves is all there is
            show_review_alone(file, given)
            return
        dict(evaluation.estimates)  # found on first use, and that may take a while
        limits = evaluation.bounds(confidence=given["confidence"]) if given["with_bounds"] else None
        tops = [evaluation.top(k) for k in top if per is None]
        of_queries = [evaluation.top(k, per=per) for k in top if per is not None]
    texts = answer_texts(
        evaluation,
        given,
        page_title(file, given),
        more=_asked_beside(limits, [*tops, *of_queries]),
        typed=typed,
        tops=tops,
    )
    write_texts(texts)
    if is_shown(given):
        from pulens.cli._terminal import show_evaluation
        from pulens.report.lines import narrow

        full = given["all_metrics"] or given["explain"]  # every measure of the first rows, too
        for each in [*(tops if full else ()), *of_queries]:
            click.echo(f"{narrow(str(each))}\n")
        show_evaluation(
            evaluation,
            typed,
            tops=() if full else tops,
            all_metrics=given["all_metrics"],
            explain=given["explain"],
        )
        if limits is not None:
            click.echo(f"\n{limits}")
    if given["sensitivity"] is not None and not quiet:
        factor = f"{given['sensitivity']:g}"
        click.echo(f"pulens: --sensitivity {factor} is --labelling {factor} from now on", err=True)


def _labelling(said: str | None, factor: float | None) -> str | None:
    """What was said of labels; a factor of ``--sensitivity`` is one of ``--labelling``."""
    if factor is None:
        return said
    if said is not None:
        raise PulensError(f"--sensitivity {factor:g} is another word for --labelling {factor:g}: give one of them.")
    return repr(factor)


def _asked_beside(limits: Bounds | None, tops: list[Top | TopOfQueries]) -> dict[str, Any]:
    """What a JSON file holds beside the evaluation."""
    more: dict[str, Any] = {} if limits is None else {"bounds": limits.to_dict()}
    return {**more, "top": [each.to_dict() for each in tops]} if tops else more


def show_review_alone(file: str, given: dict[str, Any]) -> None:
    """The answer where nothing is labelled beside the review: nothing is recovered, only the checked rows count."""
    from pulens.cli._output import deliver
    from pulens.cli._write import to_json
    from pulens.evaluation.reviews import read_reviews
    from pulens.report.audit_text import audit_text

    if given["markdown_path"] is not None:
        raise PulensError("every label is an answer of the review, and of such a review there is no Markdown.")
    result = read_reviews(file, **asked(read_reviews, given))
    answer = {"html": result.to_html, "json": lambda: to_json({"audit": result.to_dict()})}
    deliver(given, lambda: audit_text(result), **answer)
