"""Tables in PostgreSQL and every other database that SQLAlchemy reaches, grouped there; only counts come back."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.buckets import HASHED_DIGITS, digest_of
from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, MissingDependencyError, PulensError, cut, listed, nearest, one_message, shown
from pulens.inputs.addresses import check_database_file, check_encoded, shown_address, without_secrets
from pulens.inputs.clusters import FRACTION, WORDS, ClusterSurvey
from pulens.inputs.columns import CROSSED, NULL, find_column, find_columns
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import LARGEST, Codes, EngineCounts, Surveyed, Within, keys_limit
from pulens.inputs.engines.keyed import Drawing
from pulens.inputs.engines.lazy import LONGEST_REASON
from pulens.inputs.engines.wanted import Wanted
from pulens.inputs.periods import alias, cut_in_sql

FETCHED_ROWS = 50_000


@contextmanager
def open_sql(source: Any, table: Any, wanted: Wanted) -> Iterator[SqlEngine]:
    """Connect to a URL, an engine or an open connection, for reading only."""
    sa = _sqlalchemy()
    with ExitStack() as stack:
        address = source if isinstance(source, str) else source.engine.url.render_as_string(hide_password=False)
        if isinstance(source, str):
            check_encoded(source)
            check_database_file(source)
            source = _engine(sa, source)
            stack.callback(source.dispose)
        named = shown_address(address)
        try:
            connection = source
            if isinstance(source, sa.Engine):
                connection = stack.enter_context(_connected(sa, source, address))
            result = _find_table(sa, connection, table)
            yield SqlEngine(sa, connection, result, wanted)
        except InputError as error:
            raise InputError(f"{named}: {error}") from error
        except sa.exc.DBAPIError as error:
            lost = "the connection was lost: " if error.connection_invalidated else ""
            raise InputError(f"{named}: {lost}{without_secrets(_said(error), address)}") from error
        except sa.exc.SQLAlchemyError as error:
            raise InputError(f"{named}: {without_secrets(_said(error), address)}") from error
        except UnicodeDecodeError as error:  # of a damaged database
            raise InputError(f"{named}: what it holds is not text in UTF-8 ({error.reason}).") from error


def _connected(sa: Any, engine: Any, address: str) -> Any:
    """An open connection; drivers answer to what they cannot read in an address with errors of every kind."""
    try:
        return _snapshot(engine).connect()
    except (PulensError, sa.exc.SQLAlchemyError):
        raise
    except Exception as error:
        said = without_secrets(one_message(error), address) or type(error).__name__
        raise InputError(f"the database cannot be reached: {cut(said, LONGEST_REASON)}") from error


def _sqlalchemy() -> Any:
    try:
        import sqlalchemy
    except ImportError as error:
        raise MissingDependencyError("SQLAlchemy", purpose="reading a database", extra="sql") from error
    return sqlalchemy


def _engine(sa: Any, text: str) -> Any:
    from importlib.util import find_spec

    try:
        url = sa.make_url(text)
        if url.drivername in ("postgresql", "postgres"):
            driver = "psycopg" if find_spec("psycopg") else "psycopg2"
            url = url.set(drivername=f"postgresql+{driver}")
        with warnings.catch_warnings():  # what an address says in vain is no news for readers of the terminal
            warnings.simplefilter("ignore", sa.exc.SAWarning)
            return sa.create_engine(url)
    except sa.exc.NoSuchModuleError as error:
        raise InputError(
            f"{cut(text.partition(':')[0], 60)}: no SQLAlchemy dialect of that name is installed."
        ) from error
    except (sa.exc.ArgumentError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{cut(text.partition(':')[0], 60)}: the database URL must look like postgresql://user@host/database."
        ) from error
    except ImportError as error:
        raise InputError(f"the driver of this database is not installed: {error}.") from error


def _snapshot(engine: Any) -> Any:
    """One unchanging view of the table for all passes over it, where the database offers that."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine


def _said(error: Any) -> str:
    return cut(" ".join(str(getattr(error, "orig", None) or error).split()), LONGEST_REASON)


def _find_table(sa: Any, connection: Any, table: Any) -> Any:
    """A table with its columns and their types; names are looked up and quoted by the database's own dialect."""
    if table is not None and not isinstance(table, str):
        return table.subquery() if hasattr(table, "subquery") else table
    inspector = sa.inspect(connection)
    names = {name: (None, name) for name in (*inspector.get_table_names(), *inspector.get_view_names())}
    if table is None:
        raise InputError(
            f"say which table holds the scores (table=..., or --table); there are {listed(sorted(names))}."
        )
    schema, name = names.get(table, (None, None))
    if name is None and "." in table:
        schema, _, name = table.partition(".")
        known = [*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema)]
        name = name if name in known else None
    if name is None:
        raise InputError(
            f"there is no table {shown(table)}; the tables are {listed(sorted(names), limit=30)}."
            f"{nearest(table, names)}"
        )
    kept = [
        sa.Column(sa.quoted_name(column["name"], quote=True), column["type"])
        for column in inspector.get_columns(name, schema=schema)
    ]
    return sa.Table(sa.quoted_name(name, quote=True), sa.MetaData(), *kept, schema=schema)


class SqlEngine:
    """Group-bys written with SQLAlchemy's expression language."""

    def __init__(self, sa: Any, connection: Any, table: Any, wanted: Wanted) -> None:
        self._sa, self._connection, self._table = sa, connection, table
        self.columns, self.group_by, self.cluster = wanted.columns, wanted.group_by, wanted.cluster
        columns, beside = wanted.columns, wanted.beside
        self.nothing = 0.0
        # windows of time, by the names under which rows are distinguished by them
        self._cut = {
            alias(place): cut_in_sql(sa, connection, table, period, place)
            for place, period in enumerate(wanted.periods)
        }
        # the condition is SQL by the user's own hand, put into brackets as it is
        self._conditions = [] if wanted.where is None else [sa.literal_column(f"({wanted.where})")]
        names = [str(column.name) for column in table.c]
        find_columns([name for name in wanted.counted if name not in self._cut], names, roles=columns.roles)
        self.score_type, *self.beside_types = [self._precision(name) for name in (columns.score, *beside)]
        self._score = self._number(columns.score, "scores")
        self._weight = None if columns.weight is None else self._number(columns.weight, "weights")
        self._beside = [self._number(name, "scores") for name in beside]
        self._beside_names = beside
        self._label = self._column(columns.label)
        if not isinstance(self._label.type, sa.Integer | sa.Float | sa.String | sa.Boolean):
            self._label = sa.cast(self._label, sa.String(200))
        self._segment = [self._told_apart(wanted.segments)] if wanted.segments else []

    def _column(self, name: str) -> Any:
        """A column by its name, which no parameter of a query is named after: names may hold line ends."""
        column = self._table.c[name]
        return self._sa.type_coerce(column, column.type)

    @property
    def _counted(self) -> list[Any]:
        """What rows must be to be counted: not of weight 0 or next to it."""
        return [] if self._weight is None else [self._weight > self._sa.literal_column(repr(self.nothing))]

    def _told_apart(self, names: tuple[str, ...]) -> Any:
        """A column's values as they are; of several that cross, their texts."""
        sa = self._sa
        columns = [self._cut[name] if name in self._cut else self._column(name) for name in names]
        if len(columns) == 1:
            return columns[0]
        first, *others = (sa.func.coalesce(sa.cast(column, sa.String(200)), NULL) for column in columns)
        for text in others:
            first = first + sa.literal(CROSSED) + text
        return first

    def survey_clusters(self) -> ClusterSurvey:
        """What the column of clusters holds, in one pass."""
        sa, name = self._sa, str(self.cluster)
        column, text = self._column(name), self._cluster_text()
        is_text = isinstance(column.type, sa.String)
        strange = sa.literal_column("0")
        if isinstance(column.type, sa.Numeric | sa.Float):  # a whole number is what it becomes as one
            strange = sa.func.sum(sa.case((column != sa.cast(column, sa.BigInteger), 1), else_=0))
        nulls = sa.func.sum(sa.case((text.is_(None), 1), else_=0))
        distinct = sa.func.count(sa.distinct(text))
        query = sa.select(sa.func.count(), nulls, strange, distinct).select_from(self._table)
        query = query.where(*self._conditions, *self._counted)
        rows, none, fractions, many = (int(value or 0) for value in self._connection.execute(query).one())
        if is_text and many:
            fractions = self._fractions_in_text(text, rows)
        return ClusterSurvey(name, rows, none, fractions, many, is_text)

    def _fractions_in_text(self, text: Any, rows: int) -> int:
        """All rows or none: a text column that holds nothing but numbers with fractions holds no ids."""
        query = self._sa.select(text).select_from(self._table).where(*self._conditions).limit(100)
        seen = [value for (value,) in self._connection.execute(query)]
        return rows if all(value is not None and re.fullmatch(FRACTION, str(value)) for value in seen) else 0

    def _cluster_text(self) -> Any:
        """A cluster's id as text, null where there is none."""
        sa, column = self._sa, self._column(str(self.cluster))
        if isinstance(column.type, sa.String):
            return sa.func.nullif(column, sa.literal_column("''"))
        if isinstance(column.type, sa.Integer | sa.types.NullType | sa.Uuid):
            return sa.cast(column, sa.String(200))
        if isinstance(column.type, sa.Numeric | sa.Float):
            return sa.cast(sa.cast(column, sa.BigInteger), sa.String(200))
        raise InputError(f"the cluster column {shown(self.cluster)} holds {cut(str(column.type), 60)}. {WORDS}.")

    def in_buckets(self, *, hashed: bool) -> SqlEngine:
        """The same rows by bucket, within segments if there are any: each cluster, or two digits of its digest."""
        sa, engine, text = self._sa, copy(self), self._cluster_text()
        if hashed:
            dialect = self._connection.dialect.name
            self._learn_md5()
            if dialect not in ("sqlite", "postgresql", "mysql", "mariadb", "snowflake", "databricks"):
                raise InputError(
                    f"{dialect} has no md5 that is known here, by which clusters could be put together. Name a column "
                    "with fewer clusters, or export the rows to a Parquet file."
                )
            text = sa.func.substr(sa.func.md5(text), sa.literal_column("1"), sa.literal_column(str(HASHED_DIGITS)))
        engine._segment = [*self._segment, text]
        return engine

    def _number(self, name: str, kind: str) -> Any:
        sa, column = self._sa, self._column(name)
        if isinstance(column.type, sa.Boolean):
            column = sa.cast(column, sa.Integer)
        elif not isinstance(column.type, sa.Numeric | sa.Float | sa.Integer | sa.types.NullType):
            raise InputError(
                f"{kind} (column {name!r}) must be numbers, but the table holds {column.type}. Cast the column in a "
                "view or query first, or name another column."
            )
        return sa.cast(column, sa.Double)

    def _precision(self, name: str) -> np.dtype[Any]:
        """Single where the database keeps a column in four bytes; SQLite keeps eight, whatever the column is called."""
        kind, dialect = self._column(name).type, self._connection.dialect.name
        is_single = isinstance(kind, self._sa.REAL) and dialect != "sqlite"
        if dialect in ("mysql", "mariadb"):  # where FLOAT has four bytes and REAL eight
            is_single = type(kind).__name__ == "FLOAT" and (getattr(kind, "precision", None) or 0) <= 24
        return np.dtype(np.float32 if is_single else np.float64)

    def _is_number(self, name: str, number: Any, least: float) -> Any:
        """Finite and large enough; NULL fails every comparison, and so does the difference of NaN or infinity."""
        sa = self._sa
        tests = [number >= least, number <= LARGEST, number - number == 0.0]
        if self._connection.dialect.name == "sqlite":  # which keeps text in columns of numbers
            tests.append(sa.func.typeof(self._column(name)).in_(["real", "integer"]))
        if name != self.columns.weight and self._is_exact(name):
            tests.append(self._column(name).between(-LARGEST_WHOLE, LARGEST_WHOLE))
        return sa.and_(*tests)

    def _is_exact(self, name: str) -> bool:
        """Whether a column keeps whole or decimal numbers, of which a double may not hold all digits."""
        sa, kind = self._sa, self._column(name).type
        return isinstance(kind, sa.Integer) or (isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float))

    def survey(self) -> list[Surveyed]:
        sa = self._sa
        is_score = self._is_number(self.columns.score, self._score, -LARGEST)
        finite = sa.case((sa.and_(is_score, *self._counted), self._score))
        bad_weights = heaviest = sa.literal_column("0")
        if self.columns.weight is not None:
            bad_weights = sa.func.sum(sa.case((self._is_number(self.columns.weight, self._weight, 0.0), 0), else_=1))
            heaviest = sa.func.max(self._weight)
        keys = [*self._segment, self._label]
        query = (
            sa.select(
                *keys,
                sa.func.count(),
                sa.func.sum(sa.case((is_score, 0), else_=1)),
                bad_weights,
                heaviest,
                sa.func.min(finite),
                sa.func.max(finite),
            )
            .select_from(self._table)
            .where(*self._conditions)
            .group_by(*keys)
            .limit(keys_limit(self.group_by) + 1)
        )
        return [
            Surveyed(
                row[0] if self._segment else None,
                row[-7],
                int(row[-6]),
                int(row[-5]),
                int(row[-4]),
                row[-2],
                row[-1],
                float(row[-3] or 0),
            )
            for row in self._connection.execute(query)
        ]

    def bad_value(self, column: str) -> Any:
        sa = self._sa
        number, least = (self._weight, 0.0) if column == self.columns.weight else (self._score, -LARGEST)
        is_good = sa.case((self._is_number(column, number, least), 1), else_=0)
        query = sa.select(self._column(column)).where(*self._conditions, is_good == 0).limit(1)
        return self._connection.execute(query).scalar()

    def by_score(self, codes: Codes, within: Within | None = None) -> EngineCounts:
        columns = self._grouped(codes, [*self._segment, self._score], [], within)
        scores = columns[len(self._segment)].astype(np.float64)
        return self._counts(columns, scores, scores)

    def by_cell(self, codes: Codes, bits: int, within: Within | None = None) -> EngineCounts:
        sa = self._sa
        extremes = [sa.func.min(self._score), sa.func.max(self._score)]
        columns = self._grouped(codes, [*self._segment, self._cell(bits)], extremes, within)
        lowest, highest, cell = (columns[place].astype(np.float64) for place in (-2, -1, len(self._segment)))
        return self._counts(columns, lowest, highest, cell=cell, bits=bits)

    def by_scores(self, codes: Codes) -> tuple[NDArray[np.float64], EngineCounts]:
        """Counts per combination of the score and those next to it."""
        keys = [self._score, *self._beside]
        columns = self._grouped(codes, keys, [], None)
        scores = np.column_stack([column.astype(np.float64) for column in columns[: len(keys)]])
        return scores, self._counts(columns[len(keys) - 1 :], scores[:, 0], scores[:, 0])

    def extremes(self) -> list[tuple[Any, float | None, float | None, int]]:
        """Lowest and highest number of the column beside the score in each segment, and rows that hold none."""
        sa, number = self._sa, self._beside[0]
        good = self._is_number(self._beside_names[0], number, -LARGEST)
        finite = sa.case((good, number))
        query = (
            sa.select(
                *self._segment,
                sa.func.min(finite),
                sa.func.max(finite),
                sa.func.sum(sa.case((good, 0), else_=1)),
            )
            .select_from(self._table)
            .where(*self._conditions)
            .group_by(*self._segment)
        )
        return [(row[0], row[1], row[2], int(row[3])) for row in self._connection.execute(query)]

    def totals_at(self, codes: Codes, threshold: float) -> tuple[int, int, int]:
        """Labelled, unlabelled and known negative rows at or above a number, counted row by row."""
        sa = self._sa

        def kind(values: tuple[Any, ...]) -> Any:
            return sa.func.sum(sa.case((self._label.in_(values), 1), else_=0)) if values else sa.literal_column("0")

        query = (
            sa.select(sa.func.count(), kind(codes.labelled), kind(codes.negative))
            .select_from(self._table)
            .where(*self._conditions, self._score >= threshold)
        )
        rows, labelled, negative = (int(count or 0) for count in self._connection.execute(query).one())
        return labelled, rows - labelled - negative, negative

    def drawn(self, codes: Codes, ends: tuple[float, float], drawing: Drawing) -> list[tuple[Any, ...]]:
        """Id, score and kept columns of the unlabelled rows of a range of scores that have the smallest keys."""
        sa, (low, high) = self._sa, ends
        self._learn_md5()
        names = [str(column.name) for column in self._table.c]
        kept = [self._column(find_column(name, names)) for name in drawing.kept]
        limits = [*([self._score >= low] if low > -np.inf else []), *([self._score < high] if high < np.inf else [])]
        text = sa.cast(self._column(drawing.id), sa.String)
        query = (
            sa.select(self._column(drawing.id), self._score, *kept)
            .where(*self._unlabelled(codes), *limits)
            .order_by(sa.func.md5(sa.literal(drawing.prefix, sa.String) + text))
            .limit(drawing.many)
        )
        return [tuple(row) for row in self._connection.execute(query)]

    def missing_ids(self, codes: Codes, drawing: Drawing) -> int:
        """How many unlabelled rows have no id."""
        sa, column = self._sa, self._column(drawing.id)
        missing = sa.or_(column.is_(None), column == "") if drawing.is_text else column.is_(None)
        query = sa.select(sa.func.count()).select_from(self._table).where(*self._unlabelled(codes), missing)
        return int(self._connection.execute(query).scalar() or 0)

    def id_kind(self, column: str) -> str:
        """Whether a column that identifies rows holds whole numbers or text."""
        sa = self._sa
        kept = self._column(find_column(column, [str(one.name) for one in self._table.c])).type
        if isinstance(kept, sa.Integer):
            return "integer"
        return "text" if isinstance(kept, sa.String) else str(kept)

    def _unlabelled(self, codes: Codes) -> list[Any]:
        sa, known = self._sa, (*codes.labelled, *codes.negative)
        if not known:
            return list(self._conditions)
        return [*self._conditions, sa.case((self._label.in_(known), 1), else_=0) == 0]

    def _learn_md5(self) -> None:
        """SQLite has no function of that name; databases that run elsewhere have."""
        if self._connection.dialect.name == "sqlite":
            native = self._connection.connection.driver_connection
            native.create_function("md5", 1, _digest_or_null, deterministic=True)

    def distinct_scores(self) -> int | None:
        return None

    def by_order(self, codes: Codes, bits: int | None) -> list[EngineCounts] | None:
        return None

    def _cell(self, bits: int) -> Any:
        return self._sa.func.floor(self._score * self._sa.literal_column(repr(2.0**bits), self._sa.Double))

    def _grouped(self, codes: Codes, keys: list[Any], extremes: list[Any], within: Within | None) -> list[NDArray[Any]]:
        """The result's columns: keys, counts of all, labelled and negative rows, lowest and highest score."""
        sa = self._sa
        one = sa.literal_column("1") if self._weight is None else self._weight

        def kind(values: tuple[Any, ...]) -> Any:
            return sa.func.sum(sa.case((self._label.in_(values), one), else_=0)) if values else sa.literal_column("0")

        named = [key.label(f"pulens_key_{place}") for place, key in enumerate(keys)]
        conditions = [*self._conditions, *self._counted]
        if within is not None:
            conditions = [*conditions, self._cell(within.bits).in_(within.cells)]
        query = (
            sa.select(*named, sa.func.sum(one), kind(codes.labelled), kind(codes.negative), *extremes)
            .select_from(self._table)
            .where(*conditions)
            .group_by(*keys)
        )
        parts: list[list[NDArray[Any]]] = [[] for _ in query.selected_columns]
        with self._connection.execution_options(yield_per=FETCHED_ROWS).execute(query) as result:
            for rows in result.partitions():
                for part, values in zip(parts, zip(*rows, strict=True), strict=True):
                    column = np.empty(len(values), object)
                    column[:] = values
                    part.append(column)
        return [np.concatenate(part) if part else np.empty(0, object) for part in parts]

    def _counts(
        self, columns: list[NDArray[Any]], lowest: NDArray[Any], highest: NDArray[Any], **cells: Any
    ) -> EngineCounts:
        kind = np.int64 if self._weight is None else np.float64
        begin = len(self._segment) + 1
        rows, labelled, negative = (column.astype(kind) for column in columns[begin : begin + 3])
        many = len(self._segment)
        segment = CodedSegments.of_columns([column.tolist() for column in columns[:many]]) if many else None
        return EngineCounts(lowest, highest, labelled, rows - labelled - negative, negative, segment, **cells)


def _digest_or_null(text: Any) -> str | None:
    return None if text is None else digest_of(str(text))
