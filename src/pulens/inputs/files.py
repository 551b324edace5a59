"""Files: CSV, TSV, JSON Lines, Parquet, Arrow; in chunks, compressed or not, from a path or standard input."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from pulens.errors import InputError, listed, shown
from pulens.inputs.columns import Columns, LabelCoding, check_scores, check_weights, file_row, find_column
from pulens.inputs.memory import ROW_BYTES, check_room
from pulens.inputs.tables.arrow import arrow_chunks, arrow_names
from pulens.sample import PUSample
from pulens.tally import Tally

CHUNK_ROWS = 100_000
HELD_ROWS = 4_000_000  # rows that are held before they are counted
LONGEST_LINE = 64 << 20  # characters; a file without line ends would be one line
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
    return _joined(list(samples_from_file(path, columns, coding=coding, format=format, delimiter=delimiter, hold=True)))


def tally_from_file(
    path: str | Path,
    columns: Columns,
    *,
    coding: LabelCoding,
    format: str | None = None,
    delimiter: str | None = None,
) -> Tally:
    """Count the rows of a file chunk by chunk: memory goes by the distinct scores, not by the rows."""
    found: Tally | None = None
    held: list[PUSample] = []
    rows = 0
    for part in samples_from_file(path, columns, coding=coding, format=format, delimiter=delimiter):
        held.append(part)
        rows += len(part)
        if rows >= max(HELD_ROWS, 0 if found is None else len(found)):
            found, held, rows = _counted(found, held), [], 0
            check_room(
                len(found) * ROW_BYTES,
                f"{path}: counting {len(found):,} distinct scores and more",
                "Round the scores, or let DuckDB bin them: say tolerance= (--tolerance) for a CSV or Parquet file.",
            )
    return _counted(found, held) if held or found is None else found


def _joined(parts: list[PUSample]) -> PUSample:
    weights = [part.weights for part in parts if part.weights is not None]
    return PUSample(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _counted(found: Tally | None, held: list[PUSample]) -> Tally:
    counted = Tally.from_sample(_joined(held))
    return counted if found is None else found + counted


def samples_from_file(
    path: str | Path,
    columns: Columns,
    *,
    coding: LabelCoding,
    format: str | None = None,
    delimiter: str | None = None,
    hold: bool = False,
) -> Iterator[PUSample]:
    """The rows of a file in checked chunks; ``hold`` says that all of them will be kept."""
    shown_path = name_of(path)
    kind = format_of(path, format)
    first_row, kinds = 0, set[int]()
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(shown_path, kind, lambda: f" after data row {first_row:,}"):
            for chunk in read_chunks(stream, kind, columns, delimiter):
                place: dict[str, Any] = {"row_name": file_row, "first_row": first_row}
                labels = coding.encode(chunk[0], **place, is_whole=False)
                kinds.update(np.unique(labels).tolist())
                scores = check_scores(chunk[1], f"scores (column {shown(columns.score)})", **place)
                weights = None
                if columns.weight is not None:
                    weights = check_weights(chunk[2], f"weights (column {shown(columns.weight)})", **place)
                first_row += labels.size
                if hold and first_row % (10 * CHUNK_ROWS) == 0:
                    what = f"holding {first_row:,} rows and more"
                    check_room(ROW_BYTES * first_row, what, "Take a sample, or count them first with pulens tally.")
                yield PUSample(labels, scores, weights)
            coding.check_whole(np.array(sorted(kinds), np.int8))
    if first_row == 0:
        raise InputError(f"{shown_path}: the table is empty: it has no data rows.")


def name_of(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def explained_file(name: str, kind: str, place: Callable[[], str] = lambda: "") -> Iterator[None]:
    """The one gate for what goes wrong while a file is read: every error names the file, on one line."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except (UnicodeDecodeError, OSError, EOFError, lzma.LZMAError, zlib.error, csv.Error) as error:
        said = str(error) if not isinstance(error, UnicodeDecodeError) else f"{error.reason} (it must be UTF-8)"
        raise InputError(f"{name} could not be read as {kind}{place()}: {' '.join(said.split())}") from error


def format_of(path: str | Path, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"format must be one of {listed(FORMATS)}, got {shown(format)}.")
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
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed: give a file, or something to read on standard input.")
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
        except ValueError as error:  # a zero byte in the name
            raise InputError(f"{shown(str(path))}: cannot be opened: {error}.") from error
    try:
        head = raw.peek(6)[:6]
    except OSError as error:
        raise InputError(f"{name_of(path)}: cannot be read: {error.strerror or error}.") from error
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
    try:
        names = [entry.name for entry in path.parent.iterdir()][:10_000]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, n=1)
    return f" Did you mean {str(path.parent / near[0])!r}?" if near else ""


def read_chunks(stream: IO[bytes], kind: str, columns: Columns, delimiter: str | None) -> Iterator[Chunk]:
    if kind in ("csv", "tsv"):
        return _delimited_chunks(stream, columns, separator_of(kind, delimiter))
    if kind == "jsonl":
        return _json_chunks(stream, columns)
    return arrow_chunks(stream, kind, columns.names, CHUNK_ROWS)


def separator_of(kind: str, delimiter: str | None = None) -> str:
    """What separates the columns of a CSV or TSV file: as said, or as usual.

    >>> separator_of("csv"), separator_of("csv", ";")
    (',', ';')
    """
    separator = delimiter or ("\t" if kind == "tsv" else ",")
    if len(separator) != 1 or separator in '\r\n"\0':
        raise InputError(
            f"delimiter must be a single character, neither a quote nor a line end, got {shown(separator)}."
        )
    return separator


def _delimited_chunks(stream: IO[bytes], columns: Columns, delimiter: str) -> Iterator[Chunk]:
    with as_text(stream) as text:
        yield from _rows_in_chunks(csv.reader(lines_of(text), delimiter=delimiter), columns, delimiter)


def lines_of(text: IO[str]) -> Iterator[str]:
    """Lines of a file, none of them longer than can be held."""
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"line {number:,} is longer than {LONGEST_LINE >> 20} million characters, and a line holds one row: is "
                "it a table?"
            )
        yield line


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
        yield from _records_in_chunks(lines_of(lines), columns)


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


def column_names(path: str | Path, kind: str, delimiter: str | None) -> list[str]:
    """The names of a file's columns as they stand there, repeated ones too."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        if kind in ("csv", "tsv"):
            with as_text(stream) as text:
                header = next(csv.reader(lines_of(text), delimiter=separator_of(kind, delimiter)), None)
            if header is None:
                raise InputError("the file is empty: not even a line of column names.")
            return [name.strip() for name in header]
        if kind == "jsonl":
            with as_text(stream) as lines:
                return list(next(json_records(lines_of(lines)), {}))
        return arrow_names(stream, kind)
