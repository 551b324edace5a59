"""Evaluations per segment on the terminal and as JSON."""

from __future__ import annotations

from typing import Any


def show_segments(file: str, group_by: str, json_path: str | None, arguments: dict[str, Any]) -> None:
    """Evaluate every segment, print a table, write JSON."""
    from pulens.cli._write import to_json, write_text
    from pulens.segments import evaluate_by

    found = evaluate_by(file, group_by, **arguments)
    if json_path is not None:
        write_text(json_path, to_json(found.to_dict()))
    if json_path == "-":
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    title, *rows = found.rows()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(title):
        table.add_column(
            escape(name), justify="right" if place else "left", overflow="fold", min_width=min(len(name), 9)
        )
    for row in rows:
        table.add_row(*map(escape, row))
    console = Console()
    console.print(table)
    for segment, evaluation in found.items():
        for notice in evaluation.notices:
            if notice.severity.name != "NOTE":
                style = "bold red" if notice.severity.name == "SERIOUS" else "yellow"
                said = escape(f"{'(null)' if segment is None else segment}: {notice}")
                console.print(f"[{style}]{notice.severity.name.lower()}[/] {said}", highlight=False)
    for segment, reason in found.skipped.items():
        console.print(
            escape(f"{'(null)' if segment is None else segment}: not evaluated: {reason}"),
            style="yellow",
            highlight=False,
        )
