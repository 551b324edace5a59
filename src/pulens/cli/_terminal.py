"""Evaluations as rich tables; colours go away by themselves when the output is not a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.report.summary import Row, summarise

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pulens.evaluation import Evaluation


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Rows, prior, population, two tables and the warnings, worst first."""
    from rich.markup import escape
    from rich.padding import Padding

    summary = summarise(evaluation, "command")
    for title, text in (
        ("rows", summary.counts),
        ("prior", summary.class_prior),
        ("about", summary.population),
        *([("labels", summary.scenario)] if summary.scenario else []),
    ):
        console.print(f"[dim]{title:<6}[/] {escape(text)}", highlight=False)
    console.print()
    wide = console.width >= 100
    console.print(_table("ranking", summary.ranking, summary.interval_name, wide))
    console.print(f"[dim]threshold[/] {escape(summary.threshold)}", highlight=False)
    console.print(_table("at the threshold", summary.at_threshold, summary.interval_name, wide))
    colours = {"NOTE": "dim", "WARNING": "yellow", "SERIOUS": "bold red"}
    for notice in summary.notices:
        style = colours[notice.severity.name]
        text = f"[{style}]{notice.severity.name.lower()}[/] {escape(str(notice))}"
        console.print(Padding(text, (1, 0, 0, 0)), highlight=False)


def _table(title: str, rows: tuple[Row, ...], interval_name: str, explain: bool) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title, min_width=24, no_wrap=True)
    table.add_column("recovered", justify="right", style="bold", no_wrap=True, min_width=9)
    if interval_name:
        table.add_column(interval_name, justify="right", no_wrap=True, min_width=14)
    table.add_column("uncorrected", justify="right", style="dim", no_wrap=True, min_width=11)
    if explain:
        table.add_column("meaning", style="dim", no_wrap=True)
    for row in rows:
        cells = [row.name, row.value, *([row.interval] if interval_name else []), row.naive]
        table.add_row(*cells, *([row.meaning] if explain else []))
    return table
