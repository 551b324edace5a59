"""Some columns of a table, this many rows at a time: memory does not grow with the file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from pulens.errors import InputError, shown
from pulens.inputs.columns import another_separator, find_columns
from pulens.inputs.tables.arrow import arrow_chunks, arrow_names
from pulens.inputs.tables.dialect import PLAIN, Dialect, Said, check_written
from pulens.inputs.tables.formats import TEXT, separator_of
from pulens.inputs.tables.streams import UNMARKED, as_text, explained_file, lines_of, name_of, open_stream

CHUNK_ROWS = 100_000

Chunk = list[Any]  # one sequence of raw values per wanted column


def read_chunks(
    stream: IO[bytes], kind: str, wanted: Sequence[str], delimiter: Said, roles: Sequence[str] = ()
) -> Iterator[Chunk]:
    """The wanted columns of an open file, in the order asked for; ``roles`` are the arguments that name them."""
    dialect = check_written(kind, delimiter)
    if kind in TEXT:
        return _delimited_chunks(stream, wanted, separator_of(kind, delimiter), dialect, roles)
    if kind == "jsonl":
        return _json_chunks(stream, wanted, roles)
    if kind == "xlsx":
        return _sheet_chunks(stream, wanted, dialect.sheet, roles)
    return arrow_chunks(stream, kind, wanted, CHUNK_ROWS, roles)


def _sheet_chunks(stream: IO[bytes], wanted: Sequence[str], sheet: str | None, roles: Sequence[str]) -> Iterator[Chunk]:
    from pulens.inputs.tables.excel import sheet_of

    table = sheet_of(stream.read(), sheet)
    columns = [table.columns[table.names.index(name)] for name in find_columns(wanted, table.names, roles=roles)]
    for start in range(0, len(table), CHUNK_ROWS):
        yield [column[start : start + CHUNK_ROWS] for column in columns]


@contextmanager
def delimited_rows(
    stream: IO[bytes], delimiter: str, dialect: Dialect = PLAIN
) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """The column names of a CSV or TSV file and its rows: blank lines left out, lines of another width refused."""
    with as_text(stream, dialect.encoding) as text:
        reader = csv.reader(lines_of(text), delimiter=delimiter)
        header = next(reader, None)
        if header is None:
            raise InputError("the table has no data rows: the file is empty, not even a line of column names.")
        names = [name.strip() for name in header]
        if _every_other_is_zero("".join(names)):
            raise InputError(f"the first line has zero characters in it, as UTF-16 without a mark has: say {UNMARKED}.")
        yield names, _full_rows(reader, names, delimiter)


def _every_other_is_zero(text: str) -> bool:
    """Whether these are the bytes of UTF-16; a stray zero is damage, and shows in the names that are listed."""
    return text.count("\0") > len(text) / 3


def _full_rows(reader: Any, names: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    for row in reader:
        if len(row) != len(names):  # cells may stand under the wrong names
            if not row:  # a blank line
                continue
            hint = another_separator(names, delimiter)
            repair = 'Repair the line; a separator inside a cell needs quotes around it ("a,b").'
            way_out = f"But {hint}" if hint else repair
            raise InputError(f"line {reader.line_num} has {len(row)} fields but the header has {len(names)}. {way_out}")
        yield row


def _delimited_chunks(
    stream: IO[bytes], wanted: Sequence[str], delimiter: str, dialect: Dialect, roles: Sequence[str]
) -> Iterator[Chunk]:
    with delimited_rows(stream, delimiter, dialect) as (names, rows):
        with _decimal_commas_told(names, rows, delimiter):
            result = find_columns(wanted, names, delimiter=delimiter, roles=roles)
        places = [names.index(name) for name in result]
        chunk: Chunk = [[] for _ in places]
        for row in rows:
            for values, place in zip(chunk, places, strict=True):
                values.append(row[place])
            if len(chunk[0]) == CHUNK_ROWS:
                yield chunk
                chunk = [[] for _ in places]
        if chunk[0]:
            yield chunk


@contextmanager
def _decimal_commas_told(names: list[str], rows: Iterator[list[str]], delimiter: str) -> Iterator[None]:
    """Where columns are separated by semicolons and the first row has commas, name both options at once."""
    try:
        yield
    except InputError as error:
        if delimiter != "," or len(names) != 1 or ";" not in names[0]:
            raise
        try:
            next(rows, None)
        except InputError:  # commas split the row
            raise InputError(
                f"{error} The first row has commas: if they are decimal commas, say decimal=',' (--decimal ,) too."
            ) from error
        raise


def _json_chunks(stream: IO[bytes], wanted: Sequence[str], roles: Sequence[str]) -> Iterator[Chunk]:
    with as_text(stream) as lines:
        yield from _records_in_chunks(lines_of(lines), wanted, roles)


def json_records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Objects of JSON Lines, blank lines left out."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except RecursionError:
            raise InputError(f"line {number} is not a flat JSON object: its brackets are nested too deeply.") from None
        except ValueError as error:  # numbers of thousands of digits too
            raise InputError(f"line {number} is not JSON: {error}.") from error
        if not isinstance(record, dict):
            raise InputError(f"line {number} is not a JSON object with column names, got {shown(line.strip())}.")
        yield record


def _records_in_chunks(lines: Iterable[str], wanted: Sequence[str], roles: Sequence[str]) -> Iterator[Chunk]:
    chunk: Chunk = [[] for _ in wanted]
    seen: dict[str, None] = {}
    missing = set(wanted)
    for record in json_records(lines):
        seen.update(dict.fromkeys(record))
        missing -= record.keys()
        for values, name in zip(chunk, wanted, strict=True):
            values.append(record.get(name))
        if len(chunk[0]) == CHUNK_ROWS:
            if missing:
                find_columns(wanted, seen, roles=roles)
            yield chunk
            chunk = [[] for _ in wanted]
    if missing and seen:
        find_columns(wanted, seen, roles=roles)
    if chunk[0]:
        yield chunk


def column_names(path: str | Path, kind: str, delimiter: Said) -> list[str]:
    """The names of a file's columns as they stand there, repeated ones too."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        stack.enter_context(explained_file(name_of(path), kind))
        dialect = check_written(kind, delimiter)
        if kind in TEXT:
            rows = delimited_rows(stream, separator_of(kind, delimiter), dialect)
            return stack.enter_context(rows)[0]
        if kind == "jsonl":
            return list(next(json_records(lines_of(stack.enter_context(as_text(stream)))), {}))
        if kind == "xlsx":
            from pulens.inputs.tables.excel import sheet_of

            return sheet_of(stream.read(), dialect.sheet).names
        return arrow_names(stream, kind)
