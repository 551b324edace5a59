"""Every place that rows can live in: each fixture puts a table there and hands back what a user would hand over."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from postgresql_server import postgresql_server

Put = Callable[..., tuple[Any, dict[str, Any]]]


@pytest.fixture
def put(request, tmp_path, monkeypatch) -> Put:
    """Puts columns (lists of Python values) where the test's parameter says."""
    place = request.param

    def putting(columns: dict[str, list[Any]]) -> tuple[Any, dict[str, Any]]:
        return PLACES[place](columns, request, tmp_path, monkeypatch)

    return putting


def _arrow(columns):
    import pyarrow as pa

    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _pandas(columns, *_):
    import pandas as pd

    return pd.DataFrame(columns), {}


def _polars(columns, *_):
    import polars as pl

    return pl.DataFrame(columns, strict=False), {}


def _csv(columns, request, folder, monkeypatch, *, large: bool = False):
    import csv

    path = folder / "table.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(
            ["" if value is None else value for value in row] for row in zip(*columns.values(), strict=True)
        )
    _be_large(monkeypatch, large)
    return str(path), {}


def _parquet(columns, request, folder, monkeypatch, *, large: bool = False):
    import pyarrow.parquet

    pyarrow.parquet.write_table(_arrow(columns), folder / "table.parquet")
    _be_large(monkeypatch, large)
    return folder / "table.parquet", {}


def _be_large(monkeypatch, large: bool) -> None:
    import pulens.inputs.tallies

    monkeypatch.setattr(pulens.inputs.tallies, "LARGE_FILE", 0 if large else 1 << 60)


def _folder(columns, request, folder, monkeypatch):
    import pyarrow.parquet

    table = _arrow(columns)
    half = table.num_rows // 2
    for day, part in ((1, table.slice(0, half)), (2, table.slice(half))):
        (folder / "lake" / f"day={day}").mkdir(parents=True)
        pyarrow.parquet.write_table(part, folder / "lake" / f"day={day}" / "part.parquet")
    (folder / "lake" / "_SUCCESS").touch()
    return str(folder / "lake"), {}


def _glob(columns, request, folder, monkeypatch):
    import pyarrow.parquet

    table = _arrow(columns)
    third = table.num_rows // 3
    for place, part in enumerate((table.slice(0, third), table.slice(third))):
        pyarrow.parquet.write_table(part, folder / f"shard-{place}.parquet")
    return str(folder / "shard-*.parquet"), {}


def _written(ending: str):
    """Files of a format that DuckDB reads where there are many."""

    def put(columns, request, folder, monkeypatch):
        from pulens.inputs.tables.writing import write_table

        for place, part in enumerate((slice(0, 3), slice(3, None))):
            rows = _arrow(columns)[part]  # types of the whole: a part may hold nothing but null
            kept = {name: rows.column(name) for name in columns}
            write_table(str(folder / f"part-{place}.{ending}"), kept)
        return str(folder / f"part-*.{ending}"), {}

    return put


def _relation(columns, request, folder, monkeypatch):
    import duckdb

    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    rows = _arrow(columns)  # noqa: F841  (DuckDB finds it by its name)
    connection.execute("CREATE TABLE kept AS SELECT * FROM rows")
    return connection.sql("SELECT * FROM kept"), {}


def _database(columns, request, folder, monkeypatch):
    import duckdb

    rows = _arrow(columns)  # noqa: F841
    with duckdb.connect(str(folder / "scores.db")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM rows")
    return f"duckdb:///{folder / 'scores.db'}", {"table": "kept"}


def _lazy(columns, *_):
    return _polars(columns)[0].lazy(), {}


def _ibis(columns, request, folder, monkeypatch):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    return ibis.duckdb.connect().read_parquet(_parquet(columns, request, folder, monkeypatch)[0]), {}


def _spark(columns, request, folder, monkeypatch):
    spark = request.getfixturevalue("spark")
    types = {float: "double", int: "bigint", str: "string", bool: "boolean"}
    kinds = {name: next((type(v) for v in values if v is not None), str) for name, values in columns.items()}
    schema = ", ".join(f"`{name}` {types[kind]}" for name, kind in kinds.items())
    return spark.createDataFrame(list(zip(*columns.values(), strict=True)), schema), {}


def _sqlite(columns, request, folder, monkeypatch):
    return _sql(columns, f"sqlite:///{folder / 'scores.sqlite'}")


def _postgresql(columns, request, folder, monkeypatch):
    return _sql(columns, request.getfixturevalue("postgresql"))


def _sql(columns, url):
    import sqlalchemy as sa

    types = {float: sa.Double, int: sa.BigInteger, str: sa.Text, bool: sa.Boolean}
    kinds = {name: next((type(v) for v in values if v is not None), str) for name, values in columns.items()}
    engine = sa.create_engine(url)
    table = sa.Table("kept", sa.MetaData(), *(sa.Column(name, types[kind]) for name, kind in kinds.items()))
    with engine.begin() as connection:
        table.drop(connection, checkfirst=True)
        table.create(connection)
        connection.execute(
            table.insert(), [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        )
    engine.dispose()
    return url, {"table": "kept"}


PLACES = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": lambda columns, *_: (_arrow(columns), {}),
    "csv": _csv,
    "parquet": _parquet,
    "csv through DuckDB": lambda *given: _csv(*given, large=True),
    "parquet through DuckDB": lambda *given: _parquet(*given, large=True),
    "partitioned folder": _folder,
    "glob": _glob,
    "glob of JSON Lines": _written("jsonl"),
    "glob of Arrow files": _written("arrow"),
    "DuckDB relation": _relation,
    "DuckDB database": _database,
    "Polars lazy": _lazy,
    "Ibis": _ibis,
    "SQLite": _sqlite,
    "PostgreSQL": _postgresql,
    "PySpark": _spark,
}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One local Spark for the whole run; a task may fail twice before its job does."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        # many tiny queries: quick compilation matters, quick code does not
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[2,3]").appName("pulens tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of the run's own."""
    with postgresql_server() as server:
        yield server.address()
