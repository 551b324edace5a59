"""Tables written to files, in the format that the file's ending tells."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pulens.atomic_write import is_channel, whole_file
from pulens.errors import InputError, listed, shown
from pulens.inputs.columns import is_null
from pulens.inputs.tables.arrow import pyarrow_for
from pulens.inputs.tables.formats import EXTENSIONS, TEXT, WRITTEN, separator_of
from pulens.inputs.tables.whole import plain

# as a program would write them: 007 and 1_000 stay text
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

Columns = Mapping[str, Any]  # by name: Python values, text, or an Arrow array whose types are kept


def format_out(path: str) -> str:
    """The format of a table that is to be written: the ending tells; pipes and standard output get CSV."""
    if path == "-" or is_channel(path):
        return "csv"
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in EXTENSIONS or EXTENSIONS[ending] not in WRITTEN:
        endings = [name for name, kind in EXTENSIONS.items() if kind in WRITTEN]
        raise InputError(
            f"{path}: the file name must end with the format of the table, one of {listed(endings, limit=20)}; got "
            f"{'none' if not ending else repr(ending)}."
        )
    if EXTENSIONS[ending] in ("parquet", "arrow"):
        pyarrow_for(_purpose(EXTENSIONS[ending]))  # better now than after an hour of work
    return EXTENSIONS[ending]


def table_bytes(kind: str, columns: Columns) -> bytes:
    """A table as a file of the format holds it.

    >>> table_bytes("csv", {"a": ["1", "2"], "b": [None, 0.5]})
    b'a,b\\n1,\\n2,0.5\\n'
    >>> table_bytes("jsonl", {"a": ["1", "007"], "b": [None, 0.5]})
    b'{"a": "1", "b": null}\\n{"a": "007", "b": 0.5}\\n'
    """
    with only_text():
        return _table_bytes(kind, columns)


@contextmanager
def only_text() -> Iterator[None]:
    """Refuse halves of characters, as JSON may spell them, in words: no file of text can hold them."""
    try:
        yield
    except UnicodeEncodeError as error:
        seen = shown(error.object[error.start : error.end])
        raise InputError(
            f"a cell holds {seen}, which is not valid text: repair it, or leave its column out."
        ) from error


def _table_bytes(kind: str, columns: Columns) -> bytes:
    if kind in TEXT:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator_of(kind), lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(_flat(name, plain(column)) for name, column in columns.items()), strict=True))
        return text.getvalue().encode()
    if kind == "jsonl":
        values = [[None if is_null(value) else value for value in typed(plain(column))] for column in columns.values()]
        lines = (
            json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, default=str)
            for row in zip(*values, strict=True)
        )
        return "".join(f"{line}\n" for line in lines).encode()
    pa = pyarrow_for(_purpose(kind))
    table = pa.table([_array(pa, kind, name, column) for name, column in columns.items()], names=list(columns))
    sink = io.BytesIO()
    if kind == "parquet":
        pa.parquet.write_table(table, sink)
    else:
        pa.feather.write_feather(table, sink)
    return sink.getvalue()


def write_table(path: str, columns: Columns) -> None:
    """Write a table whole or not at all."""
    content = table_bytes(format_out(path), columns)
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def typed(column: Any) -> list[Any]:
    """A column of text as numbers where every cell is written as one, empty cells as null; other columns as they are.

    >>> typed(["1", "", "20"]), typed(["1", "2.50"]), typed(["7", "007"]), typed([0.5, None])
    ([1, None, 20], [1.0, 2.5], ['7', '007'], [0.5, None])
    """
    cells = list(column)
    if not all(isinstance(cell, str) for cell in cells):
        return cells
    written = [cell for cell in cells if cell != ""]
    kind: Any = str
    if written and all(_WHOLE.fullmatch(cell) for cell in written):
        kind = int
    elif written and all(_NUMBER.fullmatch(cell) for cell in written):
        kind = float
    return [None if cell == "" else kind(cell) for cell in cells]


def _array(pa: Any, kind: str, name: str, column: Any) -> Any:
    if hasattr(column, "to_pylist"):
        return column
    try:
        return pa.array(typed(column))
    except (pa.ArrowException, OverflowError) as error:  # the second: whole numbers of more than 64 bits
        raise InputError(
            f"column {name!r} cannot be written as {kind}: {error}. CSV and JSON Lines hold values of several types."
        ) from error


def _flat(name: str, column: Any) -> Any:
    """A column whose cells text can hold."""
    for value in column:
        if isinstance(value, dict | list):
            raise InputError(
                f"column {name!r} holds {shown(value)} and cannot be written as text. Write .parquet or .jsonl instead."
            )
    return column


def _purpose(kind: str) -> str:
    return f"writing {kind} files"
