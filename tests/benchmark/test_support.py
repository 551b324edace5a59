"""A method that reads true labels gets a few, out of rows nobody else uses, and every row of the archive says so."""

from __future__ import annotations

import json

import numpy as np

from pulens.benchmark import methods
from pulens.benchmark.plan import expand
from pulens.benchmark.protocol import load_protocol
from pulens.benchmark.splits import prepare, table_of
from pulens.benchmark.training import train

SETTINGS = {"lagam": {"all": {"epochs": 1, "warm_up_epochs": 1, "batch_size": 64, "groups": 2}}}


def runs():
    protocol = load_protocol("smoke", methods=["lagam"]).model_copy(update={"settings": SETTINGS})
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
        assert row["status"] == "done"
        assert "true support labels" in row["title"]
        assert json.loads(row["found"])["true_labels_used"] == expected
    assert not methods.find("lagam_pu_only").needs_support
