"""The rows of a file with one more column, written whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import MissingDependencyError, PulensError
from pulens.inputs.columns import check_scores, file_row
from pulens.inputs.files import format_of, open_stream, separator_of
from pulens.inputs.tables.arrow import arrow_table
from pulens.whole_files import whole_file

Mapping = Callable[[NDArray[np.floating[Any]]], NDArray[np.float64]]  # such as a calibration map


def write_mapped(source: str, target: str, mapping: Mapping, *, column: str, reading: dict[str, Any]) -> None:
    """Copy every row of ``source`` to ``target`` with the mapped score in a new column."""
    kind = format_of(source, reading["format"])
    score = reading["score"]
    if Path(target).suffix.lower() != ".parquet" and kind in ("csv", "tsv"):
        _copy_text(source, target, mapping, column, score, separator_of(kind, reading["delimiter"]))
        return
    try:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.json
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", purpose=f"writing {target} from {source}", extra="data") from error
    table = _read_arrow(source, kind, reading["delimiter"])
    _refuse_overwriting(column, table.column_names)
    scores = check_scores(table.column(score).to_numpy(), f"scores (column {score!r})", row_name=file_row)
    mapped = table.append_column(column, pa.array(mapping(scores)))
    with whole_file(target) as temporary:
        if Path(target).suffix.lower() == ".parquet":
            pa.parquet.write_table(mapped, temporary)
        else:
            separator = "\t" if Path(target).suffix.lower() == ".tsv" else ","
            try:
                pa.csv.write_csv(mapped, temporary, pa.csv.WriteOptions(delimiter=separator))
            except pa.ArrowException as error:  # a column of objects, which text cannot hold
                raise PulensError(f"{target}: cannot be written as text: {error}. Write .parquet instead.") from error


def _read_arrow(source: str, kind: str, delimiter: str | None) -> Any:
    import pyarrow as pa

    with ExitStack() as stack:
        stream = open_stream(source, stack)
        if kind in ("parquet", "arrow"):
            return arrow_table(stream, kind)
        if kind == "jsonl":
            return pa.json.read_json(stream)
        separator = separator_of(kind, delimiter)
        return pa.csv.read_csv(stream, parse_options=pa.csv.ParseOptions(delimiter=separator))


def _copy_text(source: str, target: str, mapping: Mapping, column: str, score: str, delimiter: str) -> None:
    """Fields are copied as they are written, so that nothing but the new column changes."""
    import io

    with ExitStack() as stack:
        stream = open_stream(source, stack)
        reader = csv.reader(io.TextIOWrapper(stream, "utf-8-sig", newline=""), delimiter=delimiter)
        header = [name.strip() for name in next(reader)]
        _refuse_overwriting(column, header)
        place = header.index(score)
        temporary = stack.enter_context(whole_file(target))
        file = stack.enter_context(open(temporary, "w", encoding="utf-8", newline=""))
        separator = "\t" if Path(target).suffix.lower() == ".tsv" else ","
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow([*header, column])
        for rows in _blocks(reader):
            mapped = mapping(np.array([row[place] for row in rows], float))
            writer.writerows([*row, repr(value)] for row, value in zip(rows, mapped.tolist(), strict=True))


def _blocks(reader: Iterator[list[str]], size: int = 50_000) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for row in reader:
        if row:
            rows.append(row)
        if len(rows) == size:
            yield rows
            rows = []
    if rows:
        yield rows


def _refuse_overwriting(column: str, names: list[str]) -> None:
    if column in names:
        raise PulensError(f"the input has a column {column!r} already: name the new one with --column.")
