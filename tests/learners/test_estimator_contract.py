"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import (
    PUET,
    BoostedPU,
    ElkanNoto,
    KernelPUSB,
    NaiveClassifier,
    OracleClassifier,
    PUBagging,
    WeightedElkanNoto,
)
from sklearn.utils.estimator_checks import check_estimator

from scikit_checks import CODING, OTHER_LABELS, failed_checks


class ToldOracle(OracleClassifier):
    """The oracle with labels that are the truth, so that the checks can call it."""

    def fit(self, X, y):
        return super().fit(X, y, truth=np.asarray(y) if y is not None else None)


WEIGHTED = [f"check_sample_weights_{what}" for what in ("pandas_series", "not_an_array", "shape", "not_overwritten")]
REPEATED = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
BAGS = "bags are drawn at random: a row that stands there twice is drawn otherwise than one of weight 2"

LEARNERS = [
    PUET(class_prior=0.5, scenario="case-control", n_estimators=3),
    BoostedPU(class_prior=0.5, scenario="case-control", n_estimators=1, iterations=2, random_trees=3),
    ElkanNoto(),
    WeightedElkanNoto(),
    PUBagging(n_estimators=2),
    NaiveClassifier(),
    KernelPUSB(class_prior=0.5, scenario="case-control", bandwidths=(1.0, 5.0), penalties=(0.01, 0.1)),
    KernelPUSB(class_prior=0.5, scenario="case-control", ranking="density-ratio"),
    ToldOracle(),
]


@pytest.mark.per_learner
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
    if isinstance(learner, BoostedPU | ElkanNoto | PUBagging):  # folds are drawn at random too
        return OTHER_LABELS | dict.fromkeys(WEIGHTED, CODING) | dict.fromkeys(REPEATED, BAGS)
    return OTHER_LABELS
