"""The likelihood of the labels given the scores: derivatives, grouping, covariance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from pulens.calibration import _likelihood, recalibrate
from pulens.calibration._likelihood import _grouped, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.errors import InputError
from pulens.evidence import gather
from pulens.testing import logistic_world

CASES = {
    "case-control": {"class_prior": 0.3, "scenario": "case-control"},
    "single-set": {"unlabelled_prior": 0.2, "scenario": "single-set"},
    "noisy": {"class_prior": 0.3, "label_noise": 0.1, "scenario": "case-control"},
}


def points_of(case="case-control", sizes=(200, 2_000), negatives=0, seed=0):
    few, many, _ = logistic_world(-0.5, 1.5, 0.3).draw(*sizes, np.random.default_rng(seed))
    labels = np.repeat([1, 0], sizes)
    labels[sizes[0] : sizes[0] + negatives] = -1
    points = Points.of(gather(labels, np.concatenate([few, many]), **CASES[case]))
    logits = logits_of(points.scores)
    return points, np.column_stack([np.ones_like(logits), logits])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("negatives", [0, 50])
def test_slopes_are_the_derivative_of_the_likelihood(case, negatives):
    points, design = points_of(case, (30, 200), negatives)
    theta = np.array([0.2, 0.9])

    def value(at):
        return _likelihood._likelihood(points, expit(design @ at))[0]

    _, slopes, _ = _likelihood._likelihood(points, expit(design @ theta))
    gradient = design.T @ (slopes * points.counts).sum(axis=0)
    np.testing.assert_allclose(gradient, approx_fprime(theta, value, 1e-6), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_chances_of_kinds_are_those_of_the_scenario(case):
    points, _ = points_of(case)
    fixed, rising = points.intensity
    share = np.array([0.0, 0.25, 1.0])
    rates = fixed[:, None] + rising[:, None] * share
    chance = rates[0] / rates.sum(axis=0)
    if case == "case-control":
        np.testing.assert_allclose(chance, share / (share + 0.3 * 2_000 / 200))
    elif case == "single-set":
        prior = (200 + 0.2 * 2_000) / 2_200
        np.testing.assert_allclose(chance, share * 200 / (2_200 * prior))
    else:
        ratio = 0.9 * share / 0.3 + 0.1 * (1 - share) / 0.7
        np.testing.assert_allclose(chance, ratio / (ratio + 10))


def test_grouping_changes_coefficients_by_far_less_than_their_errors(monkeypatch):
    points, design = points_of(sizes=(2_000, 20_000))
    exact = fit_logistic(design, points, np.array([0.0, 1.0]))
    monkeypatch.setattr(_likelihood, "GROUPS", 2_000)
    means, grouped = _grouped(design, points)
    assert 2_000 <= grouped.scores.size <= 4_001
    np.testing.assert_allclose(grouped.counts.sum(axis=1), points.counts.sum(axis=1))
    assert means.shape == (grouped.scores.size, 2)
    rough = fit_logistic(design, points, np.array([0.0, 1.0]))
    errors = np.sqrt(np.diag(exact.covariance))
    assert (np.abs(rough.coefficients - exact.coefficients) < 0.01 * errors).all()


def test_the_covariance_is_that_of_repeated_samples():
    result, claimed = [], []
    for seed in range(150):
        points, design = points_of(sizes=(200, 1_000), seed=seed)
        fit = fit_logistic(design, points, np.array([0.0, 1.0]))
        result.append(fit.coefficients)
        claimed.append(np.sqrt(np.diag(fit.covariance)))
    np.testing.assert_allclose(np.std(result, axis=0), np.mean(claimed, axis=0), rtol=0.15)


def test_the_mean_of_the_map_is_near_the_class_prior():
    points, design = points_of(sizes=(200, 1_000))
    free, right = (
        fit_logistic(design, points, np.array([0.0, 1.0]), right_mean=mean).coefficients for mean in (False, True)
    )
    off = [abs(float(points.population @ expit(design @ theta)) - 0.3) for theta in (free, right)]
    assert off[1] < off[0]
    assert off[1] < 0.02


def test_shares_near_zero_give_finite_slopes_and_no_warning():
    """A rate of 1e-300 in a denominator once went beyond the doubles, and the warning to the terminal."""
    labels, scores = np.repeat([1, 0], [40, 60]), np.linspace(1, 0, 100)
    evidence = gather(labels, scores, class_prior=1e-9, scenario="case-control")
    points = Points.of(evidence)
    value, slopes, information = _likelihood._likelihood(points, np.full(points.scores.size, 1e-310))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()
    assert np.isfinite(information).all()


def test_scores_whose_squares_no_double_holds_are_refused_in_words() -> None:
    labels, scores = np.repeat([1, 0], [30, 90]), np.linspace(-1e200, 1e200, 120)
    with pytest.raises(InputError, match="too large for a map of their logits"):
        recalibrate(labels, scores, class_prior=0.4, scores_are="rank", method="platt", labelling="random")
