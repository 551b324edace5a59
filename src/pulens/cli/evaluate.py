"""pulens evaluate"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import (
    Number,
    assumption_options,
    engine_arguments,
    engine_options,
    interval_options,
    reading_arguments,
    reading_options,
)


@click.command(name="evaluate")
@click.argument("file")
@reading_options
@engine_options
@click.option("--group-by", metavar="COLUMN", help="One evaluation per value of a column.")
@assumption_options
@click.option(
    "--audit",
    metavar="K/R",
    help="K positives were found among R randomly chosen unlabelled rows: sharpens an estimated class prior.",
)
@click.option("--threshold", type=Number(), help="Predicted positive is score >= threshold. Default: best F1.")
@interval_options
@click.option("--json", "json_path", metavar="PATH", help="Write the result as JSON; - for standard output.")
def command(
    file: str,
    group_by: str | None,
    threshold: float | None,
    json_path: str | None,
    class_prior: Any,
    unlabelled_prior: Any,
    label_noise: float,
    scenario: str,
    confidence: float,
    redraws: int,
    seed: int,
    audit: str | None,
    **given: Any,
) -> None:
    """Show how good a classifier is on positives versus negatives, from a table of scores and PU labels.

    FILE is a CSV, TSV, JSON Lines, Parquet or Arrow file, compressed or not, or - for standard input; a folder or
    quoted glob of Parquet or CSV files; a .tally file; or a database (duckdb:///x.db, postgresql://...) with --table.

    \b
    Examples:
      pulens evaluate scores.csv
      pulens evaluate scores.csv --class-prior 0.1
      pulens evaluate scores.parquet --score p --label fraud --positive confirmed --class-prior 0.02:0.05
      pulens evaluate duckdb:///scores.db --table t --where "day > '2024-01-01'" --group-by country --class-prior 0.1
      cat scores.csv | pulens evaluate - --class-prior 0.1 --json -
    """
    from pulens.cli._write import to_json, write_text
    from pulens.evaluation import evaluate

    arguments = {
        "class_prior": class_prior,
        "unlabelled_prior": unlabelled_prior,
        "label_noise": label_noise,
        "scenario": scenario,
        "audit": audit,
        "threshold": threshold,
        "confidence": confidence,
        "redraws": redraws,
        "seed": seed,
        **reading_arguments(given),
        **engine_arguments(given),
    }
    if group_by is not None:
        from pulens.cli._segments import show_segments

        show_segments(file, group_by, json_path, arguments)
        return
    evaluation = evaluate(file, **arguments)
    if json_path is not None:
        write_text(json_path, to_json(evaluation.to_dict()))
    if json_path != "-":
        from rich.console import Console

        from pulens.cli._terminal import show_evaluation

        show_evaluation(evaluation, Console())
