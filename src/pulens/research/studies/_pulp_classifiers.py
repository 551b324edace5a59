"""Classifiers for the study of measures: good and poor ones, trained on PU labels.

The paper weighs unlabelled rows by heuristics and trains support vector machines; here are such machines, and
other kinds, some of them kept weak on purpose, so that there is an order to be found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
Scorer = Callable[[Rows, Rows, Rows, int], Rows]  # train features, labels, test features, seed


def _scores(model: Any, test: Rows) -> Rows:
    if hasattr(model, "decision_function"):
        result: Rows = model.decision_function(test)
        return result
    return np.asarray(model.predict_proba(test)[:, 1])


def _seeded(build: Callable[[], Any], seed: int) -> Any:
    model = build()
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def _fit(build: Callable[[], Any], unlabelled_weight: float | None = None) -> Scorer:
    def score(train: Rows, labels: Rows, test: Rows, seed: int) -> Rows:
        options = {}
        if unlabelled_weight is not None:
            balance = labels.sum() / (labels.size - labels.sum())
            options["sample_weight"] = np.where(labels == 1, 1.0, unlabelled_weight * balance)
        return _scores(_seeded(build, seed).fit(train, labels, **options), test)

    return score


def _on_few_features(build: Callable[[], Any], share: float) -> Scorer:
    def score(train: Rows, labels: Rows, test: Rows, seed: int) -> Rows:
        kept = np.random.default_rng(seed).choice(train.shape[1], max(2, round(share * train.shape[1])), replace=False)
        return _scores(build().fit(train[:, kept], labels), test[:, kept])

    return score


def _elkan_noto(strength: float) -> Scorer:
    """Weights of Elkan and Noto: each unlabelled row counts as a positive in part, as a negative in part."""
    from sklearn.linear_model import LogisticRegression

    def score(train: Rows, labels: Rows, test: Rows, seed: int) -> Rows:
        first = LogisticRegression(C=strength, max_iter=300).fit(train, labels).predict_proba(train)[:, 1]
        frequency = first[labels == 1].mean()
        part = np.clip((1 - frequency) / frequency * first / np.maximum(1 - first, 1e-9), 0, 1)
        rows = np.concatenate([train, train[labels == 0]])
        targets = np.concatenate([np.ones(len(train)), np.zeros(int((labels == 0).sum()))])
        weights = np.concatenate([np.where(labels == 1, 1.0, part), 1 - part[labels == 0]])
        return _scores(LogisticRegression(C=strength, max_iter=300).fit(rows, targets, sample_weight=weights), test)

    return score


def classifiers() -> dict[str, Scorer]:
    """Name to "train on PU rows, score the test rows"."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    result: dict[str, Scorer] = {}
    for strength in (1e-3, 3e-2, 1.0):
        for weight in (1.0, 0.3):
            result[f"linear SVM, C {strength:g}, weight {weight:g}"] = _fit(
                partial(LinearSVC, C=strength, max_iter=300), weight
            )
    result["SVM"] = _fit(partial(SVC, C=10.0), 1.0)
    for strength in (0.01, 1.0):
        result[f"Elkan-Noto, C {strength:g}"] = _elkan_noto(strength)
    result["naive Bayes"] = _fit(partial(GaussianNB, var_smoothing=1e-2))
    result["discriminant"] = _fit(partial(LinearDiscriminantAnalysis, solver="lsqr", shrinkage=0.3))
    for neighbours in (5, 30):
        result[f"{neighbours} neighbours"] = _fit(partial(KNeighborsClassifier, neighbours, weights="distance"))
    result["tree"] = _fit(partial(DecisionTreeClassifier, max_depth=4))
    result["forest"] = _fit(partial(RandomForestClassifier, 10, min_samples_leaf=3))
    for share in (0.03, 0.08, 0.2, 0.5):
        result[f"logistic on {share:.0%} of the features"] = _on_few_features(
            partial(LogisticRegression, C=0.3, max_iter=300), share
        )
    return result


def quietly(scorer: Scorer, train: Rows, labels: Rows, test: Rows, seed: int) -> Rows:
    """Score; a solver that stops early is part of the design, not news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scorer(train, labels, test, seed)
