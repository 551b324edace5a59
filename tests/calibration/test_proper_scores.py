"""Brier score, log loss, calibration in the large, slope."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

from pulens.calibration import brier_score, calibration_in_the_large, calibration_slope, log_loss
from pulens.testing import logistic_world


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 2, 3_000)
    return np.where(rng.random(3_000) < scores**1.5, 1, -1), scores


@pytest.fixture(scope="module")
def rows():
    few, many, _ = logistic_world(-0.5, 1.5, 0.3).draw(300, 4_000, np.random.default_rng(3))
    return np.repeat([1, 0], [300, 4_000]), np.concatenate([few, many])


def test_with_every_label_known_they_are_scikit_learns(known):
    from sklearn.metrics import brier_score_loss
    from sklearn.metrics import log_loss as sklearn_log_loss

    labels, scores = known
    ours = [score(labels, scores, negative=-1, scenario="case-control").value for score in (brier_score, log_loss)]
    assert ours[0] == pytest.approx(brier_score_loss(labels == 1, scores), abs=1e-12)
    assert ours[1] == pytest.approx(sklearn_log_loss(labels == 1, scores), abs=1e-12)


def test_with_every_label_known_the_slope_is_that_of_logistic_regression(known):
    from sklearn.linear_model import LogisticRegression

    labels, scores = known
    line = calibration_slope(labels, scores, negative=-1, scenario="case-control", labelling="random")
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(scores)[:, None], labels == 1)
    assert line.slope.value == pytest.approx(fitted.coef_[0, 0], abs=2e-4)
    assert line.intercept.value == pytest.approx(fitted.intercept_[0], abs=2e-4)


@pytest.mark.parametrize("score", [brier_score, log_loss])
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_parts_add_up_exactly(rows, score, scenario):
    result = score(*rows, class_prior=0.3, scenario=scenario)
    assert result.decomposition.total == pytest.approx(result.value, abs=1e-12)
    assert result.decomposition.calibration >= 0
    assert result.decomposition.resolution > 0
    assert set(result.to_dict()["decomposition"]) == {"calibration", "resolution", "uncertainty", "within_bins"}


def test_a_constant_score_at_the_prior_is_all_uncertainty():
    labels, scores = np.repeat([1, 0], [50, 200]), np.full(250, 0.3)
    result = brier_score(
        labels, scores, class_prior=0.3, bins=1, binning="width", scenario="case-control", labelling="random"
    )
    assert result.value == pytest.approx(0.21)
    assert result.decomposition.uncertainty == pytest.approx(0.21)
    assert result.decomposition.calibration == pytest.approx(0, abs=1e-12)


def test_certain_scores_do_not_cost_infinity():
    result = log_loss([1, 0, 0, 0], [0.0, 1.0, 0.5, 0.2], class_prior=0.25, scenario="case-control", labelling="random")
    assert 0 < result.value < 40


def test_in_the_large_is_the_mean_score_less_the_prior(rows):
    labels, scores = rows
    result = calibration_in_the_large(labels, scores, class_prior=0.3, scenario="case-control", labelling="random")
    assert result.value == pytest.approx(scores[labels == 0].mean() - 0.3)
    ranged = calibration_in_the_large(
        labels, scores, class_prior=(0.2, 0.4), scenario="case-control", labelling="random"
    )
    assert ranged.interval.low == pytest.approx(scores[labels == 0].mean() - 0.4, abs=0.02)
    assert ranged.sources["class prior"].width == pytest.approx(0.2)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_intervals_hold_the_truth(scenario):
    world = logistic_world(-0.5, 1.5, 0.3)
    grid = np.linspace(*world.range, 40_001)
    share, score = world.posterior(grid), 1 / (1 + np.exp(-grid))
    brier = float(np.trapezoid(world.density(grid) * (share * (1 - score) ** 2 + (1 - share) * score**2), grid))
    truth = {"slope": 4 / 3, "intercept": float(logit(0.3)) + 2 / 3, "brier": brier}
    hits = dict.fromkeys(truth, 0)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        if scenario == "case-control":
            few, many, _ = world.draw(300, 3_000, rng)
            labels, scores = np.repeat([1, 0], [300, 3_000]), np.concatenate([few, many])
        else:
            _, scores, is_positive = world.draw(1, 3_000, rng)
            labels = (is_positive & (rng.random(3_000) < 0.4)).astype(int)
        options = {"class_prior": 0.3, "scenario": scenario}
        line = calibration_slope(labels, scores, **options, labelling="random")
        hits["slope"] += truth["slope"] in line.slope.interval
        hits["intercept"] += truth["intercept"] in line.intercept.interval
        hits["brier"] += truth["brier"] in brier_score(labels, scores, bins=5, **options, labelling="random").interval
    assert min(hits.values()) >= 89, hits


def test_a_slope_over_a_range_of_priors_is_a_hull(rows):
    ranged = calibration_slope(*rows, class_prior=(0.25, 0.35), scenario="case-control", labelling="random")
    for prior in (0.25, 0.3, 0.35):
        # each may miss a little more often than alone, on the one side on which it can miss: Imbens and Manski
        one = calibration_slope(*rows, class_prior=prior, confidence=0.9, scenario="case-control", labelling="random")
        assert ranged.slope.interval.low <= one.slope.interval.low + 1e-6
        assert ranged.intercept.interval.high >= one.intercept.interval.high - 1e-6


def test_scores_of_exactly_zero_and_one_have_finite_logits():
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [1.0, 0.9, 0.4, 1.0, 0.0, 0.5, 0.2, 0.1]
    line = calibration_slope(labels, scores, class_prior=0.3, scenario="case-control", labelling="random")
    assert np.isfinite([line.slope.value, line.intercept.value, line.slope.interval.width]).all()
