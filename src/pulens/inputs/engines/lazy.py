"""Tables that live in an engine (DuckDB, PySpark, Polars lazy, Ibis, ...), counted where they are through narwhals."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.buckets import HASHED_DIGITS, digest_of
from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, PulensError, cut, shown
from pulens.inputs.arrays import python_values
from pulens.inputs.clusters import FRACTION, WORDS, ClusterSurvey
from pulens.inputs.columns import CROSSED, NULL, find_column, find_columns
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import LARGEST, Codes, EngineCounts, Surveyed, Within, keys_limit
from pulens.inputs.engines.keyed import Drawing, with_md5
from pulens.inputs.engines.stream import SortedStream
from pulens.inputs.engines.wanted import Wanted
from pulens.inputs.periods import cut_lazily

LONGEST_REASON = 240  # characters of what an engine says; the first ones tell
SCORE, LABEL, WEIGHT, SEGMENT = "pulens_score", "pulens_label", "pulens_weight", "pulens_segment"
KEY, ID, KEPT = "pulens_key", "pulens_id", "pulens_kept_"  # of rows that are drawn
CLUSTER, CLUSTER_KEY, BUCKET = "pulens_cluster", "pulens_cluster_key", "pulens_bucket"
FEW_IDS, ROWS_PER_ID = 4_000_000, 4  # different clusters up to which, and rows each from which, each is digested once
EXACT = "pulens_exact"  # scores as they are kept, where a double may not hold them


class LazyEngine:
    """Group-bys of a narwhals lazy frame. Every expression stays in the engine until its counts are collected."""

    def __init__(self, table: Any, wanted: Wanted, connection: Any = None) -> None:
        import narwhals as nw

        frame = nw.from_native(table)
        if wanted.where is not None:
            frame = nw.from_native(_filtered(frame.to_native(), wanted.where))
        if wanted.periods:
            with explained("the table"):
                frame = nw.from_native(cut_lazily(frame.to_native(), wanted.periods))
        self.columns, self.group_by, self.cluster = wanted.columns, wanted.group_by, wanted.cluster
        columns, beside, cluster = wanted.columns, wanted.beside, wanted.cluster
        self.nothing = 0.0
        self._connection = connection  # of DuckDB, if it is ours: tables of a user's are not for us to add
        _find_columns(frame.to_native(), wanted.counted, columns.roles)
        with explained("the table"):
            schema = frame.collect_schema()
        find_columns(columns.names, schema.names(), roles=columns.roles)
        self._nw = nw
        self.score_type, *self.beside_types = [
            np.dtype(np.float32 if _type_of(schema, name) == nw.Float32 else np.float64)
            for name in (columns.score, *beside)
        ]
        chosen = [
            self._number(schema, columns.score, "scores").alias(SCORE),
            self._label(schema, columns.label).alias(LABEL),
        ]
        kind = _type_of(schema, columns.score)
        self._is_exact = isinstance(kind, nw.Decimal) or kind in (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
        self._is_signed = kind not in (nw.UInt64, nw.UInt128)
        if self._is_exact:
            chosen.append(nw.col(columns.score).alias(EXACT))
        if columns.weight is not None:
            chosen.append(self._number(schema, columns.weight, "weights").alias(WEIGHT))
        if wanted.segments:
            chosen.append(self._segment(schema, wanted.segments).alias(SEGMENT))
        # further scores of the same rows, for joint counts
        self._beside = [f"{SCORE}_{place}" for place in range(len(beside))]
        chosen += [
            self._number(schema, name, "scores").alias(alias) for name, alias in zip(beside, self._beside, strict=True)
        ]
        self._rows = frame.select(*chosen)
        self._frame, self._schema = frame, schema
        self._key_columns = [SEGMENT] if wanted.segments else []  # what is counted apart
        self._clustered: Any = None
        self._has_few_ids = False
        if cluster is not None:  # apart: what is sorted and counted without clusters need not carry their ids along
            text, is_good = self._cluster_text(schema, cluster)
            # whole numbers are quicker to tell apart than their texts
            key = nw.col(cluster) if _type_of(schema, cluster).is_integer() else text
            self._clustered = frame.select(
                *chosen, text.alias(CLUSTER), key.alias(CLUSTER_KEY), is_good.alias(f"{CLUSTER}_good")
            )

    def _segment(self, schema: Any, names: tuple[str, ...]) -> Any:
        """A column's values as they are; of several that cross, their texts."""
        for name in names:
            if _type_of(schema, name).is_nested():
                raise InputError(
                    f"column {shown(name)} must hold one value per row as its segment, but the table holds "
                    f"{_type_of(schema, name)}."
                )
        if len(names) == 1:
            return self._nw.col(names[0])
        texts = [self._nw.col(name).cast(self._nw.String).fill_null(NULL) for name in names]
        return self._nw.concat_str(texts, separator=CROSSED)

    def _cluster_text(self, schema: Any, column: str) -> tuple[Any, Any]:
        """A cluster's id as text, null where there is none, and whether a number is whole."""
        nw, kept, raw = self._nw, _type_of(schema, column), self._nw.col(column)
        one = nw.lit(1, dtype=nw.Int64)
        self._cluster_is_text = kept in (nw.String, nw.Categorical, nw.Enum)
        if self._cluster_is_text:
            text = raw.cast(nw.String)
            return nw.when(text != "").then(text), one
        if kept.is_integer() or str(kept).upper() in ("UUID", "UNKNOWN"):
            return raw.cast(nw.String), one
        if not kept.is_numeric():
            raise InputError(f"the cluster column {shown(column)} holds {cut(str(kept), 60)}. {WORDS}.")
        number = raw.cast(nw.Float64)
        is_there = number - number == 0.0
        is_whole = is_there & (number == number.floor()) & (number <= LARGEST_WHOLE) & (number >= -LARGEST_WHOLE)
        whole = nw.when(is_whole).then(number).otherwise(nw.lit(0.0)).cast(nw.Int64).cast(nw.String)
        return nw.when(is_there).then(whole), nw.when(is_there & ~is_whole).then(nw.lit(0, dtype=nw.Int64)).otherwise(
            one
        )

    def survey_clusters(self) -> ClusterSurvey:
        """What the column of clusters holds, in one pass."""
        nw = self._nw
        text, good = nw.col(CLUSTER), nw.col(f"{CLUSTER}_good")
        zero, one = nw.lit(0, dtype=nw.Int64), nw.lit(1, dtype=nw.Int64)
        strange = nw.when(good == 0).then(one).otherwise(zero)
        if self._cluster_is_text:
            is_fraction = text.str.contains(f"^{FRACTION}$")
            strange = nw.when(is_fraction).then(one).otherwise(zero)
        rows_counted = self._clustered if self.columns.weight is None else self._clustered.filter(self._is_counted())
        table = self._collect(
            rows_counted.select(
                nw.col(CLUSTER_KEY),
                nw.when(text.is_null()).then(one).otherwise(zero).alias("nulls"),
                strange.alias("fractions"),
                one.alias("rows"),
            ).select(
                nw.col("rows").sum(),
                nw.col("nulls").sum(),
                nw.col("fractions").sum(),
                nw.col(CLUSTER_KEY).n_unique().alias("texts"),
            )
        )
        rows, nulls, fractions, distinct = (
            int(table[name].to_list()[0] or 0) for name in ("rows", "nulls", "fractions", "texts")
        )
        self._has_few_ids = distinct <= min(FEW_IDS, rows // ROWS_PER_ID)
        return ClusterSurvey(str(self.cluster), rows, nulls, fractions, distinct, self._cluster_is_text)

    def in_buckets(self, *, hashed: bool) -> LazyEngine:
        """The same rows by bucket, within segments if there are any: each cluster, or two digits of its digest."""
        engine = copy(self)
        engine._key_columns = [*self._key_columns, BUCKET]
        nw, rows = self._nw, self._clustered
        if not hashed:
            engine._rows = rows.with_columns(nw.col(CLUSTER).alias(BUCKET))
            return engine
        with explained("the table"):
            engine._rows = nw.from_native(self._hashed(rows.to_native()))
        return engine

    def _hashed(self, native: Any) -> Any:
        """The table with a column of buckets, by its own md5 where it has one."""
        home = type(native).__module__.partition(".")[0]
        if home in ("duckdb", "_duckdb"):
            bucket = f"substr(md5({CLUSTER_KEY}::VARCHAR), 1, {HASHED_DIGITS}) AS {BUCKET}"
            if self._connection is None or not self._has_few_ids:
                return native.project(f"*, {bucket}")
            # a digest costs more than finding an id in a table; of a table, unlike a query, DuckDB knows the size
            ids = native.project(CLUSTER_KEY).distinct().project(f"{CLUSTER_KEY}, {bucket}")
            kinds = ", ".join(f"{name} {kind}" for name, kind in zip(ids.columns, ids.types, strict=True))
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE pulens_ids ({kinds})")
            ids.insert_into("pulens_ids")
            return native.join(self._connection.table("pulens_ids"), CLUSTER_KEY)
        if home == "pyspark":
            from pyspark.sql import functions

            return native.withColumn(BUCKET, functions.expr(f"substring(md5({CLUSTER}), 1, {HASHED_DIGITS})"))
        if home == "ibis":
            return native.mutate(**{BUCKET: native[CLUSTER].hexdigest("md5").substr(0, HASHED_DIGITS)})
        if home == "polars":  # which has no md5: every id is looked at once, outside
            import polars

            ids = self._collect(self._clustered.select(CLUSTER).unique())[CLUSTER].to_list()
            buckets = [digest_of(text)[:HASHED_DIGITS] for text in ids]
            return native.join(polars.LazyFrame({CLUSTER: ids, BUCKET: buckets}), on=CLUSTER, how="left")
        raise InputError(
            f"a {type(native).__name__} has no md5 that clusters could be put together by. Count the rows by DuckDB "
            "(a Parquet file of them), or name a column with fewer clusters."
        )

    def _number(self, schema: Any, column: str, kind: str) -> Any:
        kept = _type_of(schema, column)
        if not (kept.is_numeric() or kept == self._nw.Boolean):
            raise InputError(
                f"{kind} (column {column!r}) must be numbers, but the table holds {kept}. Cast the column in a query "
                "or view first, or name another column."
            )
        return self._nw.col(column).cast(self._nw.Float64)

    def _is_number(self, name: str, least: float) -> Any:
        """Finite and large enough: NULL fails every comparison, and a number less itself is zero only if finite.

        Comparisons with the largest number, or asking for NaN by name, would not do: DuckDB knows a column's extremes
        from the statistics of a Parquet file, which leave NaN out, and takes both for granted (its issue 25521).
        """
        number = self._nw.col(name)
        good = (number - number == 0.0) & (number >= least) & (number <= LARGEST)
        if name == SCORE and self._is_exact:
            good &= self._nw.col(EXACT) <= LARGEST_WHOLE
            if self._is_signed:
                good &= self._nw.col(EXACT) >= -LARGEST_WHOLE
        return good

    def _label(self, schema: Any, column: str) -> Any:
        kept = _type_of(schema, column)
        if kept.is_nested():
            raise InputError(
                f"label values (column {shown(column)}) must be text or numbers, but the table holds "
                f"{cut(str(kept), 60)}. Take one field out of it in a query or view first, or name another column."
            )
        is_wide = kept in (self._nw.Int128, self._nw.UInt128)  # which come back as decimals
        simple = (kept.is_integer() and not is_wide) or kept.is_float() or kept in (self._nw.Boolean, self._nw.String)
        # decimals, dates and categories go by their text, which is how a person declares them
        return self._nw.col(column) if simple else self._nw.col(column).cast(self._nw.String)

    def survey(self) -> list[Surveyed]:
        nw = self._nw
        score, is_finite = nw.col(SCORE), self._is_number(SCORE, -LARGEST)
        derived = [
            nw.lit(1, dtype=nw.Int64).alias("rows"),
            nw.when(is_finite).then(nw.lit(0, dtype=nw.Int64)).otherwise(nw.lit(1, dtype=nw.Int64)).alias("bad_scores"),
            nw.when(is_finite & self._is_counted() if self.columns.weight else is_finite).then(score).alias("finite"),
        ]
        sums, heaviest = ["rows", "bad_scores"], []
        if self.columns.weight is not None:
            zero, one = nw.lit(0, dtype=nw.Int64), nw.lit(1, dtype=nw.Int64)
            derived.append(nw.when(self._is_number(WEIGHT, 0.0)).then(zero).otherwise(one).alias("bad_weights"))
            sums.append("bad_weights")
            heaviest = [nw.col(WEIGHT).max().alias("heaviest")]
        keys = [LABEL] if self.group_by is None else [SEGMENT, LABEL]
        grouped = (
            self._rows.with_columns(*derived)
            .group_by(*keys)
            .agg(
                *(nw.col(name).sum() for name in sums),
                nw.col("finite").min().alias("lowest"),
                nw.col("finite").max().alias("highest"),
                *heaviest,
            )
            .head(keys_limit(self.group_by) + 1)
        )
        table = self._collect(grouped)
        plain = {name: python_values(table[name]) for name in table.columns}
        size = len(table)
        absent: list[Any] = [None] * size
        return [
            Surveyed(segment, label, int(rows), int(bad_scores), int(bad_weights), low, high, float(heaviest or 0))
            for segment, label, rows, bad_scores, bad_weights, low, high, heaviest in zip(
                plain.get(SEGMENT, absent),
                plain[LABEL],
                plain["rows"],
                plain["bad_scores"],
                plain.get("bad_weights", [0] * size),
                plain["lowest"],
                plain["highest"],
                plain.get("heaviest", [0.0] * size),
                strict=True,
            )
        ]

    def bad_value(self, column: str) -> Any:
        nw = self._nw
        name, least = (WEIGHT, 0.0) if column == self.columns.weight else (SCORE, -LARGEST)
        good = self._is_number(name, least)
        shown = EXACT if name == SCORE and self._is_exact else name
        marked = self._rows.select(
            nw.col(shown),
            nw.when(good).then(nw.lit(0, dtype=nw.Int64)).otherwise(nw.lit(1, dtype=nw.Int64)).alias("bad"),
        )
        values: list[Any] = self._collect(marked.filter(nw.col("bad") == 1).head(1))[shown].to_list()
        return values[0] if values else None

    def by_score(self, codes: Codes, within: Within | None = None) -> EngineCounts:
        grouped = self._counted(codes, within).group_by(*self._keys(SCORE)).agg(*self._sums(codes))
        table = self._collect(grouped)
        scores = _array(table, SCORE)
        return self._counts(table, scores, scores)

    def by_cell(self, codes: Codes, bits: int, within: Within | None = None) -> EngineCounts:
        nw = self._nw
        grouped = (
            self._counted(codes, within)
            .with_columns(self._cell(bits).alias("cell"))
            .group_by(*self._keys("cell"))
            .agg(
                *self._sums(codes),
                nw.col(SCORE).min().alias("lowest"),
                nw.col(SCORE).max().alias("highest"),
            )
        )
        table = self._collect(grouped)
        return self._counts(
            table, _array(table, "lowest"), _array(table, "highest"), cell=_array(table, "cell"), bits=bits
        )

    def by_scores(self, codes: Codes) -> tuple[NDArray[np.float64], EngineCounts]:
        """Counts per combination of the score and those next to it."""
        keys = [SCORE, *self._beside]
        table = self._collect(self._counted(codes, None).group_by(*keys).agg(*self._sums(codes)))
        scores = np.column_stack([_array(table, key) for key in keys])
        return scores, self._counts(table, scores[:, 0], scores[:, 0])

    def extremes(self) -> list[tuple[Any, float | None, float | None, int]]:
        """Lowest and highest number of the column beside the score in each segment, and rows that hold none."""
        nw = self._nw
        good = self._is_number(self._beside[0], -LARGEST)
        zero, one = nw.lit(0, dtype=nw.Int64), nw.lit(1, dtype=nw.Int64)
        table = self._collect(
            self._rows.with_columns(
                nw.when(good).then(nw.col(self._beside[0])).alias("finite"),
                nw.when(good).then(zero).otherwise(one).alias("strange"),
            )
            .group_by(SEGMENT)
            .agg(
                nw.col("finite").min().alias("lowest"),
                nw.col("finite").max().alias("highest"),
                nw.col("strange").sum(),
            )
        )
        columns = (python_values(table[name]) for name in (SEGMENT, "lowest", "highest", "strange"))
        return [(segment, low, high, int(strange)) for segment, low, high, strange in zip(*columns, strict=True)]

    def totals_at(self, codes: Codes, threshold: float) -> tuple[int, int, int]:
        """Labelled, unlabelled and known negative rows at or above a number, counted row by row."""
        nw = self._nw
        above = self._counted(codes, None).filter(nw.col(SCORE) >= threshold)
        table = self._collect(above.select(*self._sums(codes)))
        sums = [int(table[name].to_list()[0] or 0) for name in table.columns]
        rows, labelled, negative = (*sums, 0)[:3]
        return labelled, rows - labelled - negative, negative

    def drawn(self, codes: Codes, ends: tuple[float, float], drawing: Drawing) -> list[tuple[Any, ...]]:
        """Id, score and kept columns of the unlabelled rows of a range of scores that have the smallest keys."""
        nw = self._nw
        low, high = ends
        rows = self._unlabelled(codes, drawing).filter((nw.col(SCORE) >= low) & (nw.col(SCORE) < high))
        table = self._collect(rows.sort(KEY).head(drawing.many))
        wanted = [ID, SCORE, *(f"{KEPT}{place}" for place in range(len(drawing.kept)))]
        return list(zip(*(python_values(table[name]) for name in wanted), strict=True))

    def missing_ids(self, codes: Codes, drawing: Drawing) -> int:
        """How many unlabelled rows have no id."""
        nw = self._nw
        is_missing = nw.col(ID).is_null()
        if drawing.is_text:
            is_missing = is_missing | (nw.col(ID) == "")
        rows = self._unlabelled(codes, drawing).filter(is_missing)
        return int(self._collect(rows.select(nw.len().alias("missing")))["missing"].to_list()[0] or 0)

    def id_kind(self, column: str) -> str:
        """Whether a column that identifies rows holds whole numbers or text."""
        kept = _type_of(self._schema, column)
        if kept.is_integer():
            return "integer"
        return "text" if kept == self._nw.String else str(kept)

    def _unlabelled(self, codes: Codes, drawing: Drawing) -> Any:
        """Unlabelled rows with the key that decides which of them are drawn."""
        nw = self._nw
        known = [*codes.labelled, *codes.negative]
        kept = [
            nw.col(find_column(name, self._schema.names())).alias(f"{KEPT}{place}")
            for place, name in enumerate(drawing.kept)
        ]
        with explained("the table"):
            keyed = nw.from_native(with_md5(self._frame.to_native(), drawing.id, drawing.prefix, KEY))
        rows = keyed.select(
            self._number(self._schema, self.columns.score, "scores").alias(SCORE),
            self._label(self._schema, self.columns.label).alias(LABEL),
            nw.col(drawing.id).alias(ID),
            nw.col(KEY),
            *kept,
        )
        if not known:
            return rows
        zero, one = nw.lit(0, dtype=nw.Int64), nw.lit(1, dtype=nw.Int64)
        is_known = nw.when(nw.col(LABEL).is_in(known)).then(one).otherwise(zero)
        return rows.with_columns(is_known.alias("pulens_known")).filter(nw.col("pulens_known") == 0)

    def distinct_scores(self) -> int | None:
        relation = self._relation(self._rows)
        if relation is None:
            return None
        with explained("the table"):
            answer = relation.aggregate(f"approx_count_distinct({SCORE})").fetchall()
        return int(answer[0][0])

    def by_order(self, codes: Codes, bits: int | None) -> list[EngineCounts] | None:
        rows = self._counted(codes, None)
        relation = self._relation(rows)
        if relation is None:
            return None
        order = f"{SEGMENT} NULLS LAST, {SCORE} DESC" if self.group_by else f"{SCORE} DESC"
        weighted = self.columns.weight is not None
        segmented = self.group_by is not None
        stream = SortedStream(bits, score_type=self.score_type, weighted=weighted, segmented=segmented)
        with explained("the table"):
            # sorted from a relation: other ways of asking one DuckDB release for Arrow data lose the order
            ordered = relation.order(order)
            reader = ordered.to_arrow_reader if hasattr(ordered, "to_arrow_reader") else ordered.fetch_record_batch
            for batch in reader(1 << 17):
                arrived = (
                    batch.column(SCORE).to_numpy(zero_copy_only=False),
                    batch.column("labelled").to_numpy(zero_copy_only=False),
                    batch.column("rows").to_numpy(zero_copy_only=False),
                    batch.column("negative").to_numpy(zero_copy_only=False) if codes.negative else None,
                )
                stream.add(*arrived, _coded(batch.column(SEGMENT)) if segmented else None)
        return stream.counts()

    def _relation(self, frame: Any) -> Any:
        """The frame's DuckDB relation, when it has one."""
        native = frame.to_native()
        return native if type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb") else None

    def _cell(self, bits: int) -> Any:
        return (self._nw.col(SCORE) * 2.0**bits).floor()

    def _is_counted(self) -> Any:
        return self._nw.col(WEIGHT) > self.nothing

    def _keys(self, first: str) -> list[str]:
        return [*self._key_columns, first]

    def _counted(self, codes: Codes, within: Within | None) -> Any:
        """Rows with what each adds to the counts."""
        nw = self._nw
        weighted = self.columns.weight is not None
        one = nw.col(WEIGHT) if weighted else nw.lit(1, dtype=nw.Int64)
        zero = nw.lit(0.0) if weighted else nw.lit(0, dtype=nw.Int64)
        rows = self._rows.filter(self._is_counted()) if weighted else self._rows
        if within is not None:
            rows = rows.with_columns(self._cell(within.bits).alias("coarse"))
            rows = rows.filter(nw.col("coarse").is_in(list(within.cells)))

        def kind(values: tuple[Any, ...]) -> Any:
            return nw.when(nw.col(LABEL).is_in(list(values))).then(one).otherwise(zero)

        added = [one.alias("rows"), (kind(codes.labelled) if codes.labelled else zero).alias("labelled")]
        if codes.negative:
            added.append(kind(codes.negative).alias("negative"))
        return rows.with_columns(*added)

    def _sums(self, codes: Codes) -> list[Any]:
        names = ["rows", "labelled", *(["negative"] if codes.negative else [])]
        return [self._nw.col(name).sum() for name in names]

    def _counts(self, table: Any, lowest: NDArray[Any], highest: NDArray[Any], **cells: Any) -> EngineCounts:
        kind = np.float64 if self.columns.weight is not None else np.int64
        rows, labelled = _array(table, "rows", kind), _array(table, "labelled", kind)
        negative = _array(table, "negative", kind) if "negative" in table.columns else np.zeros(rows.size, kind)
        segment = None
        if self._key_columns:
            segment = CodedSegments.of_columns([python_values(table[name]) for name in self._key_columns])
        return EngineCounts(lowest, highest, labelled, rows - labelled - negative, negative, segment, **cells)

    def _collect(self, frame: Any) -> Any:
        options = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        with explained("the table"):
            return frame.collect(**options)


def _coded(column: Any) -> CodedSegments:
    """An Arrow column of segments as numbers; those of null are -1."""
    result = column.dictionary_encode()
    codes = result.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return CodedSegments(python_values(result.dictionary), codes)


def _type_of(schema: Any, column: str) -> Any:
    return schema[find_column(column, schema.names())]


def _array(table: Any, name: str, kind: Any = np.float64) -> NDArray[Any]:
    import narwhals as nw

    # sums of integers come back wider than 64 bits from some engines
    return np.asarray(table[name].cast(nw.Int64 if kind is np.int64 else nw.Float64).to_numpy(), kind)


def _speaks_sql(native: Any) -> bool:
    return type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb", "pyspark", "sqlframe")


def _filtered(native: Any, where: str) -> Any:
    """The table's own way of filtering by a condition written in its language."""
    if not _speaks_sql(native):
        raise InputError(
            f"where= is SQL for files, databases, DuckDB and Spark tables; filter this {type(native).__name__} with "
            "its own methods first."
        )
    with explained(f"the condition {shown(where)}"):
        return native.filter(where)


class explained:
    """Turns whatever an engine raises into an error of ours that says what was being read."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if type(error).__name__ == "InterruptException" or _is_interrupted(error):
            raise KeyboardInterrupt from error  # the user stopped the engine: nothing is wrong with the table
        ours = PulensError, AttributeError, NameError, TypeError  # the last three would be mistakes of this library
        if not isinstance(error, Exception) or isinstance(error, ours):
            return
        said = cut(" ".join(str(error).split()), LONGEST_REASON)
        raise InputError(f"{self.what} could not be read: {said or type(error).__name__}") from error


def _find_columns(table: Any, names: Iterable[str], roles: Iterable[str]) -> None:
    """Refuse columns that are not there, or twice: a schema holds a name once, a table of SQL perhaps twice."""
    if _speaks_sql(table):
        find_columns(names, table.columns, roles=roles)


def _is_interrupted(error: BaseException | None) -> bool:
    return isinstance(error, RuntimeError) and "interrupted" in str(error).lower()
