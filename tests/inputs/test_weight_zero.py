"""Rows of weight 0, and those next to it, vanish before anything is counted, wherever the rows are."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens.inputs import read_buckets, read_tallies, read_tally

RNG = np.random.default_rng(6)
LABELS = (RNG.random(400) < 0.3).astype(int)
SCORES = RNG.normal(size=400) + 1.5 * LABELS
ROWS = {"label": LABELS, "score": SCORES, "w": np.ones(400), "site": np.arange(400) % 3, "id": np.arange(400) // 4}
MORE = {
    "label": [1, 0, 0],
    "score": [1000.0, -1000.0, 5000.0],
    "w": [0.0, 0.0, 1e-15],
    "site": [0, 7, 0],
    "id": [500, 501, 502],
}
WITHOUT = polars.DataFrame(ROWS)
WITH = polars.concat([WITHOUT, polars.DataFrame(MORE)])


def places(folder):
    yield "frame", WITH, {}
    yield "lazy", WITH.lazy(), {}
    WITH.write_csv(folder / "rows.csv")
    yield "file", folder / "rows.csv", {}
    yield "DuckDB", folder / "rows.csv", {"where": "1 = 1"}
    if pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed"):
        import sqlite3

        with sqlite3.connect(folder / "rows.sqlite") as database:
            database.execute("CREATE TABLE t (label INT, score DOUBLE, w DOUBLE, site INT, id INT)")
            database.executemany(
                "INSERT INTO t VALUES (?, ?, ?, ?, ?)", WITH.select("label", "score", "w", "site", "id").rows()
            )
        yield "SQLite", f"sqlite:///{folder / 'rows.sqlite'}", {"table": "t"}


def test_counts_are_those_without_such_rows_on_every_road(tmp_path):
    tally = read_tally(WITHOUT, weight="w")
    buckets = read_buckets(WITHOUT, weight="w", cluster="id")
    segments = read_tallies(WITHOUT, weight="w", group_by="site")
    for place, source, options in places(tmp_path):
        assert read_tally(source, weight="w", **options) == tally, place
        result = read_buckets(source, weight="w", cluster="id", **options)
        assert (result.tally, result.clusters, result.names) == (tally, buckets.clusters, buckets.names), place
        assert dict(read_tallies(WITH, weight="w", group_by="site")).keys() == dict(segments).keys(), place
    assert read_tally(WITH["label"], WITH["score"], weights=WITH["w"]) == tally


@pytest.mark.parametrize("method", ["dedpul", "alphamax", "auto", "tilt"])
def test_such_rows_do_not_move_the_class_prior(method):
    result = pulens.estimate_prior(WITH, weight="w", method=method)
    assert result.value == pulens.estimate_prior(WITHOUT, weight="w", method=method).value
    cells = pulens.estimate_prior(WITH, weight="w", method=method, cluster="id")
    assert cells.value == pulens.estimate_prior(WITHOUT, weight="w", method=method, cluster="id").value


def test_weights_of_one_kind_far_below_those_of_another_still_count():
    weights = np.where(LABELS == 1, 1e-6, 1e6)
    assert read_tally(LABELS, SCORES, weights=weights).totals.labelled == pytest.approx(LABELS.sum() * 1e-6)


def test_weights_of_twenty_decades_give_a_decision_that_agrees_with_itself():
    weights = np.where(RNG.random(400) < 0.5, 1e-9, 1e12)
    heavy = weights > 1
    asked = {"class_prior": 0.6, "scenario": "case-control", "precision_at_least": 0.5}
    result = pulens.decide(LABELS, SCORES, weights=weights, **asked, labelling="random")
    assert (
        result.threshold
        == pulens.decide(LABELS[heavy], SCORES[heavy], weights=weights[heavy], **asked, labelling="random").threshold
    )
