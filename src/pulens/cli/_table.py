"""Whole tables for commands that copy rows: every column as text, in order."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, MissingDependencyError, listed


@dataclass(frozen=True, slots=True)
class TextTable:
    """Column names and rows of text."""

    names: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        if name not in self.names:
            raise InputError(f"there is no column {name!r}; the columns are {listed(self.names, limit=20)}.")
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns as numbers, or an error that names the first value that is none."""
        table = np.empty((len(self.rows), len(names)))
        for place, name in enumerate(names):
            for row, value in enumerate(self.column(name)):
                try:
                    table[row, place] = float(value)
                except ValueError:
                    raise InputError(
                        f"column {name!r} holds {value!r} in data row {row + 1}, which is not a number. This mechanism "
                        "looks at features: name numeric columns with --feature, or use completely_at_random."
                    ) from None
        return table


def read_table(path: str, delimiter: str | None = None) -> TextTable:
    """A CSV, TSV or Parquet file; ``"-"`` is CSV from standard input."""
    if path.lower().endswith((".parquet", ".pq")):
        return _read_parquet(path)
    separator = delimiter or ("\t" if path.lower().endswith((".tsv", ".tab")) else ",")
    if len(separator) != 1:
        raise InputError(f"delimiter must be a single character, got {separator!r}.")
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}.") from error
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]
    if len(rows) < 2:
        raise InputError(f"{path}: the table has no data rows.")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise InputError(f"{path}: data row {number} has {len(row)} fields but the header has {len(names)}.")
    return TextTable(names, rows[1:])


def _read_parquet(path: str) -> TextTable:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", purpose="reading Parquet files", extra="data") from error
    try:
        table = pa.parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from error
    columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in table.columns]
    if not columns or not columns[0]:
        raise InputError(f"{path}: the table has no data rows.")
    return TextTable(list(table.column_names), [list(row) for row in zip(*columns, strict=True)])


def as_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV text, without the last line break."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")
