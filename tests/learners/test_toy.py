"""End to end on a toy with a known best accuracy (0.8721): the numbers of the methods' specifications."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import LBE, MPEPU, NNPU, PULDA, PUSB, UPU, VPU, DistPU
from sklearn.linear_model import LogisticRegression

from pulens.learning.risks.mixture import best_bin_share

FULL = {"batch_size": 4400, "epochs": 600}
ALIGNMENT = {"warm_up_epochs": 600, "warm_up_learning_rate": 0.05, "warm_up_weight_decay": 0.0, "epochs": 0}
VARIATIONAL = {"regularisation": 0.0, "batch_size": 4000, "steps_per_epoch": 1, "halve_every": 1000, "epochs": 150}


@pytest.mark.parametrize(
    ("learner", "options", "mean", "deviation", "at_zero"),
    [
        (NNPU, {"class_prior": 0.4}, 0.8710, 0.0038, 0.8710),
        (UPU, {"class_prior": 0.4}, 0.8710, 0.0038, 0.8710),
        (NNPU, {"class_prior": 0.4, "loss": "logistic"}, 0.8701, 0.0028, 0.8701),
        (NNPU, {"class_prior": 0.45}, 0.8707, 0.0019, 0.8707),
        (PUSB, {"class_prior": 0.4}, 0.8700, 0.0030, 0.8701),
        (VPU, VARIATIONAL, 0.8706, 0.0035, 0.8706),
        (DistPU, {"class_prior": 0.4, **ALIGNMENT}, 0.8715, 0.0025, 0.8715),
    ],
    ids=["nnpu", "upu", "logistic nnpu", "nnpu told 0.45", "pusb", "vpu", "dist-pu"],
)
def test_accuracy_is_that_of_the_specification(ten_toys, learner, options, mean, deviation, at_zero):
    """Mean and deviation over ten draws of 600 steps, at the method's own cut; and the mean with the cut at 0.

    Only VPU is shortened, to 150 steps: 600 give the same mean and take four times as long.
    """
    fitted = ten_toys.fit(learner, **{**FULL, **options})
    result = ten_toys.accuracies(fitted)
    assert result.mean() == pytest.approx(mean, abs=0.0005)
    assert result.std() == pytest.approx(deviation, abs=0.0005)
    plain = [
        ((model.decision_function(draw.test) + model.cut_ > 0) == draw.truth).mean()
        for model, draw in zip(fitted, ten_toys.draws, strict=True)
    ]
    assert np.mean(plain) == pytest.approx(at_zero, abs=0.0005)


@pytest.mark.parametrize(
    ("temperature", "accuracy", "share"),
    [(1.0, 0.7008, 0.688), (3.5, 0.7946, 0.574), (20.0, 0.8526, 0.475), (100.0, 0.8682, 0.426)],
)
def test_pulda_calls_too_many_rows_positive_unless_the_distance_is_sharp(toy, temperature, accuracy, share):
    fitted = toy.fit(
        PULDA,
        class_prior=0.4,
        temperature=temperature,
        warm_up_epochs=300,
        warm_up_learning_rate=0.05,
        warm_up_weight_decay=0.0,
        epochs=0,
        mean_decay=0.0,
        margin_decay=0.0,
        batch_size=4000,
        labelled_batch_size=400,
    )
    predicted = np.mean([model.predict(draw.test).mean() for model, draw in zip(fitted, toy.draws, strict=True)])
    assert toy.accuracies(fitted).mean() == pytest.approx(accuracy, abs=0.012)
    assert predicted == pytest.approx(share, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("bayes_cut", "expected"), [(False, 0.8608), (True, 0.8679)])
def test_ignoring_the_known_share_of_positives(toy, bayes_cut, expected):
    options = {"class_prior": 0.4, "warm_up_epochs": 200, "epochs": 150, "batch_size": 4000, "bayes_cut": bayes_cut}
    assert toy.accuracies(toy.fit(MPEPU, **options)).mean() == pytest.approx(expected, abs=0.004)


AUTHORS_EM = {"scenario": "case-control", "epochs": 60, "pretraining_steps": 100, "selection": "last"}


@pytest.mark.slow
def test_labelling_bias_by_em_ends_below_the_risk_minimisers(toy):
    fitted = toy.fit(LBE, propensity_start="pre-trained", **AUTHORS_EM)
    assert toy.accuracies(fitted).mean() == pytest.approx(0.8531, abs=0.008)


@pytest.mark.slow
def test_where_em_starts_decides_where_it_ends(toy):
    fitted = toy.fit(LBE, propensity_start="half", **AUTHORS_EM)
    assert toy.accuracies(fitted).mean() == pytest.approx(0.8449, abs=0.008)
    # the true share of labelled positives among labelled and unlabelled ones is 0.2
    assert np.mean([model.labelled_propensity_ for model in fitted]) == pytest.approx(0.289, abs=0.03)


def test_em_from_an_even_start_reaches_the_risk_minimisers(toy):
    """The start is the true label frequency here; nnPU has 0.871, and the best cut 0.8721."""
    assert toy.accuracies(toy.fit(LBE, scenario="case-control", class_prior=0.4)).mean() > 0.866


def test_best_bin_overestimates_where_classes_overlap(toy):
    shares = []
    for draw in toy.draws:
        rows = np.concatenate([draw.labelled, draw.unlabelled])
        scores = LogisticRegression().fit(rows, np.repeat([1, 0], [400, 4000])).decision_function(rows)
        shares.append(best_bin_share(scores[:400], scores[400:], as_published=True))
    assert np.mean(shares) == pytest.approx(0.4327, abs=0.03)


def test_break_even_cut_repairs_biased_labels_and_threshold_zero_does_not(biased_toy):
    fitted = biased_toy.fit(PUSB, class_prior=0.4, batch_size=4400, epochs=600)
    assert biased_toy.accuracies(fitted).mean() == pytest.approx(0.8714, abs=0.004)
    at_zero, shares = [], []
    for model, draw in zip(fitted, biased_toy.draws, strict=True):
        at_zero.append(((model.decision_function(draw.test) + model.cut_ > 0) == draw.truth).mean())
        shares.append((model.decision_function(draw.unlabelled) + model.cut_ > 0).mean())
        assert model.predict(draw.unlabelled).mean() == pytest.approx(0.4)
    assert np.mean(at_zero) == pytest.approx(0.7667, abs=0.012)
    assert np.mean(shares) == pytest.approx(0.612, abs=0.02)
