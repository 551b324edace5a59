"""With nothing left unknown every metric is the classical one, to the last digits."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as classical
from hypothesis import given
from hypothesis import strategies as st

import pulens
import pulens.metrics
from tests_support import pu_rows

THRESHOLD = {
    "recall": lambda y, p: classical.recall_score(y, p),
    "specificity": lambda y, p: classical.recall_score(y, p, pos_label=0),
    "precision": lambda y, p: classical.precision_score(y, p, zero_division=np.nan),
    "accuracy": classical.accuracy_score,
    "balanced_accuracy": classical.balanced_accuracy_score,
    "error_rate": classical.zero_one_loss,
    "f1": classical.f1_score,
    "f_beta": lambda y, p: classical.fbeta_score(y, p, beta=2),
    "macro_f1": lambda y, p: classical.f1_score(y, p, average="macro", labels=[0, 1], zero_division=np.nan),
    "matthews_correlation": classical.matthews_corrcoef,
    "youden_j": lambda y, p: classical.balanced_accuracy_score(y, p, adjusted=True),
    "cohen_kappa": lambda y, p: classical.cohen_kappa_score(y, p),
    "lift": lambda y, p: classical.precision_score(y, p, zero_division=np.nan) / np.mean(y),
    "predicted_positive_rate": lambda y, p: np.mean(p),
}


def pr_area(y, s):
    """Trapezoids through scikit-learn's points, the first step at the first precision."""
    precision, recall, _ = classical.precision_recall_curve(y, s)
    precision, recall = precision[-2::-1], recall[-2::-1]
    steps = np.diff(recall, prepend=0)
    return steps @ (precision + np.concatenate([precision[:1], precision[:-1]])) / 2


RANKING = {
    "roc_auc": classical.roc_auc_score,
    "average_precision": classical.average_precision_score,
    "pr_auc": pr_area,
    "partial_roc_auc": lambda y, s: classical.roc_auc_score(y, s, max_fpr=0.1),
}


def as_unlabelled(y):
    return y, {"class_prior": 0, "scenario": "case-control"}


def as_known_negatives(y):
    return np.where(y == 1, 1, -1), {"negative": -1}


def as_single_set(y):
    return y, {"unlabelled_prior": 0, "scenario": "single-set"}


@pytest.mark.parametrize("given_as", [as_unlabelled, as_known_negatives, as_single_set])
@given(rows=pu_rows(), threshold=st.integers(-3, 3))
def test_fully_known_labels_give_the_classical_value(given_as, rows, threshold):
    y, scores = rows
    labels, options = given_as(y)
    predicted = (scores >= threshold).astype(int)
    for name, theirs in THRESHOLD.items():
        ours = getattr(pulens.metrics, name)(labels, scores, threshold=threshold, **options).value
        expected = theirs(y, predicted) if not (name == "cohen_kappa" and predicted.all() and y.all()) else np.nan
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12, err_msg=name)
    for name, theirs in RANKING.items():
        ours = getattr(pulens.metrics, name)(labels, scores, **options).value
        np.testing.assert_allclose(ours, theirs(y, scores), rtol=1e-12, atol=1e-12, err_msg=name)


def test_every_metric_is_compared():
    assert set(THRESHOLD) | set(RANKING) >= {
        name for name in pulens.metrics.names() if pulens.metrics.METRICS[name].listed
    }


def test_curves_are_the_classical_ones():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    scores = np.round(rng.normal(y), 1)
    evaluation = pulens.evaluate(y, scores, class_prior=0, scenario="case-control", labelling="random")
    alarms, hits, thresholds = classical.roc_curve(y, scores, drop_intermediate=False)
    np.testing.assert_allclose(evaluation.roc.x, alarms, atol=1e-12)
    np.testing.assert_allclose(evaluation.roc.y, hits, atol=1e-12)
    np.testing.assert_allclose(evaluation.roc.thresholds, thresholds)
    precision, recall, _ = classical.precision_recall_curve(y, scores)
    np.testing.assert_allclose(evaluation.precision_recall.x, recall[-2::-1], atol=1e-12)
    np.testing.assert_allclose(evaluation.precision_recall.y, precision[-2::-1], atol=1e-12)
    np.testing.assert_allclose(evaluation.detection_error.y, 1 - hits, atol=1e-12)
    np.testing.assert_allclose(evaluation.gain.y, hits, atol=1e-12)
    np.testing.assert_allclose(evaluation.gain.x, [np.mean(scores >= t) for t in thresholds], atol=1e-12)


def test_uncorrected_numbers_are_what_scikit_learn_says_of_the_labels():
    rng = np.random.default_rng(1)
    labels = (rng.random(300) < 0.2).astype(int)
    scores = rng.normal(labels)
    uncorrected = pulens.evaluate(
        labels, scores, class_prior=0.4, threshold=0.5, scenario="case-control", labelling="random"
    ).uncorrected
    assert uncorrected["roc_auc"].value == pytest.approx(classical.roc_auc_score(labels, scores), abs=1e-12)
    assert uncorrected["f1"].value == pytest.approx(classical.f1_score(labels, scores >= 0.5), abs=1e-12)


@pytest.mark.parametrize("sharper", [0, 1])
def test_scorer_drives_model_selection(sharper):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_validate

    rng = np.random.default_rng(sharper)
    hidden = rng.random(600) < 0.4
    X = rng.normal(hidden[:, None] * [1.5, 0.5], 1)
    labels = (hidden & (rng.random(600) < 0.5)).astype(int)
    score = pulens.sklearn.scorer("roc_auc", unlabelled_prior=0.25, scenario="single-set")
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=score, cv=3).fit(X, labels)
    assert 0.5 < search.best_score_ <= 1
    errors = pulens.sklearn.scorer("error_rate", threshold=0.5, unlabelled_prior=0.25, scenario="case-control")
    checked = cross_validate(LogisticRegression(), X, labels, scoring={"auc": score, "error": errors}, cv=3)
    assert (checked["test_error"] <= 0).all()  # scikit-learn maximises: errors come with a minus sign
    assert "roc_auc" in repr(score)


def test_scorer_of_a_threshold_metric_asks_for_the_threshold():
    with pytest.raises(pulens.PulensError, match="needs a threshold"):
        pulens.sklearn.scorer("f1", class_prior=0.2, scenario="case-control")
