"""Tables of features: every column a number, besides a column of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, listed
from pulens.inputs.clusters import ClusterIds
from pulens.inputs.columns import LabelCoding, check_scores, file_row, find_column, is_null
from pulens.inputs.tables.chunks import Chunk, column_names, read_chunks
from pulens.inputs.tables.dialect import Dialect, Said, dialect_of
from pulens.inputs.tables.formats import TEXT, format_of, separator_of
from pulens.inputs.tables.streams import explained_file, open_stream


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Rows of numbers with the names of their columns, and label codes where there is a column of labels."""

    names: tuple[str, ...]
    values: NDArray[np.float32]
    labels: NDArray[np.int8] | None


def read_features(
    path: str | Path,
    *,
    features: Sequence[str] | None = None,
    label: str | None = "label",
    drop: Collection[str] = (),
    coding: LabelCoding | None = None,
    format: str | None = None,
    delimiter: Said = None,
) -> FeatureTable:
    """Read feature columns of a file: the named ones, or all but the label and those in ``drop``.

    ``label=None`` reads no labels.
    """
    kind = format_of(path, format)
    if str(path) == "-":
        raise InputError("features cannot be read from standard input; give a file.")
    available = column_names(path, kind, delimiter)
    beside = () if not label else (label,)
    with explained_file(str(path), kind):
        unknown = [name for name in (*(features or ()), *drop, *beside) if name not in available]
        for name in unknown:
            find_column(name, available, delimiter=separator_of(kind, delimiter) if kind in TEXT else None)
        chosen = _chosen(available, features, (label, *drop))
    way_out = "" if features else "Leave a column out with drop= (--drop on the command line)."
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(str(path), kind):
            chunks = read_chunks(stream, kind, (*beside, *chosen), delimiter)
            return _gathered(chunks, chosen, label, coding or LabelCoding(), way_out, dialect_of(delimiter))


def _chosen(
    available: Sequence[str], features: Sequence[str] | None, left_out: Collection[str | None]
) -> tuple[str, ...]:
    """The columns to learn from: the named ones, or all that are not left out."""
    chosen = tuple(features) if features else tuple(name for name in available if name not in left_out)
    if not chosen:
        raise InputError(f"there is no column left to learn from; the columns are {listed(available, limit=30)}.")
    return chosen


def _gathered(
    chunks: Iterable[Chunk],
    chosen: tuple[str, ...],
    label: str | None,
    coding: LabelCoding,
    way_out: str,
    dialect: Dialect,
) -> FeatureTable:
    values, labels = [], []
    first_row = 0
    for chunk in chunks:
        place: dict[str, Any] = {"row_name": file_row, "first_row": first_row}
        columns = chunk[1:] if label else chunk
        if label:
            labels.append(coding.encode(chunk[0], **place, is_whole=False))  # learners refuse -1 themselves
        written = [
            dialect.numbers(column, f"the feature {name!r}", **place)
            for name, column in zip(chosen, columns, strict=True)
        ]
        numbers = [_numbers(name, column, place, way_out) for name, column in zip(chosen, written, strict=True)]
        values.append(np.column_stack(numbers))
        first_row += len(chunk[0])
    if first_row == 0:
        raise InputError("the table is empty: it has no data rows.")
    return FeatureTable(chosen, np.concatenate(values), np.concatenate(labels) if labels else None)


def _numbers(name: str, column: Any, place: dict[str, Any], way_out: str) -> NDArray[np.float32]:
    try:
        numbers = check_scores(column, f"the feature {name!r}", **place, keep_apart=False)
        too_large = np.flatnonzero(np.abs(numbers) > np.finfo(np.float32).max)
        if too_large.size:
            row = place["row_name"](place["first_row"] + int(too_large[0]))
            raise InputError(
                f"the feature {name!r} must be of single precision, at most 3.4e38 either way, got "
                f"{float(numbers[too_large[0]])!r} in {row}. Scale the column first."
            )
    except InputError as error:
        raise InputError(f"{error} {way_out}".rstrip()) from error
    return numbers.astype(np.float32, copy=False)


def read_clusters(
    path: str | Path, cluster: str, *, format: str | None = None, delimiter: Said = None
) -> NDArray[np.int64]:
    """Which rows of a file belong together: a number for each row, the same for rows of one cluster."""
    kind, ids, result = format_of(path, format), ClusterIds(cluster), []
    first_row = 0
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(str(path), kind):
            for (column,) in read_chunks(stream, kind, (cluster,), delimiter):
                ids.add(column, row_name=file_row, first_row=first_row)
                result.append(ids.last)
                first_row += ids.last.size
            ids.check()
    return np.concatenate(result)


def read_labels(
    path: str | Path,
    label: str,
    *,
    coding: LabelCoding | None = None,
    format: str | None = None,
    delimiter: Said = None,
) -> NDArray[np.int8]:
    """The codes of a file's column of labels, and nothing else of it."""
    kind, code, result = format_of(path, format), coding or LabelCoding(), []
    first_row = 0
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(str(path), kind):
            for (column,) in read_chunks(stream, kind, (label,), delimiter):
                result.append(code.encode(column, row_name=file_row, first_row=first_row, is_whole=False))
                first_row += len(column)
            if first_row == 0:
                raise InputError("the table is empty: it has no data rows.")
    return np.concatenate(result)


def label_values(path: str | Path, label: str, *, format: str | None = None, delimiter: Said = None) -> dict[str, int]:
    """How many rows have each value of the column of labels, as text and in order of appearance: for messages."""
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        for chunk in read_chunks(open_stream(path, stack), format_of(path, format), (label,), delimiter):
            column = chunk[0].tolist() if hasattr(chunk[0], "tolist") else chunk[0]
            counts.update("" if is_null(value) else str(value) for value in column)
    return dict(counts)
