"""The naive network at its three cuts: one network, three decisions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pulens.learning.learners.base.wrapper import case_control_cut, pooled_frequency
from pulens.research.benchmark.references import NaiveAtLabelFrequency, NaiveAtQuantile, NaiveNetwork

pytestmark = pytest.mark.torch
OPTIONS = {
    "class_prior": 0.4,
    "backbone": "linear",
    "epochs": 5,
    "learning_rate": 0.05,
    "selection": "last",
    "device": "cpu",
    "random_state": 0,
    "progress": False,
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = np.arange(1000) < 400
    X = rng.normal(size=(1000, 3)) + np.where(positive, 1.2, -1.2)[:, None]
    return X, (positive & (rng.random(1000) < 0.25)).astype(int), positive


@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
def test_the_cuts_alone_differ_and_that_at_one_half_is_the_worst(rows):
    X, labels, positive = rows
    half, share, frequency = (
        kind(**OPTIONS).fit(X, labels) for kind in (NaiveNetwork, NaiveAtQuantile, NaiveAtLabelFrequency)
    )
    scores = half.decision_function(X)
    for other in (share, frequency):
        np.testing.assert_allclose(other.decision_function(X) + other.cut_, scores, atol=1e-6)
    assert share.predict(X).mean() == pytest.approx(0.4, abs=0.002)
    reached = [(one.predict(X) == positive).mean() for one in (half, share, frequency)]
    assert min(reached[1:]) > reached[0] + 0.2


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_elkan_and_notos_cut_is_where_the_posterior_is_one_half(rows, scenario):
    X, labels, _ = rows
    result = NaiveAtLabelFrequency(**OPTIONS, scenario=scenario).fit(X, labels)
    n = int(labels.sum())
    chance = n / 400 / 2 if scenario == "single-set" else case_control_cut(pooled_frequency(n, 1000 - n, 0.4))
    assert result.cut_ == pytest.approx(math.log(chance / (1 - chance)))
