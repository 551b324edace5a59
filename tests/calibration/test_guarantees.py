"""Bounds: their parts, their optima, and the sample sizes they ask for."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.calibration import (
    best_evaluation_bound,
    best_training_bound,
    evaluation_bound,
    expected_calibration_error,
    sample_size_for_error,
    training_bound,
)
from pulens.errors import PulensError
from pulens.testing import logistic_world


def test_more_bins_trade_binning_error_for_chance():
    few, many = (evaluation_bound(0.3, 1_000, 10_000, bins, binning="width") for bins in (5, 500))
    assert few.binning > many.binning
    assert few.statistical < many.statistical
    assert (few.dominated_by, many.dominated_by) == ("binning", "statistical")
    assert few.total == few.binning + few.statistical
    assert "on average" in str(few)


def test_a_bound_with_probability_is_larger_than_the_one_on_average():
    for binning in ("mass", "width"):
        average = evaluation_bound(0.3, 1_000, 10_000, 20, binning=binning)
        likely = evaluation_bound(0.3, 1_000, 10_000, 20, binning=binning, confidence=0.95)
        assert likely.total > average.total
        assert likely.to_dict()["confidence"] == 0.95


def test_the_optimum_of_equal_widths_is_the_lowest_of_theorem_1():
    best = best_evaluation_bound(0.3, 1_000, 10_000, binning="width")
    tried = [evaluation_bound(0.3, 1_000, 10_000, bins, binning="width").total for bins in range(1, 200)]
    assert best.total <= min(tried) + 1e-12
    assert abs(int(np.argmin(tried)) + 1 - best.bins) <= 1


def test_the_best_training_bound_is_found_among_all_numbers_of_bins():
    for binning in ("mass", "width"):
        best = best_training_bound(0.4, 2_000, 30_000, vc_dimension=5, binning=binning)
        tried = [
            training_bound(0.4, 2_000, 30_000, bins, vc_dimension=5, binning=binning).total for bins in range(1, 400)
        ]
        assert best.total == pytest.approx(min(tried), abs=1e-12)


def test_less_information_about_the_unlabelled_rows_lowers_the_training_bound():
    loose = training_bound(0.4, 2_000, 30_000, 20, information=50.0)
    tight = training_bound(0.4, 2_000, 30_000, 20, information=50.0, unlabelled_information=5.0)
    assert tight.binning < loose.binning
    assert tight.statistical == loose.statistical


def test_theorem_1_holds_in_a_world():
    world = logistic_world(-0.5, 1.5)
    few, many, _ = world.draw(500, 5_000, np.random.default_rng(0))
    labels, scores = np.repeat([1, 0], [500, 5_000]), np.concatenate([few, many])
    result = expected_calibration_error(
        labels, scores, class_prior=0.5, redraws=1, scenario="case-control", labelling="random"
    )
    bound = evaluation_bound(0.5, 500, 5_000, result.bins, lipschitz=2.0, confidence=0.95)
    assert abs(result.value - world.true_calibration_error()) < bound.total


def test_a_sample_size_is_the_smallest_that_suffices():
    for basis, error in (("guarantee", 0.1), ("noise", 0.02)):
        result = sample_size_for_error(error, 0.3, basis=basis)
        assert result.error <= error
        assert result.unlabelled == 10 * result.labelled
        if basis == "guarantee":
            lower = min(
                evaluation_bound(0.3, result.labelled - 1, 10 * (result.labelled - 1), bins, binning="width").total
                for bins in range(1, 200)
            )
            assert lower > error


def test_the_noise_basis_bounds_the_noise_floor_of_a_calibrated_model():
    world = logistic_world(np.log(0.3 / 0.7), 2.0, 0.3)
    size = sample_size_for_error(0.05, 0.3)
    few, many, _ = world.draw(size.labelled, size.unlabelled, np.random.default_rng(0))
    labels = np.repeat([1, 0], [size.labelled, size.unlabelled])
    result = expected_calibration_error(
        labels,
        np.concatenate([few, many]),
        class_prior=0.3,
        bins=size.bins,
        scenario="case-control",
        labelling="random",
    )
    assert 0.3 * 0.05 < result.noise_floor < 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluation_bound(0.0, 10, 100, 5), "class_prior must lie strictly between 0 and 1"),
        (lambda: evaluation_bound(0.3, 0, 100, 5), "at least 1 row"),
        (lambda: evaluation_bound(0.3, 10, 9, 5), "two unlabelled rows per bin"),
        (lambda: evaluation_bound(0.3, 10, 100, 5, lipschitz=-1), "lipschitz"),
        (lambda: evaluation_bound(0.3, 10, 100, 5, confidence=2), "between 0 and 1"),
        (lambda: training_bound(0.3, 10, 100, 5), "exactly one of vc_dimension and information"),
        (lambda: training_bound(0.3, 10, 100, 5, vc_dimension=0), "at least 1"),
        (lambda: sample_size_for_error(0, 0.3), "error must lie between 0 and 1"),
        (lambda: sample_size_for_error(0.1, 0.3, basis="hope"), "'noise' or 'guarantee'"),
        (lambda: sample_size_for_error(0.1, 0.3, unlabelled_per_labelled=0), "above 0"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(PulensError, match=message):
        call()
