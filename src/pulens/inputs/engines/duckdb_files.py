"""Files of every format, folders and globs of them, and DuckDB databases: DuckDB reads and groups them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, MissingDependencyError, cut, listed, nearest, shown
from pulens.inputs.columns import TEXT_OF, Columns, find_column, find_columns
from pulens.inputs.engines.lazy import LONGEST_REASON, LazyEngine, explained
from pulens.inputs.engines.stopping import stopped_by_ctrl_c
from pulens.inputs.engines.wanted import Wanted
from pulens.inputs.tables.arrow import write_as_parquet
from pulens.inputs.tables.chunks import column_names
from pulens.inputs.tables.dialect import PLAIN, Dialect, Said, dialect_of
from pulens.inputs.tables.excel import sheet_of
from pulens.inputs.tables.formats import TEXT, separator_of
from pulens.inputs.tables.found_files import DELIMITED
from pulens.inputs.tables.streams import RecodedStream, as_text, explained_file, open_stream
from pulens.inputs.tables.writing import table_bytes

MEMORY_LIMIT = "512MB"  # DuckDB sorts and groups beyond it on disk


@contextmanager
def open_files(paths: list[Path], asked: Wanted, *, format: str, delimiter: Said = None) -> Iterator[LazyEngine]:
    """Many files of one format as one table; ``year=2024`` folders become columns."""
    columns, beside, kept, cluster, where = asked.columns, asked.beside, asked.kept, asked.cluster, asked.where
    named = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more files"
    with ExitStack() as stack:
        connection = stack.enter_context(_connection())
        _check_names(
            paths[0],
            format,
            delimiter,
            columns,
            (*asked.counted, *kept, *(one.column for one in asked.periods)),
        )
        read, dialect = paths, dialect_of(delimiter)
        if format in ("arrow", "xlsx") or (format in TEXT and _is_recoded(paths[0], dialect)):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulens-")))
            read = [_as_duckdb_reads(path, format, dialect, folder, place) for place, path in enumerate(paths)]
            if format == "xlsx":
                format, delimiter = "csv", None
        with explained(named):
            wanted = (*columns.names, *beside, *kept, *([] if cluster is None else [cluster]))
            relation = _relation(connection, read, format, delimiter, wanted, is_typed=where is not None)
            relation, texts = _with_numbers(
                relation, (columns.score, columns.weight, *beside), columns.weight, dialect if format in TEXT else PLAIN
            )
            if where is not None and columns.label.lower() in where.lower():
                relation = _with_number_labels(relation, columns.label)
        if where is not None:
            with explained(f"the condition {shown(where)}"):
                relation = relation.filter(where)
        try:
            if format in DELIMITED and len(relation.columns) == 1:  # another separator, more often than not
                find_column(columns.score, relation.columns, delimiter=separator_of(format, delimiter))
            yield FileEngine(relation, replace(asked, where=None), texts, connection)
        except InputError as error:
            raise InputError(f"{named}: {error}") from error


def _relation(
    connection: Any, paths: list[Path], format: str, delimiter: Said, wanted: tuple[str, ...], *, is_typed: bool
) -> Any:
    """The files as DuckDB has them; ``is_typed`` asks for types of the columns besides the wanted ones."""
    names = [_literal_name(path) for path in paths]
    parted = {"hive_partitioning": _is_partitioned(paths)}
    if format in ("parquet", "arrow"):
        return connection.read_parquet(names, **parted)
    if format == "jsonl":
        return _read_records(connection, names, wanted, parted, _folder_columns(paths[0]))
    # types of our columns are ours to decide: sniffed ones depend on the first rows
    declared = dict.fromkeys(wanted, "VARCHAR") if is_typed else None
    return connection.read_csv(
        names,
        header=True,
        dtype=declared,
        all_varchar=declared is None,
        sep=separator_of(format, delimiter),
        quotechar='"',
        escapechar='"',
        na_values="",
        **parted,
    )


def _literal_name(path: Path) -> str:
    """A file's name as DuckDB takes it for this file alone: it reads names as patterns, and ``~`` as a home.

    >>> print(_literal_name(Path("data[1].csv")), _literal_name(Path("~.csv")))
    data[[]1].csv ./~.csv
    """
    name = escape(str(path))
    return f"./{name}" if name.startswith("~") else name


def _folder_columns(path: Path) -> list[str]:
    """Columns that the folders of a file name, such as ``year`` in ``year=2024``."""
    return [part.partition("=")[0] for part in path.parent.parts if "=" in part]


def _read_records(
    connection: Any, names: list[str], wanted: tuple[str, ...], parted: dict[str, bool], in_folders: list[str]
) -> Any:
    """JSON Lines with our columns as text, whatever types DuckDB sees in them: it would round long numbers."""
    # all rows are looked at: types that follow from the first ones may not hold for the others
    lines = {"format": "newline_delimited", "sample_size": -1, "union_by_name": True, **parted}
    seen = connection.read_json(names, **lines)
    kinds = dict(zip(seen.columns, map(str, seen.types), strict=True))
    ours = [name for name in dict.fromkeys(wanted) if name in kinds]
    if not ours:
        return seen
    kept = {name: "JSON" if name in ours else kind for name, kind in kinds.items() if name not in in_folders}
    texts = ", ".join(f"{quoted(name)} ->> '$' AS {quoted(name)}" for name in ours)
    return connection.read_json(names, columns=kept, **lines).project(f"* REPLACE ({texts})")


def _is_recoded(path: Path, dialect: Dialect) -> bool:
    """Whether a text file must be written again in UTF-8, which is all that DuckDB reads."""
    if dialect.encoding is not None:
        return True
    with ExitStack() as stack:
        return isinstance(getattr(open_stream(path, stack), "raw", None), RecodedStream)


def _as_duckdb_reads(path: Path, format: str, dialect: Dialect, folder: Path, place: int) -> Path:
    """A file in a format, or an encoding, that DuckDB reads; folders that name values of columns keep their names."""
    kind = "parquet" if format == "arrow" else "csv"
    target = Path(folder, *(part for part in path.parent.parts if "=" in part), f"{place}.{kind}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with explained_file(str(path), format), ExitStack() as stack:
        stream = open_stream(path, stack)
        if format == "arrow":  # validated batch by batch, so that memory does not grow with the file
            write_as_parquet(stream, target)
        elif format == "xlsx":
            table = sheet_of(stream.read(), dialect.sheet)
            target.write_bytes(table_bytes("csv", dict(zip(table.names, table.columns, strict=True))))
        else:
            text = stack.enter_context(as_text(stream, dialect.encoding))
            written = stack.enter_context(open(target, "w", encoding="utf-8", newline=""))
            shutil.copyfileobj(text, written)
    return target


def _check_names(path: Path, format: str, delimiter: Said, columns: Columns, wanted: tuple[str | None, ...]) -> None:
    """Refuse a column that is not there, or twice: DuckDB would rename the second and read the first without a word."""
    names = column_names(path, format, delimiter)
    with explained_file(str(path), format):
        if format == "jsonl" and not names:
            raise InputError("the table is empty: it has no data rows.")
        for name in wanted:
            if name is not None and names.count(name) > 1:
                find_column(name, names)
        if format != "jsonl":  # whose first row need not have every column
            said = separator_of(format, delimiter) if format in TEXT else None
            find_columns(columns.names, [*names, *_folder_columns(path)], delimiter=said, roles=columns.roles)


class FileEngine(LazyEngine):
    """Files as one table, some of whose numbers were written as text."""

    def __init__(self, relation: Any, wanted: Wanted, texts: dict[str, str], connection: Any = None) -> None:
        super().__init__(relation, wanted, connection)
        self._native, self._texts = relation, texts

    def bad_value(self, column: str) -> Any:
        """The text that is no number, where there is one."""
        if column in self._texts:
            text = quoted(self._texts[column])
            strange = self._native.filter(f"{quoted(column)} IS NULL AND {text} IS NOT NULL")
            result = strange.project(text).limit(1).fetchall()
            if result:
                return result[0][0]
        return super().bad_value(column)


@contextmanager
def open_database(path: str, table: str | None, wanted: Wanted) -> Iterator[LazyEngine]:
    """A table or view of a DuckDB database file, opened for reading only."""
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such DuckDB database.")
    with _connection(path) as connection:
        result = _find_table(connection, path, table)
        with explained(path):
            relation = connection.sql(f"SELECT * FROM {result}")
        try:
            yield LazyEngine(relation, wanted, connection)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


@contextmanager
def _connection(path: str = ":memory:") -> Iterator[Any]:
    try:
        import duckdb
        import pyarrow  # noqa: F401  (results come back as Arrow data)
    except ImportError as error:
        raise MissingDependencyError("duckdb", purpose="reading large files and databases", extra="data") from error
    with tempfile.TemporaryDirectory(prefix="pulens-") as spill:
        settings = {
            "memory_limit": os.environ.get("PULENS_DUCKDB_MEMORY", MEMORY_LIMIT),
            "temp_directory": spill,
            "autoinstall_known_extensions": "false",  # nothing is fetched from the network
        }
        try:
            try:
                connection = duckdb.connect(path, read_only=path != ":memory:", config=settings)
                if path != ":memory:":  # views of somebody else's database may name any file: none is opened for them
                    connection.execute("SET enable_external_access = false")
            except duckdb.ConnectionException:  # this process has the file open already, with settings of its own
                connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise InputError(f"{path}: cannot be opened as a DuckDB database: {_one_line(error)}") from error
        try:
            connection.execute("SET enable_progress_bar = false")  # it would go to standard output, among the JSON
            with stopped_by_ctrl_c(connection):
                yield connection
        finally:
            connection.close()


def _find_table(connection: Any, path: str, table: str | None) -> str:
    """A table's quoted name; the name is looked up, never pasted into SQL as it came."""
    rows = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables ORDER BY table_schema, table_name"
    ).fetchall()
    names = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in rows}
    if table is None:
        raise InputError(
            f"{path}: say which table holds the scores (table=..., or --table); there are {listed(names, limit=30)}."
        )
    if table not in names and table.startswith("main.") and table[5:] in names:
        table = table[5:]
    if table not in names:
        raise InputError(
            f"{path}: there is no table {shown(table)}; the tables are {listed(names, limit=30)}."
            f"{nearest(table, names)}"
        )
    return ".".join(quoted(part) for part in names[table])


def quoted(name: str) -> str:
    """A name as DuckDB writes it: in double quotes, its own doubled.

    >>> print(quoted('a"; DROP TABLE b; --'))
    "a""; DROP TABLE b; --"
    """
    return '"' + name.replace('"', '""') + '"'


def _with_numbers(
    relation: Any, names: tuple[str | None, ...], weight: str | None = None, dialect: Dialect = PLAIN
) -> tuple[Any, dict[str, str]]:
    """Scores and weights that are kept as text turned into numbers, null where they are none, and the texts.

    Scores are null too where they are whole numbers that a double cannot tell apart.

    The trimming also hides the cast from DuckDB's optimiser, which would have the CSV reader do it and fail on
    the first text that is no number.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    wanted = [name for name in dict.fromkeys(names) if name is not None and kinds.get(name) == "VARCHAR"]
    if not wanted:
        return relation, {}
    texts = {name: f"{TEXT_OF}{place}" for place, name in enumerate(wanted)}
    replaced = ", ".join(
        f"{_as_number(_in_plain_writing(quoted(name), dialect), name != weight)} AS {quoted(name)}" for name in wanted
    )
    kept = ", ".join(f"{quoted(name)} AS {text}" for name, text in texts.items())
    return relation.project(f"* REPLACE ({replaced}), {kept}"), texts


def _in_plain_writing(text: str, dialect: Dialect) -> str:
    """SQL for a text that says a number in some writing as programs write it; null where it says none."""
    if dialect.is_plain:
        return text
    plain = f"trim({text})"
    for letter in dialect.groups:
        plain = f"replace({plain}, {literal(letter)}, '')"
    plain = f"replace({plain}, {literal(dialect.decimal)}, '.')"
    return f"CASE WHEN regexp_full_match(trim({text}), {literal(dialect.pattern)}) THEN {plain} END"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _as_number(text: str, keep_apart: bool) -> str:
    """SQL for the number that a text says."""
    number, limit = f"TRY_CAST(trim({text}) AS DOUBLE)", LARGEST_WHOLE
    if not keep_apart:
        return number
    is_whole = f"regexp_full_match(trim({text}), '[+-]?[0-9]+')"
    # 2^53 + 1 is 2^53 as a double, and numbers of forty digits are no HUGEINT
    is_long = f"(abs({number}) > {limit} OR abs(TRY_CAST(trim({text}) AS HUGEINT)) > {limit})"
    return f"CASE WHEN abs({number}) >= {limit} AND {is_whole} AND {is_long} THEN NULL ELSE {number} END"


def _with_number_labels(relation: Any, name: str) -> Any:
    """Labels of a text file as whole numbers where all of them are, so that conditions mean what they do elsewhere."""
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if kinds.get(name) != "VARCHAR":
        return relation
    label = quoted(name)
    strange = relation.filter(f"{label} IS NOT NULL AND NOT regexp_full_match(trim({label}), '[+-]?[0-9]{{1,18}}')")
    if strange.limit(1).fetchall():
        return relation
    # trimming hides the cast from the optimiser, as above
    return relation.project(f"* REPLACE (TRY_CAST(trim({label}) AS BIGINT) AS {label})")


def _is_partitioned(paths: list[Path]) -> bool:
    return all(any("=" in part for part in path.parent.parts) for path in paths)


def _one_line(error: Exception) -> str:
    return cut(" ".join(str(error).split()), LONGEST_REASON)
