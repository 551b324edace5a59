"""The places that engine tests put rows into; their fixtures are in engines/conftest.py."""

from __future__ import annotations

IN_MEMORY = ["pandas", "polars", "pyarrow"]
GLOBS = ["glob", "glob of JSON Lines", "glob of Arrow files"]
FILES = ["csv", "parquet", "csv through DuckDB", "parquet through DuckDB", "partitioned folder", *GLOBS]
ENGINES = ["DuckDB relation", "DuckDB database", "Polars lazy", "Ibis", "SQLite", "PostgreSQL"]
SPARK = "PySpark"
EVERYWHERE = [*IN_MEMORY, *FILES, *ENGINES, SPARK]
INSIDE_AN_ENGINE = ["parquet through DuckDB", "csv through DuckDB", *ENGINES, SPARK]
