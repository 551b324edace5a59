"""Evaluations as rich tables; colours go away by themselves when the output is not a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.notice import Notice
from pulens.report.audit_text import audit_block
from pulens.report.summary import Row, Summary, summarise
from pulens.report.text import AGAINST

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pulens.doors.evaluate import Evaluation

COLOURS = {"NOTE": "dim", "WARNING": "yellow", "SERIOUS": "bold red"}


def show_evaluation(evaluation: Evaluation, console: Console, typed: Sequence[tuple[str, ...]] = ()) -> None:
    """The verdict; rows, prior, population; two tables; the warnings, worst first; what to type next.

    ``typed`` is the command itself, an option and its value together.
    """
    summary = summarise(evaluation, "command")
    for sentence in summary.verdict:
        console.print(sentence, style="bold", highlight=False, markup=False)
    console.print()
    _show_head(summary, console)
    console.print()
    if summary.audit is not None:
        for line in audit_block(summary.audit):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        console.print()
        _show_notices([notice for notice in summary.notices if notice.code == AGAINST], console)
    wide = console.width >= 100
    console.print(_table("ranking", summary.ranking, summary.interval_name, wide))
    console.print(_table("at the threshold", summary.at_threshold, summary.interval_name, wide))
    _show_cells(summary, console)
    if summary.legend:
        console.print(summary.legend, style="dim", highlight=False, markup=False)
    above = AGAINST if summary.audit is not None else ""  # said before the numbers that it speaks of
    _show_notices([notice for notice in summary.notices if notice.code != above], console)
    _show_next(summary, console, typed)


def _show_head(summary: Summary, console: Console) -> None:
    from rich.table import Table

    head = Table.grid(padding=(0, 1, 0, 0))
    head.add_column(style="dim", no_wrap=True)
    head.add_column(overflow="fold")
    for title, text in (
        ("rows", summary.counts),
        *([("clusters", summary.clusters)] if summary.clusters else []),
        ("prior", summary.class_prior),
        ("about", summary.population),
        *([("labels", summary.scenario)] if summary.scenario else []),
        ("threshold", f"{summary.threshold} ({summary.threshold_choice})"),
    ):
        head.add_row(title, _plain(text))
    console.print(head)


def _show_cells(summary: Summary, console: Console) -> None:
    from pulens.report.cells import shown_cells

    if summary.cells is None:
        return
    head, *lines = shown_cells(summary.cells)
    console.print(head, style="bold", highlight=False, markup=False, soft_wrap=True)
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print()
    for sentence in summary.cells.sentences:
        console.print(sentence, highlight=False, markup=False)


def _show_notices(notices: Sequence[Notice], console: Console) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    for notice in notices:
        style = COLOURS[notice.severity.name]
        text = f"[{style}]{notice.severity.name.lower()}[/] {escape(str(notice))}"
        console.print(Padding(text, (1, 0, 0, 0)), highlight=False)


def _show_next(summary: Summary, console: Console, typed: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    if summary.next_steps:
        console.print("\nnext", style="bold", highlight=False)
    for number, step in enumerate(summary.next_steps, 1):
        said = Table.grid(padding=(0, 1, 0, 0))
        said.add_row("", f"{number}.", _plain(step.sentence))
        console.print(said)
        command = step.shell(typed)
        if command:  # never broken into lines: it is there to be pasted
            console.print(f"     {command}", style="cyan", highlight=False, markup=False, soft_wrap=True)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


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
        cells = [row.name, row.marked_value, *([row.interval] if interval_name else []), row.naive]
        table.add_row(*cells, *([row.meaning] if explain else []))
    return table
