"""pulens compare"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import (
    assumption_options,
    audit_options,
    cluster_option,
    interval_options,
    many_scores_options,
    reading_arguments,
    table_options,
)
from pulens.errors import PulensError


@click.command(name="compare")
@click.argument("file", shell_complete=complete_file)
@many_scores_options(
    "Column of a model's scores; give it once for each model. Default for a joint tally: all of its scores."
)
@table_options
@cluster_option
@assumption_options
@audit_options
@click.option("--metric", multiple=True, help="Metric to compare by; the verdict is about the first.")
@click.option(
    "--threshold",
    multiple=True,
    metavar="NUMBER or MODEL=NUMBER",
    help="Predicted positive is score >= threshold; adds f1, accuracy, precision and recall.",
)
@interval_options
@click.option("--html", "html_path", metavar="PATH", help="Write a self-contained page with the order of the models.")
@click.option("--json", "json_path", metavar="PATH", help="Write the result as JSON; - for standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Show nothing but errors; for scripts that only want files.")
def command(
    file: str,
    score: tuple[str, ...],
    metric: tuple[str, ...],
    threshold: tuple[str, ...],
    html_path: str | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Say which of several models is better on the same rows, how sure that is, and where the class prior decides.

    FILE is a CSV, TSV, JSON Lines, Parquet or Arrow file, compressed or not, or - for standard input; a folder or
    quoted glob of such files; a joint .tally file (pulens tally --score a --score b); or a database
    (duckdb:///x.db, postgresql://...) with --table.

    \b
    Examples:
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.1:0.2 --threshold 0.5
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15 --html models.html
      pulens compare scores.csv --score model_a --score model_b --class-prior 0.15 --json -
      pulens compare "lake/*.parquet" --score model_a --score model_b --where "day > '2024-01-01'"
    """
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.comparison import compare
    from pulens.inputs.tallies import is_tally_file

    check_targets({"--html": html_path, "--json": json_path}, file)
    assumed = ("class_prior", "unlabelled_prior", "label_noise", "scenario", "audit", "combine")
    names = (*assumed, "confidence", "redraws", "seed")
    reading = reading_arguments({**given, "score": list(score) or None})
    reading |= {name: given[name] for name in ("table", "where", "cluster")}
    if not score and not is_tally_file(file):
        raise PulensError("name each model's column of scores with --score: --score a --score b.")
    with working("Comparing the models", quiet=quiet):
        comparison = compare(
            file,
            metrics=metric or None,
            threshold=_thresholds(threshold),
            **{name: given[name] for name in names},
            **reading,
        )
    texts = {} if html_path is None else {html_path: comparison.to_html()}
    if json_path is not None:
        texts[json_path] = to_json(comparison.to_dict())
    write_texts(texts)
    if json_path != "-" and not quiet:
        click.echo(str(comparison))


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
