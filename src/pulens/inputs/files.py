"""Files as rows that can be counted: chunk by chunk, each label, score and weight checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pulens.containers import distinct
from pulens.counts.buckets import BucketTally
from pulens.counts.joint import JointTally
from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally
from pulens.errors import InputError, shown
from pulens.inputs.clusters import ClusterIds
from pulens.inputs.columns import check_scores, check_weights, file_row
from pulens.inputs.memory import ROW_BYTES, check_room
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tables.chunks import read_chunks
from pulens.inputs.tables.dialect import dialect_of
from pulens.inputs.tables.formats import format_of
from pulens.inputs.tables.streams import explained_file, name_of, open_stream
from pulens.inputs.tables.whole import plain
from pulens.types import Scores

HELD_ROWS = 4_000_000  # rows that are held before they are counted

Labels = NDArray[np.int8]
Part = TypeVar("Part")
Result = TypeVar("Result", Tally, BucketTally, JointTally)


def sample_from_file(path: str | Path, reading: ReadOptions) -> PUSample:
    """Read the wanted columns of a file chunk by chunk; ``"-"`` is standard input."""
    chunks = _checked_chunks(path, reading, (reading.score,), reading.weight, hold=True)
    return _joined([PUSample(labels, scores, weights) for labels, (scores,), weights, _ in chunks])


def tally_from_file(path: str | Path, reading: ReadOptions) -> Tally:
    """Count the rows of a file chunk by chunk: memory goes by the distinct scores, not by the rows."""

    def check(result: Tally) -> None:
        check_room(
            len(result) * ROW_BYTES,
            f"{path}: counting {len(result):,} distinct scores and more",
            "Round the scores, or let DuckDB bin them: say tolerance= (--tolerance) for a CSV or Parquet file.",
        )

    chunks = _checked_chunks(path, reading, (reading.score,), reading.weight)
    parts = ((PUSample(labels, scores, weights), labels.size) for labels, (scores,), weights, _ in chunks)
    return _counted(parts, lambda held: Tally.from_sample(_joined(held)), len, check)


def buckets_from_file(path: str | Path, reading: ReadOptions) -> BucketTally:
    """Count the rows of a file chunk by chunk, by cluster too."""
    ids = ClusterIds(reading.cluster)

    def counted(held: list[tuple[PUSample, NDArray[np.int64]]]) -> BucketTally:
        mine, place = np.unique(np.concatenate([part for _, part in held]), return_inverse=True)
        texts = list(ids.texts)
        return BucketTally.from_sample(_joined([part for part, _ in held]), [texts[code] for code in mine], place)

    chunks = _checked_chunks(path, reading, (reading.score,), reading.weight, ids=ids)
    parts = (
        ((PUSample(labels, scores, weights), ids.last), labels.size) for labels, (scores, *_), weights, _ in chunks
    )
    whole = _counted(parts, counted, lambda result: result.bucket.size, lambda _: ids.check(is_whole=False))
    ids.check()
    return replace(whole, counted_clusters=(len(ids.texts), len(ids.texts)))


def joint_from_file(path: str | Path, scores: Sequence[str], reading: ReadOptions) -> JointTally:
    """Count the rows of a file per combination of several scores, in one pass."""

    def counted(held: list[tuple[Labels, list[Scores]]]) -> JointTally:
        columns = [np.concatenate([part[place] for _, part in held]) for place in range(len(scores))]
        labels = np.concatenate([part for part, _ in held])
        return JointTally.from_rows(dict(zip(scores, columns, strict=True)), labels)

    def check(result: JointTally) -> None:
        check_room(
            len(result) * ROW_BYTES * len(scores),
            f"{path}: counting {len(result):,} combinations of scores and more",
            "Round the scores, or take a sample of the rows.",
        )

    chunks = _checked_chunks(path, reading, scores, None)
    return _counted((((labels, columns), labels.size) for labels, columns, _, _ in chunks), counted, len, check)


def rows_from_file(
    path: str | Path, kept: Sequence[str], reading: ReadOptions
) -> Iterator[tuple[Labels, Scores, list[Any]]]:
    """Labels, scores and further columns as they stand in the file, chunk by chunk."""
    for labels, (scores,), _, values in _checked_chunks(path, reading, (reading.score,), None, kept=kept):
        yield labels, scores, values


def _counted(
    parts: Iterable[tuple[Part, int]],
    count: Callable[[list[Part]], Result],
    size: Callable[[Result], int],
    check: Callable[[Result], None],
) -> Result:
    """Parts of a table with their numbers of rows, counted whenever as many are held as the counts so far are long.

    ``check`` looks at the counts before more rows are held.
    """
    result: Result | None = None
    held: list[Part] = []
    rows = 0

    def added() -> Result:
        own = count(held)
        return own if result is None else result + own

    for part, many in parts:
        held.append(part)
        rows += many
        if rows >= max(HELD_ROWS, 0 if result is None else size(result)):
            result, held, rows = added(), [], 0
            check(result)
    return added() if held or result is None else result


def _joined(parts: list[PUSample]) -> PUSample:
    weights = [part.weights for part in parts if part.weights is not None]
    return PUSample(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _checked_chunks(
    path: str | Path,
    reading: ReadOptions,
    scores: Sequence[str],
    weight: str | None,
    *,
    hold: bool = False,
    kept: Sequence[str] = (),
    ids: ClusterIds | None = None,
) -> Iterator[tuple[Labels, list[Scores], NDArray[np.float64] | None, list[Any]]]:
    """Labels, one array per column of scores, weights, and columns that are not looked at, chunk by chunk.

    ``ids`` takes those of clusters.
    """
    shown_path, coding, label, delimiter = name_of(path), reading.coding, reading.label, reading.dialect
    kind = format_of(path, reading.format)
    apart = [*([] if weight is None else [weight]), *([] if ids is None else [ids.column])]
    wanted = (label, *scores, *apart, *kept)
    roles = ["label", *["score"] * len(scores), *(["weight"] if weight else []), *([] if ids is None else ["cluster"])]
    dialect, titles = dialect_of(delimiter), [f"scores (column {shown(name)})" for name in scores]
    first_row, kinds = 0, set[int]()
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        with explained_file(shown_path, kind, lambda: f" after data row {first_row:,}"):
            for number, chunk in enumerate(read_chunks(stream, kind, wanted, delimiter, roles), start=1):
                place: dict[str, Any] = {"row_name": file_row, "first_row": first_row}
                labels = coding.encode(chunk[0], **place, is_whole=False)
                many = labels.size
                kinds.update(distinct(labels).tolist())
                result = [
                    check_scores(dialect.numbers(values, called, **place), called, **place)
                    for called, values in zip(titles, chunk[1:], strict=False)
                ]
                weights, given = None, None if ids is None else chunk[len(scores) + len(apart)]
                if weight is not None:
                    called = f"weights (column {shown(weight)})"
                    weights = check_weights(dialect.numbers(chunk[1 + len(scores)], called, **place), called, **place)
                    counts = PUSample(labels, result[0], weights).counts
                    if ids is not None and counts is not None:  # clusters without a row that counts are none
                        given = [one for one, is_counted in zip(plain(given), counts, strict=True) if is_counted]
                        labels, result, weights = labels[counts], [result[0][counts]], weights[counts]
                if ids is not None:
                    ids.add(given, **place)
                first_row += many
                if hold and number % 10 == 0:
                    what = f"holding {first_row:,} rows and more"
                    check_room(ROW_BYTES * first_row, what, "Take a sample, or count them first with pulens tally.")
                yield labels, result, weights, chunk[len(wanted) - len(kept) :]
            coding.check_whole(np.array(sorted(kinds), np.int8))
    if first_row == 0:
        raise InputError(f"{shown_path}: the table is empty: it has no data rows.")
