"""A scorer in scikit-learn's search for a threshold finds the one that pulens.decide finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens
from pulens.sklearn import scorer


def test_the_tuned_threshold_is_within_a_step_of_the_decision():
    rng = np.random.default_rng(5)
    positive = rng.random(600) < 0.3
    X = rng.normal(positive * 1.5)[:, None]
    y = (positive & (rng.random(600) < 0.5)).astype(int)
    model = LogisticRegression().fit(X, y)
    scoring = scorer("net_benefit", threshold=0.5, cost_ratio=20 / 120, class_prior=0.3)
    tuned = TunedThresholdClassifierCV(model, scoring=scoring, cv="prefit", refit=False, thresholds=60).fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    decision = pulens.decide(
        y, scores, class_prior=0.3, cost_miss=100, cost_alarm=20, confidence=None, labelling="random"
    )
    step = (scores.max() - scores.min()) / 59
    assert abs(tuned.best_threshold_ - decision.threshold) <= step


def test_a_ranking_cannot_be_scored_by_calls():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 1)), np.arange(60) % 3 == 0
    model = LogisticRegression().fit(X, y.astype(int))
    search = TunedThresholdClassifierCV(model, scoring=scorer("roc_auc", class_prior=0.5), cv="prefit", refit=False)
    with pytest.raises(pulens.PulensError, match="reads the whole ranking"):
        search.fit(X, y.astype(int))


def pu_rows(n=900, seed=8):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.6 * positive
    return X, (positive & (rng.random(n) < 0.5)).astype(int), positive


def test_thresholds_tuned_in_folds_are_worth_more_than_those_tuned_by_labels():
    """scikit-learn's own metrics count unlabelled rows as negatives, and so flag too few."""
    X, y, _ = pu_rows()
    given = {"cost_ratio": 0.3, "class_prior": 0.3}
    ours, theirs = (
        TunedThresholdClassifierCV(make_pipeline(StandardScaler(), LogisticRegression()), scoring=each, cv=3).fit(X, y)
        for each in (scorer("net_benefit", **given), "accuracy")
    )
    fresh, _, truth = pu_rows(seed=9)
    odds = 0.3 / 0.7
    worth = [
        float(np.mean(calls & truth) - odds * np.mean(calls & ~truth))
        for calls in (model.predict(fresh).astype(bool) for model in (ours, theirs))
    ]
    assert worth[0] > worth[1] + 0.02


@pytest.mark.parametrize("name", ["f1", "recall", "error_rate"])
def test_any_metric_at_a_threshold_can_be_tuned(name):
    X, y, _ = pu_rows(300)
    model = LogisticRegression().fit(X, y)
    scoring = scorer(name, threshold=0.5, class_prior=0.3)
    tuned = TunedThresholdClassifierCV(model, scoring=scoring, cv="prefit", refit=False, thresholds=25).fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    metric = getattr(pulens.metrics, name)
    result = metric(y, scores, threshold=float(tuned.best_threshold_), class_prior=0.3).value
    tried = np.linspace(scores.min(), scores.max(), 25)
    values = [metric(y, scores, threshold=float(at), class_prior=0.3).value for at in tried]
    best = min(values) if name == "error_rate" else max(values)
    assert result == pytest.approx(best)


def test_net_benefit_needs_no_threshold_in_a_grid_search():
    X, y, _ = pu_rows(400)
    scoring = scorer("net_benefit", cost_ratio=0.2, class_prior=0.3)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=scoring, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    model = LogisticRegression().fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    decision = pulens.decide(y, scores, class_prior=0.3, cost_miss=4, cost_alarm=1, confidence=None, labelling="random")
    # money is net benefit with a unit: miss times the class prior, less net benefit times what a hit saves
    assert scoring(model, X, y) == pytest.approx((4 * 0.3 - decision.cost.value / 1000) / 4)


def test_a_model_that_is_worth_less_than_nothing_is_left_alone():
    X, y, _ = pu_rows(300)
    model = LogisticRegression().fit(-X, y)
    assert scorer("net_benefit", cost_ratio=0.9, class_prior=0.3)(model, X, y) == 0.0
