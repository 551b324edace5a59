"""A file is read by its own name: characters that DuckDB takes for a pattern mean nothing where a file has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import pulens
from pulens.errors import InputError

pytest.importorskip("duckdb", reason="DuckDB is not installed")
RNG = np.random.default_rng(1)


def write(path: Path, shift: float) -> None:
    labels = (np.arange(200) % 4 == 0).astype(int)
    scores = RNG.normal(size=200) + shift * labels
    rows = [f"{label},{score},{place % 2}" for place, (label, score) in enumerate(zip(labels, scores, strict=True))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("label,score,site\n" + "\n".join(rows) + "\n")


def area(source: str | Path, **options) -> float:
    result = pulens.evaluate(
        source, class_prior=0.05, scenario="case-control", confidence=None, **options, labelling="random"
    )
    return float(result["roc_auc"].value)


@pytest.mark.parametrize(
    ("name", "taken_for"),
    [("data[1].csv", "data1.csv"), ("a*.csv", "ab.csv"), ("q?.csv", "qq.csv"), ("~x.csv", "y.csv")],
)
def test_a_condition_reads_the_file_that_was_named(tmp_path, monkeypatch, name, taken_for):
    monkeypatch.chdir(tmp_path)
    write(Path(name), 3.0)
    write(Path(taken_for), 0.0)
    assert area(name) == area(name, where="1 = 1") == area(name, tolerance=0) != area(taken_for)
    first, second = pulens.inputs.read_tallies(name, group_by="site").values()
    assert first + second == pulens.inputs.read_tally(name)


def test_a_folder_counts_each_file_once(tmp_path):
    write(tmp_path / "in" / "part[1].csv", 3.0)
    write(tmp_path / "in" / "part1.csv", 0.0)
    both = pulens.inputs.read_tally(tmp_path / "in")
    parts = [pulens.inputs.read_tally(tmp_path / "in" / name) for name in ("part[1].csv", "part1.csv")]
    assert both == parts[0] + parts[1]


def test_folders_with_such_characters_still_name_columns(tmp_path):
    write(tmp_path / "year[1]=2024" / "a.csv", 1.0)
    write(tmp_path / "year[1]=2025" / "a.csv", 1.0)
    result = pulens.inputs.read_tallies(tmp_path, group_by="year[1]")
    assert [tally.totals.rows for tally in result.values()] == [200, 200]


def test_a_pattern_that_names_no_file_is_one(tmp_path):
    write(tmp_path / "x1.csv", 1.0)
    write(tmp_path / "x2.csv", 1.0)
    assert pulens.inputs.read_tally(str(tmp_path / "x[12].csv")).totals.rows == 400


def test_views_of_a_database_from_elsewhere_open_no_file(tmp_path):
    import duckdb

    secret = tmp_path / "secret.txt"
    secret.write_text("the text of another file")
    with duckdb.connect(str(tmp_path / "given.db")) as database:
        database.execute(f"CREATE VIEW scores AS SELECT content AS score, 1 AS label FROM read_text('{secret}')")
        database.execute(
            f"CREATE VIEW numbers AS SELECT content::DOUBLE AS score, 1 AS label FROM read_text('{secret}')"
        )
        database.execute("CREATE TABLE kept AS SELECT i % 7 AS score, (i % 3 = 0)::INT AS label FROM range(99) r(i)")
    for table in ("scores", "numbers"):
        with pytest.raises(InputError) as caught:
            pulens.evaluate(f"duckdb:///{tmp_path / 'given.db'}", table=table, class_prior=0.5, labelling="random")
        assert "the text" not in str(caught.value)
    assert pulens.inputs.read_tally(f"duckdb:///{tmp_path / 'given.db'}", table="kept").totals.rows == 99
    assert os.path.exists(secret)
