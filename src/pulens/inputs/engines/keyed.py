"""The key that decides which rows are drawn, as engines compute it: md5 of a seed and the row's id, as text.

Every engine has md5 or can be taught it, and gives the same digits; whoever sorts by them draws the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulens.counts.buckets import digest_of
from pulens.errors import InputError


@dataclass(frozen=True, slots=True)
class Drawing:
    """What to draw: by which column's keys, how many rows, and which columns go with them."""

    id: str
    seed: int
    many: int
    kept: tuple[str, ...] = ()
    is_text: bool = False

    @property
    def prefix(self) -> str:
        """What stands before the id in the text that is digested."""
        return f"{self.seed}:"


def with_md5(native: Any, column: str, prefix: str, name: str) -> Any:
    """A lazy table with one more column: md5 of a prefix and the text of a column, found inside the engine."""
    library = type(native).__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb"):
        import duckdb

        text = duckdb.FunctionExpression(
            "concat", duckdb.ConstantExpression(prefix), duckdb.ColumnExpression(column).cast("VARCHAR")
        )
        return native.select(duckdb.StarExpression(), duckdb.FunctionExpression("md5", text).alias(name))
    if library in ("pyspark", "sqlframe"):
        from pyspark.sql import functions

        quoted = "`" + column.replace("`", "``") + "`"
        text = functions.concat(functions.lit(prefix), functions.col(quoted).cast("string"))
        return native.withColumn(name, functions.md5(text))
    if library == "ibis":
        import ibis

        text = ibis.literal(prefix) + native[column].cast("string")
        return native.mutate(**{name: text.hexdigest("md5")})
    if library == "polars":
        import polars

        def digests(ids: Any) -> Any:
            return polars.Series([None if one is None else digest_of(prefix + one) for one in ids], dtype=polars.String)

        text = polars.col(column).cast(polars.String).map_batches(digests, return_dtype=polars.String)
        return native.with_columns(text.alias(name))
    raise InputError(
        f"rows cannot be drawn inside a {type(native).__name__}: it is not known how it finds md5. Collect the columns "
        "that are needed into a table in memory, or write them to a Parquet file."
    )
