"""PUCalibratedClassifier: scikit-learn's habits, and probabilities that are true."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from pulens.calibration import PUCalibratedClassifier
from pulens.errors import InputError, PulensError

# these feed labels such as 2 or "one", or expect scikit-learn's own wording: PU labels are 1, 0 and -1
OTHER_LABELS = {
    "check_estimators_dtypes",
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_classifier_data_not_an_array",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_classes",
    "check_classifier_not_supporting_multiclass",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    is_positive = rng.random(6_000) < 0.3
    X = rng.normal(size=(6_000, 3)) + np.where(is_positive, 0.9, -0.9)[:, None] * [1, 0.5, 0]
    few = rng.normal(size=(900, 3)) + np.array([0.9, 0.45, 0])
    return np.vstack([few, X]), np.repeat([1, 0], [900, 6_000]), X, is_positive


def true_error(scores, is_positive, bins=10) -> float:
    place = np.searchsorted(np.quantile(scores, np.arange(1, bins) / bins), scores, side="left")
    return float(np.abs(np.bincount(place, is_positive - scores, minlength=bins)).sum() / scores.size)


@pytest.mark.parametrize("method", ["auto", "isotonic", "platt", "beta", "histogram"])
def test_its_probabilities_are_true(rows, method):
    X, labels, population, is_positive = rows
    model = PUCalibratedClassifier(
        GaussianNB(), method=method, class_prior=0.3, scenario="case-control", labelling="random"
    ).fit(X, labels)
    plain = GaussianNB().fit(X, labels).predict_proba(population)[:, 1]
    mapped = model.predict_proba(population)
    np.testing.assert_allclose(mapped.sum(axis=1), 1)
    assert true_error(mapped[:, 1], is_positive) < 0.05
    assert true_error(mapped[:, 1], is_positive) < true_error(plain, is_positive) / 2
    assert model.recalibration_.after.corrected < model.recalibration_.before.corrected


def test_an_estimator_with_margins_only_is_mapped_by_rank(rows):
    X, labels, population, is_positive = rows
    model = PUCalibratedClassifier(
        LinearSVC(), class_prior=0.3, method="platt", scenario="case-control", labelling="random"
    ).fit(X, labels)
    assert model.calibration_map_.scores_are == "rank"
    assert true_error(model.predict_proba(population)[:, 1], is_positive) < 0.05


def test_a_prefit_estimator_is_not_fitted_again(rows):
    X, labels, population, is_positive = rows
    fitted = LogisticRegression().fit(X[::2], labels[::2])
    before = fitted.coef_.copy()
    model = PUCalibratedClassifier(
        fitted, class_prior=0.3, cv="prefit", scenario="case-control", labelling="random"
    ).fit(X[1::2], labels[1::2])
    assert model.estimator_ is fitted
    np.testing.assert_array_equal(fitted.coef_, before)
    assert true_error(model.predict_proba(population)[:, 1], is_positive) < 0.05


def test_predictions_are_those_of_at_least_one_half(rows):
    X, labels, *_ = rows
    model = PUCalibratedClassifier(
        LogisticRegression(), class_prior=0.3, scenario="case-control", labelling="random"
    ).fit(X, labels)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= 0.5)
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 3


def test_it_can_be_cloned_searched_and_put_in_a_pipeline(rows):
    X, labels, *_ = rows
    model = PUCalibratedClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()),
        class_prior=0.3,
        cv=3,
        scenario="case-control",
        labelling="random",
    )
    again = clone(model).set_params(method="platt", estimator__logisticregression__C=0.1)
    assert again.get_params()["method"] == "platt"
    search = GridSearchCV(again, {"estimator__logisticregression__C": [0.1, 1.0]}, cv=2, scoring="neg_log_loss")
    search.fit(X[::3], labels[::3])
    assert search.best_params_["estimator__logisticregression__C"] in (0.1, 1.0)


def test_splitters_weights_and_known_negatives_are_taken(rows):
    X, labels, population, is_positive = rows
    some = np.where(~np.repeat([True, False], [900, 6_000]) & (np.arange(6_900) % 7 == 0), 0, labels)
    known = some.copy()
    known[900:][~is_positive & (np.arange(6_000) % 5 == 0)] = -1
    model = PUCalibratedClassifier(
        LogisticRegression(),
        method="platt",
        class_prior=0.3,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        scenario="case-control",
        labelling="random",
    )
    weighted = clone(model).fit(X, labels, sample_weight=np.ones(labels.size))
    np.testing.assert_allclose(
        weighted.calibration_map_.logit, clone(model).fit(X, labels).calibration_map_.logit, rtol=1e-3
    )
    assert true_error(clone(model).fit(X, known).predict_proba(population)[:, 1], is_positive) < 0.06


def test_the_same_seed_gives_the_same_model(rows):
    X, labels, *_ = rows
    first, second = (
        PUCalibratedClassifier(GaussianNB(), class_prior=0.3, scenario="case-control", labelling="random").fit(
            X, labels
        )
        for _ in range(2)
    )
    assert first.calibration_map_ == second.calibration_map_


@pytest.mark.parametrize(
    ("change", "labels", "message"),
    [
        ({"cv": 1}, None, "at least 2 folds"),
        ({"cv": "pre"}, None, "'prefit', got 'pre'"),
        ({"estimator": StandardScaler()}, None, "neither predict_proba nor decision_function"),
        ({"method": "spline"}, None, "no recalibration method"),
        ({}, [2, 0, 1], "1 .labelled positive., 0 .unlabelled."),
        ({}, "none", "target y is None"),
    ],
)
def test_nonsense_is_refused(change, labels, message):
    X = np.arange(60.0).reshape(-1, 1)
    y = np.arange(60) % 3 == 0 if labels is None else None if labels == "none" else labels
    model = PUCalibratedClassifier(
        **{"estimator": GaussianNB(), "class_prior": 0.3, **change}, scenario="case-control", labelling="random"
    )
    with pytest.raises((PulensError, InputError), match=message):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass_where_they_speak_of_pu_labels():
    # "auto" deals rows into folds, so a weight of 2 and a row twice may choose differently: a fixed method here
    model = PUCalibratedClassifier(
        LogisticRegression(), class_prior=0.3, method="isotonic", scenario="case-control", labelling="random"
    )
    results = check_estimator(model, on_fail=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    assert failed <= OTHER_LABELS
    assert sum(one["status"] == "passed" for one in results) >= 45
