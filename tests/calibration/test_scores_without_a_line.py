"""Scores through which no line can be drawn: constant, only 0 and 1, or keeping the kinds of rows apart."""

from __future__ import annotations

import numpy as np
import pytest

from pulens import PulensError, calibration

LABELS = np.repeat([1, 0], [10, 40])
HARD = np.concatenate([np.repeat([1.0, 0.0], [7, 3]), np.repeat([1.0, 0.0], [12, 28])])
GIVEN = {"class_prior": 0.3, "scenario": "case-control"}


@pytest.mark.parametrize("scores", [HARD, np.full(50, 0.4), np.ones(50), np.where(HARD > 0, 1.0, 0.3)])
def test_a_calibration_slope_needs_two_logits(scores: np.ndarray) -> None:
    with pytest.raises(
        PulensError, match=r"calibration_slope .* at least two different scores strictly between 0 and 1"
    ):
        calibration.calibration_slope(LABELS, scores, **GIVEN, labelling="random")


def test_a_calibration_slope_of_two_scores_is_fitted() -> None:
    line = calibration.calibration_slope(LABELS, np.where(HARD > 0, 0.8, 0.3), **GIVEN, labelling="random")
    assert np.isfinite([line.slope.value, line.slope.interval.low, line.slope.interval.high]).all()


def test_scores_that_keep_labelled_rows_apart_are_named() -> None:
    with pytest.raises(PulensError, match=r"no highest point .* separate labelled and unlabelled rows completely"):
        calibration.calibration_slope(LABELS, np.where(LABELS == 1, 0.8, 0.3), **GIVEN, labelling="random")


def test_a_slope_has_no_error_where_every_kind_of_row_has_one_score() -> None:
    low, high = 9.357622968839299e-14, 0.9999999999999065
    for prior in (0.1, 0.25, 0.4):
        with pytest.raises(PulensError, match="how scores differ among rows of the same kind"):
            calibration.calibration_slope(
                [0, 0, 0, -1, 1],
                [low, low, low, high, high],
                class_prior=prior,
                scenario="case-control",
                labelling="random",
            )


def test_the_error_of_a_slope_is_a_number_where_its_terms_cancel() -> None:
    # scores next to 0 and 1 and nearly every unlabelled row positive: the terms of the variance are of order 1e16
    low, high = 9.357622968839299e-14, 0.9999999999999065
    labels = np.repeat([1, 0, -1], [89, 151, 60])
    scores = np.concatenate([np.tile([low, 0.5, high], n)[:n] for n in (89, 151, 60)])
    line = calibration.calibration_slope(labels, scores, audit="1/1", scenario="case-control", labelling="random")
    for result in line:
        assert result.interval.low <= result.value <= result.interval.high
        assert np.isfinite([result.interval.low, result.interval.high]).all()


@pytest.mark.parametrize("scores", [np.full(50, 0.4), np.ones(50), np.zeros(50)])
@pytest.mark.parametrize("method", ["auto", "isotonic", "histogram"])
def test_constant_scores_become_the_class_prior(scores: np.ndarray, method: str) -> None:
    result = calibration.recalibrate(LABELS, scores, method=method, **GIVEN, labelling="random")
    assert result(scores[:1]) == pytest.approx(0.3)
    assert result.method == ("isotonic" if method == "auto" else method)


@pytest.mark.parametrize("method", ["platt", "beta"])
@pytest.mark.parametrize("scores", [np.full(50, 0.4), HARD])
def test_lines_through_too_few_scores_are_refused(scores: np.ndarray, method: str) -> None:
    with pytest.raises(PulensError, match=f"'{method}' fits a line .*'isotonic' or 'histogram'"):
        calibration.recalibrate(LABELS, scores, method=method, **GIVEN, labelling="random")


@pytest.mark.parametrize("scores", [np.ones(50), HARD, np.full(50, 0.5)])
def test_a_temperature_needs_a_logit(scores: np.ndarray) -> None:
    with pytest.raises(PulensError, match="'temperature' divides logits"):
        calibration.recalibrate(LABELS, scores, method="temperature", **GIVEN, labelling="random")


def test_scores_of_0_and_1_are_recalibrated_by_what_can_be_fitted() -> None:
    result = calibration.recalibrate(LABELS, HARD, **GIVEN, labelling="random")
    assert set(result.considered) == {"identity", "isotonic"}
    # of 40 unlabelled rows 12 are called positive, and they hold 7 tenths of the positives
    assert calibration.recalibrate(LABELS, HARD, method="isotonic", **GIVEN, labelling="random")(
        [1.0]
    ) == pytest.approx(0.3 * 0.7 / 0.3)


def test_constant_ranks_are_recalibrated() -> None:
    result = calibration.recalibrate(LABELS, np.full(50, 4.0), scores_are="rank", **GIVEN, labelling="random")
    assert result([4.0]) == pytest.approx(0.3)
    with pytest.raises(PulensError, match=r"at least two different scores; the scores are 4\.0"):
        calibration.recalibrate(
            LABELS, np.full(50, 4.0), scores_are="rank", method="platt", **GIVEN, labelling="random"
        )
