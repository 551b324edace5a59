"""Small numbers and signs in the making of intervals, each of which could be wrong without a wrong answer in sight."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.calibration import expected_calibration_error
from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.evidence import gather
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.placements import placement_moments
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.prior_draws import PriorDraws
from pulens.metrics import METRICS, Metric
from pulens.metrics.parts.measure import estimate
from pulens.priors import ClassPrior


def lopsided() -> ClassPrior:
    """A class prior that may be much higher than it looks, but hardly lower."""
    own = Interval(0.19, 0.35, 0.95, "another study")
    return ClassPrior(0.2, 0.2, "another study", own, own)


def rows(labelled: int = 400, unlabelled: int = 4000, prior: float = 0.2):
    rng = np.random.default_rng(3)
    positive = rng.random(unlabelled) < prior
    scores = np.concatenate([rng.normal(1.5, 1, labelled), rng.normal(1.5 * positive, 1)])
    return np.repeat([1, 0], [labelled, unlabelled]), scores


def test_a_mirrored_prior_lies_as_far_on_the_other_side() -> None:
    evidence = gather(*rows(), class_prior=lopsided(), scenario="case-control")
    draws, normal = PriorDraws(evidence), np.array([-1.959964, 0.0, 1.959964])
    totals = tuple(evidence.tally.totals)
    assert draws.priors(None, normal, totals) == pytest.approx([0.19, 0.2, 0.35], abs=1e-6)
    assert draws.priors(None, normal, totals, mirrored=True) == pytest.approx([0.21, 0.2, 0.05], abs=1e-6)


def test_a_prior_that_may_only_be_higher_lets_a_chosen_thresholds_precision_only_rise() -> None:
    """Redraws vary around the rows as the rows vary around the truth, so the prior's error is turned round in them."""
    labels, scores = rows()
    known, doubted = (
        pulens.evaluate(
            labels, scores, class_prior=prior, redraws=400, scenario="case-control", labelling="random"
        ).estimates["precision"]
        for prior in (0.2, lopsided())
    )
    assert "chosen again" in doubted.interval.method
    assert doubted.interval.high - known.interval.high > 0.1
    assert known.interval.low - doubted.interval.low < 0.04


@pytest.mark.parametrize("size", [20, 60, 400])
def test_rows_that_were_all_outscored_leave_the_doubt_of_a_rate_seen_n_times_of_n(size: int) -> None:
    """The exact limit of such a rate is 0.025 ** (1 / n), about 1 - 3.7 / n."""
    labels = np.repeat([1, -1], [size, 200_000])
    scores = np.repeat([1.0, 0.0], [size, 200_000])
    evidence = gather(Tally.from_arrays(labels, scores))
    result = estimate("roc_auc", METRICS["roc_auc"], evidence, doubts=IntervalEstimator(evidence, Resampling()))
    assert result.value == result.interval.high == 1.0
    assert 1 - result.interval.low == pytest.approx(1 - 0.025 ** (1 / size), rel=0.15)


def test_no_spread_is_skewed_towards_the_rows_that_were_not_seen() -> None:
    moments = placement_moments(Tally.from_arrays(np.repeat([1, 0], [30, 1000]), np.repeat([1.0, 0.0], [30, 1000])))
    left, right = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    _, variance, third = moments.bilinear(left, right)
    assert third.sum() / variance.sum() ** 1.5 < -1.0


def humped(table):
    """Highest where half of the population is positive."""
    share = table.positive / (table.positive + table.negative)
    return np.broadcast_to(4 * share * (1 - share), np.shape(table.true_positive_rate))


def test_a_range_over_the_class_prior_holds_what_lies_between_its_ends() -> None:
    labels, scores = rows(40, 400)
    evidence = gather(labels, scores, class_prior=(0.3, 0.9), scenario="case-control")
    doubts = IntervalEstimator(evidence, Resampling(redraws=100))
    result = estimate("humped", Metric(humped, "A hump"), evidence, threshold=0.5, doubts=doubts)
    assert result.value == pytest.approx(4 * 0.6 * 0.4)
    assert result.sources["class prior"].high == pytest.approx(1.0, abs=0.002)  # at a share of one half
    assert result.sources["class prior"].low == pytest.approx(4 * 0.9 * 0.1)


def test_a_ranking_over_the_class_prior_holds_what_lies_between_its_ends() -> None:
    def share_humped(tally, assumptions):
        return 4 * assumptions.unlabelled_prior * (1 - assumptions.unlabelled_prior)

    evidence = gather(*rows(40, 400), class_prior=(0.3, 0.9), scenario="case-control")
    result = estimate("humped", Metric(share_humped, "A hump", reads="ranking"), evidence)
    assert result.interval.high == pytest.approx(1.0, abs=0.002)


def test_the_calibration_errors_range_holds_its_lowest_point() -> None:
    """Over the class prior the error falls and rises again: its lowest value lies between the ends of the range."""
    rng = np.random.default_rng(5)
    scores = rng.beta(2, 4, 30_000)  # a calibrated model: a third of the rows are positive
    positive = rng.random(30_000) < scores
    labels = np.where(positive & (rng.random(30_000) < 0.3), 1, 0)
    unlabelled = positive[labels == 0].mean()
    options = {"bins": 10, "redraws": 1}
    at_truth = expected_calibration_error(
        labels, scores, unlabelled_prior=float(unlabelled), **options, labelling="random"
    ).value
    ends = (unlabelled - 0.15, unlabelled + 0.3)
    ranged = expected_calibration_error(labels, scores, unlabelled_prior=ends, **options, labelling="random")
    at_ends = [
        expected_calibration_error(labels, scores, unlabelled_prior=float(end), **options, labelling="random").value
        for end in ends
    ]
    assert min(*at_ends, ranged.value) > at_truth + 0.04
    assert ranged.sources["class prior"].low < at_truth + 0.02
    assert ranged.interval.low < at_truth + 0.02
