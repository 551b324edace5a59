"""Answers are looked into by a metric's name and become tables of the library that a person has."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pulens
from pulens.errors import UnknownNameError


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    hidden = rng.random(600) < 0.3
    labels = (hidden & (rng.random(600) < 0.5)).astype(int)
    return labels, rng.normal(1.5 * hidden), rng.normal(0.9 * hidden)


@pytest.fixture(scope="module")
def evaluation(rows):
    return pulens.evaluate(rows[0], rows[1], class_prior=0.3, threshold=0.8, labelling="random")


@pytest.fixture(scope="module")
def comparison(rows):
    labels, good, worse = rows
    return pulens.compare(labels, {"good": good, "worse": worse}, class_prior=0.3, redraws=100, labelling="random")


def test_a_number_is_found_by_its_name(evaluation):
    assert evaluation["precision"] == evaluation.estimates["precision"]
    assert "precision" in evaluation
    assert "auc" not in evaluation
    assert list(evaluation) == list(evaluation.estimates)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("auc", "roc_auc"), ("ROC AUC", "roc_auc"), ("precison", "precision"), ("f1_score", "f1"), ("mcc", "matthews")],
)
def test_a_name_that_is_none_is_answered_with_the_one_that_was_meant(evaluation, typed, meant):
    doors = [
        lambda: evaluation[typed],
        lambda: evaluation.estimates[typed],
        lambda: evaluation.uncorrected[typed],
        lambda: evaluation.at(0.5)[typed],
        lambda: evaluation.sensitivity(typed, factor=2),
        lambda: evaluation.bounds().metric(typed, threshold=0.5),
        lambda: evaluation.best_threshold(typed),
        lambda: pulens.sklearn.scorer(typed, class_prior=0.3),
    ]
    for door in doors[: 3 if meant == "roc_auc" else None]:
        with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}"):
            door()
    with pytest.raises(AttributeError, match=f"Did you mean '{meant}"):
        getattr(pulens.metrics, typed)


def test_a_miss_is_a_key_error_so_that_get_and_in_work(evaluation):
    assert evaluation.estimates.get("auc") is None
    with pytest.raises(KeyError):
        evaluation["auc"]


def test_a_name_that_resembles_nothing_is_told_where_all_are_listed(evaluation):
    with pytest.raises(UnknownNameError, match=r"roc_auc.*pulens\.metrics\.names\(\)"):
        evaluation["zzz"]


def test_a_metric_that_needs_more_is_told_how_to_ask(evaluation):
    with pytest.raises(UnknownNameError, match=r"evaluation\.top\(k\)\['precision_at_k'\]"):
        evaluation["precision_at_k"]
    with pytest.raises(UnknownNameError, match="Did you mean 'precision_at_k'"):
        evaluation.top(10)["precison_at_k"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_an_evaluation_becomes_a_table_with_a_row_for_each_metric(evaluation, library):
    table = evaluation.to_frame(library)
    assert type(table).__module__.split(".")[0] == library
    values = {name: list(map(_plain, table[name])) for name in ("metric", "value", "low", "uncorrected", "threshold")}
    at = values["metric"].index("precision")
    assert values["metric"] == list(evaluation.estimates)
    assert values["value"][at] == evaluation["precision"].value
    assert values["low"][at] == evaluation["precision"].interval.low
    assert values["uncorrected"][at] == evaluation.uncorrected["precision"].value
    assert values["threshold"][at] == 0.8
    assert math.isnan(values["threshold"][values["metric"].index("roc_auc")])


def _plain(value):
    return value.as_py() if hasattr(value, "as_py") else value


def test_curves_points_and_comparisons_become_tables_too(evaluation, comparison):
    roc = evaluation.roc.to_frame("pandas")
    assert list(roc.columns) == ["false_positive_rate", "true_positive_rate", "threshold"]
    assert roc["true_positive_rate"].tolist() == evaluation.roc.y.tolist()
    point = evaluation.at(0.5).to_frame("polars")
    assert set(point["threshold"]) == {0.5}
    pairs = comparison.to_frame("pandas")
    first = comparison.differences["roc_auc"][0]
    row = pairs[pairs["metric"] == "roc_auc"].iloc[0]
    assert (row["first"], row["second"], row["value"]) == (first.first, first.second, first.value)
    assert (row["low"], row["clear"]) == (first.interval.low, first.is_clear(0.95))


def test_a_comparison_names_the_metrics_and_models_it_has(comparison):
    with pytest.raises(UnknownNameError, match="Did you mean 'roc_auc'"):
        comparison.leader("rocauc")
    with pytest.raises(UnknownNameError, match=r"'f1' was not asked for.*metrics="):
        comparison.plot(metric="f1")
    with pytest.raises(UnknownNameError, match="Did you mean 'good'"):
        comparison.difference("godo", "worse")


def test_a_library_that_makes_no_tables_is_refused_by_name(evaluation):
    with pytest.raises(pulens.PulensError, match="'polars', 'pandas', 'pyarrow', got 'numpy'"):
        evaluation.to_frame("numpy")
