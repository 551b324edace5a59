"""Models whose scores lie in an engine are compared as if their rows were here."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.errors import InputError


@pytest.fixture
def frame():
    import polars as pl

    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    labels = (positive & (rng.random(600) < 0.5)).astype(int)
    scores = {name: np.round(rng.normal(positive * strength), 1) for name, strength in (("a", 2.0), ("b", 0.5))}
    return pl.DataFrame({"label": labels, **scores})


def test_a_lazy_table_and_a_database_give_one_answer(frame, tmp_path, capsys):
    import duckdb

    settings = {"class_prior": 0.3, "redraws": 100}
    here = pulens.compare(frame, score=["a", "b"], **settings, labelling="random")
    lazy = pulens.compare(frame.lazy(), score=["a", "b"], **settings, labelling="random")
    assert lazy.to_dict() == here.to_dict()
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM frame")
    words = ["compare", f"duckdb:///{tmp_path / 'x.db'}", "--table", "kept", "--score", "a", "--score", "b"]
    main([*words, "--class-prior", "0.3", "--redraws", "100", "--labelling", "random", "--json", "-"])
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(lazy.to_dict()))
    assert lazy.winner == "a"


@pytest.mark.parametrize(("labels", "words"), [([1, 1], "all 2 rows are labelled"), ([0, 0], "no labelled positive")])
def test_rows_of_one_kind_in_a_database_are_refused(labels, words, tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database, database:
        database.execute("CREATE TABLE t (label REAL, a REAL, b REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", [(label, 0.5, 0.2) for label in labels])
    with pytest.raises(InputError, match=words):
        pulens.compare(
            f"sqlite:///{tmp_path / 'x.sqlite'}",
            score=["a", "b"],
            table="t",
            scenario="case-control",
            labelling="random",
        )
