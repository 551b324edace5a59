"""Rows that belong together: the buckets of clusters are the same to the bit wherever the rows live."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from engines_places import EVERYWHERE, INSIDE_AN_ENGINE
from pulens.counts.buckets import digest_of
from pulens.errors import InputError
from pulens.inputs import read_buckets
from pulens.inputs.engines import drive, lazy
from pulens.inputs.tallies import read_bucket_tallies

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # how Ibis asks DuckDB
]

SIZE = 600


def table(seed: int = 0) -> dict[str, list]:
    """Few clusters by name, more than 256 by number, the same as floating point numbers; two segments."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 400, SIZE)
    return {
        "score": np.round(rng.normal(size=SIZE), 1).tolist(),
        "label": rng.choice([1, 0, -1], SIZE, p=[0.2, 0.7, 0.1]).tolist(),
        "ward": [f"ward {number % 30}" for number in numbers.tolist()],
        "patient": numbers.tolist(),
        "number": (numbers - 200).astype(float).tolist(),
        "sex": rng.choice(["f", "m"], SIZE).tolist(),
    }


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_buckets_are_the_same_to_the_bit(put):
    columns = table()
    source, where = put(columns)
    few = read_buckets(columns["label"], columns["score"], cluster=columns["ward"])
    assert (len(few), few.is_hashed, few.clusters) == (30, False, (30, 30))
    if "pyspark" not in type(source).__module__:  # every query takes a second there
        assert read_buckets(source, cluster="ward", **where) == few
    many = read_buckets(columns["label"], columns["score"], cluster=columns["patient"])
    assert read_buckets(source, cluster="patient", **where) == many
    assert (many.is_hashed, many.clusters[0]) == (True, len(set(columns["patient"])))
    assert set(many.names) == {digest_of(str(number))[:2] for number in columns["patient"]}


@pytest.mark.parametrize("column", ["patient", "number", "name"])
@pytest.mark.parametrize("put", ["csv through DuckDB", "DuckDB database"], indirect=True)
def test_ids_that_come_often_are_digested_once_and_give_the_same_buckets(put, column, monkeypatch):
    columns = {**table(6), "name": [f"no. {one}" for one in table(6)["patient"]]}
    source, where = put(columns)
    each = read_buckets(source, cluster=column, **where)
    by_sex = read_bucket_tallies(source, group_by="sex", cluster=column, **where)
    monkeypatch.setattr(lazy, "ROWS_PER_ID", 1)
    assert read_buckets(source, cluster=column, **where) == each
    assert read_bucket_tallies(source, group_by="sex", cluster=column, **where) == by_sex


@pytest.mark.parametrize("put", ["Polars lazy", "DuckDB relation", "SQLite", "PostgreSQL"], indirect=True)
def test_whole_numbers_kept_as_floating_point_are_the_same_clusters(put):
    columns = table(1)
    source, where = put(columns)
    expected = read_buckets(columns["label"], columns["score"], cluster=[int(one) for one in columns["number"]])
    assert read_buckets(source, cluster="number", **where) == expected


@pytest.mark.parametrize("put", ["polars", "csv through DuckDB", "Polars lazy", "SQLite", "PostgreSQL"], indirect=True)
def test_buckets_of_segments_add_up_to_those_of_all_rows(put):
    columns = table(2)
    source, where = put(columns)
    result = read_bucket_tallies(source, group_by="sex", cluster="patient", **where)
    assert list(result) == ["f", "m"]
    whole = read_buckets(columns["label"], columns["score"], cluster=columns["patient"])
    added = result["f"] + result["m"]
    assert added.names == whole.names
    assert added.tally == whole.tally
    np.testing.assert_array_equal(added.totals, whole.totals)
    fewest, most = added.clusters
    assert fewest <= whole.clusters[0] <= most


@pytest.mark.parametrize("put", [*INSIDE_AN_ENGINE[:3], "SQLite", "PostgreSQL"], indirect=True)
def test_a_missing_cluster_is_refused_with_its_rows_and_a_way_out(put):
    columns = table(3)
    columns["ward"][5] = columns["ward"][9] = None
    source, where = put(columns)
    with pytest.raises(InputError, match=r"'ward' has no value in 2 of 600 rows.*IS NOT NULL"):
        read_buckets(source, cluster="ward", **where)
    if "lazy" not in str(type(source)).lower():
        kept = read_buckets(source, cluster="ward", **{**where, "where": '"ward" IS NOT NULL'})
        assert kept.rows == SIZE - 2


def test_fractions_are_no_clusters_in_an_engine():
    import polars as pl

    columns = table()
    columns["number"][7] = 0.5
    with pytest.raises(InputError, match="numbers with fractions in 1 of 600 rows"):
        read_buckets(pl.LazyFrame(columns), cluster="number")


@pytest.mark.parametrize("put", ["DuckDB relation"], indirect=True)
def test_blocks_of_many_rows_are_cells_that_hold_every_row(put, monkeypatch):
    """Beyond some million rows the blocks of buckets are cells of scores, finer where the rows are."""
    rng = np.random.default_rng(4)
    size = 4000
    columns = {
        "score": np.r_[rng.normal(0, 1e-3, size - 2), [-40.0, 40.0]].tolist(),
        "label": rng.choice([1, 0], size, p=[0.3, 0.7]).tolist(),
        "patient": rng.integers(0, 60, size).tolist(),
    }
    source, where = put(columns)
    exact = read_buckets(source, cluster="patient", **where)
    monkeypatch.setattr(drive, "EXACT_BUCKET_ROWS", 100)
    monkeypatch.setattr(drive, "BUCKET_CELL_BITS", 6)
    coarse = read_buckets(source, cluster="patient", **where)
    assert coarse.tally == exact.tally
    assert coarse.lowest.size < exact.lowest.size / 2
    np.testing.assert_array_equal(coarse.totals, exact.totals)
    for threshold in coarse.lowest[:: max(coarse.lowest.size // 20, 1)].tolist():
        np.testing.assert_array_equal(coarse.at(threshold), exact.at(threshold))
    options = {"class_prior": 0.5, "threshold": 0.0005, "redraws": 100}
    fine, rough = (pulens.evaluate(counted, **options, labelling="random").estimates for counted in (exact, coarse))
    for name in ("roc_auc", "recall", "precision"):
        assert rough[name].value == fine[name].value
        assert rough[name].interval.width == pytest.approx(fine[name].interval.width, rel=0.1)
