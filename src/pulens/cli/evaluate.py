"""pulens evaluate"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Number,
    assumption_options,
    interval_options,
    page_options,
    reading_arguments,
    reading_options,
)


@click.command(name="evaluate")
@click.argument("file", shell_complete=complete_file)
@reading_options
@assumption_options
@click.option(
    "--audit",
    metavar="K/R",
    help="K positives were found among R randomly chosen unlabelled rows: sharpens an estimated class prior.",
)
@click.option("--threshold", type=Number(), help="Predicted positive is score >= threshold. Default: best F1.")
@interval_options
@page_options
@click.option(
    "--scores-are",
    type=click.Choice(["probability", "logit"]),
    help="Say that scores are probabilities or logits, and the page has a reliability diagram.",
)
def command(
    file: str,
    threshold: float | None,
    html_path: str | None,
    markdown_path: str | None,
    json_path: str | None,
    quiet: bool,
    scores_are: str | None,
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

    FILE is a CSV, TSV, JSON Lines, Parquet or Arrow file, compressed or not, or - for standard input.

    \b
    Examples:
      pulens evaluate scores.csv
      pulens evaluate scores.csv --class-prior 0.1
      pulens evaluate scores.csv --class-prior 0.1 --html report.html
      pulens evaluate scores.parquet --score p --label fraud --positive confirmed --class-prior 0.02:0.05
      cat scores.csv | pulens evaluate - --class-prior 0.1 --json -
    """
    from pulens.cli._output import page_title, working, write_answers
    from pulens.evaluation import evaluate

    with working("Reading and counting rows", quiet=quiet):
        evaluation = evaluate(
            file,
            class_prior=class_prior,
            unlabelled_prior=unlabelled_prior,
            label_noise=label_noise,
            scenario=scenario,
            audit=audit,
            threshold=threshold,
            confidence=confidence,
            redraws=redraws,
            seed=seed,
            **reading_arguments(given),
        )
        evaluation.estimates  # noqa: B018 - found on first use, and that may take a while
    shown = write_answers(
        evaluation,
        {"html": html_path, "markdown": markdown_path, "json": json_path},
        page_title(file, given),
        quiet=quiet,
        scores_are=scores_are,
    )
    if shown:
        from rich.console import Console

        from pulens.cli._terminal import show_evaluation

        show_evaluation(evaluation, Console())
