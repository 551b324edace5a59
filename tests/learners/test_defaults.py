"""Defaults that hold where people start: tables of any scale, collapses, words about what cannot be taken."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pulens.learners import NNPU, PUET, ElkanNoto, PUBagging, load

from pulens.errors import InputError

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def table():
    """Few positives, features of very different scale."""
    rng = np.random.default_rng(0)
    positive = rng.random(1500) < 0.12
    X = (rng.normal(size=(1500, 6)) + 1.2 * positive[:, None]) * [1, 10, 100, 1000, 1e4, 1e5]
    return X, (positive & (rng.random(1500) < 0.4)).astype(int), positive


def quick(**more):
    return NNPU(**({"device": "cpu", "progress": False, "random_state": 0, "class_prior": 0.12} | more))


def test_a_table_is_standardised_unless_told_otherwise(table, tmp_path):
    X, labels, _ = table
    options = {"backbone": "linear", "epochs": 2, "loss": "logistic"}
    usual, asked = quick(**options).fit(X, labels), quick(standardise=True, **options).fit(X, labels)
    np.testing.assert_array_equal(usual.predict_proba(X), asked.predict_proba(X))
    plain = quick(standardise=False, **options).fit(X, labels)
    assert not hasattr(plain, "mean_")
    again = load(usual.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(X), usual.predict_proba(X))
    assert not hasattr(usual.set_params(standardise=False).fit(X, labels), "mean_")


@pytest.mark.filterwarnings("error::pulens.errors.CollapseWarning")
def test_a_rare_class_is_ranked_and_about_the_right_share_is_called_positive(table):
    X, labels, positive = table
    model = quick(learning_rate=1e-3, epochs=30).fit(X, labels)
    scores = model.decision_function(X)
    order = scores.argsort().argsort() + 1
    n = positive.sum()
    area = (order[positive].sum() - n * (n + 1) / 2) / (n * (~positive).sum())
    assert area > 0.9
    assert 0.04 < model.predict(X).mean() < 0.25
    assert model.get_params()["loss"] is None  # settings stay as they were given


def test_missing_values_and_words_are_refused_with_the_step_to_put_before(table):
    X, labels, _ = table
    holed = X.copy()
    holed[3, 2] = np.nan
    words = pd.DataFrame(X).assign(word="a")
    words.columns = [str(name) for name in words.columns]
    for learner in (quick(), PUET(class_prior=0.12), ElkanNoto(), PUBagging(n_estimators=2)):
        with pytest.raises(InputError, match=r"contains NaN.*SimpleImputer.*or use BoostedPU"):
            learner.fit(holed, labels)
        with pytest.raises(InputError, match=r"could not convert string to float.*OneHotEncoder.*or use BoostedPU"):
            learner.fit(words, labels)


def test_validation_rows_labelled_as_negative_are_refused(table):
    X, labels, positive = table
    truth = np.where(positive, 1, -1)
    with pytest.raises(InputError, match=r"NNPU's validation learns from positive and unlabelled rows only.*-1"):
        quick(epochs=1).fit(X, labels, validation=(X, truth))
    quick(epochs=1, backbone="linear", selection="oracle").fit(X, labels, validation=(X, truth))


def test_labels_of_one_and_minus_one_are_named_with_the_way_out(table):
    X, labels, _ = table
    with pytest.raises(InputError, match=r"labels of -1.*mark them 0 or say positive=1"):
        quick().fit(X, np.where(labels == 1, 1, -1))


def test_threads_are_given_back(table):
    import torch

    X, labels, _ = table
    before = torch.get_num_threads()
    quick(epochs=1, backbone="linear").fit(X, labels)
    assert torch.get_num_threads() == before
