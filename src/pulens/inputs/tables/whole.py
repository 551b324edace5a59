"""Whole tables for what copies rows: every column, in order, its values as the file has them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, shown
from pulens.inputs.arrays import python_values
from pulens.inputs.columns import file_row, find_column, is_null
from pulens.inputs.tables.arrow import arrow_table
from pulens.inputs.tables.chunks import delimited_rows, json_records
from pulens.inputs.tables.dialect import Dialect, Said, check_written
from pulens.inputs.tables.formats import TEXT, format_of, separator_of
from pulens.inputs.tables.streams import as_text, explained_file, lines_of, name_of, open_stream


@dataclass(frozen=True, slots=True)
class Table:
    """Column names and columns: Arrow arrays where the file says what its types are, else lists of its values."""

    names: list[str]
    columns: list[Any]
    delimiter: str | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    def kept(self, name: str) -> Any:
        """A column as the file has it."""
        return self.columns[self.names.index(find_column(name, self.names, delimiter=self.delimiter))]

    def column(self, name: str) -> list[Any]:
        """A column as Python values."""
        return plain(self.kept(name))

    def classes(self, name: str) -> list[str]:
        """A column of true classes as text; none may be missing."""
        result = ["" if is_null(value) else str(value) for value in self.column(name)]
        missing = [row for row, value in enumerate(result) if not value.strip()]
        if missing:
            others = f" ({len(missing):,} such rows)" if len(missing) > 1 else ""
            raise InputError(
                f"column {name!r} has no class in {file_row(missing[0])}{others}: so its class is unknown. Leave "
                "such rows out, or write their class."
            )
        return result

    def taken(self, names: Sequence[str], rows: NDArray[Any]) -> dict[str, Any]:
        """Some rows of some columns, by name; with their types where the file says what they are."""
        return {name: _taken(self.kept(name), rows) for name in names}

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns as finite numbers, or an error that names the first value that is none."""
        table = np.empty((len(self), len(names)))
        for place, name in enumerate(names):
            for row, value in enumerate(self.column(name)):
                try:
                    table[row, place] = float(value)
                except (ValueError, TypeError, OverflowError):  # a whole number may have 400 digits
                    table[row, place] = np.nan
                if not np.isfinite(table[row, place]):
                    raise InputError(
                        f"column {name!r} holds {shown(value)} in {file_row(row)}, which is not a finite number. This "
                        "mechanism uses features: name numeric columns with --feature, or use "
                        "completely_at_random."
                    )
        return table


def plain(column: Any) -> list[Any]:
    """A column as Python values, whatever holds it."""
    return python_values(column) if hasattr(column, "to_pylist") else list(column)


def _taken(column: Any, rows: NDArray[Any]) -> Any:
    return column.take(rows) if hasattr(column, "take") else list(map(column.__getitem__, rows.tolist()))


def read_table(path: str | Path, delimiter: Said = None, format: str | None = None) -> Table:
    """A CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, compressed or not; ``"-"`` is standard input."""
    kind = format_of(path, format)
    shown = name_of(path)
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(shown, kind):
            dialect = check_written(kind, delimiter)
            if kind in TEXT:
                table = _read_text(stream, separator_of(kind, delimiter), dialect)
            elif kind == "jsonl":
                table = _read_records(stream)
            elif kind == "xlsx":
                from pulens.inputs.tables.excel import sheet_of

                table = sheet_of(stream.read(), dialect.sheet)
            else:
                arrow = arrow_table(stream, kind)
                table = Table(list(arrow.column_names), list(arrow.columns))
            for name in table.names:
                find_column(name, table.names)  # two columns of one name could not be distinguished
    if not table.columns or not len(table):
        raise InputError(f"{shown}: the table has no data rows.")
    return table


def _read_text(stream: IO[bytes], delimiter: str, dialect: Dialect) -> Table:
    with delimited_rows(stream, delimiter, dialect) as (names, rows):
        columns = [list(column) for column in zip(*rows, strict=True)]
        return Table(names, columns if dialect.is_plain else [_plainly(dialect, one) for one in columns], delimiter)


def _plainly(dialect: Dialect, cells: list[str]) -> list[str]:
    """A column of numbers as programs write them, where all of its cells say numbers in this writing."""
    numbers = [dialect.plain(cell) if cell.strip() else "" for cell in cells]
    if all(number is not None for number in numbers):
        return [number or "" for number in numbers]
    return cells


def _read_records(stream: IO[bytes]) -> Table:
    with as_text(stream) as lines:
        records = list(json_records(lines_of(lines)))
    names = list(dict.fromkeys(name for record in records for name in record))
    return Table(names, [[record.get(name) for record in records] for name in names])
