"""What engines hand back: a survey of the table, and counts per score or per cell of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED, NEGATIVE
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally
from pulens.inputs.clusters import ClusterSurvey
from pulens.inputs.columns import Columns
from pulens.inputs.engines.coded import CodedSegments

LARGEST = float(np.finfo(np.float64).max)
LABELS_LIMIT = 10_000  # label values that an engine may report
KEYS_LIMIT = 1_000_000  # the same per segment: some 300 MB while they are looked through


def keys_limit(group_by: str | tuple[str, ...] | None) -> int:
    """How many combinations of label value and segment a survey may have.

    >>> keys_limit(None), keys_limit("country")
    (10000, 1000000)
    """
    return LABELS_LIMIT if group_by is None else KEYS_LIMIT


class Codes(NamedTuple):
    """Raw label values that mean labelled positive and known negative; all others are unlabelled."""

    labelled: tuple[Any, ...]
    negative: tuple[Any, ...]

    @classmethod
    def of(cls, values: Sequence[Any], codes: NDArray[np.int8]) -> Codes:
        pairs = list(zip(values, codes.tolist(), strict=True))
        return cls(
            tuple(value for value, code in pairs if code == LABELLED),
            tuple(value for value, code in pairs if code == NEGATIVE),
        )


class Surveyed(NamedTuple):
    """One label value in one segment: how many rows, which of them cannot be counted, and the range of scores."""

    segment: Any
    label: Any
    rows: int
    bad_scores: int
    bad_weights: int
    lowest: float | None
    highest: float | None
    heaviest: float = 0.0  # the largest weight


class Within(NamedTuple):
    """Restricts counting to some cells of width 2**-bits."""

    bits: int
    cells: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EngineCounts:
    """Rows of a GROUP BY: lowest and highest score of each group, its counts, its segment.

    ``bits`` and ``cell`` say which cell a group is, for groups made of cells.
    """

    lowest: NDArray[Any]
    highest: NDArray[Any]
    labelled: NDArray[Any]
    unlabelled: NDArray[Any]
    negative: NDArray[Any]
    segment: CodedSegments | None = None
    cell: NDArray[Any] | None = None
    bits: int | None = None

    def __len__(self) -> int:
        return int(self.lowest.size)

    @property
    def rows(self) -> float:
        return float(self.labelled.sum() + self.unlabelled.sum() + self.negative.sum())

    def __getitem__(self, which: Any) -> EngineCounts:
        return EngineCounts(
            self.lowest[which],
            self.highest[which],
            self.labelled[which],
            self.unlabelled[which],
            self.negative[which],
            None if self.segment is None else self.segment[which],
            None if self.cell is None else self.cell[which],
            self.bits,
        )


def tallies(parts: Sequence[EngineCounts], dtype: np.dtype[Any]) -> Mapping[Any, Tally]:
    """One tally per segment (a single one under ``None`` where nothing was segmented)."""
    if all(part.segment is None for part in parts):
        return {None: _tally(parts, dtype)}
    if len(parts) == 1 and parts[0].segment is not None and parts[0].bits is None:
        return _tallies_at_once(parts[0], parts[0].segment, dtype)
    pieces: dict[Any, list[EngineCounts]] = {}
    for part in parts:
        if part.segment is not None:
            for segment, rows in rows_of_segments(part.segment).items():
                pieces.setdefault(segment, []).append(part[rows])
    return {segment: _tally(pieces[segment], dtype) for segment in in_order(pieces)}


def _tallies_at_once(counts: EngineCounts, segments: CodedSegments, dtype: np.dtype[Any]) -> Tallies:
    """Counts of single scores, or of bins that a stream has made."""
    names = in_order(segments.names)
    places = {name: place for place, name in enumerate(names)}
    ranks = np.array([places[name] for name in segments.names], np.int32)
    lowest = counts.lowest.astype(dtype, copy=False)
    is_single = counts.highest is counts.lowest or np.array_equal(counts.highest, counts.lowest)
    highest = None if is_single else counts.highest.astype(dtype, copy=False)
    negative = counts.negative if counts.negative.any() else None
    return Tallies.from_increments(
        names, ranks[segments.codes], lowest, counts.labelled, counts.unlabelled, negative, highest
    )


def rows_of_segments(segments: CodedSegments) -> dict[Any, NDArray[np.intp]]:
    """The rows of every segment, found in one pass whatever the number of segments; null is a segment too.

    >>> rows_of_segments(CodedSegments.of(np.array(["b", "a", "b"], object)))
    {'b': array([0, 2]), 'a': array([1])}
    """
    order = np.argsort(segments.codes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(segments.codes, minlength=len(segments.names)))])
    result = {name: order[bounds[code] : bounds[code + 1]] for code, name in enumerate(segments.names)}
    return {name: rows for name, rows in result.items() if rows.size}


def in_order(segments: Iterable[Any]) -> list[Any]:
    """Distinct segments in a fixed order: by value, null last."""
    distinct = list(dict.fromkeys(segments))
    try:
        return sorted(distinct, key=lambda value: (value is None, 0 if value is None else value))
    except TypeError:  # values of several types
        return sorted(distinct, key=lambda value: (value is None, str(value)))


def _tally(parts: Sequence[EngineCounts], dtype: np.dtype[Any]) -> Tally:
    def gather(name: str) -> NDArray[Any]:
        arrays = [getattr(part, name) for part in parts]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    negative = gather("negative")
    return Tally.from_increments(
        gather("lowest").astype(dtype, copy=False),
        gather("labelled"),
        gather("unlabelled"),
        negative if negative.any() else None,
        gather("highest").astype(dtype, copy=False),
    )


class Engine(Protocol):
    """Something that can group rows by itself, so that only counts leave it."""

    columns: Columns
    group_by: str | tuple[str, ...] | None
    score_type: np.dtype[Any]  # float32 where the engine keeps scores so
    nothing: float  # the weight up to which a row counts for nothing

    def survey(self) -> list[Surveyed]:
        """Label values, segments, numbers of rows and the range of scores, in one pass."""

    def bad_value(self, column: str) -> Any:
        """One score or weight that cannot be counted."""

    def by_score(self, codes: Codes, within: Within | None = None) -> EngineCounts:
        """Counts per distinct score."""

    def by_cell(self, codes: Codes, bits: int, within: Within | None = None) -> EngineCounts:
        """Counts per cell floor(score * 2**bits), with the lowest and highest score in each."""

    def survey_clusters(self) -> ClusterSurvey:
        """What the column of clusters holds."""

    def in_buckets(self, *, hashed: bool) -> Engine:
        """The same rows with buckets of clusters for segments."""

    def distinct_scores(self) -> int | None:
        """About how many distinct scores there are, if that is cheap to know."""

    def by_order(self, codes: Codes, bits: int | None) -> list[EngineCounts] | None:
        """Counts per distinct score from rows sorted by the engine and streamed, if it can.

        With ``bits``, neighbouring scores of only unlabelled rows in one cell are joined.
        """
