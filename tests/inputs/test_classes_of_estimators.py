"""Scorers and displays read the column of the labelled positive class, whatever classes are called and ordered."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from pulens.calibration import PUCalibratedClassifier
from pulens.errors import InputError, PulensError
from pulens.sklearn import PrecisionRecallDisplay, RocCurveDisplay, scorer

RNG = np.random.default_rng(2)
IS_LABELLED = RNG.random(400) < 0.3
X = RNG.normal(size=(400, 2)) + 1.5 * IS_LABELLED[:, None]
GIVEN = {"class_prior": 0.4, "scenario": "single-set"}
NAMES = {
    "text, the positive first": (("labelled", "unlabelled"), {"positive": "labelled"}),
    "fraud": (("fraud", "unknown"), {"positive": "fraud"}),
    "zero": ((0, 1), {"positive": 0}),
    "minus one": ((1, -1), {"unlabelled": -1}),
    "booleans": ((True, False), {}),
    "numbers as text": (("1", "0"), {}),
}


def named(names):
    return np.where(IS_LABELLED, *np.asarray(names))


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["probabilities", "decisions"])
@pytest.mark.parametrize("names", NAMES)
def test_one_number_whatever_the_classes_are_called(model, names):
    called, said = NAMES[names]
    plain = cross_val_score(model, X, IS_LABELLED.astype(int), scoring=scorer("roc_auc", **GIVEN), cv=3)
    result = cross_val_score(model, X, named(called), scoring=scorer("roc_auc", **GIVEN, **said), cv=3)
    np.testing.assert_allclose(result, plain, atol=0.01)
    assert plain.mean() > 0.8
    fitted = model.fit(X, named(called))
    for display in (RocCurveDisplay, PrecisionRecallDisplay):
        drawn = display.from_estimator(fitted, X, named(called), confidence=None, **GIVEN, **said)
        assert drawn.evaluation["roc_auc"].value > 0.8
        plt.close(drawn.figure_)


def test_several_positive_classes_add_up():
    y = np.where(IS_LABELLED, np.where(X[:, 0] > 1, "card", "loan"), "unknown")
    model = LogisticRegression().fit(X, y)
    result = scorer("roc_auc", **GIVEN, positive=["card", "loan"])(model, X, y)
    scores = 1 - model.predict_proba(X)[:, 2]
    assert result == scorer("roc_auc", **GIVEN)(Fixed(scores), X, IS_LABELLED.astype(int))


class Fixed:
    """Gives the scores it was made with."""

    def __init__(self, scores, classes=None):
        self.scores = scores
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, X):
        return self.scores


def test_columns_that_do_not_tell_the_classes_are_refused_in_words():
    y, one = IS_LABELLED.astype(int), scorer("roc_auc", **GIVEN)
    for scores, classes, said in (
        (np.ones((400, 1)), None, r"shape \(400, 1\)"),
        (np.ones((400, 1)), [1], "rows of one class"),
        (np.ones((400, 3)), [0, 1], r"shape \(400, 3\)"),
        (np.ones((400, 3)), None, r"shape \(400, 3\)"),
        (np.ones((400, 2)), ["a", "b"], "undeclared"),
    ):
        with pytest.raises(InputError, match=said):
            one(Fixed(scores, classes), X, y)
    with pytest.raises(InputError, match="none of them means labelled positive"):
        scorer("roc_auc", **GIVEN, positive="fraud")(Fixed(np.ones((400, 2)), ["a", "b"]), X, y)
    with pytest.raises(PulensError, match="threshold must be a number"):
        scorer("recall", threshold="half", **GIVEN)


def test_learners_with_classes_of_their_own_serve_labels_of_any_name():
    y = named(("fraud", "unknown"))
    own = Fixed(np.column_stack([1 - X[:, 0], X[:, 0]]), [0, 1])
    result = scorer("roc_auc", **GIVEN, positive="fraud")(own, X, y)
    assert result == scorer("roc_auc", **GIVEN)(own, X, IS_LABELLED.astype(int))


def test_a_fitted_model_is_calibrated_by_its_positive_class():
    model = LogisticRegression().fit(X, np.where(IS_LABELLED, "1", "0"))
    result = PUCalibratedClassifier(model, cv="prefit", class_prior=0.4).fit(X, IS_LABELLED.astype(int))
    assert np.corrcoef(result.predict_proba(X)[:, 1], X.sum(axis=1))[0, 1] > 0.5
