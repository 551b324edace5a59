"""PU extra trees: the specification's numbers, the forest's promises, and a slow witness for the fast search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulens.learners import PUET

from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.forest.growth import grow
from pulens.learning.learners.forest.impurity import NodeRisk
from pulens.learning.learners.forest.node_search import Growth, NodeSearch, cut_range
from pulens.learning.learners.saving.loading import load
from toy_problem import BAYES_ACCURACY, toy


def risk(kind="nnpu", loss="quadratic"):
    return NodeRisk(labelled=5, unlabelled=20, class_prior=0.4, risk=kind, loss=loss)


def impurity(counts, kind="nnpu", loss="quadratic"):
    return float(risk(kind, loss).impurity(*map(np.asarray, counts)))


def gain(left, right, kind="nnpu", loss="quadratic"):
    return impurity((5, 20), kind, loss) - impurity(left, kind, loss) - impurity(right, kind, loss)


def test_impurity_of_the_root():
    assert impurity((5, 20)) == pytest.approx(0.96, abs=1e-12)
    assert impurity((5, 20), loss="savage") == pytest.approx(0.96, abs=1e-12)
    assert impurity((5, 20), loss="logistic") == pytest.approx(0.673012, abs=1e-6)


def test_a_split_with_a_side_that_is_all_positive():
    left, right = (4, 6), (1, 14)
    positive, unlabelled, negative = risk().weights(*map(np.asarray, left))
    np.testing.assert_allclose([positive, unlabelled, negative], [0.32, 0.30, -0.02], atol=1e-12)
    assert positive / unlabelled == pytest.approx(1.066667, abs=1e-6)
    assert float(risk().posterior(*left)) == 1.0, "clipped"
    assert float(risk().posterior(*right)) == pytest.approx(0.114286, abs=1e-6)
    assert impurity(left) == 0
    assert impurity(right) == pytest.approx(0.283429, abs=1e-6)
    assert impurity(right, loss="logistic") == pytest.approx(0.248768, abs=1e-6)
    assert gain(left, right) == pytest.approx(0.676571, abs=1e-6)
    assert gain(left, right, loss="logistic") == pytest.approx(0.424244, abs=1e-6)
    assert impurity(left, "upu") == pytest.approx(-0.085333, abs=1e-6)
    assert gain(left, right, "upu") == pytest.approx(0.761905, abs=1e-6)
    assert impurity(left, "upu", "savage") == pytest.approx(-0.08, abs=1e-12)
    assert gain(left, right, "upu", "savage") == pytest.approx(0.756571, abs=1e-6)
    assert impurity(left, "upu", "logistic") == -np.inf


def test_clipping_changes_which_split_is_preferred():
    left, right = (3, 3), (2, 17)
    assert impurity(left) == 0
    assert impurity(right) == pytest.approx(0.519529, abs=1e-6)
    assert gain(left, right) == pytest.approx(0.440471, abs=1e-6)
    assert impurity(left, "upu") == pytest.approx(-0.576, abs=1e-6)
    assert gain(left, right, "upu") == pytest.approx(1.016471, abs=1e-6)
    assert impurity(left, "upu", "savage") == pytest.approx(-0.36, abs=1e-12)
    assert gain(left, right, "upu", "savage") == pytest.approx(0.800471, abs=1e-6)
    assert impurity(right, loss="logistic") == pytest.approx(0.411106, abs=1e-6)
    assert gain(left, right, loss="logistic") == pytest.approx(0.261906, abs=1e-6)
    other = (4, 6), (1, 14)
    assert gain(*other) > gain(left, right)
    assert gain(*other, "upu") < gain(left, right, "upu")


@pytest.mark.parametrize("loss", ["quadratic", "logistic", "savage"])
def test_nodes_with_one_kind_of_row_are_leaves(loss):
    for counts, posterior in (((0, 7), 0.0), ((3, 0), 1.0)):
        assert impurity(counts, loss=loss) == 0
        assert float(risk(loss=loss).posterior(*counts)) == posterior
        assert bool(risk(loss=loss).is_final(np.array(counts[0]), np.zeros(1))[0])


@given(
    labelled=st.integers(0, 5), unlabelled=st.integers(0, 20), loss=st.sampled_from(["quadratic", "logistic", "savage"])
)
def test_impurity_is_the_lowest_risk_of_a_constant(labelled, unlabelled, loss):
    losses = {
        "quadratic": lambda v: (1 - v) ** 2,
        "logistic": lambda v: np.logaddexp(0, -v),
        "savage": lambda v: 4 / (1 + np.exp(v)) ** 2,
    }[loss]
    grid = np.concatenate([np.linspace(-1, 1, 4001), np.linspace(-60, 60, 4001)])
    positive, _, negative = (float(w) for w in risk().weights(np.array(labelled), np.array(unlabelled)))
    lowest = (positive * losses(grid) + np.maximum(0, negative * losses(-grid))).min()
    assert impurity((labelled, unlabelled), loss=loss) == pytest.approx(lowest, abs=2e-3)


def test_the_sign_of_a_weight_does_not_hang_on_rounding():
    uneven = NodeRisk(labelled=3, unlabelled=10, class_prior=0.3)
    for k in range(4):  # W_P = W_U exactly, in exact arithmetic
        assert float(uneven.weights(np.array(k), np.array(k))[2]) == 0
        assert float(uneven.impurity(np.array(k), np.array(k))) == 0


def test_cut_points_keep_both_children_and_stay_off_the_extremes():
    assert cut_range(0, 1, 3, 7) == (0.4, 5.4)
    assert cut_range(2.0, 5.0, 2.0, 5.0) == (2 + 0.4 * 3, 2 + 0.6 * 3)


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "expected"), [(None, 0.828), (4, 0.870)])
def test_accuracy_on_overlapping_normals(ten_toys, depth, expected):
    """A hundred trees on three draws, 20,000 test rows each; a forest's own chance moves the mean by 0.001."""
    result = []
    for seed, draw in enumerate(ten_toys.draws[:3]):
        forest = PUET(
            class_prior=0.4,
            max_depth=depth,
            random_state=seed,
            n_estimators=100,
            cut="vote",
            scenario="case-control",
        ).fit(draw.X, draw.labels)
        result.append(np.mean(forest.predict(draw.test) == draw.truth))
    assert np.mean(result) == pytest.approx(expected, abs=0.004)
    assert max(result) < BAYES_ACCURACY + 0.01


def recursive_tree(X, labelled, rows, rng, node_risk, depth):
    """The algorithm as written in the paper, one node at a time: leaf sizes and votes."""
    counts = labelled[rows].sum(), (~labelled[rows]).sum()
    here = float(node_risk.impurity(*map(np.asarray, counts)))
    varying = [feature for feature in range(X.shape[1]) if np.ptp(X[rows, feature]) > 0]
    if here <= 0 or depth == 0 or not varying:
        positive, unlabelled, _ = node_risk.weights(*map(np.asarray, counts))
        return float(2 * positive > unlabelled)
    tried = []
    for feature in rng.permutation(varying):
        values = np.unique(X[rows, feature])
        cut = rng.uniform(*cut_range(values[0], values[1], values[-2], values[-1]))
        left = X[rows, feature] <= cut
        sides = [(labelled[rows[side]].sum(), (~labelled[rows[side]]).sum()) for side in (left, ~left)]
        tried.append((sum(float(node_risk.impurity(*map(np.asarray, side))) for side in sides), feature, cut, left))
    _, feature, cut, left = min(tried, key=lambda option: option[0])
    branches = [recursive_tree(X, labelled, rows[side], rng, node_risk, depth - 1) for side in (left, ~left)]
    return feature, cut, *branches


def read_recursive(tree, X):
    if isinstance(tree, float):
        return np.full(len(X), tree)
    feature, cut, left, right = tree
    return np.where(X[:, feature] <= cut, read_recursive(left, X), read_recursive(right, X))


def leaves(tree):
    return 1 if isinstance(tree, float) else leaves(tree[2]) + leaves(tree[3])


@pytest.mark.parametrize("depth", [3, 40])
def test_trees_are_statistically_those_of_the_recursive_algorithm(depth):
    problem = toy(1, n_labelled=100, n_unlabelled=600, n_test=2000)
    labelled = problem.labels == 1
    node_risk = NodeRisk(100, 600, 0.4)
    rng = np.random.default_rng(0)
    slow = [recursive_tree(problem.X, labelled, np.arange(700), rng, node_risk, depth) for _ in range(25)]
    fast = PUET(
        cut="vote", class_prior=0.4, n_estimators=200, max_depth=depth, random_state=0, scenario="case-control"
    ).fit(problem.X, problem.labels)
    slow_sizes = np.array([leaves(tree) for tree in slow])
    fast_sizes = np.array([tree.is_leaf.sum() for tree in fast.trees_])
    error = np.hypot(slow_sizes.std() / np.sqrt(25), fast_sizes.std() / np.sqrt(200))
    assert abs(slow_sizes.mean() - fast_sizes.mean()) < 4 * error
    votes = np.mean([read_recursive(tree, problem.X_test) for tree in slow], axis=0)
    assert np.corrcoef(votes, fast.predict_proba(problem.X_test)[:, 1])[0, 1] > 0.97
    assert np.abs(votes - fast.predict_proba(problem.X_test)[:, 1]).mean() < 0.07


def small(rows=400, features=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.5
    X = np.round(rng.normal(size=(rows, features)) + y[:, None], 1)
    labels = (y & (rng.random(rows) < 0.4)).astype(int)
    return X, labels, y


@pytest.mark.parametrize("loss", ["quadratic", "logistic", "savage"])
def test_importances_add_up_to_the_risk_that_was_taken_away(loss):
    X, labels, _ = small()
    forest = PUET(class_prior=0.4, n_estimators=8, loss=loss, random_state=0, scenario="case-control").fit(X, labels)
    taken = [
        forest.risk_.impurity(tree.labelled[:1], tree.unlabelled[:1])[0]
        - forest.risk_.impurity(tree.labelled[tree.is_leaf], tree.unlabelled[tree.is_leaf]).sum()
        for tree in forest.trees_
    ]
    assert forest.feature_importances_.sum() == pytest.approx(np.mean(taken), rel=1e-9)
    assert forest.feature_importances_.argmax() < 5


def test_rescaling_a_feature_changes_no_tree():
    X, labels, _ = small()
    scaled = X * np.array([4.0, 0.5, 1.0, 2.0, 8.0]) + np.array([16.0, -3.0, 0.0, 1.0, 2.0])
    one, two = (
        PUET(class_prior=0.4, n_estimators=10, random_state=3, scenario="case-control").fit(table, labels)
        for table in (X, scaled)
    )
    for first, second in zip(one.trees_, two.trees_, strict=True):
        np.testing.assert_array_equal(first.feature, second.feature)
        np.testing.assert_array_equal(first.labelled, second.labelled)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(scaled))


def test_trees_depend_on_the_seed_and_on_nothing_else():
    X, labels, _ = small()
    options = {"class_prior": 0.4, "n_estimators": 6}
    base = PUET(**options, random_state=1, scenario="case-control").fit(X, labels)
    order = np.random.default_rng(0).permutation(len(X))
    same = {
        "threads": PUET(**options, random_state=1, n_jobs=2, scenario="case-control").fit(X, labels),
        "order of rows": PUET(**options, random_state=1, scenario="case-control").fit(X[order], labels[order]),
        "number type": PUET(**options, random_state=1, scenario="case-control").fit(
            (10 * X).round().astype(np.int16) / 10, labels
        ),
    }
    for name, forest in same.items():
        np.testing.assert_array_equal(forest.score_samples(X), base.score_samples(X), err_msg=name)
    fewer = PUET(class_prior=0.4, n_estimators=3, random_state=1, scenario="case-control").fit(X, labels)
    for tree, again in zip(fewer.trees_, base.trees_, strict=False):
        np.testing.assert_array_equal(tree.threshold, again.threshold)
    other = PUET(**options, random_state=2, scenario="case-control").fit(X, labels)
    assert (other.score_samples(X) != base.score_samples(X)).any()


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("kind", ["nnpu", "upu"])
def test_every_tree_is_a_consistent_partition(pooled, kind):
    """The witness: rows are dropped through each tree one by one, and everything stored is counted again."""
    X, labels, _ = small(rows=160, features=4, seed=5)
    X[:, 3] = 1.0  # a feature that never varies
    labelled = labels == 1
    whole = np.ones(len(X), bool) if pooled else ~labelled
    node_risk = NodeRisk(int(labelled.sum()), int(whole.sum()), 0.4, kind, "quadratic")
    search = NodeSearch(X, labelled, pooled, node_risk, Growth(max_features=2, max_candidates=2))
    for tree in grow(search, np.arange(5, dtype=np.uint64)):
        rows = {0: np.arange(len(X))}
        for node in range(tree.feature.size):
            inside = rows.pop(node)
            assert tree.labelled[node] == labelled[inside].sum()
            assert tree.unlabelled[node] == whole[inside].sum()
            here = float(node_risk.impurity(tree.labelled[node], tree.unlabelled[node]))
            if tree.feature[node] < 0:
                constant = (X[inside] == X[inside][0]).all()
                assert bool(node_risk.is_final(tree.labelled[node], np.array(here))) or constant or inside.size == 1
                continue
            assert tree.feature[node] != 3
            is_left = X[inside, tree.feature[node]] <= tree.threshold[node]
            assert 0 < is_left.sum() < inside.size
            rows[int(tree.left[node])], rows[int(tree.right[node])] = inside[is_left], inside[~is_left]
            below = [
                float(node_risk.impurity(labelled[part].sum(), whole[part].sum()))
                for part in (inside[is_left], inside[~is_left])
            ]
            assert tree.gain[node] == pytest.approx(here - sum(below), abs=1e-12)
            least, most = (
                np.unique(X[inside, tree.feature[node]])[[0, 1, -2, -1]] @ weights
                for weights in ([0.6, 0.4, 0, 0], [0, 0, 0.4, 0.6])
            )
            assert least - 1e-9 <= tree.threshold[node] <= most + 1e-9
        assert not rows
        np.testing.assert_array_equal(np.bincount(tree.apply(X), minlength=tree.feature.size) > 0, tree.is_leaf)


def test_all_features_that_vary_are_equally_likely_to_be_tried():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)), np.ones((60, 3))], axis=1)
    labelled = rng.random(60) < 0.3
    search = NodeSearch(
        X, labelled, False, NodeRisk(int(labelled.sum()), int((~labelled).sum()), 0.3), Growth(1, max_depth=1)
    )
    chosen = np.array([tree.feature[0] for tree in grow(search, rng.integers(2**63, size=3000, dtype=np.uint64))])
    assert (np.abs(np.bincount(chosen, minlength=6)[:3] - 1000) < 110).all(), "four standard errors"
    assert chosen.max() == 2


def test_leaf_sizes_are_kept_in_children_or_as_published_in_parents_only():
    X, labels, _ = small()
    strict = PUET(class_prior=0.4, n_estimators=5, min_samples_leaf=20, random_state=0, scenario="case-control").fit(
        X, labels
    )
    published = PUET(
        class_prior=0.4,
        n_estimators=5,
        min_samples_leaf=20,
        strict_leaves=False,
        random_state=0,
        scenario="case-control",
    )
    published.fit(X, labels)

    def smallest(forest):
        return min((tree.labelled + tree.unlabelled)[tree.is_leaf].min() for tree in forest.trees_)

    assert smallest(strict) >= 20 > smallest(published)


def test_depth_and_votes():
    X, labels, _ = small()
    forest = PUET(
        cut="vote", class_prior=0.5, n_estimators=7, max_depth=1, random_state=0, scenario="case-control"
    ).fit(X, labels)
    assert {tree.feature.size for tree in forest.trees_} == {3}
    share = forest.predict_proba(X)[:, 1]
    np.testing.assert_allclose(share * 7, np.round(share * 7), atol=1e-9)
    np.testing.assert_array_equal(forest.predict(X), share > 0.5)
    mean = PUET(
        cut="vote", class_prior=0.5, n_estimators=7, max_depth=1, voting="mean", random_state=0, scenario="case-control"
    ).fit(X, labels)
    np.testing.assert_allclose(mean.predict_proba(X)[:, 1], forest.score_samples(X))


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_the_cut_calls_the_right_share_where_votes_call_too_few(scenario):
    rng = np.random.default_rng(0)
    y = rng.random(1500) < 0.3
    X = rng.normal(size=(1500, 6)) + y[:, None]
    labels = (y & (rng.random(1500) < 0.15)).astype(int)
    rows = np.arange(1500) if scenario == "single-set" else np.concatenate([np.flatnonzero(labels), np.arange(1500)])
    given = labels if scenario == "single-set" else np.repeat([1, 0], [labels.sum(), 1500])
    test = rng.random(4000) < 0.3
    others = rng.normal(size=(4000, 6)) + test[:, None]
    called = {}
    for cut in ("share", "vote"):
        forest = PUET(class_prior=0.3, n_estimators=30, cut=cut, random_state=0, scenario=scenario).fit(X[rows], given)
        called[cut] = forest.predict(others).mean()
        np.testing.assert_array_equal(forest.predict(others), forest.predict_proba(others)[:, 1] > 0.5)
    assert called["vote"] < called["share"] - 0.04
    assert called["share"] == pytest.approx(0.3, abs=0.07)


def test_single_sets_take_all_rows_for_the_population():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.5
    X = rng.normal(size=(3000, 2)) + 2 * y[:, None]
    labels = (y & (rng.random(3000) < 0.5)).astype(int)
    result = {}
    for scenario in ("single-set", "case-control"):
        forest = PUET(class_prior=0.5, scenario=scenario, max_depth=6, n_estimators=30, random_state=0).fit(X, labels)
        result[scenario] = np.mean(forest.predict(X) == y)
    assert result["single-set"] > 0.9
    assert result["single-set"] > result["case-control"], "0.5 is not the share among the unlabelled rows"


def test_pictures_are_rows_of_pixels_and_the_class_prior_can_be_estimated():
    problem = toy(0)
    pictures = problem.X.reshape(-1, 2, 1)
    forest = PUET(n_estimators=10, max_depth=5, random_state=0, scenario="case-control").fit(pictures, problem.labels)
    assert forest.class_prior_ == pytest.approx(0.4, abs=0.1)
    np.testing.assert_array_equal(forest.predict(pictures), forest.predict(problem.X))


def test_a_saved_forest_is_the_same_forest(tmp_path):
    X, labels, _ = small()
    forest = PUET(class_prior=0.4, n_estimators=5, loss="logistic", random_state=0, scenario="case-control").fit(
        X, labels
    )
    folder = forest.save(tmp_path / "forest")
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.npz", "learner.json"]
    again = load(folder)
    np.testing.assert_array_equal(again.score_samples(X), forest.score_samples(X))
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))
    np.testing.assert_array_equal(again.feature_importances_, forest.feature_importances_)
    assert again.get_params() == forest.get_params()
    (folder / "arrays.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"arrays.npz could not be read"):
        load(folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a saved learner"):
        forest.save(tmp_path / "other")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"class_prior": 1.0}, "class_prior must lie strictly between 0 and 1, or be 'auto'.*got 1.0"),
        ({"class_prior": "guess"}, "got 'guess'"),
        ({"class_prior": None}, "got None"),
        ({"risk": "pn"}, "risk must be one of 'nnpu', 'upu', got 'pn'"),
        ({"loss": "hinge"}, "loss must be one of 'quadratic', 'logistic', 'savage', got 'hinge'"),
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ({"max_depth": 1.5}, "max_depth must be a whole number of at least 1, got 1.5"),
        ({"max_features": "all"}, "max_features must be a whole number"),
        ({"voting": "loud"}, "voting must be one of 'majority', 'mean', got 'loud'"),
        ({"scenario": "both"}, "scenario must be"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    X, labels, _ = small(rows=40)
    with pytest.raises(AssumptionError, match=words):
        PUET(**{"scenario": "case-control", "class_prior": 0.4, **settings}).fit(X, labels)
