"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from pulens.learners import (
    PUET,
    ElkanNoto,
    KernelPUSB,
    NaiveClassifier,
    OracleClassifier,
    PUBagging,
    WeightedElkanNoto,
)
from scikit_checks import OTHER_LABELS, failed_checks


class ToldOracle(OracleClassifier):
    """The oracle with labels that are the truth, so that the checks can call it."""

    def fit(self, X, y):
        return super().fit(X, y, truth=np.asarray(y) if y is not None else None)


LEARNERS = [
    PUET(class_prior=0.5, scenario="case-control", n_estimators=3),
    ElkanNoto(),
    WeightedElkanNoto(),
    PUBagging(n_estimators=2),
    NaiveClassifier(),
    KernelPUSB(class_prior=0.5, scenario="case-control", bandwidths=(1.0, 5.0), penalties=(0.01, 0.1)),
    KernelPUSB(class_prior=0.5, scenario="case-control", ranking="density-ratio"),
    ToldOracle(),
]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_accepts_the_estimator(learner):
    assert not failed_checks(learner, expected(learner))
    # with the coding declared, the checks that use numbers pass too
    declared = check_estimator(learner.set_params(positive=2), on_fail=None, on_skip=None)
    passed = {result["check_name"] for result in declared if result["status"] == "passed"}
    learner.set_params(positive=None)
    assert {"check_estimators_dtypes", "check_fit2d_1feature"} <= passed


def expected(learner):
    if isinstance(learner, ToldOracle):
        return OTHER_LABELS | {"check_requires_y_none": "the truth, not y, is what it asks for"}
    return OTHER_LABELS
