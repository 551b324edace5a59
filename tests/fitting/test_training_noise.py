"""Intervals of fit hold for the model that is kept: they allow for the training, not only for the draw of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pulens.learners import ElkanNoto

import pulens
from pulens.learning.fitting.training_noise import FACTOR

FEATURES = 30
TRUTH = np.random.default_rng(7).normal(size=FEATURES) * 0.25


def rows(n, rng):
    """Positives and negatives that many columns tell apart a little each."""
    positive = rng.random(n) < 0.4
    return rng.normal(size=(n, FEATURES)) + positive[:, None] * TRUTH, positive


def area(positive, scores):
    from scipy.stats import rankdata

    count = positive.sum()
    return (rankdata(scores)[positive].sum() - count * (count + 1) / 2) / count / (~positive).sum()


@pytest.fixture(scope="module")
def judged():
    """50 tables of 200 rows and 30 columns: how far areas are off that of the kept model, in standard errors."""
    rng = np.random.default_rng(38)
    new, truth = rows(2000, rng)
    result = {"fit": [], "plain": []}
    for seed in range(50):
        X, positive = rows(200, rng)
        labels = (positive & (rng.random(200) < 0.5)).astype(int)
        asked = {"class_prior": 0.4, "threshold": 0.5, "redraws": 100, "seed": seed}
        answer = pulens.fit(X, labels, method=ElkanNoto(random_state=0), labelling="random", **asked)
        plain = pulens.evaluate(labels, answer.scores, **asked, labelling="random")
        names = answer.model[0].feature_names_in_
        true = area(truth, answer.model.predict_proba(dict(zip(names, new.T, strict=True)))[:, 1])
        for name, evaluation in (("fit", answer.evaluation), ("plain", plain)):
            estimate = evaluation.estimates["roc_auc"]
            result[name].append((estimate.value - true) / ((estimate.interval.high - estimate.interval.low) / 3.92))
    return {name: float(np.sqrt(np.mean(np.square(off)))) for name, off in result.items()}


@pytest.mark.slow
def test_intervals_of_fit_are_as_wide_as_the_kept_model_is_off(judged):
    assert 0.75 < judged["fit"] < 1.1


def test_intervals_that_take_scores_for_given_are_too_narrow(judged):
    assert judged["plain"] > 1.15


@pytest.fixture(scope="module")
def answer():
    X, positive = rows(300, np.random.default_rng(3))
    labels = (positive & (np.arange(300) % 2 == 0)).astype(int)
    return pulens.fit(X, labels, method=ElkanNoto(random_state=0), class_prior=(0.35, 0.45), threshold=0.5)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "recall", "precision", "f1"])
def test_every_interval_is_as_much_wider_as_is_told(answer, metric):
    evaluation = answer.evaluation
    plain = replace(evaluation, resampling=replace(evaluation.resampling, factor=1.0))
    wide, narrow = (one.estimates[metric].interval for one in (evaluation, plain))
    assert evaluation.resampling.factor == FACTOR
    assert 1 < (wide.high - wide.low) / (narrow.high - narrow.low) < 1.01 * FACTOR
    assert wide.low <= narrow.low < narrow.high <= wide.high
    assert wide.confidence == 0.95
    assert wide.method.endswith(f", errors of the rows times {FACTOR:g}")


def test_what_intervals_are_for_is_said_wherever_they_are_shown(answer, tmp_path):
    assert "; intervals are for this model on new rows." in answer.sentence
    assert answer.describe()["interval_factor"] == FACTOR
    said = f"{FACTOR:g} times as wide as those of pulens evaluate"
    assert said in answer.to_html(tmp_path / "page.html")
    assert any(said in notice for notice in answer.evaluation.warnings)


def test_without_intervals_nothing_is_said_of_them():
    X, positive = rows(200, np.random.default_rng(3))
    result = pulens.fit(X, positive & (np.arange(200) % 2 == 0), method=ElkanNoto(), class_prior=0.4, confidence=None)
    assert result.evaluation.resampling is None
    assert "intervals" not in result.sentence
    assert "training-noise" not in [notice.code for notice in result.evaluation.notices]


@pytest.mark.parametrize("metric", ["roc_auc", "recall", "precision", "f1", "lift"])
def test_ends_lie_as_many_times_as_far_from_the_value_where_the_class_prior_is_known(answer, metric):
    labels = (answer.labels == 1).astype(int)
    plain = pulens.evaluate(labels, answer.scores, class_prior=0.4, threshold=0.4, labelling="random")
    value, near = plain.estimates[metric].value, plain.estimates[metric].interval
    wide = replace(plain, resampling=replace(plain.resampling, factor=1.2)).estimates[metric].interval
    assert (wide.low, wide.high) == pytest.approx((value - 1.2 * (value - near.low), value + 1.2 * (near.high - value)))


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
def test_folds_that_were_trained_in_another_way_than_the_kept_model_are_told():
    """220 labelled rows are many, and 110, those of a half, few: the halves begin with a short nnPU training."""
    from pulens.learners import NNPU

    rng = np.random.default_rng(0)
    positive = rng.random(900) < 0.5
    X = rng.normal(size=(900, 2)) + 2 * positive[:, None]
    labels = (positive & (np.cumsum(positive) <= 220)).astype(int)
    options = {"class_prior": 0.5, "random_state": 0, "device": "cpu", "progress": False, "backbone": "linear"}
    options |= {"batch_size": 16, "learning_rate": 0.01}
    result = pulens.fit(X, labels, method=NNPU(**options), class_prior=0.5, folds=2, redraws=100)
    (notice,) = [notice for notice in result.notices if notice.code == "folds-trained-otherwise"]
    assert "2 of 2 models of folds" in notice.message
    assert "(warm start)" in notice.message
    alike = pulens.fit(X, labels, method=NNPU(**options, rescue="none"), class_prior=0.5, folds=2, redraws=100)
    assert "folds-trained-otherwise" not in [notice.code for notice in alike.notices]
