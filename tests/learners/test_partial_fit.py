"""Rows that come in pieces: every piece moves the network on from where it stands."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import NNPU, UPU, load

from pulens.errors import InputError

pytestmark = pytest.mark.torch
OPTIONS = {"class_prior": 0.4, "backbone": "linear", "learning_rate": 0.02, "batch_size": 64, "random_state": 0}
OPTIONS |= {"device": "cpu", "progress": False}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = rng.random(1200) < 0.4
    X = rng.normal(size=(1200, 3)) * [1, 10, 100] + np.where(positive, 1.0, -1.0)[:, None] * [1, 10, 100]
    return X, (positive & (rng.random(1200) < 0.3)).astype(int), positive


@pytest.mark.parametrize("kind", [NNPU, UPU])
def test_pieces_teach_what_the_whole_does(rows, kind):
    X, labels, positive = rows
    learner, reached = kind(**OPTIONS), []
    for piece in np.array_split(np.arange(1200), 6):
        learner.partial_fit(X[piece], labels[piece])
        reached.append((learner.predict(X) == positive).mean())
    assert reached[-1] > 0.9
    assert reached[-1] >= reached[0]
    assert learner.passes_ == 6
    assert learner.get_params() == kind(**OPTIONS).get_params()


def test_a_piece_goes_on_from_the_last_one_with_its_scale_and_class_prior(rows, tmp_path):
    X, labels, _ = rows
    learner = NNPU(**OPTIONS | {"class_prior": "auto", "learning_rate": 1e-9, "weight_decay": 0.0})
    before = learner.partial_fit(X[:800], labels[:800]).decision_function(X)
    scale, prior = list(learner.mean_), learner.class_prior_
    after = learner.partial_fit(X[800:], labels[800:]).decision_function(X)
    np.testing.assert_allclose(after, before, atol=1e-4)  # steps of nothing leave it where it was
    assert (learner.mean_, learner.class_prior_) == (scale, prior)
    np.testing.assert_array_equal(load(learner.save(tmp_path / "model")).decision_function(X), after)


def test_fit_begins_anew_and_a_piece_of_one_kind_is_refused(rows):
    X, labels, _ = rows
    options = OPTIONS | {"epochs": 2}
    learner = NNPU(**options).partial_fit(X[:300], labels[:300])
    np.testing.assert_array_equal(
        learner.fit(X, labels).decision_function(X), NNPU(**options).fit(X, labels).decision_function(X)
    )
    with pytest.raises(InputError, match="labels are of one class only"):
        learner.partial_fit(X[labels == 0], labels[labels == 0])
