"""Baselines around any classifier: the specification's numbers, and that no cut hides what it assumes."""

from __future__ import annotations

import numpy as np
import pandas as pd
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
from scipy.sparse import csr_array
from scipy.special import expit, xlogy
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pulens import learners
from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.base.wrapper import (
    case_control_cut,
    log_odds_beyond,
    pooled_frequency,
    positive_probability,
    posterior_from_odds,
)
from pulens.learning.learners.elkan_noto import class_prior_from, label_frequency, unlabelled_weights
from pulens.learning.learners.pu_bagging import out_of_bag_means
from pulens.scenario import Scenario
from toy_problem import toy

G = np.array([0.30, 0.20, 0.25, 0.05, 0.02, 0.10, 0.15, 0.01, 0.04, 0.08])
LABELLED = np.arange(10) < 3


class Told:
    """A classifier that knows its answers: column 0 holds P(labelled)."""

    classes_ = np.array([0, 1])

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y, sample_weight=None):
        return self

    def predict_proba(self, X):
        return np.stack([1 - X[:, 0], X[:, 0]], 1)

    def __sklearn_clone__(self):
        return self


def test_label_frequency_and_weights_of_the_worked_case():
    assert label_frequency(G, LABELLED, "e1") == pytest.approx(0.25)
    assert label_frequency(G, LABELLED, "e2") == pytest.approx(0.625)
    assert label_frequency(G, LABELLED, "e3") == pytest.approx(0.30)
    np.testing.assert_allclose(np.minimum(1, G / 0.25), [1, 0.8, 1, 0.2, 0.08, 0.4, 0.6, 0.04, 0.16, 0.32])
    weights = unlabelled_weights(G[~LABELLED], 0.25)
    np.testing.assert_allclose(weights, [0.157895, 0.061224, 0.333333, 0.529412, 0.030303, 0.125, 0.260870], atol=1e-6)
    assert (3 + weights.sum()) / 10 == pytest.approx(0.449804, abs=1e-6)
    logits = np.array([1, 0.2, 0.5, -1, -2, -0.3, 0.1, -2.5, -1.2, -0.8])
    positive = np.concatenate([np.ones(3), weights])
    entropy = -xlogy(positive, expit(logits)) - xlogy(1 - positive, expit(-logits))
    assert entropy.mean() == pytest.approx(0.459955, abs=1e-6)
    naive = np.logaddexp(0, np.where(LABELLED, -logits, logits))
    assert naive.mean() == pytest.approx(0.383769, abs=1e-6)


def test_the_single_set_posterior_is_the_worked_case():
    rows = np.repeat(G, np.where(LABELLED, 1, 9))  # 3 labelled of 66 rows, so that a prior of 2/11 means c = 1/4
    model = ElkanNoto(Told(), class_prior=2 / 11, scenario="single-set")
    model.fit(rows[:, None], (np.arange(66) < 3).astype(int))
    assert model.label_frequency_ == pytest.approx(0.25)
    expected = [1, 0.8, 1, 0.2, 0.08, 0.4, 0.6, 0.04, 0.16, 0.32]
    np.testing.assert_allclose(model.predict_proba(G[:, None])[:, 1], expected)
    np.testing.assert_array_equal(model.predict(G[:, None]), np.array(expected) > 0.5)


def test_case_control_posterior_of_the_worked_case():
    frequency = pooled_frequency(100, 1000, 0.4)
    assert frequency == pytest.approx(0.2)
    assert case_control_cut(frequency) == pytest.approx(0.111111, abs=1e-6)
    g = np.array([0.05, 0.10, 0.12, 0.15, 0.19])
    posterior = posterior_from_odds(log_odds_beyond(g, case_control_cut(frequency)))
    np.testing.assert_allclose(posterior, [0.210526, 0.444444, 0.545455, 0.705882, 0.938272], atol=1e-6)
    np.testing.assert_allclose(g / frequency, [0.25, 0.5, 0.6, 0.75, 0.95])
    assert class_prior_from(0.2, 100, 1000, Scenario.CASE_CONTROL) == pytest.approx(0.4)
    rows = np.concatenate([np.full(100, 0.5), np.resize(g, 1000)])[:, None]
    model = ElkanNoto(Told(), class_prior=0.4, scenario="case-control").fit(rows, np.repeat([1, 0], [100, 1000]))
    np.testing.assert_allclose(model.predict_proba(g[:, None])[:, 1], posterior)
    np.testing.assert_array_equal(model.predict(g[:, None]), posterior > 0.5)


def test_out_of_bag_means_of_the_worked_case():
    scores = np.array([[0.9, 0.2, 0.4, 0.1], [0.8, 0.3, 0.5, 0.2], [0.7, 0.1, 0.6, 0.3]])
    bags = np.zeros((3, 4), bool)
    for member, rows in enumerate(([0, 2], [1, 2], [0, 3])):
        bags[member, rows] = True
    means, counts = out_of_bag_means(scores, bags)
    np.testing.assert_allclose(means, [0.8, 0.15, 0.6, 0.15])
    np.testing.assert_array_equal(counts, [1, 2, 1, 2])
    np.testing.assert_allclose(scores.mean(0), [0.8, 0.2, 0.5, 0.2])
    always, none = out_of_bag_means(scores, np.ones((3, 4), bool))
    np.testing.assert_allclose(always, scores.mean(0))
    assert not none.any()


def linear():
    return LogisticRegression(C=1e6)


def in_sample_frequency(draw):
    """The label frequency e1 on the rows that the classifier was trained on, as the specification has it."""
    model = ElkanNoto(linear(), class_prior=0.4, scenario="case-control").fit(draw.X, draw.labels).labelling_model_
    return label_frequency(positive_probability(model, draw.X), draw.labels == 1, "e1")


def implied_prior(draw):
    """The class prior from which a single set gets that label frequency, without holding rows out."""
    return draw.labels.sum() / (in_sample_frequency(draw) * draw.labels.size)


# how to make the learner; the specification's mean and deviation over ten draws
ON_THE_TOY = {
    "oracle": (lambda draw: OracleClassifier(linear()), 0.8726, 0.0023),
    "naive at one half": (lambda draw: NaiveClassifier(linear(), scenario="case-control"), 0.6006, None),
    "naive at the quantile": (
        lambda draw: NaiveClassifier(linear(), class_prior=0.4, cut="quantile", scenario="case-control"),
        0.8708,
        0.0027,
    ),
    "elkan-noto, pooled cut": (
        lambda draw: ElkanNoto(linear(), scenario="single-set", class_prior=implied_prior(draw)),
        0.8692,
        0.0043,
    ),
    "elkan-noto, case-control": (
        lambda draw: ElkanNoto(linear(), class_prior=0.4, scenario="case-control"),
        0.8320,
        0.0029,
    ),
    "weighted": (
        lambda draw: WeightedElkanNoto(linear(), scenario="single-set", class_prior=implied_prior(draw), hold_out=0.1),
        0.8532,
        0.0101,
    ),
    "bagging at one half": (
        lambda draw: PUBagging(linear(), n_estimators=30, cut="half", random_state=0, scenario="case-control"),
        0.8624,
        0.0025,
    ),
    "bagging at the Bayes cut": (
        lambda draw: PUBagging(
            linear(), class_prior=0.4, n_estimators=30, cut="bayes", random_state=0, scenario="case-control"
        ),
        0.8383,
        0.0027,
    ),
    "bagging at the quantile": (
        lambda draw: PUBagging(linear(), class_prior=0.4, n_estimators=30, random_state=0, scenario="case-control"),
        0.8711,
        0.0027,
    ),
}


def accuracies(make, draws):
    result = []
    for draw in draws:
        learner = make(draw)
        if isinstance(learner, OracleClassifier):  # the plain table, labelled rows not doubled
            learner.fit(draw.unlabelled, draw.labels[400:], truth=draw.hidden)
        else:
            learner.fit(draw.X, draw.labels)
        result.append(np.mean(learner.predict(draw.test) == draw.truth))
    return np.array(result)


@pytest.mark.parametrize("name", ON_THE_TOY)
def test_accuracy_on_overlapping_normals(ten_toys, name):
    make, mean, deviation = ON_THE_TOY[name]
    result = accuracies(make, ten_toys.draws)
    assert result.mean() == pytest.approx(mean, abs=0.001)
    if deviation is not None:
        assert result.std() == pytest.approx(deviation, abs=0.001)


@pytest.mark.parametrize(
    ("learner", "in_sample", "tolerance"), [(ElkanNoto, 0.8692, 0.005), (WeightedElkanNoto, 0.8532, 0.01)]
)
def test_holding_rows_out_for_the_label_frequency_costs_little_accuracy(ten_toys, learner, in_sample, tolerance):
    """Of 40 held-out labelled rows the frequency is less certain, and so is the cut."""
    result = accuracies(lambda draw: learner(linear(), scenario="single-set", random_state=0), ten_toys.draws)
    assert result.mean() == pytest.approx(in_sample, abs=tolerance)


def test_label_frequency_on_the_toy(ten_toys):
    """0.2 in truth: a linear g cannot be right."""
    inside = [in_sample_frequency(draw) for draw in ten_toys.draws]
    assert np.mean(inside) == pytest.approx(0.1473, abs=0.0002)
    assert np.std(inside) == pytest.approx(0.0055, abs=0.0002)
    held_out = [
        ElkanNoto(linear(), random_state=seed, scenario="case-control").fit(draw.X, draw.labels).label_frequency_
        for seed, draw in enumerate(ten_toys.draws)
    ]
    assert np.mean(held_out) == pytest.approx(0.1473, abs=0.012)


def test_proxy_accuracy_is_unbiased_and_not_bounded():
    X = np.concatenate([np.full(9, 0.9), [0.1], np.full(30, 0.9), np.full(70, 0.1)])[:, None]
    labels = np.repeat([1, 0], [10, 100])
    model = OracleClassifier(Told()).fit(X, labels, truth=labels)
    model.class_prior_ = 0.4
    assert model.score(X, labels) == pytest.approx(1.42 - 0.4)
    del model.class_prior_
    assert model.score(X, labels) == pytest.approx(0.9 * 0.7 + 0.5 * (0.9 * 0.3 + 0.1 * 0.7))


def test_a_single_set_follows_its_own_formulas():
    rng = np.random.default_rng(0)
    y = rng.random(6000) < 0.5
    X = rng.normal(size=(6000, 2)) + 3 * y[:, None]
    labels = (y & (rng.random(6000) < 0.5)).astype(int)
    prior = float(y.mean())
    for learner in (
        ElkanNoto(scenario="single-set", random_state=0),
        ElkanNoto(scenario="single-set", class_prior=prior),
        WeightedElkanNoto(scenario="single-set", random_state=0),
        NaiveClassifier(scenario="single-set", class_prior=prior, cut="quantile"),
        NaiveClassifier(scenario="single-set", class_prior=prior, cut="label_frequency"),
        PUBagging(scenario="single-set", class_prior=prior, n_estimators=10, random_state=0),
    ):
        learner.fit(X, labels)
        assert np.mean(learner.predict(X) == y) > 0.94, learner
        if learner.class_prior is not None:
            assert learner.score(X, labels) == pytest.approx(np.mean(learner.predict(X) == y), abs=0.02), learner


def test_the_oracle_needs_the_truth_and_says_so():
    X, labels = np.zeros((4, 1)), [1, 0, 0, 0]
    with pytest.raises(InputError, match=r"needs the true classes: fit\(X, labels, truth=...\)"):
        OracleClassifier().fit(X, labels)
    assert OracleClassifier.uses_truth
    others = [getattr(learners, name) for name in learners.__all__ if name[0].isupper() and name != "OracleClassifier"]
    assert not [learner for learner in others if getattr(learner, "uses_truth", False)]


def test_the_oracle_learns_from_the_truth_alone():
    problem = toy(0)
    one, two = (
        OracleClassifier().fit(problem.X, labels, truth=truth)
        for labels, truth in ((problem.labels, problem.truth), (None, np.where(problem.truth, 1, -1)))
    )
    np.testing.assert_array_equal(one.predict_proba(problem.X), two.predict_proba(problem.X))


def test_copies_of_held_out_rows_are_kept_from_training():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(300, 2))
    X, labels = np.concatenate([pool[:50], pool]), np.repeat([1, 0], [50, 300])
    seen = {}

    class Watching(DecisionTreeClassifier):
        def fit(self, X, y, **more):
            seen["rows"] = {row.tobytes() for row in X}
            return super().fit(X, y, **more)

    for repeated in (False, True):
        model = ElkanNoto(
            Watching(), labelled_in_unlabelled=repeated, hold_out=0.2, random_state=0, scenario="case-control"
        ).fit(X, labels)
        held = np.random.default_rng(np.random.SeedSequence(0))
        held_labelled = held.permutation(50)[:10]
        again = [X[row].tobytes() in seen["rows"] for row in held_labelled]
        assert any(again) is not repeated
        assert 0 < model.label_frequency_ < 1


@pytest.mark.parametrize("repeated", [False, True])
def test_copies_of_rows_out_of_fold_are_kept_from_its_training(repeated):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(60, 2))
    X, labels = np.concatenate([pool[:10], pool]), np.repeat([1, 0], [10, 60])
    seen = []

    class Watching(DecisionTreeClassifier):
        def fit(self, X, y, **more):
            seen.append({row.tobytes() for row in X})
            return super().fit(X, y, **more)

    ElkanNoto(Watching(), labelled_in_unlabelled=repeated, random_state=0, scenario="case-control").fit(X, labels)
    assert len(seen) == 6  # five folds, then all rows
    missing = [sum(row.tobytes() not in one for row in X[:10]) for one in seen]
    assert missing[:5] == [2] * 5 if repeated else sum(missing) < 10
    assert missing[5] == 0


@pytest.mark.parametrize("prior", [None, 0.4])
def test_weights_of_unlabelled_rows_come_from_classifiers_that_did_not_see_them(prior):
    """A tree grown to the end knows by heart who is labelled: of its own rows it says so, of others it cannot."""
    rng = np.random.default_rng(0)
    positive = rng.random(1000) < 0.4
    X = rng.normal(size=(1000, 2)) + 3 * positive[:, None]
    labels = (positive & (rng.random(1000) < 0.4)).astype(int)
    options = {"scenario": "single-set", "random_state": 0, "class_prior": prior}
    ours = WeightedElkanNoto(DecisionTreeClassifier(), **options).fit(X, labels)
    theirs = WeightedElkanNoto(DecisionTreeClassifier(), hold_out=0.1, **options).fit(X, labels)
    assert theirs.class_prior_ < 0.25  # hardly an unlabelled row counts as positive
    assert ours.class_prior_ > theirs.class_prior_ + 0.05


def test_out_of_bag_scores_belong_to_unlabelled_rows():
    problem = toy(0, n_labelled=50, n_unlabelled=200, n_test=10)
    model = PUBagging(n_estimators=20, bag_size=20, random_state=0, scenario="case-control").fit(
        problem.X, problem.labels
    )
    assert np.isnan(model.out_of_bag_scores_[problem.labels == 1]).all()
    assert np.isfinite(model.out_of_bag_scores_[problem.labels == 0]).all()
    assert model.cut_ == 0.5
    again = PUBagging(n_estimators=20, bag_size=20, random_state=0, n_jobs=2, scenario="case-control").fit(
        problem.X, problem.labels
    )
    np.testing.assert_array_equal(model.out_of_bag_scores_, again.out_of_bag_scores_)


LEARNERS = [
    ElkanNoto(random_state=0, scenario="case-control"),
    WeightedElkanNoto(random_state=0, scenario="case-control"),
    PUBagging(n_estimators=3, random_state=0, scenario="case-control"),
    NaiveClassifier(class_prior=0.4, cut="quantile", scenario="case-control"),
    PUET(class_prior=0.4, n_estimators=3, random_state=0, scenario="case-control"),
    BoostedPU(class_prior=0.4, n_estimators=1, iterations=3, random_trees=3, scenario="case-control"),
    KernelPUSB(class_prior=0.4, bandwidths=(1.0,), centres=40, random_state=0, scenario="case-control"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_frames_and_other_label_codings_mean_the_same(learner):
    learner = clone(learner)
    problem = toy(0, n_labelled=60, n_unlabelled=300, n_test=10)
    plain = learner.fit(problem.X, problem.labels).predict_proba(problem.X)
    frame = pd.DataFrame(problem.X, columns=["a", "b"])
    words = np.where(problem.labels == 1, "confirmed", "unknown")
    learner.set_params(positive="confirmed").fit(frame, pd.Series(words))
    np.testing.assert_allclose(learner.predict_proba(frame), plain, rtol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_sparse_tables_work(learner):
    learner = clone(learner)
    problem = toy(0, n_labelled=60, n_unlabelled=300, n_test=10)
    learner.fit(csr_array(problem.X), problem.labels)
    assert learner.predict_proba(csr_array(problem.X)).shape == (360, 2)


@pytest.mark.parametrize("learner", LEARNERS[4:], ids=lambda learner: type(learner).__name__)
def test_a_sparse_table_means_what_the_dense_one_means(learner):
    problem = toy(0, n_labelled=60, n_unlabelled=300, n_test=10)
    dense, sparse = (clone(learner).fit(X, problem.labels) for X in (problem.X, csr_array(problem.X)))
    np.testing.assert_array_equal(sparse.predict_proba(csr_array(problem.X)), dense.predict_proba(problem.X))


def test_a_sparse_table_too_wide_to_be_dense_is_refused():
    wide = csr_array((10_000, 100_000))
    with pytest.raises(InputError, match="10,000 x 100,000 does not fit in memory once it is dense"):
        PUET(class_prior=0.4, scenario="case-control").fit(wide, np.arange(10_000) % 2)


def test_the_class_prior_is_estimated_from_sparse_tables_too():
    problem = toy(1)
    model = NaiveClassifier(class_prior="auto", random_state=0, scenario="case-control").fit(
        csr_array(problem.X), problem.labels
    )
    assert model.class_prior_ == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_pictures_are_rows_of_pixels_by_default(learner):
    problem = toy(0, n_labelled=60, n_unlabelled=300, n_test=10)
    pictures = np.repeat(problem.X, 2, axis=1).reshape(-1, 1, 2, 2)
    expected = clone(learner).fit(pictures.reshape(len(pictures), -1), problem.labels)
    result = clone(learner).fit(pictures, problem.labels)
    np.testing.assert_array_equal(
        result.predict_proba(pictures), expected.predict_proba(pictures.reshape(len(pictures), -1))
    )


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_they_work_in_pipelines_and_searches(learner):
    learner = clone(learner)
    problem = toy(0, n_labelled=60, n_unlabelled=300, n_test=10)
    pipeline = make_pipeline(StandardScaler(), learner)
    pipeline.fit(problem.X, problem.labels)
    name = type(learner).__name__.lower()
    parameter = {
        "puet": {"max_depth": [2, 4]},
        "kernelpusb": {"bandwidths": [1.0, (2.0,)]},
        "boostedpu": {"iterations": [2, 3]},
    }.get(name, {"estimator": [LogisticRegression(C=c) for c in (0.1, 1)]})
    search = GridSearchCV(pipeline, {f"{name}__{key}": values for key, values in parameter.items()}, cv=2)
    search.fit(problem.X, problem.labels)
    assert search.predict(problem.X).shape == (360,)


def test_estimated_class_prior():
    problem = toy(1)
    model = NaiveClassifier(class_prior="auto", cut="quantile", random_state=0, scenario="case-control").fit(
        problem.X, problem.labels
    )
    assert model.class_prior_ == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (NaiveClassifier(cut="quantile", scenario="case-control"), "cut='quantile' needs class_prior"),
        (
            NaiveClassifier(cut="best", scenario="case-control"),
            "cut must be one of 'half', 'label_frequency', 'quantile', got 'best'",
        ),
        (PUBagging(cut="bayes", scenario="case-control"), "cut='bayes' needs class_prior"),
        (PUBagging(bag_size=0, scenario="case-control"), "bag_size must be a whole number of at least 1, got 0"),
        (ElkanNoto(hold_out=0.999999, scenario="case-control"), "hold_out=0.999999 leaves none of the .* to train on"),
        (WeightedElkanNoto(hold_out=0.999999, scenario="case-control"), "hold_out=0.999999 leaves none"),
        (ElkanNoto(hold_out=1.0, scenario="case-control"), "hold_out must lie strictly between 0 and 1, got 1.0"),
        (ElkanNoto(estimate="e4", scenario="case-control"), "estimate must be one of 'e1', 'e2', 'e3', got 'e4'"),
        (ElkanNoto(class_prior=2, scenario="case-control"), "class_prior must lie strictly between 0 and 1.*got 2"),
        (ElkanNoto(class_prior=0.2, scenario="single-set"), "impossible in the single-set scenario.*0.25 of all rows"),
        (PUBagging(class_prior=0.1, scenario="single-set"), "class_prior 0.1 is impossible"),
        (WeightedElkanNoto(KNeighborsClassifier(30), scenario="case-control"), "its fit does not take sample_weight"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_settings_are_refused_in_words(learner, words):
    problem = toy(0, n_labelled=20, n_unlabelled=60, n_test=10)
    with pytest.raises(AssumptionError, match=words):
        learner.fit(problem.X, problem.labels)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, 0, 0], "there are 80 rows but 3 labels"),
        ([1] + [0] * 78 + [-1], "1 labels of -1"),
        ([0] * 80, "no labelled positive"),
        ([1] * 80, "no unlabelled"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_refused_in_words(labels, words):
    problem = toy(0, n_labelled=20, n_unlabelled=60, n_test=10)
    for learner in LEARNERS:
        with pytest.raises(InputError, match=words):
            clone(learner).fit(problem.X, labels)
