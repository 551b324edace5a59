"""From whatever the user has to counts: rows in memory are counted here, tables elsewhere where they are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.counts.buckets import MOST_BUCKETS, BucketTally
from pulens.counts.joint import JointTally
from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally, Totals, check_counts
from pulens.errors import InputError, cut, listed, shown
from pulens.inputs.addresses import check_name, is_address, is_sql, shown_address
from pulens.inputs.arrays import python_values
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.columns import CROSSED, NULL, crossed, find_column, is_hashable
from pulens.inputs.engines.drive import (
    BinErrors,
    check_scores_of,
    check_tolerance,
    count_bucket_tallies,
    count_buckets,
    count_jointly,
    count_tallies,
)
from pulens.inputs.engines.wanted import Wanted
from pulens.inputs.files import buckets_from_file, joint_from_file, tally_from_file
from pulens.inputs.frames import is_frame, is_lazy, open_frame
from pulens.inputs.label_values import explain_unmatched
from pulens.inputs.periods import Period, alias
from pulens.inputs.read import check_kinds, check_weights_given, read_sample
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tables.dialect import refuse_written
from pulens.inputs.tables.formats import EXTENSIONS, FORMATS, format_of
from pulens.inputs.tables.found_files import ending, expand, has_duckdb
from pulens.inputs.tables.streams import open_stream
from pulens.keywords import forwards_keywords, keywords_of, names_of
from pulens.scalars import is_missing
from pulens.types import Clusters, RowsLike, Values

if TYPE_CHECKING:
    from pulens.inputs.engines.coded import CodedSegments

#: Files of at least this many bytes are read by DuckDB, if it is installed; counts do not depend on it.
LARGE_FILE = 32 << 20
#: So are Parquet files of at least this many rows or bytes when unpacked: few bytes on disk may hold very many.
LARGE_ROWS, LARGE_UNPACKED = 4_000_000, 256 << 20
#: Of millions of distinct scores in many windows, unlabelled neighbours within such cells are joined.
WINDOW_CELL_BITS = 14
_COUNTED_IF_LARGE = ("parquet", "csv", "tsv")

_LABELS = ("positive", "negative", "unlabelled")

#: What may be said about rows beside the rows themselves; doors that read rows hand these on.
ROWS = keywords_of(read_sample) - {"allow_one_kind"}
#: The same about rows that an engine may count.
READING = keywords_of(ReadOptions) - {"cluster"}  # which doors without intervals of rows do not take


@forwards_keywords(ROWS)
def read_tally(
    source: Any,
    scores: Any = None,
    *,
    table: Any = None,
    where: str | None = None,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
    allow_one_kind: bool = False,
    **reading: Any,
) -> Tally:
    """Count the rows of anything: arrays, a frame, files, a lazy table of an engine, a database, a tally file.

    Parameters
    ----------
    source
        What :func:`pulens.inputs.read_sample` takes, or: a glob or folder of files; a tally or a
        ``.tally`` file, with ``score=`` for a joint one; a DuckDB relation, PySpark, Polars lazy or Ibis table;
        ``"duckdb:///file.db"``, ``"postgresql://..."`` or any SQLAlchemy URL, engine or connection.
    table, where
        Which table of a database, and an SQL condition on its rows.
    tolerance
        What binning may change in an area: 0 keeps every distinct score. By default they are kept up to four
        million; beyond, scores are binned and every number carries the bound on what that can change.
    bin_errors
        What each bin of a tally can change in the numbers that the tolerance is about; by default in the areas
        between labelled, unlabelled and known negative rows.
    allow_one_kind
        Accept rows that are all of one kind: a part of a larger whole.

    >>> print(read_tally([1, 0, 0], [0.9, 0.7, 0.2]))
    Tally(1 labelled, 2 unlabelled, 3 distinct scores)
    """
    asked = ReadOptions(table=table, where=where, tolerance=tolerance, **reading)
    if isinstance(source, Tally | JointTally | BucketTally):
        _refuse_beside_counts(f"a {type(source).__name__}", {**asked.arguments, "scores": scores})
        counted = _one_score(source, asked.score)
        check_counts(counted)
        if not allow_one_kind:
            check_tally(counted)
        return counted
    result = _read(source, scores, asked, bin_errors, allow_one_kind=allow_one_kind)
    if not allow_one_kind:
        try:
            check_tally(result)
        except InputError as error:
            raise (error if result.totals.labelled else explain_unmatched(source, scores, asked, error)) from None
    return result


@forwards_keywords(ROWS)
def read_tallies(
    source: Any,
    *,
    group_by: str | tuple[str, ...],
    table: Any = None,
    where: str | None = None,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
    **reading: Any,
) -> Mapping[Any, Tally]:
    """One tally per value of a column, in one pass over the rows; see :func:`read_tally`.

    Several columns cross: a tally per combination of their values, named by their texts, ``"fr / f"``.

    >>> import polars
    >>> frame = polars.DataFrame({"score": [0.9, 0.7, 0.2], "label": [1, 0, 0], "country": ["fr", "fr", "de"]})
    >>> {country: tally.totals.rows for country, tally in read_tallies(frame, group_by="country").items()}
    {'de': 1.0, 'fr': 2.0}
    """
    asked = ReadOptions(table=table, where=where, tolerance=tolerance, **reading)
    check_tolerance(asked.tolerance)
    if is_tally_file(source):
        _refuse_beside_counts(f"the tally {source}", asked.rows)
    check_weights_given(None, asked.weights, asked.weight)
    opened = _engine(source, asked, group_by)
    if opened is not None:
        with opened as engine:
            return count_tallies(engine, asked.coding, tolerance=asked.tolerance, bin_errors=bin_errors)
    _refuse_conditions(asked)
    return _split_frame(source, group_by, asked)


@forwards_keywords(ROWS)
def read_windows(
    source: Any,
    *,
    periods: Sequence[Period],
    group_by: tuple[str, ...] = (),
    table: Any = None,
    where: str | None = None,
    tolerance: float | None = None,
    **reading: Any,
) -> dict[tuple[str | None, ...], Tally]:
    """One tally per window of a column of times, in one GROUP BY where the rows are; see :func:`read_tallies`.

    Keys are the text of the segment (None without ``group_by``; several columns cross) and the window's name in every
    one of ``periods``, None where a row has no such time.

    >>> import polars
    >>> from pulens.inputs.periods import Period
    >>> rows = {"score": [3, 2, 1], "label": [1, 0, 0], "at": ["2026-05-04 09:30", "2026-05-04", "2026-05-11"]}
    >>> found = read_windows(polars.DataFrame(rows), periods=[Period("at", "week")])
    >>> {window: tally.totals.rows for (_, window), tally in found.items()}
    {'2026-05-04': 2.0, '2026-05-11': 1.0}
    """
    asked = ReadOptions(table=table, where=where, tolerance=tolerance, **reading)
    check_tolerance(asked.tolerance)
    if isinstance(source, Tally | JointTally | BucketTally) or is_tally_file(source):
        _refuse_beside_counts("a tally", asked.rows)
        raise InputError("counts do not say which rows are in which window: give the rows.")
    check_weights_given(None, asked.weights, asked.weight)
    if not isinstance(periods, Sequence) or not all(isinstance(one, Period) for one in periods):
        raise InputError(f"periods must be a list of pulens.inputs.Period, got {shown(periods)}.")
    cut = tuple(one for one in periods if one.by is not None)
    keys = (*crossed(group_by or None), *(one.column if one.by is None else alias(cut.index(one)) for one in periods))
    single: str | tuple[str, ...] = keys[0] if len(keys) == 1 else keys
    opened = _engine(source, asked, single, periods=cut)
    if opened is not None:
        with opened as engine:
            counted = count_tallies(engine, asked.coding, tolerance=asked.tolerance, cell_bits=WINDOW_CELL_BITS)
    else:
        _refuse_conditions(asked)
        counted = _split_frame(_with_periods(source, cut), single, asked)
    return _named_windows(counted, periods, grouped=bool(group_by))


def _with_periods(source: Any, periods: Sequence[Period]) -> Any:
    """A frame in memory with one more column for every period; each distinct time is looked at once."""
    import narwhals as nw

    if not is_frame(source):
        raise InputError(
            f"windows of time need a table, a file or a database, got an object of type {type(source).__name__}."
        )
    frame = open_frame(source, *(one.column for one in periods))
    for place, period in enumerate(periods):
        column = frame[find_column(period.column, frame.columns)]
        if column.dtype.is_numeric() or column.dtype.is_nested():
            raise period.refused_type(column.dtype)
        values = [None if is_missing(value) else value for value in column.to_list()]
        if not all(map(is_hashable, values)):  # lists among objects: no time is one
            raise period.refused(next(value for value in values if not is_hashable(value)))
        names = {value: None if value is None else period.name(value) for value in dict.fromkeys(values)}
        new = nw.new_series(
            alias(place), [names[value] for value in values], nw.String, backend=nw.get_native_namespace(frame)
        )
        frame = frame.with_columns(new)
    return frame.to_native()


def _named_windows(
    counted: Mapping[Any, Tally], periods: Sequence[Period], *, grouped: bool
) -> dict[tuple[str | None, ...], Tally]:
    """Tallies by segment and names of windows; keys of several columns are texts that cross, windows last."""
    result: dict[tuple[str | None, ...], Tally] = {}
    for key, tally in counted.items():
        if grouped or len(periods) > 1:
            texts = str(key).rsplit(CROSSED, len(periods))
            segment, cut = (texts[0], texts[1:]) if grouped else (None, texts)
        else:
            segment, cut = None, [key]
        names = [
            None if value is None or value == NULL else period.named(value)
            for period, value in zip(periods, cut, strict=True)
        ]
        whole = (segment, *names)
        result[whole] = result[whole] + tally if whole in result else tally
    return result


@forwards_keywords(ROWS)
def read_constants(
    source: Any, *, group_by: str, column: str, table: Any = None, where: str | None = None, **reading: Any
) -> dict[Any, float]:
    """The one number that a column holds in each segment, such as its class prior.

    >>> import polars
    >>> rows = {"score": [3, 2, 1], "label": [1, 0, 0], "site": ["a", "a", "b"], "prior": [0.2, 0.2, 0.1]}
    >>> frame = polars.DataFrame(rows)
    >>> read_constants(frame, group_by="site", column="prior")
    {'a': 0.2, 'b': 0.1}
    """
    asked = ReadOptions(table=table, where=where, **{**reading, "weight": None})
    opened = _engine(source, asked, group_by, (column,))
    if opened is not None:
        with opened as engine:
            extremes = engine.extremes()
    else:
        extremes = _extremes_of_frame(source, group_by, column)
    result = {}
    for segment, lowest, highest, strange in extremes:
        if strange or lowest is None or lowest != highest:
            seen = f"{strange:,} rows without a number" if strange else f"numbers from {lowest:g} to {highest:g}"
            raise InputError(
                f"column {column!r} must hold one number in each segment of {group_by!r}, got {seen} in the segment "
                f"{shown(segment)}."
            )
        result[segment] = float(lowest)
    return result


@forwards_keywords(ROWS)
def read_joint(
    source: Any,
    *,
    score: Sequence[str] | None = None,
    table: Any = None,
    where: str | None = None,
    allow_one_kind: bool = False,
    **reading: Any,
) -> JointTally:
    """Count the rows of a table, file or database per combination of several scores, where the rows are.

    A joint tally, or a file of one that ``pulens tally --score a --score b`` wrote, is taken as it is, or the scores
    named of it. ``allow_one_kind`` accepts rows that are all of one kind: a part of a larger whole.

    >>> import polars
    >>> frame = polars.DataFrame({"a": [0.9, 0.7, 0.2], "b": [0.8, 0.8, 0.1], "label": [1, 0, 0]})
    >>> print(read_joint(frame, score=["a", "b"]))
    JointTally of a, b (1 labelled, 2 unlabelled, 3 combinations)
    """
    asked = ReadOptions(table=table, where=where, **reading)
    counted = _given_joint(source, asked)
    given = () if score is None else names_of("score", score)
    names = list(counted.names if counted is not None and score is None else given)
    if isinstance(score, str) or len(set(names)) < 2 or len(set(names)) < len(names):
        raise InputError(f"a joint tally needs two or more different columns of scores, got {shown(score)}.")
    joint = _count_jointly(source, names, asked) if counted is None else counted.chosen(names)
    if not allow_one_kind:
        try:
            check_totals(joint.totals)
        except InputError as error:
            raise (error if joint.totals.labelled else explain_unmatched(source, None, asked, error)) from None
    return joint


def _count_jointly(source: Any, names: list[str], reading: ReadOptions) -> JointTally:
    for weights in ("weights", "weight"):
        if getattr(reading, weights) is not None:
            raise InputError(f"a joint tally counts every row once, got {weights}=. Leave it out, or repeat the rows.")
    coding = reading.coding
    for name in reversed(names):  # the first is checked last, and counts them all
        beside = tuple(names[1:]) if name == names[0] else ()
        opened = _engine(source, replace(reading, score=name), None, beside)
        if opened is None:
            break
        with opened as engine:
            if name == names[0]:
                return count_jointly(engine, names, coding)
            check_scores_of(engine)
    _refuse_conditions(reading)
    if isinstance(source, str | Path):
        return joint_from_file(source, names, reading)
    samples = {name: read_sample(source, **replace(reading, score=name).rows, allow_one_kind=True) for name in names}
    return JointTally.from_rows({name: sample.scores for name, sample in samples.items()}, samples[names[0]].labels)


def _given_joint(source: Any, reading: ReadOptions) -> JointTally | None:
    """A joint tally that is given, as such or as a file; refused where one score alone was counted."""
    if not isinstance(source, Tally | JointTally | BucketTally) and not is_tally_file(source):
        return None
    result = source
    what = type(source).__name__
    if isinstance(source, str | Path):
        from pulens.inputs.tally_files import read_tally_file

        result, what = read_tally_file(source).tally, f"the tally {source}"
    if isinstance(result, Tally | BucketTally):
        raise InputError(
            f"{what} counts one score: it forgets which row is which, so it cannot say how far two models agree. Count "
            "both scores together (pulens tally --score a --score b, or pulens.inputs.read_joint), or give the rows: "
            "labels and a mapping of scores, a table, a file or a database."
        )
    _refuse_beside_counts(what, reading.arguments)
    return result  # type: ignore[no-any-return]


@forwards_keywords(ROWS)
def read_buckets(
    source: RowsLike,
    scores: Values | None = None,
    *,
    cluster: Clusters | None = None,
    table: Any = None,
    where: str | None = None,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
    allow_one_kind: bool = False,
    **reading: Any,
) -> BucketTally:
    """Count rows that belong together: a tally, and the same rows by bucket of clusters; see :func:`read_tally`.

    ``cluster`` names the column that says which rows belong together (a patient, a customer, a query), or holds one id
    per row beside labels and scores given as arrays. What was counted by cluster before, a :class:`BucketTally` or a
    file that ``pulens tally --cluster`` wrote, is taken as it is.

    Parameters
    ----------
    source, scores
        A table, file or database; or labels and scores as arrays.
    cluster
        Column of clusters, or one id per row for arrays.
    table, where, tolerance, bin_errors, allow_one_kind, reading
        As for :func:`read_tally`.

    Returns
    -------
    BucketTally
        The counts of all rows, and of each bucket of clusters.

    Examples
    --------
    >>> print(read_buckets([1, 0, 0, 1], [0.9, 0.7, 0.2, 0.6], cluster=["ann", "ann", "bob", "bob"]))
    BucketTally(2 labelled, 2 unlabelled, 4 distinct scores, 2 clusters in 2 buckets)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(read_buckets(table, score="risk_v2", label="outcome", positive="fraud", cluster="customer"))
    BucketTally(61 labelled, 939 unlabelled, 735 distinct scores, 317 clusters in 175 buckets)
    """
    asked = ReadOptions(table=table, where=where, tolerance=tolerance, cluster=cluster, **reading)
    check_tolerance(asked.tolerance)
    result = _given_buckets(source, scores, asked)
    if result is None:
        if cluster is None:
            raise InputError(
                "read_buckets needs cluster=, the column that says which rows belong together (or one id per row "
                "beside arrays). Without clusters read_tally counts rows."
            )
        check_weights_given(scores, asked.weights, asked.weight)
        if scores is None:
            _refuse_another_role(asked)
        result = _count_buckets(source, scores, asked, bin_errors, allow_one_kind=allow_one_kind)
    if not allow_one_kind:
        check_tally(result.tally)
    return result


@forwards_keywords(ROWS)
def read_bucket_tallies(
    source: Any,
    *,
    group_by: str | tuple[str, ...],
    cluster: str,
    table: Any = None,
    where: str | None = None,
    tolerance: float | None = None,
    bin_errors: BinErrors | None = None,
    **reading: Any,
) -> dict[Any, BucketTally]:
    """Rows counted by cluster for every value of a column; see :func:`read_buckets` and :func:`read_tallies`.

    >>> import polars
    >>> rows = {"score": [0.9, 0.7, 0.2, 0.1], "label": [1, 0, 0, 0], "sex": ["f", "f", "m", "m"], "id": [1, 2, 3, 3]}
    >>> found = read_bucket_tallies(polars.DataFrame(rows), group_by="sex", cluster="id")
    >>> {sex: len(counted) for sex, counted in found.items()}
    {'f': 2, 'm': 1}
    """
    asked = ReadOptions(table=table, where=where, tolerance=tolerance, cluster=_cluster_column(cluster), **reading)
    check_tolerance(asked.tolerance)
    if isinstance(source, Tally | JointTally | BucketTally) or is_tally_file(source):
        _refuse_beside_counts("a tally", {**asked.rows, "group_by": group_by})
        raise InputError("counts do not say which rows are in which segment: give the rows.")
    check_weights_given(None, asked.weights, asked.weight)
    _refuse_another_role(asked)
    opened = _engine(source, asked, group_by)
    if opened is not None:
        with opened as engine:
            return count_bucket_tallies(engine, asked.coding, tolerance=asked.tolerance, bin_errors=bin_errors)
    _refuse_conditions(asked)
    tallies = _split_frame(source, group_by, asked)  # refuses what is no table
    from pulens.inputs.engines.counts import rows_of_segments

    rows = rows_of_segments(segments_of(source, crossed(group_by)))
    sample = read_sample(source, **asked.rows, allow_one_kind=True)
    texts, codes = cluster_codes(open_frame(source, asked.cluster)[asked.cluster], asked.cluster)
    result = {}
    for segment in tallies:
        result[segment] = buckets_of_part(sample.of(rows[segment]), texts, codes[rows[segment]])
    return result


def read_counts(source: Any, scores: Any = None, *, group_by: Any = None, cluster: Any = None, **reading: Any) -> Any:
    """Rows counted as their design says: by cluster where some belong together, separately where ``group_by`` is given.

    What :func:`read_tally`, :func:`read_buckets`, :func:`read_tallies` or ``read_bucket_tallies`` returns.

    >>> print(read_counts([1, 0, 0], [3, 2, 1]), read_counts([1, 0, 0], [3, 2, 1], cluster=[1, 1, 2]), sep="; ")
    Tally(1 labelled, 2 unlabelled, 3 distinct scores); BucketTally(1 labelled, 2 unlabelled, 3 distinct scores, 2...
    """
    if group_by is None and (cluster is not None or holds_buckets(source)):
        return read_buckets(source, scores, cluster=cluster, **reading)
    if group_by is None:
        return read_tally(source, scores, **reading)
    if cluster is None:
        return read_tallies(source, group_by=group_by, **reading)
    return read_bucket_tallies(source, group_by=group_by, cluster=cluster, **reading)


def _refuse_another_role(reading: ReadOptions) -> None:
    """Ids are compared as they are written, and 0.0 and -0.0 are one score: a column cannot be read as both."""
    for taken, what in ((reading.score, "scores"), (reading.label, "labels"), (reading.weight, "weights")):
        if taken is not None and isinstance(reading.cluster, str) and taken == reading.cluster:
            raise InputError(
                f"cluster={shown(taken)} is the column of {what}: rows do not belong together because these are equal. "
                "Name the column that says whose rows they are, such as a patient or a customer."
            )


def buckets_of_part(part: PUSample, clusters: Sequence[str], codes: Any) -> BucketTally:
    """Count some of the rows by bucket; ``clusters`` are those of all rows, ``codes`` the places of these rows'.

    Clusters are hashed where all rows together have too many, so that parts have the same buckets.
    """
    mine, place = np.unique(codes, return_inverse=True)
    counted = BucketTally.from_sample(part, [clusters[code] for code in mine], place)
    return counted.hashed() if len(clusters) > MOST_BUCKETS else counted


def _count_buckets(
    source: Any, scores: Any, reading: ReadOptions, bin_errors: BinErrors | None, *, allow_one_kind: bool
) -> BucketTally:
    opened = None if scores is not None else _engine(source, reading)
    if opened is not None:
        with opened as engine:
            return count_buckets(engine, reading.coding, tolerance=reading.tolerance, bin_errors=bin_errors)
    _refuse_conditions(reading)
    if scores is None and isinstance(source, str | Path):
        return buckets_from_file(source, replace(reading, cluster=_cluster_column(reading.cluster)))
    sample = read_sample(source, scores, **reading.rows, allow_one_kind=allow_one_kind)
    ids, named = reading.cluster, "cluster"
    if scores is not None and isinstance(ids, str):
        raise InputError(
            f"cluster={shown(ids)} names a column of a table, file or database. Labels and scores given as arrays take "
            "one id per row."
        )
    if scores is None:
        named = _cluster_column(reading.cluster)
        ids = open_frame(source, named)[named]
    texts, codes = cluster_codes(ids, named, len(sample))
    return BucketTally.from_sample(sample, texts, codes)


def _given_buckets(source: Any, scores: Any, reading: ReadOptions) -> BucketTally | None:
    """What was counted by cluster before; refused where other counts are given."""
    result, what = source, f"a {type(source).__name__}"
    if is_tally_file(source):
        from pulens.inputs.tally_files import read_tally_file

        result, what = read_tally_file(source).tally, f"the tally {source}"
    if not isinstance(result, Tally | JointTally | BucketTally):
        return None
    _refuse_beside_counts(what, {**reading.arguments, "scores": scores})
    if not isinstance(result, BucketTally):
        raise InputError(
            f"{what} holds no buckets: rows were counted without saying which belong together. Count them again with "
            "cluster= (pulens tally --cluster on the command line)."
        )
    result.check()
    return result


def _cluster_column(cluster: Any) -> str:
    if not isinstance(cluster, str):
        raise InputError(
            f"cluster= names a column of a table, file or database, got {shown(cluster)}. An array of ids goes with "
            "labels and scores given as arrays."
        )
    return cluster


def holds_buckets(source: Any) -> bool:
    """Whether this was counted by cluster before: a bucket tally, or a file of one."""
    if not is_tally_file(source):
        return isinstance(source, BucketTally)
    from pulens.inputs.tally_files import is_bucket_file

    return is_bucket_file(source)


def is_tally_file(source: Any) -> bool:
    """Whether this names a file of counts.

    >>> is_tally_file("week.tally"), is_tally_file("week.csv")
    (True, False)
    """
    return isinstance(source, str | Path) and str(source).endswith(".tally")


def _read(
    source: Any, scores: Any, reading: ReadOptions, bin_errors: BinErrors | None, *, allow_one_kind: bool
) -> Tally:
    """The rows of all segments together."""
    check_tolerance(reading.tolerance)
    if is_tally_file(source):
        _refuse_beside_counts(f"the tally {source}", {**reading.rows, "scores": scores})
    check_weights_given(scores, reading.weights, reading.weight)
    opened = None if scores is not None else _engine(source, reading)
    if opened is not None:
        with opened as engine:
            return count_tallies(engine, reading.coding, tolerance=reading.tolerance, bin_errors=bin_errors)[None]
    _refuse_conditions(reading)
    if is_tally_file(source):
        from pulens.inputs.tally_files import read_tally_file

        return _one_score(read_tally_file(source).tally, reading.score)
    if scores is None and isinstance(source, str | Path):
        return tally_from_file(source, reading)
    return Tally.from_sample(read_sample(source, scores, **reading.rows, allow_one_kind=allow_one_kind))


def _one_score(counted: Tally | JointTally | BucketTally, score: str) -> Tally:
    """The counts of one score; a tally of one score was not asked for it by name."""
    if isinstance(counted, Tally):
        return counted
    if isinstance(counted, BucketTally):
        return counted.tally
    counted.check()
    return counted.tally(score)


def _refuse_conditions(reading: ReadOptions) -> None:
    where = reading.where
    if where is not None or reading.table is not None:
        given = f"table={shown(reading.table)}" if where is None else f"where={shown(where)}"
        raise InputError(f"{given} is for databases and files; rows given as arrays or frames have none.")


def _refuse_beside_counts(what: str, said: Mapping[str, Any]) -> None:
    """What is about rows cannot be obeyed once they are counted."""
    for name in ("scores", "weights", "weight", "table", "where", *_LABELS):
        if said.get(name) is not None:
            raise InputError(
                f"{what} holds rows that are counted already: {name}= cannot be changed now. Give it where the rows "
                "are counted (read_tally, or pulens tally)."
            )


def _engine(
    source: Any,
    reading: ReadOptions,
    group_by: str | tuple[str, ...] | None = None,
    beside: tuple[str, ...] = (),
    kept: tuple[str, ...] = (),
    periods: tuple[Period, ...] = (),
) -> AbstractContextManager[Any] | None:
    """The engine that should count these rows, or None for those that are read into memory.

    Columns ``kept`` are handed over as a file has them, whatever they look like.
    """
    table, cluster = reading.table, None if reading.cluster is None else _cluster_column(reading.cluster)
    wanted = Wanted(
        columns=reading.columns,
        group_by=group_by,
        where=reading.where,
        beside=beside,
        kept=kept,
        cluster=cluster,
        periods=periods,
    )
    if isinstance(source, str) and not source.strip():
        raise InputError(f"the name of the file is empty ({source!r}): give a file, a folder of files or a database.")
    if isinstance(source, str | Path):
        check_name(str(source))
    if isinstance(source, str) and source.startswith("duckdb:"):
        from pulens.inputs.engines.duckdb_files import open_database

        refuse_written(reading.dialect, "a database")
        return open_database(_database_path(source), table, wanted)
    if is_sql(source) or is_address(source):
        from pulens.inputs.engines.sql import open_sql

        refuse_written(reading.dialect, "a database")
        return open_sql(source, table, wanted)
    if isinstance(source, str | Path):
        if table is not None:
            raise InputError(f"{source}: table={table!r} is for databases; a file is one table.")
        return _file_engine(source, reading, wanted)
    if is_lazy(source):
        from pulens.inputs.engines.lazy import LazyEngine

        if table is not None:
            raise InputError(f"table={table!r} is for databases; a {type(source).__name__} is one table.")
        refuse_written(reading.dialect, f"a {type(source).__name__}")
        return nullcontext(LazyEngine(source, wanted))
    return None


def is_elsewhere(source: Any) -> bool:
    """Whether rows live where an engine counts them: a database, a lazy table, a folder or glob of files.

    >>> is_elsewhere("duckdb:///scores.db"), is_elsewhere("scores.csv")
    (True, False)
    """
    if isinstance(source, str | Path):
        name = str(source)
        return is_address(name) or _names_many(name)
    return is_sql(source) or is_lazy(source)


def _database_path(url: str) -> str:
    """The file of ``duckdb:///relative.db`` or ``duckdb:////absolute.db``.

    >>> _database_path("duckdb:///scores.db"), _database_path("duckdb:////data/scores.db")
    ('scores.db', '/data/scores.db')
    """
    if not url.startswith("duckdb:///") or len(url) == len("duckdb:///"):
        raise InputError(
            "a DuckDB database is written duckdb:///scores.db or duckdb:////data/scores.db, got "
            f"{shown_address(url)!r}."
        )
    return url.removeprefix("duckdb:///").partition("?")[0]


def _file_engine(source: str | Path, reading: ReadOptions, wanted: Wanted) -> AbstractContextManager[Any] | None:
    name = str(source)
    parted = wanted.group_by is not None or reading.where is not None
    if name == "-" or name.endswith(".tally"):
        if parted:
            raise InputError(f"{name}: conditions and segments need rows in a file, a table or a database.")
        return None
    many = _names_many(name)
    paths = expand(name)
    if many and not paths:
        raise InputError(f"{name}: no files found ({listed(EXTENSIONS, limit=20)} in a folder, or what a glob names).")
    kind = _common_format(name, paths, reading.format)
    needed = many or parted or reading.tolerance is not None
    if not needed and (kind not in _COUNTED_IF_LARGE or not _is_large(paths[0], kind)):
        return None
    if kind not in FORMATS:
        known = format_of(paths[0], None)  # refuses an ending that says nothing
        raise InputError(
            f"{name}: folders, globs, conditions, segments and binning need {known} files that are plain or end in .gz."
        )
    if not many and not _is_plain_file(name):
        return None  # a pipe, which can be read once
    from pulens.inputs.engines.duckdb_files import open_files

    return open_files(paths, wanted, format=kind, delimiter=reading.dialect)


def _names_many(name: str) -> bool:
    """Whether this is a folder or a glob of files."""
    return os.path.isdir(name) or (has_magic(name) and not os.path.exists(name))


def _is_plain_file(name: str) -> bool:
    """Whether a file can be read again and again; refused where there is none."""
    if not os.path.exists(name):  # nor can there be one whose name is too long
        with ExitStack() as stack:
            open_stream(name, stack)  # which says what is there instead
    return os.path.isfile(name)


def _is_large(path: Path, kind: str) -> bool:
    try:
        if path.suffix in (".bz2", ".xz") or not has_duckdb():
            return False
        if path.stat().st_size >= LARGE_FILE:
            return True
        if kind != "parquet" or path.suffix == ".gz" or not path.is_file():
            return False
    except OSError:
        return False
    from pulens.inputs.tables.arrow import parquet_size

    rows, unpacked = parquet_size(path)
    return rows >= LARGE_ROWS or unpacked >= LARGE_UNPACKED


def _common_format(name: str, paths: list[Path], format: str | None) -> str:
    if format is not None:
        return format
    kinds = {EXTENSIONS.get(ending(path), ending(path)) for path in paths}
    if len(kinds) > 1:
        raise InputError(f"{name}: files of several formats ({listed(sorted(kinds))}); name one kind with a glob.")
    return kinds.pop()


def _split_frame(source: Any, group_by: str | tuple[str, ...], reading: ReadOptions) -> Mapping[Any, Tally]:
    """Segments of a table in memory."""
    from pulens.counts.tallies import Tallies
    from pulens.inputs.engines.counts import in_order, rows_of_segments

    if isinstance(source, str | Path):
        read_sample(source, **reading.rows)  # says what is wrong with a file that no engine could open
    if not is_frame(source):
        raise InputError(
            f"group_by={shown(group_by)} needs a table, a file or a database, got an object of type "
            f"{type(source).__name__}."
        )
    segments = segments_of(source, crossed(group_by))
    sample = read_sample(source, **reading.rows, allow_one_kind=True)
    if sample.weights is None:
        ordered = in_order(segments.names)
        places = {name: place for place, name in enumerate(ordered)}
        codes = np.array([places[name] for name in segments.names], np.int32)[segments.codes]
        return Tallies.from_increments(
            ordered, codes, sample.scores, *((sample.labels == label).view(np.int8) for label in (1, 0, -1))
        )
    result, rows = {}, rows_of_segments(segments)
    for segment in in_order(rows):
        tally = Tally.from_sample(sample.of(rows[segment]))
        if len(tally):  # rows of weight 0 alone are no segment
            result[segment] = tally
    return result


def _extremes_of_frame(source: Any, group_by: str, column: str) -> list[tuple[Any, float | None, float | None, int]]:
    import narwhals as nw

    from pulens.inputs.engines.counts import in_order, rows_of_segments

    frame = open_frame(source, group_by, column)
    segments = _segments_of(frame, group_by)
    numbers = frame[find_column(column, frame.columns)]
    if not numbers.dtype.is_numeric():
        raise InputError(f"column {column!r} must hold numbers, but the table holds {numbers.dtype}.")
    values = np.asarray(numbers.cast(nw.Float64).to_numpy(), float)
    result = []
    rows = rows_of_segments(segments)
    for segment in in_order(rows):
        mine = values[rows[segment]]
        good = mine[np.isfinite(mine)]
        ends = (float(good.min()), float(good.max())) if good.size else (None, None)
        result.append((segment, *ends, mine.size - good.size))
    return result


def _segments_of(frame: Any, group_by: str) -> CodedSegments:
    """A frame's column of segments; nan is how some frames write null."""
    from pulens.inputs.engines.coded import CodedSegments

    column = frame[find_column(group_by, frame.columns)]
    if column.dtype.is_nested():
        raise InputError(
            f"column {shown(group_by)} must hold one value per row as its segment, but the table holds "
            f"{cut(str(column.dtype), 60)}."
        )
    if column.dtype.is_integer() and not column.null_count():
        numbers, codes = np.unique(column.to_numpy(), return_inverse=True)
        return CodedSegments(numbers.tolist(), codes.astype(np.int32))
    segments = (None if value != value else value for value in python_values(column))
    return CodedSegments.of(np.fromiter(segments, object, len(column)))


def segments_of(source: Any, names: tuple[str, ...]) -> CodedSegments:
    """The segment of every row of a frame, by one column or several that cross."""
    frame = open_frame(source, *names)
    return _segments_of(frame, names[0]) if len(names) == 1 else _crossed_segments(frame, names)


def _crossed_segments(frame: Any, names: tuple[str, ...]) -> CodedSegments:
    """Combinations of columns, named by their texts."""
    from pulens.inputs.engines.coded import CodedSegments

    columns = [_segments_of(frame, name).tolist() for name in names]
    texts = [CROSSED.join(NULL if value is None else str(value) for value in row) for row in zip(*columns, strict=True)]
    return CodedSegments.of(np.array(texts, object))


def check_tally(tally: Tally) -> None:
    """Refuse counts that say nothing: no rows, no labelled positive, nothing to compare it with."""
    check_totals(tally.totals)


def check_totals(totals: Totals) -> None:
    """The same, of the numbers of rows alone."""
    check_kinds(totals.rows, totals.labelled, totals.rows)
