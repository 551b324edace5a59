"""The class prior from features: through a classifier, kernel means or a tree."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import AssumptionError, InputError
from pulens.priors.from_features import estimate_prior_from_features, kernel_mean, out_of_fold_scores, tice


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(1, 1, (700, 3)), rng.normal(-1, 1, (800, 3))])
    return features, np.repeat([1, 0], [300, 1200])  # 400 of the 1200 unlabelled rows are positive


def test_the_default_models_find_the_share(rows):
    prior = estimate_prior_from_features(*rows, scenario="case-control")
    assert 1 / 3 in prior.unlabelled_interval
    assert prior.unlabelled == pytest.approx(1 / 3, abs=0.06)


def test_options_reach_the_estimator(rows):
    from sklearn.naive_bayes import GaussianNB

    prior = estimate_prior_from_features(*rows, model=GaussianNB(), method="best_bin", scenario="single-set")
    assert prior.method == "estimated: best_bin"
    assert prior.value == pytest.approx((300 + 1200 * prior.unlabelled) / 1500)


def test_scores_are_out_of_fold():
    """A model that remembers its rows would tell labelled from unlabelled ones perfectly; out of fold it cannot."""
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(1)
    features, labels = rng.normal(size=(600, 4)), np.repeat([1, 0], [200, 400])
    scores = out_of_fold_scores(KNeighborsClassifier(1), features, labels)
    above = scores[labels == 1][:, None] > scores[labels == 0]
    ties = scores[labels == 1][:, None] == scores[labels == 0]
    assert 0.4 < above.mean() + ties.mean() / 2 < 0.6


@pytest.mark.parametrize("method", [tice, kernel_mean])
def test_other_methods_give_a_share_and_ignore_the_order_of_columns(method, rows):
    features, labels = rows
    share = method(features, labels)
    assert 0.15 < share < 0.75
    assert method(features[:, ::-1], labels) == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("method", [tice, kernel_mean])
def test_bad_tables_are_refused(method, rows):
    features, labels = rows
    broken = features.copy()
    broken[7, 1] = np.nan
    with pytest.raises(InputError, match="row 7"):
        method(broken, labels)
    with pytest.raises(InputError, match="one row per label"):
        method(features[:-1], labels)
    with pytest.raises(InputError, match="both labelled and unlabelled"):
        method(features, np.ones(len(features)))
    with pytest.raises(InputError, match="labels must be 1"):
        method(features, labels - 1)


def test_kernel_mean_knows_two_variants(rows):
    assert 0 <= kernel_mean(*rows, variant="km1", most_rows=80) < 1
    with pytest.raises(AssumptionError, match="'km1' or 'km2'"):
        kernel_mean(*rows, variant="km3")


def test_groups_stay_together_out_of_fold():
    """A model that only knows groups by heart has nothing to say of a group it never saw."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 6)
    labels = (rng.random(40) < 0.5).astype(int)[groups]
    features = groups[:, None] + 0.0  # tells the group and nothing else
    shuffled = rng.permutation(40)[groups][:, None] + 0.0  # neighbours say nothing either
    split = out_of_fold_scores(DecisionTreeClassifier(), shuffled, labels)
    together = out_of_fold_scores(DecisionTreeClassifier(), shuffled, labels, groups=groups)
    assert np.mean((split > 0) == labels) > 0.95
    assert np.mean((together > 0) == labels) < 0.75
    with pytest.raises(InputError, match="one id per row, got 3 ids for 240 rows"):
        out_of_fold_scores(DecisionTreeClassifier(), features, labels, groups=[1, 2, 3])


def test_the_calibrated_classifier_keeps_groups_together():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    from pulens.calibration import PUCalibratedClassifier

    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 5)
    features = rng.normal(size=(300, 2)) + rng.normal(size=(60, 2))[groups]
    labels = (features[:, 0] + rng.normal(size=300) > 1).astype(int)
    options = {"class_prior": 0.4, "method": "platt"}
    mine = PUCalibratedClassifier(LogisticRegression(), **options).fit(features, labels, groups=groups)
    split = PUCalibratedClassifier(LogisticRegression(), cv=GroupKFold(5), **options)
    for model in (mine, split.fit(features, labels, groups=groups)):
        assert model.recalibration_.before.interval.width > 0
        assert model.predict_proba(features).shape == (300, 2)
