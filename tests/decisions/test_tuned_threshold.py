"""A scorer in scikit-learn's search for a threshold finds the one that pulens.decide finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

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
    decision = pulens.decide(y, scores, class_prior=0.3, cost_miss=100, cost_alarm=20, confidence=None)
    step = (scores.max() - scores.min()) / 59
    assert abs(tuned.best_threshold_ - decision.threshold) <= step


def test_a_ranking_cannot_be_scored_by_calls():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 1)), np.arange(60) % 3 == 0
    model = LogisticRegression().fit(X, y.astype(int))
    search = TunedThresholdClassifierCV(model, scoring=scorer("roc_auc", class_prior=0.5), cv="prefit", refit=False)
    with pytest.raises(pulens.PulensError, match="reads the whole ranking"):
        search.fit(X, y.astype(int))
