"""Trees read from scikit-learn answer as scikit-learn's own do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

from pulens.learning.learners.forest.numeric_trees import boosted_trees, forest_trees


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])
    return X, X[:, 0] + np.abs(X[:, 1])


def test_boosted_trees_answer_as_scikit_learn_does(rows):
    X, y = rows
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X).astype(np.float32)
    models = [HistGradientBoostingRegressor(max_iter=8, random_state=seed).fit(holed, y) for seed in (0, 1)]
    trees, start = boosted_trees(models)
    expected = sum(model.predict(holed) for model in models)
    np.testing.assert_allclose(start + trees.total(holed), expected, rtol=1e-12)
    whole = sum(model.predict(X) for model in models)
    np.testing.assert_allclose(start + trees.total(X), whole, rtol=1e-12)


def test_boosting_that_splits_on_what_is_missing_alone_is_followed():
    missing = np.arange(200) % 2 == 0
    X = np.where(missing, np.nan, 1.0).astype(np.float32)[:, None]
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(X, missing.astype(float))
    trees, start = boosted_trees([model])
    np.testing.assert_allclose(start + trees.total(X), model.predict(X), rtol=1e-12)
    assert np.ptp(model.predict(X)) > 0.1


def test_forest_trees_send_missing_values_where_their_stand_in_goes(rows):
    X, y = rows
    model = ExtraTreesRegressor(6, random_state=0).fit(X, y)
    stand_ins = np.array([0.3, -1.0, 2.0])
    trees = forest_trees([one.tree_ for one in model.estimators_], stand_ins)
    np.testing.assert_allclose(trees.total(X) / 6, model.predict(X), rtol=1e-12)
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X).astype(np.float32)
    filled = np.where(np.isnan(holed), stand_ins, holed).astype(np.float32)
    np.testing.assert_allclose(trees.total(holed) / 6, model.predict(filled), rtol=1e-12)
