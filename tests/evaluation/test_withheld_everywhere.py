"""A number that an estimated class prior leaves open is withheld by every door, with the interval that it has."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 600])
    return labels, rng.normal((labels == 1) | (rng.random(660) < 0.25))


def test_compare_withholds_what_evaluate_withholds(rows):
    labels, scores = rows
    asked = {"threshold": 0.5, "redraws": 100}
    models = {"a": scores, "b": np.round(scores, 1)}
    result = pulens.compare(labels, models, metrics=["precision", "roc_auc"], **asked, labelling="random")
    precision = result.estimates["precision"]["a"]
    assert precision.withheld_because
    assert np.isnan(precision.value)
    reach = precision.interval
    assert f"{reach.low:.2f}-{reach.high:.2f}" in str(result)
    assert not result.estimates["roc_auc"]["a"].withheld_because
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))["metrics"]["precision"]
    assert told["estimates"]["a"]["value"] is None
    assert "nan" not in result.to_html().split("<script")[0]


def test_a_decision_curve_withholds_what_evaluate_withholds(rows):
    labels, scores = rows
    result = pulens.evaluate(labels, scores, threshold=0.5, redraws=100, labelling="random")
    curve = result.decision_curve(ratios=[0.1, 0.5])
    assert result.at(0.5)["net_benefit"].withheld_because
    assert np.isnan(curve.model).all()
    assert np.isfinite(curve.low).all()
    told = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert told["model"] == told["best"] == [None, None]
    assert "open" in str(curve)
    known = pulens.evaluate(
        labels, scores, threshold=0.5, redraws=100, class_prior=0.3, labelling="random"
    ).decision_curve(ratios=[0.5])
    assert np.isfinite(known.model).all()
