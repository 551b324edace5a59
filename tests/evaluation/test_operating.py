"""Operating points that people name: by cost, capacity, floor and the first k rows."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.decisions.costs import Costs
from pulens.evaluation.operating import cost_at


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(4)
    positive = rng.random(800) < 0.25
    labels = (positive & (rng.random(800) < 0.5)).astype(int)
    return pulens.evaluate(
        labels, np.round(rng.normal(1.5 * positive), 2), class_prior=0.25, redraws=100, labelling="random"
    )


@pytest.mark.parametrize(
    "demands",
    [
        {"cost_miss": 10, "cost_alarm": 1},
        {"capacity": 90},
        {"capacity": "5%"},
        {"recall_at_least": 0.8},
        {"precision_at_least": 0.5},
        {"cost_miss": 10, "cost_alarm": 1, "capacity": 40},
    ],
)
def test_at_and_best_threshold_stand_where_decide_does(evaluation, demands):
    decided = evaluation.decide(**demands, labelling="random")
    assert evaluation.best_threshold(**demands) == decided.threshold
    point = evaluation.at(**demands)
    assert point.threshold == decided.threshold
    assert set(point.estimates) == set(evaluation.at(decided.threshold).estimates)


def test_the_top_k_point_flags_the_kth_row_and_all_that_tie_with_it(evaluation):
    scores = np.sort(np.repeat(evaluation.tally.thresholds, np.sum(evaluation.tally.increments(), axis=0).astype(int)))
    for k in (1, 37, 800):
        assert evaluation.at(top=k).threshold == scores[::-1][k - 1]
    assert evaluation.best_threshold(top="10%") == scores[::-1][79]


def test_what_says_no_threshold_or_two_is_refused(evaluation):
    with pytest.raises(pulens.PulensError, match="a threshold and capacity= both set the threshold"):
        evaluation.at(0.5, capacity=50)
    with pytest.raises(pulens.PulensError, match="top= names the k-th row by itself"):
        evaluation.at(top=50, capacity=50)
    with pytest.raises(pulens.PulensError, match="'costs' does not say a threshold"):
        evaluation.at(top=50, costs=3)
    with pytest.raises(pulens.PulensError, match="no threshold is left: capacity and recall collide"):
        evaluation.at(capacity=5, recall_at_least=0.8)
    with pytest.raises(pulens.PulensError, match="needs a threshold"):
        evaluation.at()


def test_a_metric_still_has_its_best_threshold(evaluation):
    assert evaluation.best_threshold() == evaluation.best_threshold("f1") == evaluation.threshold
    assert (
        evaluation.best_threshold("net_benefit", cost_ratio=1 / 11)
        == evaluation.decide(cost_miss=10, cost_alarm=1, confidence=None, labelling="random").threshold
    )


def test_the_cost_at_a_threshold_is_that_of_the_decision_there(evaluation):
    decision = evaluation.decide(cost_miss=10, cost_alarm=1, labelling="random")
    result = cost_at(evaluation.evidence, Costs(10.0, 1.0), decision.threshold, evaluation.resampling)
    assert result.value == pytest.approx(decision.cost.value)
    assert decision.cost.interval.low <= result.interval.low < result.value  # choosing adds doubt, never takes it
    assert result.value < result.interval.high <= decision.cost.interval.high
