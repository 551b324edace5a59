"""Whole tables for commands that copy rows: every column, in order, its values as the file has them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError
from pulens.inputs.columns import file_row, find_column, is_null
from pulens.inputs.files import (
    as_text,
    explained_file,
    format_of,
    json_records,
    lines_of,
    name_of,
    open_stream,
    separator_of,
    wrong_width,
)
from pulens.inputs.tables.arrow import arrow_table


@dataclass(frozen=True, slots=True)
class Table:
    """Column names and columns: text where the file is text, else values."""

    names: list[str]
    columns: list[list[Any]]
    delimiter: str | None = None
    arrow: Any = None  #: the table as Arrow has it, where the file says what its types are

    def __len__(self) -> int:
        return len(self.columns[0])

    def column(self, name: str) -> list[Any]:
        return self.columns[self.names.index(find_column(name, self.names, delimiter=self.delimiter))]

    def classes(self, name: str) -> list[str]:
        """A column of true classes as text; none may be missing."""
        found = ["" if is_null(value) else str(value) for value in self.column(name)]
        missing = [row for row, value in enumerate(found) if not value.strip()]
        if missing:
            others = f" ({len(missing):,} such rows)" if len(missing) > 1 else ""
            raise InputError(
                f"column {name!r} has no class in {file_row(missing[0])}{others}: nothing says whether it is positive. "
                "Leave such rows out, or write their class."
            )
        return found

    def taken(self, names: Sequence[str], rows: NDArray[Any]) -> dict[str, Any]:
        """Some rows of some columns, by name; with their types where the file says what they are."""
        if self.arrow is not None:
            return {name: self.arrow.column(name).take(rows) for name in names}
        return {name: list(map(self.column(name).__getitem__, rows.tolist())) for name in names}

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns as finite numbers, or an error that names the first value that is none."""
        table = np.empty((len(self), len(names)))
        for place, name in enumerate(names):
            for row, value in enumerate(self.column(name)):
                try:
                    table[row, place] = float(value)
                except (ValueError, TypeError):
                    table[row, place] = np.nan
                if not np.isfinite(table[row, place]):
                    raise InputError(
                        f"column {name!r} holds {value!r} in {file_row(row)}, which is not a finite number. This "
                        "mechanism looks at features: name numeric columns with --feature, or use "
                        "completely_at_random."
                    )
        return table


def read_table(path: str, delimiter: str | None = None, format: str | None = None) -> Table:
    """A CSV, TSV, JSON Lines, Parquet or Arrow file, compressed or not; ``"-"`` is standard input."""
    kind = format_of(path, format)
    shown = name_of(path)
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(shown, kind):
            if kind in ("csv", "tsv"):
                table = _read_text(stream, separator_of(kind, delimiter))
            elif kind == "jsonl":
                table = _read_records(stream)
            else:
                arrow = arrow_table(stream, kind)
                table = Table(list(arrow.column_names), [column.to_pylist() for column in arrow.columns], arrow=arrow)
            for name in table.names:
                find_column(name, table.names)  # two columns of one name could not be told apart
    if not table.columns or not len(table):
        raise InputError(f"{shown}: the table has no data rows.")
    return table


def _read_text(stream: Any, delimiter: str) -> Table:
    with as_text(stream) as text:
        reader = csv.reader(lines_of(text), delimiter=delimiter)
        names = [name.strip() for name in next(reader, [])]
        rows = []
        for row in reader:
            if len(row) != len(names):
                if not row:  # a blank line
                    continue
                raise InputError(wrong_width(reader.line_num, row, len(names)))
            rows.append(row)
    return Table(names, [list(column) for column in zip(*rows, strict=True)], delimiter)


def _read_records(stream: Any) -> Table:
    with as_text(stream) as lines:
        records = list(json_records(lines_of(lines)))
    names = list(dict.fromkeys(name for record in records for name in record))
    return Table(names, [[record.get(name) for record in records] for name in names])
