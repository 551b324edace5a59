"""The cells within which labels are random, as rows of text; every rendering shows the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.estimate import Interval
from pulens.report.lines import WIDTH

if TYPE_CHECKING:
    from pulens.strata import CellTable

MOST_SHOWN, MOST_SHORT = 40, 5  # cells in a text; JSON has all of them
SHORT, OTHERS = (0, 1, 3, 4), (0, 2, 5, 6)  # name, labelled, class prior, recall; name, and what is left out there
LONGEST_NAME = 22


def cell_header(table: CellTable) -> tuple[str, ...]:
    rate = "rate (1: average)" if table.rate_is_relative else "label rate"
    return (table.words, "labelled", "unlabelled", "class prior", "recall", rate, "of the positives")


def cell_rows(table: CellTable) -> list[tuple[str, ...]]:
    """One row of text per cell, those that hold most positives first."""
    ordered = sorted(table.rows, key=lambda row: -row.share_of_positives)
    return [
        (
            row.name,
            f"{row.labelled:,.10g}",
            f"{row.unlabelled:,.10g}",
            "unknown" if math.isnan(row.class_prior) else f"{row.class_prior:.3f}{_ends(row.prior_interval)}",
            "unknown" if math.isnan(row.recall) else f"{row.recall:.3f}{_ends(row.recall_interval)}",
            "" if math.isnan(row.label_rate) else f"{row.label_rate:.3f}",
            f"{row.share_of_positives:.1%}",
        )
        for row in ordered
    ]


def shown_cells(table: CellTable, *, explain: bool = True) -> list[str]:
    """The table as lines of plain text, its head first; in short its first columns and the cells that count most.

    What a terminal is too narrow for becomes two tables.
    """
    rows, most = cell_rows(table), MOST_SHOWN if explain else MOST_SHORT
    cells = [cell_header(table), *rows[:most]]
    lines = _aligned(cells) if explain else _aligned([_of(SHORT, row) for row in cells])
    if max(map(len, lines)) > WIDTH:
        lines = [*_aligned([_of(SHORT, row) for row in cells]), "", *_aligned([_of(OTHERS, row) for row in cells])]
    left = len(rows) - most
    return [*lines, f"({left:,} more cells hold fewer positives)"] if left > 0 else lines


def _aligned(cells: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        first, *rest = (text.rjust(width) for text, width in zip(row, widths, strict=True))
        lines.append("  ".join([first.strip().ljust(widths[0]), *rest]))
    return lines


def _of(columns: Sequence[int], row: tuple[str, ...]) -> tuple[str, ...]:
    """Some columns of a row, the first of them its name."""
    name = row[0] if len(row[0]) <= LONGEST_NAME else f"{row[0][: LONGEST_NAME - 1]}…"
    return (name, *(row[column] for column in columns[1:]))


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval.low:.3f} to {interval.high:.3f})"
