"""Sensitivity to labelling: ranges that no allowed labelling leaves and that some labelling reaches."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.recovery.labelling import corner, mean_range, precision_sum, precision_sum_range, rate_range
from tests_support import pu_rows

FAVOURS = ("high", "low")


def labellings(shares: np.ndarray, factor: float, favours: str, rng: np.random.Generator, size: int = 200):
    """Densities of positives for random monotone propensities whose ratio is at most the factor, and all steps."""
    for _ in range(size):
        weights = np.sort(np.exp(rng.uniform(0, math.log(factor), shares.size) * rng.choice([0.3, 1.0])))
        if rng.random() < 0.5:
            weights = np.sort(rng.choice([1.0, factor], shares.size))
        density = shares * (weights if favours == "high" else weights[::-1])
        yield density / density.sum()


@pytest.mark.filterwarnings("error")
def test_without_positives_no_labelling_moves_average_precision() -> None:
    # an audit that found none, and no unlabelled row at the scores of the labelled ones
    rows = ([0, 1, 0, -1, 1], [-2.0, 2.0, 1.0, 2.0, 2.0])
    evaluation = pulens.evaluate(*rows, audit="0/50", scenario="case-control", redraws=100)
    found = evaluation.sensitivity("average_precision", factor=2.0)
    assert found.interval.low == found.interval.high == found.value


@pytest.mark.parametrize("favours", FAVOURS)
@pytest.mark.parametrize("seed", range(10))
def test_no_labelling_leaves_the_ranges_and_some_reaches_them(favours: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, factor = int(rng.integers(1, 7)), float(rng.uniform(1, 6))
    shares = rng.dirichlet(np.ones(size))
    called = np.sort(rng.uniform(0.05, 1, size))
    values = np.sort(rng.random(size))[::-1]
    low, high = mean_range(shares, values, factor, favours)
    least, most = precision_sum_range(shares, called, factor, favours)
    means, sums = [], []
    for density in labellings(shares, factor, favours, rng):
        means.append(density @ values)
        sums.append(precision_sum(density, called))
        running = np.cumsum(density)
        below, above = rate_range(np.cumsum(shares), factor, favours)
        assert (running >= below - 1e-12).all()
        assert (running <= above + 1e-12).all()
    steps = [corner(shares, place, factor, favours) for place in range(size + 1)]
    assert min(means) >= low - 1e-12
    assert max(means) <= high + 1e-12
    assert min(step @ values for step in steps) == pytest.approx(low, abs=1e-12)
    assert max(step @ values for step in steps) == pytest.approx(high, abs=1e-12)
    assert min(sums) >= least - 1e-12
    assert max(sums) <= most + 1e-12
    assert max(precision_sum(step, called) for step in steps) == pytest.approx(most, abs=1e-12)


def test_the_least_precision_sum_is_reached() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    shares, called, factor = rng.dirichlet(np.ones(5)), np.sort(rng.uniform(0.1, 1, 5)), 4.0
    low, _ = precision_sum_range(shares, called, factor)
    steps = np.array([corner(shares, place, factor, "high") for place in range(6)])

    def mixed(weights: np.ndarray) -> float:
        shares_of_steps = weights**2 / (weights**2).sum()
        return precision_sum(shares_of_steps @ steps, called)

    found = min(minimize(mixed, rng.random(6) + 0.1, tol=1e-12).fun for _ in range(5))
    assert found == pytest.approx(low, abs=5e-6)


def truth_of_labelling(scores: np.ndarray, labels: np.ndarray, density: np.ndarray, prior: float, threshold: float):
    """Precision and recall in case-control data when positives have this density over the labelled scores."""
    hits = density[scores[labels == 1] >= threshold].sum()
    called = (scores[labels == 0] >= threshold).mean()
    return prior * hits / called, hits


def test_precision_and_recall_of_small_samples_by_brute_force() -> None:
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    scores = np.array([9.0, 7, 5, 2, 9, 8, 7, 6, 5, 4, 3, 1])
    evaluation = pulens.evaluate(
        labels, scores, class_prior=0.25, threshold=5, confidence=None, scenario="case-control"
    )
    for factor in (1.0, 1.5, 3.0):
        weights = np.array([[factor if i >= cut else 1.0 for i in range(4)] for cut in range(5)])
        found = [truth_of_labelling(scores, labels, w / w.sum(), 0.25, 5) for w in weights]
        for place, metric in enumerate(("precision", "recall")):
            interval = evaluation.sensitivity(metric, factor=factor).interval
            values = [each[place] for each in found]
            assert (interval.low, interval.high) == pytest.approx((min(values), max(values)))


@given(pu_rows(negatives=True), st.sampled_from(["case-control", "single-set"]))
def test_random_labelling_gives_the_value_and_ranges_grow_with_the_factor(rows, scenario) -> None:
    labels, scores = rows
    evaluation = pulens.evaluate(labels, scores, unlabelled_prior=0.2, threshold=0, scenario=scenario, confidence=None)
    for metric in ("recall", "f1", "accuracy", "roc_auc", "average_precision"):
        if evaluation.estimates[metric].undefined_because:
            continue
        ranges = [evaluation.sensitivity(metric, factor=factor, favours="either").interval for factor in (1, 1.5, 4)]
        value = evaluation.estimates[metric].value
        assert ranges[0].low == pytest.approx(value, abs=2e-6)
        assert ranges[0].high == pytest.approx(value, abs=2e-6)
        for inner, outer in pairwise(ranges):
            assert outer.low <= inner.low + 2e-6
            assert outer.high >= inner.high - 2e-6


def test_truth_lies_in_the_range_when_labelling_favours_high_scores() -> None:
    rng = np.random.default_rng(0)
    n, prior = 200_000, 0.2
    positive = rng.random(n) < prior
    scores = rng.normal(1.5 * positive, 1)
    propensity = 0.1 * np.where(scores > 1.5, 3.0, 1.0)
    labels = (positive & (rng.random(n) < propensity)).astype(int)
    evaluation = pulens.evaluate(
        labels, scores, class_prior=prior, scenario="single-set", threshold=1.0, confidence=None
    )
    called = scores >= 1.0
    truth = {
        "precision": positive[called].mean(),
        "recall": called[positive].mean(),
        "roc_auc": 0.8556,
    }
    for metric, value in truth.items():
        assert evaluation.estimates[metric].value > value + 0.01  # random labelling flatters the classifier
        found = evaluation.sensitivity(metric, factor=3.0).interval
        assert found.low - 0.005 <= value <= found.high


def test_robustness_finds_the_factor_at_which_a_statement_fails() -> None:
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
    evaluation = pulens.evaluate(labels, scores, class_prior=0.2, threshold=5, confidence=None, scenario="case-control")
    found = evaluation.robustness("recall > 0.5")
    assert found.factor == pytest.approx(2.0)
    assert evaluation.sensitivity("recall", factor=found.factor - 0.01).interval.low > 0.5
    assert evaluation.robustness("recall > 0.7").factor == 1.0
    assert math.isinf(evaluation.robustness("recall <= 0.7").factor)
    assert "less than 2 times" in str(found)
    low, high = evaluation.sensitivity_curve("recall", factors=[1, 2, 4])
    assert low.y == pytest.approx([2 / 3, 0.5, 1 / 3])
    assert high.y == pytest.approx([2 / 3] * 3)


def test_bad_requests_are_named() -> None:
    evaluation = pulens.evaluate(
        [1, 1, 0, 0], [4, 3, 2, 1], class_prior=0.2, threshold=2, confidence=None, scenario="case-control"
    )
    with pytest.raises(pulens.PulensError, match=r"factor must be a number of at least 1, got 0.5"):
        evaluation.sensitivity("recall", factor=0.5)
    with pytest.raises(pulens.PulensError, match="favours must be 'high', 'low' or 'either'"):
        evaluation.sensitivity("recall", factor=2, favours="up")
    with pytest.raises(pulens.PulensError, match=r"a statement reads like 'precision > 0.8'"):
        evaluation.robustness("recall is fine")
    with pytest.raises(pulens.PulensError, match="there is no metric 'recal'"):
        evaluation.robustness("recal > 0.1")
    noisy = pulens.evaluate(
        [1, 1, 0, 0],
        [4, 3, 2, 1],
        class_prior=0.2,
        label_noise=0.1,
        threshold=2,
        confidence=None,
        scenario="case-control",
    )
    with pytest.raises(pulens.PulensError, match=r"clean labels only, got label_noise=0.1"):
        noisy.sensitivity("recall", factor=2)


def test_a_threshold_that_nothing_reaches_can_be_written_as_json():
    labels, scores = np.arange(60) % 3 == 0, np.linspace(1, 0, 60)
    evaluation = pulens.evaluate(labels.astype(int), scores, class_prior=0.5, scenario="case-control", threshold=np.inf)
    written = evaluation.sensitivity("recall", factor=2).to_dict()
    assert json.loads(json.dumps(written, allow_nan=False))["threshold"] is None
