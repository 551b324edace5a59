"""The rows of a file with one more column, written whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import whole_file
from pulens.errors import InputError
from pulens.inputs.columns import check_scores, file_row, find_column
from pulens.inputs.tables.chunks import delimited_rows
from pulens.inputs.tables.dialect import PLAIN, Dialect, Said, dialect_of
from pulens.inputs.tables.formats import TEXT, format_of, separator_of
from pulens.inputs.tables.streams import explained_file, name_of, open_stream
from pulens.inputs.tables.whole import read_table
from pulens.inputs.tables.writing import format_out, write_table

Map = Callable[[NDArray[np.floating[Any]]], NDArray[np.float64]]  # such as a calibration map
BLOCK_ROWS = 50_000


def write_mapped(
    source: str,
    target: str,
    mapping: Map,
    *,
    score: str,
    column: str,
    format: str | None = None,
    delimiter: Said = None,
) -> None:
    """Copy every row of ``source`` to ``target`` with what a map makes of its score in a new column."""
    kind, kind_out = format_of(source, format), format_out(target)
    if kind in TEXT and kind_out in TEXT:
        separators = separator_of(kind, delimiter), separator_of(kind_out)
        _copy_text(source, target, mapping, score, column, *separators, kind=kind, dialect=dialect_of(delimiter))
        return
    table = read_table(source, delimiter, format)
    _refuse_overwriting(column, table.names)
    mapped = mapping(_checked(table.column(score), score, PLAIN))  # whole tables have numbers as programs write them
    kept = dict(zip(table.names, table.columns, strict=True))
    write_table(target, {**kept, column: mapped.tolist()})


def _copy_text(
    source: str,
    target: str,
    mapping: Map,
    score: str,
    column: str,
    delimiter: str,
    delimiter_out: str,
    *,
    kind: str,
    dialect: Dialect,
) -> None:
    """Fields are copied as they are written, so that nothing but the new column changes."""
    first_row = 0
    with ExitStack() as stack:
        blocks = _blocks(open_stream(source, stack), name_of(source), kind, delimiter, dialect)
        temporary = stack.enter_context(whole_file(target))
        file = stack.enter_context(open(temporary, "w", encoding="utf-8", newline=""))
        writer = csv.writer(file, delimiter=delimiter_out, lineterminator="\n")
        for names, block in blocks:
            if not first_row:
                _refuse_overwriting(column, names)
                writer.writerow([*names, column])
            with explained_file(name_of(source), kind):
                place = names.index(find_column(score, names, delimiter=delimiter))
                mapped = mapping(_checked([row[place] for row in block], score, dialect, first_row))
            writer.writerows([*row, repr(value)] for row, value in zip(block, mapped.tolist(), strict=True))
            first_row += len(block)


def _blocks(
    stream: IO[bytes], name: str, kind: str, delimiter: str, dialect: Dialect
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Names and rows of a text file, this many rows at a time; what cannot be read is told here, and not as written."""
    with explained_file(name, kind), delimited_rows(stream, delimiter, dialect) as (names, rows):
        while block := list(islice(rows, BLOCK_ROWS)):
            yield names, block


def _checked(scores: list[Any], column: str, dialect: Dialect, first_row: int = 0) -> NDArray[np.floating[Any]]:
    place: dict[str, Any] = {"row_name": file_row, "first_row": first_row}
    called = f"scores (column {column!r})"
    return check_scores(dialect.numbers(scores, called, **place), called, **place)


def _refuse_overwriting(column: str, names: Collection[str]) -> None:
    if column in names:
        raise InputError(f"the input has a column {column!r} already: name the new one with --column.")
