"""Files: CSV, TSV, JSON Lines, Parquet, Arrow; in chunks, compressed or not, from a path or standard input."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from pulens.errors import InputError, MissingDependencyError, listed
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import Columns, LabelCoding, check_scores, check_weights, file_row, find_column
from pulens.sample import PUSample

CHUNK_ROWS = 100_000
EXTENSIONS = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}

Chunk = list[Any]  # one sequence of raw values per wanted column


def sample_from_file(
    path: str | Path,
    columns: Columns,
    *,
    coding: LabelCoding,
    format: str | None = None,
    delimiter: str | None = None,
) -> PUSample:
    """Read the wanted columns of a file chunk by chunk; ``"-"`` is standard input."""
    shown = "standard input" if str(path) == "-" else str(path)
    kind = format_of(path, format)
    labels, scores, weights = [], [], []
    first_row = 0
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        try:
            for chunk in read_chunks(stream, kind, columns, delimiter):
                place: dict[str, Any] = {"row_name": file_row, "first_row": first_row}
                labels.append(coding.encode(chunk[0], **place, is_whole=False))
                scores.append(check_scores(chunk[1], f"scores (column {columns.score!r})", **place))
                if columns.weight is not None:
                    weights.append(check_weights(chunk[2], f"weights (column {columns.weight!r})", **place))
                first_row += len(chunk[0])
            if labels:
                coding.check_whole(np.concatenate(labels))
        except InputError as error:
            raise InputError(f"{shown}: {error}") from error
        except (UnicodeDecodeError, OSError, EOFError, lzma.LZMAError, csv.Error) as error:
            raise InputError(f"{shown} could not be read as {kind} after data row {first_row:,}: {error}") from error
    if first_row == 0:
        raise InputError(f"{shown}: the table is empty: it has no data rows.")
    return PUSample(np.concatenate(labels), np.concatenate(scores), np.concatenate(weights) if weights else None)


def format_of(path: str | Path, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"format must be one of {listed(FORMATS)}, got {format!r}.")
        return format
    if str(path) == "-":
        return "csv"
    parts = Path(path).name.lower().split(".")[1:]
    if parts and parts[-1] in ("gz", "bz2", "xz"):
        parts.pop()
    if not parts or parts[-1] not in EXTENSIONS:
        raise InputError(
            f"{path}: the file's ending does not tell its format. Say format= (or --format), one of {listed(FORMATS)}."
        )
    return EXTENSIONS[parts[-1]]


def open_stream(path: str | Path, stack: ExitStack) -> IO[bytes]:
    """A binary stream, decompressed if its first bytes say so."""
    if str(path) == "-":
        raw: Any = io.BufferedReader(sys.stdin.buffer)
    else:
        try:
            raw = stack.enter_context(open(path, "rb"))  # noqa: SIM115  (the stack closes it)
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file.{_neighbours(Path(path))}") from None
        except IsADirectoryError:
            raise InputError(f"{path}: this is a folder; give a file.") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be opened: {error.strerror or error}.") from error
    head = raw.peek(6)[:6]
    for magic, opener in COMPRESSIONS.items():
        if head.startswith(magic):
            decompressed: IO[bytes] = stack.enter_context(opener(raw, "rb"))
            return decompressed
    opened: IO[bytes] = raw
    return opened


def _neighbours(path: Path) -> str:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f" The folder {str(path.parent)!r} does not exist either."
    near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=1)
    return f" Did you mean {str(path.parent / near[0])!r}?" if near else ""


def read_chunks(stream: IO[bytes], kind: str, columns: Columns, delimiter: str | None) -> Iterator[Chunk]:
    if kind in ("csv", "tsv"):
        return _delimited_chunks(stream, columns, separator_of(kind, delimiter))
    if kind == "jsonl":
        return _json_chunks(stream, columns)
    return _arrow_chunks(stream, kind, columns)


def separator_of(kind: str, delimiter: str | None = None) -> str:
    """What separates the columns of a CSV or TSV file: as said, or as usual.

    >>> separator_of("csv"), separator_of("csv", ";")
    (',', ';')
    """
    separator = delimiter or ("\t" if kind == "tsv" else ",")
    if len(separator) != 1:
        raise InputError(f"delimiter must be a single character, got {separator!r}.")
    return separator


def _delimited_chunks(stream: IO[bytes], columns: Columns, delimiter: str) -> Iterator[Chunk]:
    with as_text(stream) as text:
        yield from _rows_in_chunks(csv.reader(text, delimiter=delimiter), columns, delimiter)


@contextmanager
def as_text(stream: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """Text of a stream that somebody else will close."""
    text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
    try:
        yield text
    finally:
        text.detach()


def _rows_in_chunks(reader: Any, columns: Columns, delimiter: str) -> Iterator[Chunk]:
    header = next(reader, None)
    if header is None:
        raise InputError("the file is empty: not even a line of column names.")
    header = [name.strip() for name in header]
    places = [header.index(find_column(name, header, delimiter=delimiter)) for name in columns.names]
    chunk: Chunk = [[] for _ in places]
    width = len(header)
    for row in reader:
        if len(row) != width:  # cells may stand under the wrong names
            if not row:  # a blank line
                continue
            raise InputError(wrong_width(reader.line_num, row, width))
        for values, place in zip(chunk, places, strict=True):
            values.append(row[place])
        if len(chunk[0]) == CHUNK_ROWS:
            yield chunk
            chunk = [[] for _ in places]
    if chunk[0]:
        yield chunk


def wrong_width(line: int, row: list[str], width: int) -> str:
    """Words for a line with too many or too few cells."""
    return (
        f"line {line} has {len(row)} fields but the header has {width}. Repair the line; a separator inside a cell "
        'needs quotes around it ("a,b").'
    )


def _json_chunks(stream: IO[bytes], columns: Columns) -> Iterator[Chunk]:
    with as_text(stream) as lines:
        yield from _records_in_chunks(lines, columns)


def json_records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Objects of JSON Lines, blank lines left out."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"line {number} is not JSON: {error}.") from error
        if not isinstance(record, dict):
            raise InputError(f"line {number} is not a JSON object with column names, got {line.strip()[:60]!r}.")
        yield record


def _records_in_chunks(lines: Iterable[str], columns: Columns) -> Iterator[Chunk]:
    chunk: Chunk = [[] for _ in columns.names]
    seen: dict[str, None] = {}
    missing = set(columns.names)
    for record in json_records(lines):
        seen.update(dict.fromkeys(record))
        missing -= record.keys()
        for values, name in zip(chunk, columns.names, strict=True):
            values.append(record.get(name))
        if len(chunk[0]) == CHUNK_ROWS:
            if missing:
                find_column(sorted(missing)[0], seen)
            yield chunk
            chunk = [[] for _ in columns.names]
    if missing and seen:
        find_column(sorted(missing)[0], seen)
    if chunk[0]:
        yield chunk


def _arrow_chunks(stream: IO[bytes], kind: str, columns: Columns) -> Iterator[Chunk]:
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", purpose=f"reading {kind} files", extra="data") from error
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        if kind == "parquet":
            file = pa.parquet.ParquetFile(source)
            names = file.schema_arrow.names
            wanted = [find_column(name, names) for name in columns.names]
            batches = file.iter_batches(CHUNK_ROWS, columns=list(dict.fromkeys(wanted)))
        else:
            table = pa.feather.read_table(source)
            wanted = [find_column(name, table.column_names) for name in columns.names]
            batches = iter(table.select(list(dict.fromkeys(wanted))).to_batches(CHUNK_ROWS))
        for batch in batches:
            if batch.num_rows:
                yield [plain_values(pa.chunked_array([batch.column(name)])) for name in wanted]
    except pa.ArrowException as error:
        raise InputError(f"not a readable {kind} file: {error}") from error


def column_names(path: str | Path, kind: str, delimiter: str | None) -> list[str]:
    """The names of a file's columns as they stand there, repeated ones too."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        if kind in ("csv", "tsv"):
            with as_text(stream) as text:
                header = next(csv.reader(text, delimiter=separator_of(kind, delimiter)), None)
            if header is None:
                raise InputError("the file is empty: not even a line of column names.")
            return [name.strip() for name in header]
        if kind == "jsonl":
            with as_text(stream) as lines:
                return list(json.loads(next((line for line in lines if line.strip()), "{}")))
        try:
            import pyarrow as pa
            import pyarrow.feather
            import pyarrow.parquet
        except ImportError as error:
            raise MissingDependencyError("pyarrow", purpose=f"reading {kind} files", extra="data") from error
        try:
            if kind == "parquet":
                return list(pa.parquet.read_schema(stream).names)
            return list(pa.feather.read_table(stream).column_names)
        except pa.ArrowException as error:
            raise InputError(f"not a readable {kind} file: {error}") from error
