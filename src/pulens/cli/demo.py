"""pulens demo"""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="demo")
@click.option("--seed", default=0, show_default=True, help="Which rows are labelled and how data are split.")
@click.option("--html", "html_path", default="pulens-demo.html", show_default=True, help="Where the page goes.")
@click.option("--table", help="Where the scores and labels go as a CSV file; without it nowhere.")
def command(seed: int, html_path: str, table: str | None) -> None:
    """Train on PU labels, evaluate from PU labels alone, and show the truth next to it.

    The data are scikit-learn's handwritten digits: those from 5 to 9 are positive, half of them are labelled and
    everything else is unlabelled. The truth is used for nothing but the last column.

    Example: pulens demo --html digits.html --table digits.csv
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from pulens.cli._output import working
    from pulens.cli._write import check_targets, write_text
    from pulens.demo import run_demo
    from pulens.report.words import title_of

    check_targets({"--html": html_path, "--table": table})
    with working("Training on PU labels and evaluating from them"):
        result = run_demo(seed)
        result.evaluation.to_html(html_path, title="Handwritten digits, 5 to 9 against 0 to 4")
        if table is not None:
            write_text(table, result.table)
    console = Console()
    totals = result.evaluation.tally.totals
    console.print(
        f"{totals.labelled:,.0f} labelled positives, {totals.unlabelled:,.0f} unlabelled rows, a logistic regression "
        f"trained to separate them; class prior {result.evaluation.class_prior.value:.3f} taken as known.",
        highlight=False,
    )
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("", min_width=22)
    shown.add_column("uncorrected", justify="right", style="dim")
    shown.add_column("recovered", justify="right", style="bold")
    shown.add_column("95% interval", justify="right")
    shown.add_column("truth", justify="right", style="green")
    for name, truth in result.truth.items():
        recovered, uncorrected = result.evaluation.estimates[name], result.evaluation.uncorrected[name]
        interval = (
            "" if recovered.interval is None else f"{recovered.interval.low:.3f} to {recovered.interval.high:.3f}"
        )
        shown.add_row(title_of(name), f"{uncorrected.value:.3f}", f"{recovered.value:.3f}", interval, f"{truth:.3f}")
    console.print(shown)
    console.print("The uncorrected column is what you get by treating unlabelled rows as negatives.", style="dim")
    console.print("The truth is that of these rows; the interval is for the population they are from.", style="dim")
    console.print(
        f"The page with sliders and charts: {Path(html_path).resolve().as_uri()}", highlight=False, soft_wrap=True
    )
    console.print("Next: pulens evaluate <your file>.csv --class-prior 0.1", highlight=False)
