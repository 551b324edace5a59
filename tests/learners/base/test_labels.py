"""Every learner reads labels in one way."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import NNPU, ElkanNoto, NaiveClassifier

from pulens.errors import InputError
from pulens.learning.learners.base.labels import label_codes

QUICK = (
    NNPU(class_prior=0.5, epochs=1, backbone="linear", device="cpu", random_state=0),
    ElkanNoto(random_state=0),
    NaiveClassifier(random_state=0),
)


@pytest.mark.parametrize("learner", QUICK, ids=lambda one: type(one).__name__)
def test_a_missing_label_is_unlabelled_for_every_learner(learner):
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = (X[:, 0] > 0.5).astype(float)
    expected = learner.fit(X, labels).decision_function(X)
    missing = np.where(labels == 1, 1.0, np.nan)
    np.testing.assert_array_equal(learner.fit(X, missing).decision_function(X), expected)


@pytest.mark.parametrize("learner", QUICK, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, "requires y to be passed"),
        (np.linspace(0.1, 0.9, 60), "Unknown label type: continuous"),
        (np.arange(60) % 3 + 5, "Only binary classification is supported"),
        (np.ones(59), "there are 60 rows but 59 labels"),
        (np.where(np.arange(60) < 20, 1, -1), "got 40 labels of -1"),
    ],
)
def test_wrong_labels_are_refused_in_the_same_words_by_every_learner(learner, wrong, words):
    with pytest.raises(InputError, match=words):
        learner.fit(np.zeros((60, 2)), wrong)


def test_true_classes_may_hold_negatives():
    result = label_codes([1, -1, -1], 3, positive=None, who="LaGAM", negatives=True)
    assert result.tolist() == [1, -1, -1]
