"""Weights say how many rows a row stands for: as if it were there so many times."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import NNPU, PUET, PUSB, UPU, ElkanNoto, KernelPUSB, NaiveClassifier, PUBagging, WeightedElkanNoto
from sklearn.linear_model import LogisticRegression

from pulens.errors import AssumptionError, InputError


@pytest.fixture(scope="module")
def rows():
    """400 rows, their labels, and weights of 1 to 3."""
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.4
    X = rng.normal(size=(400, 3)) + np.where(positive, 1.0, -1.0)[:, None]
    labels = (positive & (rng.random(400) < 0.4)).astype(int)
    return X, labels, rng.integers(1, 4, 400)


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_elkan_noto_with_weights_is_elkan_noto_on_repeated_rows(rows, scenario):
    X, labels, weights = rows
    model = ElkanNoto(LogisticRegression(), class_prior=0.5, scenario=scenario, random_state=0)
    told = model.fit(X, labels, sample_weight=weights)
    expected, c = told.predict_proba(X), told.label_frequency_
    again = model.fit(np.repeat(X, weights, axis=0), np.repeat(labels, weights))
    np.testing.assert_allclose(expected, again.predict_proba(X), atol=1e-3)
    assert c == pytest.approx(again.label_frequency_)


def test_weights_reach_the_label_frequency_the_second_stage_and_the_cut(rows):
    X, labels, _ = rows
    few = np.where(labels == 1, 1.0, 5.0)  # unlabelled rows stand for five each: labels are rarer than they look
    for kind in (ElkanNoto, WeightedElkanNoto):
        plain = kind(random_state=0).fit(X, labels)
        told = kind(random_state=0).fit(X, labels, sample_weight=few)
        assert told.label_frequency_ < plain.label_frequency_
    bagged = PUBagging(class_prior=0.4, n_estimators=5, random_state=0)
    scale = bagged.fit(X, labels, sample_weight=np.full(400, 7.0)).decision_function(X)
    np.testing.assert_allclose(scale, bagged.fit(X, labels).decision_function(X), atol=0.6)
    cut = bagged.fit(X, labels).cut_
    assert bagged.fit(X, labels, sample_weight=few).cut_ != pytest.approx(cut, abs=1e-3)


@pytest.mark.torch
@pytest.mark.parametrize("kind", [NNPU, UPU])
def test_risks_with_weights_are_risks_of_repeated_rows(rows, kind):
    """All rows in one batch, so that a step is a mean over all of them."""
    X, labels, weights = rows
    options = {"class_prior": 0.5, "backbone": "linear", "epochs": 20, "learning_rate": 0.5, "batch_size": 5000}
    options |= {"selection": "last", "device": "cpu", "progress": False, "random_state": 0, "standardise": False}
    options["optimiser"] = "sgd"  # Adam makes large steps of what rounding leaves of small slopes
    if kind is NNPU:
        options["patience"] = None
    told = kind(**options).fit(X, labels, sample_weight=weights / 9).decision_function(X)  # only ratios count
    again = kind(**options).fit(np.repeat(X, weights, axis=0), np.repeat(labels, weights)).decision_function(X)
    np.testing.assert_allclose(told, again, atol=2e-4)
    assert abs(told - kind(**options).fit(X, labels).decision_function(X)).max() > 0.05


@pytest.mark.torch
def test_the_epoch_is_chosen_by_weighted_rows_too(rows):
    X, labels, weights = rows
    options = {"class_prior": 0.5, "backbone": "linear", "epochs": 3, "device": "cpu", "progress": False}
    plain, told = (
        NNPU(**options, random_state=0).fit(X, labels, sample_weight=given).history_[0]["selection"]
        for given in (None, np.where(np.arange(400) % 2, 1.0, 50.0))
    )
    assert plain != told
    with pytest.raises(InputError, match="selection='proxy_auc' counts validation rows alike"):
        NNPU(**options, selection="proxy_auc").fit(X, labels, sample_weight=weights)


def test_learners_that_cannot_use_weights_name_those_that_can(rows):
    X, labels, weights = rows
    for learner in (PUET(class_prior=0.4), KernelPUSB(class_prior=0.4), NaiveClassifier(), PUSB(class_prior=0.4)):
        with pytest.raises(InputError, match=r"takes no sample_weight\. BoostedPU, ElkanNoto.*repeat the rows"):
            learner.fit(X, labels, sample_weight=weights)
        with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
            learner.fit(X, labels, weight=weights)


@pytest.mark.parametrize("kind", [ElkanNoto, NNPU])
def test_weights_that_cannot_be_are_refused(rows, kind):
    X, labels, weights = rows
    for wrong in (weights[:-1], -weights, np.where(weights > 1, np.nan, 1.0)):
        with pytest.raises(InputError, match="sample_weight must hold one finite number"):
            kind(class_prior=0.5).fit(X, labels, sample_weight=wrong)
    with pytest.raises(InputError, match="0 for every row of one kind"):
        kind(class_prior=0.5).fit(X, labels, sample_weight=labels)
    with pytest.raises(AssumptionError, match="give the class prior as a number"):
        kind(class_prior="auto").fit(X, labels, sample_weight=weights)
