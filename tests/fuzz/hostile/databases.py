"""Databases in files, whole or spoilt, and addresses that lead nowhere."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

from hostile.damage import spoilt_bytes
from hostile.tables import WORDS, Table, arrow

ADDRESSES = [
    "sqlite:///{}", "sqlite://{}", "duckdb:///{}", "duckdb:{}", "postgresql://u:p@[::1/{}", "mysql://{}", "x://{}",
    "sqlite:///{}?timeout=x", "://{}", "file://{}", "postgresql://localhost:1/{}", "http://127.0.0.1:1/{}",
    "sqlite:///{}?password=secret", "duckdb:///nope.db", "sqlite:///", "sqlite://", "sqlite+nope:///{}", "s3://{}",
]  # fmt: skip
TABLES = ["t", "t", "t", "t", "t", "nope", "", "t; DROP TABLE t", 'a"b', "sqlite_master", "x" * 5000]


def odd_address(chance: random.Random, path: Path) -> str:
    """An address with the name of a file that is no database."""
    return chance.choice(ADDRESSES).format(path.name)


def write(chance: random.Random, table: Table, folder: Path) -> str:
    """The address of a database that holds the rows in its table t."""
    kind = chance.choice(["sqlite", "sqlite", "duckdb"])
    path = folder / f"a.{kind}"
    (_sqlite if kind == "sqlite" else _duckdb)(table, path)
    path.write_bytes(spoilt_bytes(chance, path.read_bytes(), share=0.3))
    return f"{kind}:///{path.name}"


def table_name(chance: random.Random) -> list[str]:
    return [] if chance.random() < 0.05 else ["--table", chance.choice(TABLES)]


def _sqlite(table: Table, path: Path) -> None:
    connection = sqlite3.connect(path)
    columns = ", ".join(f'"{name}" {"TEXT" if name in WORDS else "REAL"}' for name in table.names)
    connection.execute(f"CREATE TABLE t ({columns})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(table.names))})", table.rows)
    connection.commit()
    connection.close()


def _duckdb(table: Table, path: Path) -> None:
    import duckdb

    rows = arrow(table)  # noqa: F841  (DuckDB finds it by its name)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
