"""PUSB with kernels: the specification's numbers, slow witnesses for the fast search, and its promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pulens.learners import KernelPUSB, load
from scipy.optimize import minimize

from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.parts.kernel_features import gaussian_features, squared_distances
from toy_problem import BAYES_ACCURACY, toy

MEAN = np.array([1.0, 0.5])
# witnesses are written for features as they are
QUICK = {"class_prior": 0.4, "bandwidths": (2.0,), "penalties": (0.001,), "random_state": 0, "standardise": False}


def small(n_labelled=40, n_unlabelled=160):
    return toy(3, n_labelled=n_labelled, n_unlabelled=n_unlabelled, n_test=200)


def slow_features(X, centres, bandwidth):
    return np.array(
        [[math.exp(-sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) / (2 * bandwidth**2)) for c in centres] + [1.0]
         for x in X]
    )  # fmt: skip


def slow_risk(b, labelled, population, prior, ranking):
    """The risk row by row, as the paper writes it."""
    ours, theirs = (
        [sum(f * w for f, w in zip(row, b, strict=True)) for row in rows] for rows in (labelled, population)
    )
    if ranking == "density-ratio":
        return sum(r * r / 2 for r in theirs) / len(theirs) - sum(ours) / len(ours)
    as_positive = sum(math.log1p(math.exp(-z)) for z in ours) / len(ours)
    as_negative = sum(math.log1p(math.exp(z)) for z in ours) / len(ours)
    return prior * as_positive + sum(math.log1p(math.exp(z)) for z in theirs) / len(theirs) - prior * as_negative


def slow_fit(labelled, population, prior, ranking, penalty):
    """BFGS from zero with numerical gradients, on the same risk written with arrays."""

    def value(b):
        ours, theirs = labelled @ b, population @ b
        if ranking == "density-ratio":
            return (theirs**2).mean() / 2 - ours.mean() + penalty * b @ b
        return -prior * ours.mean() + np.logaddexp(0, theirs).mean() + penalty * b @ b

    start = np.zeros(labelled.shape[1])
    assert value(start + 0.1) - penalty * 0.01 * start.size == pytest.approx(
        slow_risk(start + 0.1, labelled, population, prior, ranking)
    )
    return minimize(value, start, method="BFGS", options={"gtol": 1e-6}).x


@pytest.mark.parametrize("ranking", ["logistic", "density-ratio"])
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_scores_are_those_of_plain_bfgs_on_features_made_one_by_one(ranking, scenario):
    data = small()
    model = KernelPUSB(
        class_prior=0.5,
        ranking=ranking,
        centres=12,
        bandwidths=(1.5,),
        penalties=(0.02,),
        scenario=scenario,
        random_state=0,
        standardise=False,
    ).fit(data.X, data.labels)
    features = slow_features(data.X, model.centres_, 1.5)
    labelled = data.labels == 1
    population = features if scenario == "single-set" else features[~labelled]
    slow = slow_fit(features[labelled], population, 0.5, ranking, 0.02)
    np.testing.assert_allclose(model.score_samples(data.X), features @ slow, atol=2e-4)
    np.testing.assert_allclose(model.coefficients_, slow, atol=2e-4)
    assert np.isnan(model.held_out_risk_).all()


@pytest.mark.parametrize("ranking", ["logistic", "density-ratio"])
@pytest.mark.parametrize("criterion", ["risk", "penalised-risk", "proxy-auc"])
def test_the_choice_is_that_of_cross_validation_written_out(ranking, criterion):
    data, bandwidths, penalties = small(), (0.7, 3.0), (0.5, 0.01)
    labelled = data.labels == 1
    model = KernelPUSB(
        class_prior=0.4,
        ranking=ranking,
        centres=6,
        bandwidths=bandwidths,
        penalties=penalties,
        folds=3,
        criterion=criterion,
        random_state=7,
        standardise=False,
        scenario="case-control",
    )
    model.fit(data.X, data.labels)
    rng = np.random.default_rng(np.random.SeedSequence(7))
    rng.permutation(len(data.X))  # the centres
    fold = np.empty(len(data.X), int)
    fold[labelled] = rng.permutation(40) % 3
    fold[~labelled] = rng.permutation(160) % 3
    expected, scores = np.zeros((2, 2)), np.empty(len(data.X))
    for row, bandwidth in enumerate(bandwidths):
        features = slow_features(data.X, model.centres_, bandwidth)
        for column, penalty in enumerate(penalties):
            for number in range(3):
                parts = [features[kind & (fold != number)] for kind in (labelled, ~labelled)]
                held = [features[kind & (fold == number)] for kind in (labelled, ~labelled)]
                b = slow_fit(*parts, 0.4, ranking, penalty)
                if criterion == "proxy-auc":
                    scores[fold == number] = features[fold == number] @ b
                    continue
                expected[row, column] += slow_risk(b, *held, 0.4, ranking) / 3
                if criterion == "penalised-risk":
                    expected[row, column] += penalty * b @ b / 3
            if criterion == "proxy-auc":  # of all folds together
                wins = [float(p > u) + 0.5 * (p == u) for p in scores[labelled] for u in scores[~labelled]]
                expected[row, column] = 1 - np.mean(wins)
    np.testing.assert_allclose(model.held_out_risk_, expected, atol=2e-3 if criterion == "proxy-auc" else 2e-5)
    row, column = np.unravel_index(model.held_out_risk_.argmin(), (2, 2))
    assert expected[row, column] == pytest.approx(expected.min(), abs=2e-3)
    assert (model.bandwidth_, model.penalty_) == (bandwidths[row], penalties[column])


@pytest.mark.parametrize(
    "settings", [{"bandwidths": (1.0, 2.0, 5.0)}, {"kernel": "linear"}], ids=["gaussian", "linear"]
)
def test_accuracy_on_overlapping_normals(settings):
    result = []
    for seed in range(3):
        data = toy(seed)
        model = KernelPUSB(class_prior=0.4, random_state=seed, **settings, scenario="case-control").fit(
            data.X, data.labels
        )
        result.append(np.mean(model.predict(data.X_test) == data.y_test))
        assert model.predict(data.X[data.labels == 0]).mean() == 0.4
    assert np.mean(result) == pytest.approx(0.8700, abs=0.005)


def biased(seed, chance):
    """The toy with labelled rows accepted with a chance that depends on their place."""
    data, rng = toy(seed), np.random.default_rng([seed, 5])
    candidates = rng.normal(size=(20_000, 2)) + MEAN
    candidates = candidates[rng.random(20_000) < chance(candidates)][:400]
    return data, np.concatenate([candidates, data.X[data.labels == 0]])


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def test_labels_that_favour_obvious_positives_do_no_harm():
    result = {"gaussian": [], "linear": []}
    for seed in range(3):
        data, X = biased(seed, lambda x: sigmoid(3 * (x @ MEAN / 1.25 - 1)))
        for kernel, accuracies in result.items():
            model = KernelPUSB(kernel=kernel, **QUICK, scenario="case-control").fit(X, data.labels)
            accuracies.append(np.mean(model.predict(data.X_test) == data.y_test))
    assert np.mean(result["gaussian"]) == pytest.approx(BAYES_ACCURACY, abs=0.006)
    assert np.mean(result["linear"]) == pytest.approx(BAYES_ACCURACY, abs=0.006)


def test_where_bias_changes_the_order_rows_are_ranked_by_the_density_ratio():
    """Labelled for their first coordinate alone: the true ratio ranks otherwise than the posterior, and so do we."""
    ours, ideal = [], []
    for seed in range(3):
        data, X = biased(seed, lambda x: sigmoid(3 * (x[:, 0] - 1)))
        model = KernelPUSB(**QUICK, scenario="case-control").fit(X, data.labels)
        ratio = sigmoid(2 * data.X_test @ MEAN + np.log(0.4 / 0.6)) * sigmoid(3 * (data.X_test[:, 0] - 1))
        ideal.append(np.mean((ratio > np.quantile(ratio, 0.6)) == data.y_test))
        ours.append(np.mean(model.predict(data.X_test) == data.y_test))
    assert np.mean(ours) == pytest.approx(np.mean(ideal), abs=0.008)


def test_a_wide_bandwidth_needs_few_directions_and_loses_nothing():
    data = small()
    model = KernelPUSB(**{**QUICK, "bandwidths": (5.0,)}, centres=30, scenario="case-control").fit(data.X, data.labels)
    labelled = data.labels == 1
    features = gaussian_features(squared_distances(data.X, model.centres_), 5.0)
    ours, theirs = features[labelled].mean(0), features[~labelled]
    z = theirs @ model.coefficients_
    slope = theirs.T @ sigmoid(z) / len(z) - 0.4 * ours + 2 * 0.001 * model.coefficients_
    assert np.abs(slope).max() < 1e-5, "the gradient vanishes in all 31 directions"


def test_saved_and_read_again(tmp_path):
    data = small()
    for settings in ({}, {"kernel": "linear"}, {"ranking": "density-ratio", "standardise": True}):
        model = KernelPUSB(**{**QUICK, "penalties": (0.01, 0.1), **settings}, scenario="case-control").fit(
            data.X, data.labels
        )
        folder = model.save(tmp_path / "model")
        again = load(folder)
        np.testing.assert_array_equal(again.decision_function(data.X_test), model.decision_function(data.X_test))
        assert again.get_params() == model.get_params()
        assert again.bandwidth_ == model.bandwidth_
    (folder / "arrays.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"arrays.npz could not be read"):
        load(folder)


def test_columns_of_any_size_when_standardised():
    data = small()
    plain = KernelPUSB(**{**QUICK, "standardise": True}, scenario="case-control").fit(data.X, data.labels)
    stretched = KernelPUSB(**{**QUICK, "standardise": True}, scenario="case-control").fit(
        data.X * [1, 1000] + 5, data.labels
    )
    np.testing.assert_allclose(
        stretched.decision_function(data.X_test * [1, 1000] + 5), plain.decision_function(data.X_test), atol=1e-4
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"class_prior": 1.5}, "class_prior must lie strictly between 0 and 1"),
        ({"ranking": "best"}, "ranking must be one of 'logistic', 'density-ratio', got 'best'"),
        ({"kernel": "cubic"}, "kernel must be one of 'gaussian', 'linear', got 'cubic'"),
        ({"criterion": "auc"}, "criterion must be one of 'risk', 'penalised-risk', 'proxy-auc', got 'auc'"),
        ({"bandwidths": (1.0, 0.0)}, r"bandwidths must be one or more numbers above 0, got \(1.0, 0.0\)"),
        ({"penalties": ()}, r"penalties must be one or more numbers above 0, got \(\)"),
        ({"penalties": "small"}, "penalties must be one or more numbers above 0, got 'small'"),
        ({"centres": 0}, "centres must be a whole number of at least 1, got 0"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"scenario": "single-set", "class_prior": 0.1}, "class_prior 0.1 is impossible"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_bad_settings_are_refused_in_words(settings, words):
    data = small(n_labelled=20, n_unlabelled=60)
    with pytest.raises(AssumptionError, match=words):
        KernelPUSB(**{"class_prior": 0.4, "scenario": "case-control", **settings}).fit(data.X, data.labels)


def test_one_labelled_row_is_enough_when_nothing_is_to_be_chosen():
    data = small(n_labelled=1, n_unlabelled=60)
    assert KernelPUSB(**QUICK, scenario="case-control").fit(data.X, data.labels).predict(data.X).shape == (61,)
    with pytest.raises(AssumptionError, match="at least 2 labelled and 2 unlabelled rows, got 1 and 60"):
        KernelPUSB(class_prior=0.4, scenario="case-control").fit(data.X, data.labels)
