"""Some columns of a table, so many rows at a time: memory does not grow with the file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from pulens.errors import InputError, shown
from pulens.inputs.columns import find_column
from pulens.inputs.tables.arrow import arrow_chunks, arrow_names
from pulens.inputs.tables.formats import TEXT, separator_of
from pulens.inputs.tables.streams import as_text, explained_file, lines_of, name_of, open_stream

CHUNK_ROWS = 100_000

Chunk = list[Any]  # one sequence of raw values per wanted column


def read_chunks(stream: IO[bytes], kind: str, wanted: Sequence[str], delimiter: str | None) -> Iterator[Chunk]:
    """The wanted columns of an open file, in the order asked for."""
    if kind in TEXT:
        return _delimited_chunks(stream, wanted, separator_of(kind, delimiter))
    if kind == "jsonl":
        return _json_chunks(stream, wanted)
    return arrow_chunks(stream, kind, wanted, CHUNK_ROWS)


@contextmanager
def delimited_rows(stream: IO[bytes], delimiter: str) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """The column names of a CSV or TSV file and its rows: blank lines left out, lines of another width refused."""
    with as_text(stream) as text:
        reader = csv.reader(lines_of(text), delimiter=delimiter)
        header = next(reader, None)
        if header is None:
            raise InputError("the table has no data rows: the file is empty, not even a line of column names.")
        names = [name.strip() for name in header]
        yield names, _full_rows(reader, len(names))


def _full_rows(reader: Any, width: int) -> Iterator[list[str]]:
    for row in reader:
        if len(row) != width:  # cells may stand under the wrong names
            if not row:  # a blank line
                continue
            raise InputError(
                f"line {reader.line_num} has {len(row)} fields but the header has {width}. Repair the line; a "
                'separator inside a cell needs quotes around it ("a,b").'
            )
        yield row


def _delimited_chunks(stream: IO[bytes], wanted: Sequence[str], delimiter: str) -> Iterator[Chunk]:
    with delimited_rows(stream, delimiter) as (names, rows):
        places = [names.index(find_column(name, names, delimiter=delimiter)) for name in wanted]
        chunk: Chunk = [[] for _ in places]
        for row in rows:
            for values, place in zip(chunk, places, strict=True):
                values.append(row[place])
            if len(chunk[0]) == CHUNK_ROWS:
                yield chunk
                chunk = [[] for _ in places]
        if chunk[0]:
            yield chunk


def _json_chunks(stream: IO[bytes], wanted: Sequence[str]) -> Iterator[Chunk]:
    with as_text(stream) as lines:
        yield from _records_in_chunks(lines_of(lines), wanted)


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


def _records_in_chunks(lines: Iterable[str], wanted: Sequence[str]) -> Iterator[Chunk]:
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
                find_column(sorted(missing)[0], seen)
            yield chunk
            chunk = [[] for _ in wanted]
    if missing and seen:
        find_column(sorted(missing)[0], seen)
    if chunk[0]:
        yield chunk


def column_names(path: str | Path, kind: str, delimiter: str | None) -> list[str]:
    """The names of a file's columns as they stand there, repeated ones too."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        stack.enter_context(explained_file(name_of(path), kind))
        if kind in TEXT:
            return stack.enter_context(delimited_rows(stream, separator_of(kind, delimiter)))[0]
        if kind == "jsonl":
            return list(next(json_records(lines_of(stack.enter_context(as_text(stream)))), {}))
        return arrow_names(stream, kind)
