"""Learners around scikit-learn classifiers come back from disk as they were, and no file runs code."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from pulens.learners import ElkanNoto, NaiveClassifier, OracleClassifier, PUBagging, WeightedElkanNoto, load
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from pulens.errors import InputError, MissingDependencyError
from toy_problem import toy

TREE = "sklearn.tree._tree.Tree"
LEARNERS = [
    ElkanNoto(scenario="case-control", random_state=0),
    WeightedElkanNoto(random_state=0),
    PUBagging(n_estimators=3, class_prior=0.4, random_state=0),
    NaiveClassifier(class_prior=0.4, cut="quantile"),
    OracleClassifier(),
]


def fitted(learner, X, problem):
    more = {"truth": np.arange(len(X)) % 2 == 0} if isinstance(learner, OracleClassifier) else {}
    return clone(learner).fit(X, problem.labels, **more)


@pytest.fixture(scope="module")
def problem():
    return toy(0, n_labelled=60, n_unlabelled=300, n_test=10)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_saved_learner_predicts_as_before_and_can_be_fitted_again(learner, problem, tmp_path):
    X = pd.DataFrame(problem.X).rename(columns=str)
    model = fitted(learner, X, problem)
    folder = model.save(tmp_path / "model")
    again = load(folder)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert list(again.feature_names_in_) == list(X.columns)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(fitted(again, X, problem).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learning_twice_gives_the_same_bytes(learner, problem, tmp_path, monkeypatch):
    written = []
    for year in (2001, 2031):
        monkeypatch.setattr("time.time", lambda year=year: (year - 1970) * 31_557_600.0)  # zip files hold times
        folder = fitted(learner, problem.X, problem).save(tmp_path / str(year))
        written.append({entry.name: entry.read_bytes() for entry in sorted(folder.iterdir())})
    assert written[0] == written[1]


def test_a_model_that_could_be_misused_is_loaded_only_by_name(problem, tmp_path):
    model = ElkanNoto(DecisionTreeClassifier(max_depth=3), random_state=0).fit(problem.X, problem.labels)
    folder = model.save(tmp_path / "model")
    with pytest.raises(InputError, match=rf"holds '{TREE}'.*load\(path, trusted=\['{TREE}'\]\)"):
        load(folder)
    again = load(folder, trusted=[TREE])
    np.testing.assert_array_equal(again.predict_proba(problem.X), model.predict_proba(problem.X))
    assert again.estimator.max_depth == 3


def test_damaged_models_and_facts_are_refused_in_words(problem, tmp_path):
    folder = NaiveClassifier().fit(problem.X, problem.labels).save(tmp_path / "model")
    facts = (folder / "learner.json").read_text()
    (folder / "learner.json").write_text(json.dumps({**json.loads(facts), "fitted": {}}))
    with pytest.raises(InputError, match="damaged: 'n_features_in_' is missing"):
        load(folder)
    (folder / "learner.json").write_text(facts)
    (folder / "models.skops").write_bytes(b"not a zip file")
    with pytest.raises(InputError, match=r"models\.skops could not be read"):
        load(folder)
    for damaged, words in [
        ("[]", "holds a list"),
        ('{"format": 1}', "learner is missing"),
        (json.dumps({**json.loads(facts), "parameters": {"estimator": None, "cutt": "half"}}), "damaged: .*cutt"),
        (json.dumps({**json.loads(facts), "fitted": []}), "fitted is missing or of the wrong kind"),
    ]:
        (folder / "learner.json").write_text(damaged)
        with pytest.raises(InputError, match=words):
            load(folder)


def test_a_classifier_that_cannot_be_stored_leaves_nothing_behind(problem, tmp_path):
    class Secret(DecisionTreeClassifier):
        def __getstate__(self):
            raise RuntimeError("not for you")

    model = NaiveClassifier(Secret(max_depth=2)).fit(problem.X, problem.labels)
    with pytest.raises(InputError, match=r"cannot be saved.*not for you"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_without_skops_the_error_says_what_to_install(problem, tmp_path, monkeypatch):
    model = NaiveClassifier().fit(problem.X, problem.labels)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pulens\[skops\]'"):
        model.save(tmp_path / "model")
