"""A doubtful class prior is treated alike in every door, and intervals have the confidence asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import pulens
from pulens import calibration
from pulens.calibration.slope import _line
from pulens.estimate import Interval
from pulens.evidence import gather
from pulens.inference.kernels.quantiles import mixture_ends, tail_for_range
from pulens.inference.normal import normal_interval
from pulens.inference.prior_uncertainty import PriorUncertainty, range_tail
from pulens.priors import ClassPrior
from pulens.priors.distribution import PriorDistribution
from pulens.testing import logistic_world


def study(value: float, low: float, high: float, confidence: float | None = 0.95) -> ClassPrior:
    interval = Interval(low, high, confidence, "another study")
    return ClassPrior(value, value, "another study", interval, interval)


def estimated(value: float, spread: float) -> ClassPrior:
    grid = np.linspace(0.001, 0.6, 600)
    distribution = PriorDistribution(grid, np.exp(-(((grid - value) / spread) ** 2) / 2))
    interval = Interval(*distribution.interval(0.95), 0.95, "distribution")
    return ClassPrior(value, value, "estimated", interval, interval, distribution=distribution)


@pytest.fixture(scope="module")
def rows():
    few, many, _ = logistic_world(-0.5, 1.5, 0.2).draw(200, 2000, np.random.default_rng(0))
    return np.repeat([1, 0], [200, 2000]), np.concatenate([few, many])


def every_interval(rows, prior, confidence=0.95) -> dict[str, Interval]:
    """One from each door that makes intervals."""
    options = {"class_prior": prior, "scenario": "case-control", "confidence": confidence}
    labels, scores = rows
    evaluation = pulens.evaluate(labels, scores, threshold=0.5, redraws=200, **options, labelling="random")
    comparison = pulens.compare(
        labels, {"a": scores, "b": scores**2 - scores}, redraws=100, **options, labelling="random"
    )
    result = {
        "evaluate": evaluation.estimates["precision"],
        "metric": pulens.metrics.roc_auc(labels, scores, **options),
        "compare": comparison.estimates["average_precision"]["a"],
        "difference": comparison.difference("a", "b"),
        "ece": calibration.expected_calibration_error(labels, scores, **options, labelling="random"),
        "brier": calibration.brier_score(labels, scores, **options, labelling="random"),
        "log loss": calibration.log_loss(labels, scores, **options, labelling="random"),
        "in the large": calibration.calibration_in_the_large(labels, scores, **options, labelling="random"),
        "slope": calibration.calibration_slope(labels, scores, **options, labelling="random").slope,
        "bin": calibration.reliability(labels, scores, redraws=100, **options, labelling="random").bins[-1],
    }
    return {door: one.interval for door, one in result.items()}


@pytest.mark.parametrize("prior", [study(0.2, 0.1, 0.3), study(0.2, 0.15, 0.25, 0.8), estimated(0.2, 0.05)])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_every_door_has_the_confidence_asked_for_and_draws_the_prior(rows, prior, confidence) -> None:
    for door, interval in every_interval(rows, prior, confidence).items():
        assert interval.confidence == confidence, door
        assert ("hull" if door == "ece" else "class prior drawn") in interval.method, door


def test_every_door_takes_a_bare_range_by_a_hull_and_a_range_of_width_zero_as_a_number(rows) -> None:
    ranged, point, known = (every_interval(rows, prior) for prior in ((0.15, 0.25), (0.2, 0.2), 0.2))
    for door, interval in ranged.items():
        assert interval.confidence == 0.95, door
        assert "over the range of the class prior" in interval.method, door
        assert interval.width > known[door].width, door
        assert (point[door].low, point[door].high) == (known[door].low, known[door].high), door


def test_a_prior_that_is_nearly_certain_changes_nothing(rows) -> None:
    sure, known = every_interval(rows, study(0.2, 0.2 - 1e-9, 0.2 + 1e-9)), every_interval(rows, 0.2)
    for door in ("brier", "log loss", "in the large", "slope", "metric", "evaluate"):
        assert (sure[door].low, sure[door].high) == pytest.approx((known[door].low, known[door].high), abs=2e-3), door


def test_the_calibration_error_splits_the_error_allowed_between_prior_and_rows(rows) -> None:
    labels, scores = rows
    options = {"scenario": "case-control", "bins": 6}
    result = calibration.expected_calibration_error(
        labels, scores, class_prior=study(0.2, 0.1, 0.3), **options, labelling="random"
    )
    reach = 0.1 / ndtri(0.975) * ndtri(0.9875)  # the study's interval at 97.5%
    each = [
        calibration.expected_calibration_error(
            labels, scores, class_prior=prior, confidence=0.975, **options, labelling="random"
        ).interval
        for prior in np.linspace(0.2 - reach, 0.2 + reach, 17).tolist()
    ]
    assert result.interval.low == pytest.approx(min(one.low for one in each), abs=1e-9)
    assert result.interval.high == pytest.approx(max(one.high for one in each), abs=1e-9)
    # what a study says at another confidence is the same thing said
    again = study(0.2, 0.2 - 0.1 * ndtri(0.9) / ndtri(0.975), 0.2 + 0.1 * ndtri(0.9) / ndtri(0.975), 0.8)
    other = calibration.expected_calibration_error(labels, scores, class_prior=again, **options, labelling="random")
    assert (other.interval.low, other.interval.high) == pytest.approx((result.interval.low, result.interval.high))


def test_the_mixture_of_normals_is_what_drawing_rows_and_prior_gives(rows) -> None:
    """The slow witness: redraw the rows one by one, draw a prior for each, take percentiles."""
    labels, scores = rows
    prior = study(0.2, 0.12, 0.3)
    result = calibration.brier_score(
        labels, scores, class_prior=prior, scenario="case-control", labelling="random"
    ).interval
    rng = np.random.default_rng(1)
    few, many = scores[labels == 1], scores[labels == 0]
    share = PriorUncertainty(gather(labels, scores, class_prior=prior, scenario="case-control")).drawn(
        rng.standard_normal(20_000)
    )
    drawn = [
        np.mean(rng.choice(many, many.size) ** 2) + alpha * np.mean(1 - 2 * rng.choice(few, few.size))
        for alpha in share.tolist()
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (result.low, result.high) == pytest.approx((low, high), abs=0.0015)


def test_a_line_fitted_at_seventeen_priors_is_the_line_fitted_at_each(rows) -> None:
    evidence = gather(*rows, class_prior=estimated(0.2, 0.05), scenario="case-control")
    doubt = PriorUncertainty(evidence)

    def at(prior: float) -> tuple[float, float]:
        from dataclasses import replace

        theta, covariance = _line(replace(evidence, class_prior=ClassPrior(prior, prior, "given")))
        return float(theta[1]), float(covariance[1, 1]) ** 0.5

    result, _ = normal_interval(doubt, at, 0.95)
    values, errors = np.array([at(prior) for prior in doubt.nodes()[1].tolist()]).T
    exact = mixture_ends(values, errors, 0.025)
    assert (result.low, result.high) == pytest.approx(exact, abs=0.01 * result.width)


def test_ends_of_a_mixture_leave_out_what_they_should() -> None:
    rng = np.random.default_rng(0)
    values, errors = rng.normal(size=50), rng.uniform(0, 2, 50)
    errors[:5] = 0.0
    low, high = mixture_ends(values, errors, 0.05)
    for end, level in ((low, 0.05), (high, 0.95)):
        below = np.mean(np.where(errors > 0, ndtr((end - values) / np.where(errors > 0, errors, 1)), values < end))
        assert below == pytest.approx(level, abs=1e-9)
    assert mixture_ends(values, np.zeros(50), 0.05) == pytest.approx(tuple(np.quantile(values, [0.05, 0.95])))


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_tails_over_a_range_hold_a_truth_at_either_end_as_often_as_asked(ratio: float, confidence: float) -> None:
    tail = float(tail_for_range(confidence, ratio, 1.0))
    c = -ndtri(tail)
    assert ndtr(c + ratio) - ndtr(-c) == pytest.approx(confidence, abs=1e-9)
    assert range_tail(confidence, [0.0, np.nan, ratio], 1.0) == pytest.approx(tail)
    many = tail_for_range(confidence, np.array([ratio, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert many == pytest.approx([tail, (1 - confidence) / 2, 1 - confidence])


def test_draws_of_a_calibration_error_at_its_lowest_would_leave_out_the_truth() -> None:
    """Why the calibration error is never drawn: of a calibrated model every wrong prior shows an error."""
    world = logistic_world(float(np.log(0.3 / 0.7)), 2.0, 0.3)  # calibrated: the truth is 0
    rng = np.random.default_rng(0)
    few, many, _ = world.draw(5_000, 50_000, rng)
    labels, scores = np.repeat([1, 0], [few.size, many.size]), np.concatenate([few, many])
    options = {"scenario": "case-control", "bins": 5, "redraws": 10}
    drawn = [
        calibration.expected_calibration_error(labels, scores, class_prior=prior, **options, labelling="random").value
        for prior in rng.normal(0.3, 0.03, 100).tolist()
    ]
    truth = world.binned_calibration_error(
        np.array(
            [
                0.0,
                *(
                    one.high
                    for one in calibration.reliability(
                        labels, scores, class_prior=0.3, **options, labelling="random"
                    ).bins
                ),
            ]
        )
    )
    hull = calibration.expected_calibration_error(
        labels, scores, class_prior=study(0.3, 0.24, 0.36), **options, labelling="random"
    ).interval
    assert truth < np.quantile(drawn, 0.025)
    assert truth in hull
