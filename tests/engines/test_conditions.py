"""Conditions and segments mean the same for every kind of file."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import InputError
from pulens.inputs import read_tallies, read_tally
from pulens.inputs.engines import counts, drive

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from pyarrow import csv, parquet  # noqa: E402


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {"label": rng.choice([1, 0, -1], 400), "score": rng.normal(size=400).round(2), "site": rng.integers(0, 5, 400)}
    )
    csv.write_csv(table, tmp_path / "a.csv")
    csv.write_csv(table, tmp_path / "a.tsv", csv.WriteOptions(delimiter="\t"))
    parquet.write_table(table, tmp_path / "a.parquet")
    return [tmp_path / f"a.{ending}" for ending in ("parquet", "csv", "tsv")]


@pytest.mark.parametrize(
    "where", ["label >= 0", "label = 1 OR score < 0", "label <> -1 AND site > 1", '"label" IN (0, 1)', "Label > -1"]
)
def test_conditions_on_labels_are_the_same_for_parquet_and_text(where, files):
    tallies = [read_tally(file, where=where) for file in files]
    assert tallies[0].totals.rows < 400
    assert all(tally == tallies[0] for tally in tallies)


def test_conditions_on_labels_of_text_stay_conditions_on_text(tmp_path):
    (tmp_path / "a.csv").write_text("label,score\nyes,3\nno,2\n1,2\nno,1\n")
    tally = read_tally(tmp_path / "a.csv", where="label <> '1'", positive="yes")
    assert (tally.totals.labelled, tally.totals.rows) == (1, 3)


def write_segments(path, segments: int) -> None:
    site = np.repeat(np.arange(segments), 2)
    parquet.write_table(
        pa.table({"label": site % 2 * 0 + np.tile([1, 0], segments), "score": site, "site": site}), path
    )


def test_more_than_ten_thousand_segments_are_counted(tmp_path):
    write_segments(tmp_path / "a.parquet", 12_000)
    result = read_tallies(tmp_path / "a.parquet", group_by="site")
    assert len(result) == 12_000
    assert {tally.totals for tally in result.values()} == {(1.0, 1.0, 0.0)}


def test_too_many_segments_are_called_that(tmp_path, monkeypatch):
    write_segments(tmp_path / "a.parquet", 30)
    monkeypatch.setattr(counts, "KEYS_LIMIT", 20)
    monkeypatch.setattr(drive, "KEYS_LIMIT", 20)
    with pytest.raises(InputError, match=r"column 'site' has .* segments or more"):
        read_tallies(tmp_path / "a.parquet", group_by="site")


def test_too_many_label_values_blame_the_label_column(tmp_path):
    numbers = np.arange(12_000)
    parquet.write_table(pa.table({"label": numbers, "score": numbers, "site": numbers % 2}), tmp_path / "a.parquet")
    for more in ({}, {"group_by": "site"}):
        with pytest.raises(InputError, match="label column 'label' has more than 10,000 different values"):
            (read_tallies if more else read_tally)(tmp_path / "a.parquet", where="score >= 0", **more)
