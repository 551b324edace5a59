"""A learner that reads true labels gets a few, out of rows nobody else uses, and every row of the archive says so."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pulens.benchmark import methods

from pulens.research.benchmark.archive import differences, read
from pulens.research.benchmark.archive.format_1 import NAMES, SCHEMA_1
from pulens.research.benchmark.archive.summary import read_summary, summary_text
from pulens.research.benchmark.leaderboard.board import facts_of
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.splits import prepare, table_of
from pulens.research.benchmark.training import train
from synthetic_archive import make

SETTINGS = {"lagam": {"all": {"epochs": 1, "warm_up_epochs": 1, "batch_size": 64, "groups": 2}}}


def runs():
    protocol = load_protocol("smoke", learners=["lagam"]).model_copy(update={"settings": SETTINGS})
    return expand(protocol).runs[:2]


def test_support_rows_have_both_classes_and_are_no_validation_rows():
    run = runs()[0]
    one = prepare(run, table_of(run), None)
    chosen, truth = one.support()
    assert set(truth.tolist()) == {1, -1}
    assert np.isin(chosen, one.pool).all()
    assert not np.isin(chosen, one.validation.rows).any()
    np.testing.assert_array_equal(table_of(run).y[chosen] == 1, truth == 1)


def test_the_archive_says_that_true_labels_were_read():
    run = runs()[0]
    expected = len(prepare(run, table_of(run), None).support()[0])
    for row in train(runs(), "cpu"):
        assert row.status == "done"
        assert "true support labels" in row.title
        assert row.needs_support
        assert not row.uses_truth
        assert json.loads(row.found)["true_labels_used"] == expected
    assert not methods.find("lagam_pu_only").needs_support


def in_format_1(row):
    inner = {name: row[name] for name in ("choices", "curve", "tallies")}
    lists = {name: [in_format_1_names(one) for one in rows] for name, rows in inner.items() if rows is not None}
    return in_format_1_names(row | lists)


def in_format_1_names(row):
    return {NAMES.get(name, name): value for name, value in row.items()}


def test_archives_older_than_the_column_are_read_alike(tmp_path):
    small = {"learners": ["nnpu", "lagam"], "datasets": ["spambase"], "rows": 60}
    new = make(tmp_path / "new", **small)
    old = make(tmp_path / "old", **small)
    for path in old.files:
        rows = [in_format_1(row) for row in pq.read_table(path).to_pylist()]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA_1).drop_columns(["needs_support"]), path)
    old = read(old.folder)
    assert not differences(new, old)
    for archive in (new, old):
        assert {row["learner"]: row["needs_support"] for row in archive.runs} == {"nnpu": False, "lagam": True}
        assert facts_of(archive.runs)["lagam"].mark == facts_of(new.runs)["lagam"].mark != ""
        assert facts_of(archive.runs)["nnpu"].mark == ""
        assert set(archive.table()["needs_support"].to_pylist()) == {True, False}


def test_summaries_older_than_the_column_are_read_alike(tmp_path):
    text = summary_text(make(tmp_path / "archive", learners=["nnpu", "lagam"], datasets=["spambase"], rows=60))
    (tmp_path / "new.csv").write_text(text)
    (tmp_path / "old.csv").write_text("".join(f"{line.rpartition(',')[0]}\n" for line in text.splitlines()))
    new, old = (read_summary(tmp_path / name) for name in ("new.csv", "old.csv"))
    assert new == old
    assert {row["learner"] for row in new if row["needs_support"]} == {"lagam"}
