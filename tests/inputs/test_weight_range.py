"""Weights so large or small that no sum of them is a number of rows."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens import calibration
from pulens.errors import InputError
from pulens.inputs.columns import check_total_weights, check_weights

LABELS = np.repeat([1, 0], [30, 70])
SCORES = np.random.default_rng(19).random(100)
GIVEN = {"class_prior": 0.3, "scenario": "case-control"}
DOORS = {
    "evaluate": lambda **options: pulens.evaluate(LABELS, SCORES, **GIVEN, **options, labelling="random"),
    "bounds": lambda **options: pulens.bounds(LABELS, SCORES, **GIVEN, **options),
    "estimate_prior": lambda **options: pulens.estimate_prior(LABELS, SCORES, scenario="case-control", **options),
    "roc_auc": lambda **options: pulens.metrics.roc_auc(LABELS, SCORES, **GIVEN, **options),
    "expected_calibration_error": lambda **options: calibration.expected_calibration_error(
        LABELS, SCORES, **GIVEN, **options, labelling="random"
    ),
    "recalibrate": lambda **options: calibration.recalibrate(LABELS, SCORES, **GIVEN, **options, labelling="random"),
    "calibration_slope": lambda **options: calibration.calibration_slope(
        LABELS, SCORES, **GIVEN, **options, labelling="random"
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("weight", [1e-320, 1e-300, 1e300, 1e308])
def test_weights_that_count_no_rows_are_named_at_every_door(door: str, weight: float) -> None:
    with pytest.raises(InputError, match=r"weights must lie between 1e-09 and 1e\+12: the largest is 1e.*in row 0"):
        DOORS[door](weights=np.full(100, weight))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("weight", [1e12, 1e6, 2.0])
def test_large_weights_within_the_range_give_numbers_without_warnings(door: str, weight: float) -> None:
    assert "nan" not in str(DOORS[door](weights=np.full(100, weight))).replace("nan (", "")


def test_a_few_small_weights_among_others_are_welcome() -> None:
    weights = np.ones(100)
    weights[::3] = 1e-300
    without = np.arange(100) % 3 != 0
    result = pulens.metrics.roc_auc(LABELS, SCORES, weights=weights, **GIVEN).value
    assert result == pytest.approx(pulens.metrics.roc_auc(LABELS[without], SCORES[without], **GIVEN).value)


def test_engines_refuse_such_sums_too() -> None:
    frame = polars.DataFrame({"label": LABELS, "score": SCORES, "w": np.full(100, 1e300)})
    said = {
        1e300: r"add up to .* rows; at most 1e\+15 can be counted",
        1e-300: r"weights \(column 'w'\) must lie between",
    }
    for weight, words in said.items():
        lazy = frame.with_columns(w=polars.lit(weight)).lazy()
        with pytest.raises(InputError, match=words):
            pulens.evaluate(lazy, weight="w", **GIVEN, labelling="random")


def test_zero_weights_are_weights() -> None:
    np.testing.assert_array_equal(check_weights([0.0, 0.0]), [0.0, 0.0])
    check_total_weights([0.0, 5.0, 1e15])
    with pytest.raises(InputError, match="add up to inf"):
        check_total_weights([np.inf])


def test_a_weight_far_below_a_row_among_ordinary_ones_gives_numbers_without_warnings() -> None:
    weights = np.where(np.arange(100) == 3, 1e-308, 1.0)
    result = pulens.evaluate(
        LABELS, SCORES, class_prior=0.5, weights=weights, redraws=100, labelling="random"
    ).estimates
    assert np.isfinite(result["average_precision"].interval.low)
