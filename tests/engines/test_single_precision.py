"""Scores in single precision, wherever they live: 0.7 is at or above a threshold of 0.7."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.inputs import read_joint, read_tally
from pulens.inputs.tally_files import TallyFile, write_tally_file

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

LABELS, SCORES = [1, 1, 0, 0, 1], [0.7, 0.9, 0.7, 0.1, 0.3]
KEPT = np.array(SCORES, np.float32)


def in_pandas(request, folder, kind="float32"):
    import pandas as pd

    return pd.DataFrame({"score": pd.Series(SCORES, dtype=kind), "other": SCORES, "label": LABELS}), {}


def in_polars(request, folder):
    import polars as pl

    return pl.DataFrame({"score": KEPT, "other": SCORES, "label": LABELS}), {}


def in_arrow(request, folder):
    return in_polars(request, folder)[0].to_arrow(), {}


def in_parquet(request, folder):
    in_polars(request, folder)[0].write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet", {}


def in_a_condition(request, folder):
    return in_parquet(request, folder)[0], {"where": "label > -5"}


def in_duckdb(request, folder):
    import duckdb

    rows = in_arrow(request, folder)[0]  # noqa: F841  (DuckDB finds it by its name)
    return duckdb.sql("SELECT * FROM rows"), {}


def in_postgresql(request, folder):
    import sqlalchemy as sa

    url = request.getfixturevalue("postgresql")
    engine = sa.create_engine(url)
    columns = sa.Column("score", sa.REAL), sa.Column("other", sa.Double), sa.Column("label", sa.Integer)
    table = sa.Table("single", sa.MetaData(), *columns)
    with engine.begin() as connection:
        table.drop(connection, checkfirst=True)
        table.create(connection)
        rows = zip(SCORES, SCORES, LABELS, strict=True)
        connection.execute(table.insert(), [dict(zip(("score", "other", "label"), row, strict=True)) for row in rows])
    engine.dispose()
    return url, {"table": "single"}


def in_spark(request, folder):
    spark = request.getfixturevalue("spark")
    rows = list(zip(SCORES, SCORES, LABELS, strict=True))
    return spark.createDataFrame(rows, "score float, other double, label bigint"), {}


PLACES = {
    "pandas": in_pandas,
    "pandas nullable": lambda *where: in_pandas(*where, kind="Float32"),
    "polars": in_polars,
    "pyarrow": in_arrow,
    "parquet": in_parquet,
    "parquet through DuckDB": in_a_condition,
    "DuckDB relation": in_duckdb,
    "Polars lazy": lambda *where: (in_polars(*where)[0].lazy(), {}),
    "PostgreSQL": in_postgresql,
    "PySpark": in_spark,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_row_stored_as_the_threshold_is_at_the_threshold(place, request, tmp_path):
    source, where = PLACES[place](request, tmp_path)
    tally = read_tally(source, **where)
    assert tally.thresholds.dtype == np.float32
    for threshold in (0.1, 0.3, 0.7, 0.9):
        assert tally.at(threshold) == read_tally(LABELS, SCORES).at(threshold)
    joint = read_joint(source, score=["score", "other"], **where)
    assert joint.tally("score") == tally
    assert joint.tally("other").thresholds.dtype == np.float64


def test_a_tally_file_keeps_single_precision(tmp_path):
    tally = read_tally(LABELS, KEPT)
    write_tally_file(tmp_path / "x.tally", TallyFile.of(tally))
    kept = read_tally(tmp_path / "x.tally")
    assert kept.thresholds.dtype == np.float32
    assert kept.at(0.7) == (2, 1, 0)
