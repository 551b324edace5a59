"""pulens compare"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._cells import cell_arguments, cell_options
from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Number,
    assumption_options,
    audit_options,
    cluster_option,
    files_read,
    interval_options,
    many_scores_options,
    offers,
    reading_arguments,
    review_arguments,
    review_options,
    table_options,
)
from pulens.errors import PulensError

if TYPE_CHECKING:
    from pulens.comparison import Comparison


@click.command(name="compare")
@click.argument("file", shell_complete=complete_file)
@many_scores_options(
    "Column of a model's scores; give it once for each model. Default for a joint tally: all of its scores."
)
@table_options
@cluster_option
@assumption_options
@audit_options
@review_options
@cell_options
@click.option("--metric", multiple=True, help="Metric to compare by; the verdict is about the first.")
@click.option(
    "--threshold",
    multiple=True,
    metavar="NUMBER or MODEL=NUMBER",
    help="Predicted positive is score >= threshold; adds f1, accuracy, precision and recall.",
)
@click.option(
    "--cost-ratio",
    type=Number(),
    help="Price of a flag over worth of a hit: compares by net benefit, and says where two models are worth the same.",
)
@click.option("--top", metavar="ROWS or 1%", help="Rows of the list that are looked at: compares by what they hold.")
@interval_options
@offers(
    "explain", "html_path", "json_path", "quiet", html_path="Write a self-contained page with the ranking of models."
)
def command(
    file: str,
    score: tuple[str, ...],
    metric: tuple[str, ...],
    threshold: tuple[str, ...],
    cost_ratio: float | None,
    top: str | None,
    html_path: str | None,
    json_path: str | None,
    explain: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Say which of several models is better on the same rows, how sure that is, and where the class prior decides.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, a folder or quoted glob of them, a joint .tally file,
    a database address with --table, or - for standard input.

    \b
    Examples:
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.1:0.2 --threshold 0.5
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15 --cost-ratio 0.04 --top 200
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15 --html models.html
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15 --json -
      pulens compare scores.csv --score model_a --score model_b --threshold 0.5 --reviews queue.csv
      pulens compare "lake/*.parquet" --score model_a --score model_b --where "day > '2024-01-01'"
    """
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.comparison import compare
    from pulens.inputs.tallies import is_tally_file

    checked = review_arguments(given)
    check_targets({"--html": html_path, "--json": json_path}, *files_read(file, checked))
    assumed = ("class_prior", "unlabelled_prior", "label_noise", "scenario", "audit", "combine")
    names = (*assumed, "confidence", "redraws", "seed")
    reading = reading_arguments({**given, "score": list(score) or None})
    reading |= {name: given[name] for name in ("table", "where", "cluster")}
    if not score and not is_tally_file(file):
        raise PulensError("name each model's column of scores with --score: --score a --score b.")
    within = cell_arguments(given, given["class_prior"])
    if within:  # rows are read into memory, and have no table or condition
        reading = {name: value for name, value in reading.items() if value is not None}
    with working("Comparing the models", quiet=quiet):
        comparison = compare(
            file,
            metrics=metric or None,
            threshold=_thresholds(threshold),
            cost_ratio=cost_ratio,
            k=top,
            **{**{name: given[name] for name in names}, **within},
            **checked,
            **reading,
        )
    texts = {} if html_path is None else {html_path: comparison.to_html()}
    if json_path is not None:
        texts[json_path] = to_json(comparison.to_dict())
    write_texts(texts)
    if json_path != "-" and not quiet:
        from pulens.report.comparison import comparison_text

        click.echo(comparison_text(comparison, "command", explain=explain))
        for line in _next(comparison):
            click.echo(line)


def _next(comparison: Comparison) -> list[str]:
    """The check that would decide between the models, however labels were chosen."""
    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable, wrapped
    from pulens.report.next_steps import another_command, rows_to_check

    rows = rows_to_check(comparison.totals.unlabelled)
    if not rows or comparison.reviewed is not None:
        return []
    typed = typed_command(click.get_current_context())
    kept = [words for words in typed if words[0] != "--threshold"]
    best = comparison.leader()
    at = next((found.threshold for name in comparison.estimates.values() if (found := name[best]).threshold), None)
    options = (() if at is None else ("--threshold", f"{at:g}")) + ("--budget", str(rows), "--out", "queue.csv")
    command = another_command(kept, ("audit", "plan"), options, score=best)
    after = "--threshold <number> --reviews queue.csv" if at is None else "--reviews queue.csv"
    return ["", *wrapped(f"next: check {rows} rows, then add {after} to this command:"), *pasteable(command)]


def _thresholds(given: tuple[str, ...]) -> Any:
    """One number for all models, or MODEL=NUMBER for each."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0])
    found = {}
    for text in given:
        model, equals, number = text.rpartition("=")
        if not equals:
            raise PulensError(f"--threshold must be one number, or MODEL=NUMBER for each model, got {text!r}.")
        found[model] = _number(number)
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PulensError(f"--threshold must be a number or MODEL=NUMBER, got {text!r}.") from None
