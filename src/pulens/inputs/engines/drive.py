"""The one plan that every engine follows: survey, check, count, refine.

Few distinct scores are grouped exactly. Many are sorted and streamed where the engine can do that (DuckDB), else
grouped by cells floor(score * 2**k) that are refined until what binning can change is below the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import bits_for, cells
from pulens.counts.buckets import (
    BUCKET_CELL_BITS,
    COUNTS,
    EXACT_BUCKET_ROWS,
    MOST_BUCKETS,
    BucketTally,
    digest_of,
)
from pulens.counts.exactness import is_too_long, too_long
from pulens.counts.joint import JointTally
from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED, nothing
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally
from pulens.errors import InputError, shown
from pulens.inputs.clusters import ClusterSurvey
from pulens.inputs.columns import LabelCoding, check_total_weights
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import (
    KEYS_LIMIT,
    LABELS_LIMIT,
    Codes,
    Engine,
    EngineCounts,
    Surveyed,
    Within,
    keys_limit,
    rows_of_segments,
    tallies,
)
from pulens.scalars import real

EXACT_ROWS = 4_000_000  # this many distinct scores are always kept: about 130 MB of counts
SORT_ABOVE = 2_000_000  # distinct scores from which sorting and streaming beats grouping
CELL_BITS = 16  # cells of a first pass for an asked tolerance: 65,536
FINE_CELL_BITS = 20  # cells of a first pass when nothing was asked
DEFAULT_TOLERANCE = 1e-6  # what binning may change when it is needed and nothing was asked
HEAVY_CELLS = 4096  # cells refined in one more pass
FINEST_CELL_BITS = 22  # cells of a pass over all rows: four million
PASSES = 8
HEAVY_BLOCK, FINER_BLOCKS = 1 / 64, 4  # blocks of buckets with so large a share of a kind are cut into 2**4

BinErrors = Callable[[Tally], list[NDArray[np.float64]]]


def count_tallies(
    engine: Engine,
    coding: LabelCoding,
    *,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
    cell_bits: int | None = None,
) -> Mapping[Any, Tally]:
    """One tally per segment of an engine's table; the key is ``None`` where no segments were asked for.

    ``tolerance`` is what binning may change in the metrics that ``bin_errors`` watches: 0 keeps every distinct
    score whatever it costs, ``None`` keeps up to four million and bins beyond, by cells of 2**-``cell_bits`` of the
    range of scores if that is given.
    """
    check_tolerance(tolerance)
    survey, codes = _looked(engine, coding)
    return _tallies(engine, survey, codes, tolerance, bin_errors, cell_bits)


def _looked(engine: Engine, coding: LabelCoding) -> tuple[list[Surveyed], Codes]:
    """What the table holds, checked, and which label values mean what."""
    survey = engine.survey()
    _check_survey(engine, survey)
    codes = _codes(engine, survey, coding)
    kinds = dict.fromkeys(codes.labelled, LABELLED) | dict.fromkeys(codes.negative, NEGATIVE)
    heaviest: dict[int, float] = {}
    for row in survey:
        kind = kinds.get(row.label, UNLABELLED)
        heaviest[kind] = max(heaviest.get(kind, 0.0), row.heaviest)
    engine.nothing = nothing(heaviest.values())
    return survey, codes


def _tallies(
    engine: Engine,
    survey: list[Surveyed],
    codes: Codes,
    tolerance: float | None,
    bin_errors: BinErrors | None,
    cell_bits: int | None = None,
) -> Mapping[Any, Tally]:
    parts = _count(engine, codes, survey, tolerance, bin_errors or pair_errors, cell_bits or FINE_CELL_BITS)
    rows = sum(row.rows for row in survey)
    counted = sum(part.rows for part in parts)
    if engine.columns.weight is None and counted != rows:
        raise InputError(
            f"the table had {rows:,} rows when it was surveyed and {counted:,.0f} when they were counted: it changed "
            "while it was read. Read from a snapshot, or try again."
        )
    result = tallies(parts, engine.score_type)
    if engine.columns.weight is not None:
        for tally in result.values():
            check_total_weights(tally.totals, f"weights (column {engine.columns.weight!r})")
    return result


def count_buckets(
    engine: Engine,
    coding: LabelCoding,
    *,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
) -> BucketTally:
    """The tally of an engine's table, and its rows by bucket of clusters and block of scores, counted there.

    Up to four million rows every distinct score is a block. Beyond, blocks are cells of scores, finer where many rows
    are, so that no more than some hundred thousand counts leave the engine.
    """
    check_tolerance(tolerance)
    survey, codes = _looked(engine, coding)
    told = engine.survey_clusters()
    told.check()
    tally = _tallies(engine, survey, codes, tolerance, bin_errors)[None]
    names, (codes_of, lowest, highest, *counts) = _by_bucket(engine, codes, tally, told)
    result = BucketTally.from_increments(
        tally, names, codes_of, (lowest, highest), counts, clusters=(told.distinct, told.distinct), rows=told.rows
    )
    if not np.allclose(result.totals.sum(axis=0), tally.totals, rtol=1e-9):
        raise InputError("the table changed while it was read: its clusters hold other rows. Read a snapshot.")
    return result


def count_bucket_tallies(
    engine: Engine,
    coding: LabelCoding,
    *,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
) -> dict[Any, BucketTally]:
    """The same for every segment; how many clusters each has is known up to 256 clusters in all, else from its rows."""
    check_tolerance(tolerance)
    survey, codes = _looked(engine, coding)
    told = engine.survey_clusters()
    told.check()
    result = _tallies(engine, survey, codes, tolerance, bin_errors)
    names, columns = _by_bucket(engine, codes, Tallies.of(result).whole(), told)
    segments = CodedSegments.of_columns([[segment for segment, _ in names]])
    owner = segments.codes[columns[0]]
    rows = dict.fromkeys(result, 0)
    for row in survey:
        rows[row.segment] += row.rows
    answer = {}
    for code, segment in enumerate(segments.names):
        codes_of, lowest, highest, *counts = (column[owner == code] for column in columns)
        mine, place = np.unique(codes_of, return_inverse=True)
        buckets = [names[one][1] for one in mine.tolist()]
        most = len(set(buckets)) if told.distinct <= MOST_BUCKETS else min(told.distinct, rows[segment])
        answer[segment] = BucketTally.from_increments(
            result[segment],
            buckets,
            place,
            (lowest, highest),
            counts,
            clusters=(len(set(buckets)), most),
            rows=rows[segment],
        )
    return {segment: answer[segment] for segment in result}


def _by_bucket(engine: Engine, codes: Codes, tally: Tally, told: ClusterSurvey) -> tuple[list[Any], list[NDArray[Any]]]:
    """Names of buckets (or segment and bucket), and columns: the place of a name, ends of scores, counts."""
    hashed = told.distinct > MOST_BUCKETS
    parts = _in_blocks(engine.in_buckets(hashed=hashed), codes, tally, told.rows)

    def named(bucket: Any) -> str:
        return str(bucket) if hashed else digest_of(str(bucket))

    names: list[Any] = []
    places = []
    for part in parts:
        if part.segment is not None:
            places.append(part.segment.codes.astype(np.int64) + len(names))
            names += [
                named(name) if engine.group_by is None else (name[0], named(name[1])) for name in part.segment.names
            ]
    columns = ("lowest", "highest", *COUNTS)
    return names, [np.concatenate(places), *(np.concatenate([getattr(one, name) for one in parts]) for name in columns)]


def _in_blocks(engine: Engine, codes: Codes, tally: Tally, rows: int) -> list[EngineCounts]:
    """Counts per bucket and distinct score, or per bucket and cell of scores."""
    if rows <= EXACT_BUCKET_ROWS or (len(tally) <= 1 << BUCKET_CELL_BITS and tally.binning is None):
        return [engine.by_score(codes)]
    ends = float(tally.thresholds[-1]), float(tally.highest[0])
    bits = bits_for(*ends, cell_bits=BUCKET_CELL_BITS)
    parts = [engine.by_cell(codes, bits)]
    kinds = [kind / total for kind, total in zip(tally.increments(), tally.totals, strict=True) if total]
    for _ in range(PASSES):
        mine, place, size = np.unique(cells(tally.thresholds, bits), return_inverse=True, return_counts=True)
        share = np.max([np.bincount(place, kind, mine.size) for kind in kinds], axis=0)
        coarse = parts[-1]
        assert coarse.cell is not None
        heavy = mine[(share > HEAVY_BLOCK) & (size > 1) & np.isin(mine, coarse.cell)]
        finer = min(bits + FINER_BLOCKS, bits_for(*ends, cell_bits=60))
        if not heavy.size or finer == bits:
            break
        inside = np.isin(coarse.cell, heavy)
        parts = [*parts[:-1], coarse[~inside], engine.by_cell(codes, finer, Within(bits, tuple(heavy.tolist())))]
        bits = finer
    return parts


def count_jointly(engine: Any, names: Sequence[str], coding: LabelCoding) -> JointTally:
    """Counts per combination of scores, of which the engine's own is the first."""
    survey = engine.survey()
    _check_survey(engine, survey)
    scores, counts = engine.by_scores(_codes(engine, survey, coding))
    kinds = counts.labelled, counts.unlabelled, counts.negative
    types = (engine.score_type, *engine.beside_types)
    return JointTally.from_increments(names, scores, *kinds, types=types)


def check_scores_of(engine: Engine) -> None:
    """Refuse scores that cannot be counted, without counting them."""
    _check_survey(engine, engine.survey())


def codes_of(engine: Engine, coding: LabelCoding) -> Codes:
    """Which label values of an engine's table mean what; its scores are checked on the way."""
    survey = engine.survey()
    _check_survey(engine, survey)
    return _codes(engine, survey, coding)


def check_tolerance(tolerance: float | None) -> None:
    if tolerance is None:
        return
    if not 0 <= real(tolerance) < 1:
        raise InputError(
            f"tolerance must be a number of at least 0 and below 1, got {shown(tolerance)}. It is the most that "
            "binning may change in an area: 0 keeps every distinct score, 0.0001 is plenty for most uses."
        )


def _count(
    engine: Engine,
    codes: Codes,
    survey: list[Surveyed],
    tolerance: float | None,
    bin_errors: BinErrors,
    cell_bits: int = FINE_CELL_BITS,
) -> list[EngineCounts]:
    rows = sum(row.rows for row in survey)
    if rows <= EXACT_ROWS or tolerance == 0:
        return _each_score(engine, codes, rows, tolerance)
    lowest = min((row.lowest for row in survey if row.lowest is not None), default=0.0)
    highest = max((row.highest for row in survey if row.highest is not None), default=0.0)
    if tolerance is None:
        distinct = engine.distinct_scores()
        if distinct is not None and distinct <= SORT_ABOVE:
            return [engine.by_score(codes)]
        ordered = engine.by_order(codes, bits_for(lowest, highest, cell_bits=cell_bits))
        if ordered is not None:
            return ordered
    level = FINE_CELL_BITS if tolerance is None else CELL_BITS
    tolerance = DEFAULT_TOLERANCE if tolerance is None else tolerance
    parts = _in_cells(engine, codes, (lowest, highest), level, tolerance, bin_errors)
    return _refine(engine, codes, parts, tolerance, bin_errors)


def _each_score(engine: Engine, codes: Codes, rows: int, tolerance: float | None) -> list[EngineCounts]:
    """Counts of every distinct score, sorted and streamed where they are very many."""
    if tolerance == 0 and rows > SORT_ABOVE and (engine.distinct_scores() or 0) > SORT_ABOVE:
        ordered = engine.by_order(codes, None)
        if ordered is not None:
            return ordered
    return [engine.by_score(codes)]


def _in_cells(
    engine: Engine,
    codes: Codes,
    ends: tuple[float, float],
    level: int,
    tolerance: float,
    bin_errors: BinErrors,
) -> list[EngineCounts]:
    """Counts of cells of one width, narrow enough that those to be refined are few."""
    parts = [engine.by_cell(codes, bits_for(*ends, cell_bits=level))]
    heavy = _heavy(parts, engine.score_type, tolerance, bin_errors)
    if level < FINEST_CELL_BITS and np.count_nonzero(heavy) > HEAVY_CELLS:
        # spread over too many cells to refine one by one: errors fall in proportion to the width of all cells
        excess = max(float(heavy.sum()) / tolerance, 2.0)
        level = min(level + math.ceil(math.log2(excess)) + 1, FINEST_CELL_BITS)
        parts = [engine.by_cell(codes, bits_for(*ends, cell_bits=level))]
    return parts


def _refine(
    engine: Engine, codes: Codes, parts: list[EngineCounts], tolerance: float, bin_errors: BinErrors
) -> list[EngineCounts]:
    """Split the cells that matter most until the errors of every segment's tally are below the tolerance."""
    for _ in range(PASSES):
        heavy = _heavy(parts, engine.score_type, tolerance, bin_errors)
        if not heavy.any():
            break
        # cells of one level at a time: a restriction names cells of one width
        bounds = np.cumsum([0, *(len(part) for part in parts)])
        shares = [heavy[start:end] for start, end in pairwise(bounds)]
        level = max(
            (place for place, part in enumerate(parts) if part.bits is not None),
            key=lambda place: float(shares[place].sum()),
        )
        coarse, share = parts[level], shares[level]
        if coarse.cell is None or coarse.bits is None or not share.any():
            break
        chosen = np.unique(coarse.cell[np.argsort(-share, kind="stable")[:HEAVY_CELLS]][: np.count_nonzero(share)])
        inside = np.isin(coarse.cell, chosen)
        within = Within(coarse.bits, tuple(chosen.tolist()))
        split = coarse[inside]
        extra = max(4, min(12, 22 - math.ceil(math.log2(chosen.size))))
        size = float(max(np.abs(split.lowest).max(), np.abs(split.highest).max()))
        bits = min(coarse.bits + extra, bits_for(-size, size, cell_bits=60))
        if split.rows <= EXACT_ROWS or bits <= coarse.bits:
            finer = engine.by_score(codes, within)
        else:
            finer = engine.by_cell(codes, bits, within)
        parts = [*parts[:level], coarse[~inside], *parts[level + 1 :], finer]
    return parts


def _heavy(
    parts: list[EngineCounts], dtype: np.dtype[Any], tolerance: float, bin_errors: BinErrors
) -> NDArray[np.float64]:
    """For each group how much it adds to an error above the tolerance; zero where refining it is not needed."""
    lowest = np.concatenate([part.lowest for part in parts]).astype(dtype, copy=False)
    needed = np.zeros(lowest.size)
    places: dict[Any, Any] = {None: slice(None)}
    if parts[0].segment is not None:
        names = [name for part in parts if part.segment is not None for name in part.segment.tolist()]
        every = np.empty(len(names), object)
        every[:] = names
        places = rows_of_segments(CodedSegments.of(every))
    for segment, tally in tallies(parts, dtype).items():
        mine = places[segment]
        if not 0 < tally.totals.labelled < tally.totals.rows:
            continue  # rows of one kind have no area that bins could change
        for errors in bin_errors(tally):
            if errors.sum() <= tolerance:
                continue
            order = np.argsort(-errors, kind="stable")
            rest = errors.sum() - np.cumsum(errors[order])
            keep = order[: int(np.searchsorted(-rest, -tolerance / 2)) + 1]
            wanted = np.zeros(errors.size)
            wanted[keep] = errors[keep]
            ascending = tally.thresholds[::-1]
            place = np.searchsorted(ascending, lowest[mine], side="right") - 1
            needed[mine] = np.maximum(needed[mine], wanted[::-1][place])
    return needed


def pair_errors(tally: Tally) -> list[NDArray[np.float64]]:
    """What each bin can change in the areas between labelled, unlabelled and negative rows, ties being one half."""
    wide = tally.highest > tally.thresholds
    kinds = [(count * wide, total) for count, total in zip(tally.increments(), tally.totals, strict=True) if total]
    return [
        first / (2 * first_total) * (second / second_total)
        for place, (first, first_total) in enumerate(kinds)
        for second, second_total in kinds[place + 1 :]
    ]


def _check_survey(engine: Engine, survey: list[Surveyed]) -> None:
    if len(survey) > LABELS_LIMIT and len({row.label for row in survey}) > LABELS_LIMIT:
        raise InputError(
            f"the label column {shown(engine.columns.label)} has more than {LABELS_LIMIT:,} different values: is it "
            "the right column?"
        )
    if len(survey) > keys_limit(engine.group_by):
        segments = len({row.segment for row in survey})
        raise InputError(
            f"the column {shown(engine.group_by)} has {segments:,} segments or more, which is too many: together with "
            f"the label values there may be {KEYS_LIMIT:,}. Is it the right column? If so, read a part at a time with "
            "a condition (where=..., or --where)."
        )
    rows = sum(row.rows for row in survey)
    if rows == 0:
        raise InputError("the table is empty: it has no rows (or none that the condition lets through).")
    for kind, column, bad in (
        ("scores", engine.columns.score, sum(row.bad_scores for row in survey)),
        ("weights", engine.columns.weight, sum(row.bad_weights for row in survey)),
    ):
        if bad and column is not None:
            raise InputError(_about_bad_rows(kind, column, engine.bad_value(column), bad, rows))


def _about_bad_rows(kind: str, column: str, value: Any, bad: int, rows: int) -> str:
    """What is wrong with scores or weights that are no numbers, with one of them."""
    such = f"({bad:,} such row{'s' if bad > 1 else ''} of {rows:,})"
    if kind == "scores" and is_too_long(value):
        return too_long(f"{kind} (column {column!r})", value, f" {such}")
    wanted = "finite numbers" if kind == "scores" else "finite numbers of at least 0"
    seen = "null" if value is None else shown(value)
    return (
        f"{kind} (column {shown(column)}) must be {wanted}, got {seen} {such}. Drop or repair these rows "
        "first, for example with a condition (where=..., or --where)."
    )


def _codes(engine: Engine, survey: list[Surveyed], coding: LabelCoding) -> Codes:
    values = list(dict.fromkeys(row.label for row in survey))
    counted: dict[Any, int] = dict.fromkeys(values, 0)
    for row in survey:
        counted[row.label] += row.rows

    def which(index: int) -> str:
        return f"{counted[values[index]]:,} row(s) of column {engine.columns.label!r}"

    return Codes.of(values, coding.encode(values, row_name=which))
