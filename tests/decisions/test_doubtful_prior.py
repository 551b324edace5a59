"""A class prior in doubt: the first line says under which condition it holds, and regret is told over the range."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.decisions.actions import Actions
from pulens.decisions.costs import Costs
from pulens.evidence import gather

PRICES = {"cost_miss": 100, "cost_alarm": 20}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.15
    return (positive & (rng.random(600) < 0.3)).astype(int), rng.normal(1.5 * positive).round(2)


def first_line(decision):
    return " ".join(str(decision).split("cost per")[0].split())


def test_a_choice_that_moves_over_the_range_is_said_to_hold_at_one_class_prior(rows):
    decision = pulens.decide(*rows, **PRICES, class_prior=(0.06, 0.4), redraws=100, labelling="random")
    ends = [
        pulens.decide(*rows, **PRICES, class_prior=end, confidence=None, labelling="random").threshold
        for end in (0.06, 0.4)
    ]
    assert ends[0] > ends[1]
    assert f"(lowest cost if the class prior is 0.23; from 0.06 to 0.4 the cheapest goes from {ends[0]:.6g} to " in (
        first_line(decision)
    )
    assert decision.regret_over_range.cheapest == tuple(ends)


def test_a_choice_that_stays_over_the_range_says_so(rows):
    decision = pulens.decide(*rows, **PRICES, class_prior=0.2, redraws=100, labelling="random")
    low, high = decision.priors
    inside = low + 0.2 * (high - low), high - 0.2 * (high - low)
    decision = pulens.decide(*rows, **PRICES, class_prior=inside, redraws=100, labelling="random")
    assert "lowest cost at every class prior from" in first_line(decision)
    assert decision.regret_over_range.largest == pytest.approx(0, abs=1e-12)


def test_regret_over_the_range_is_that_of_every_class_prior_in_it(rows):
    evidence = gather(*rows, class_prior=(0.06, 0.4))
    decision = pulens.decide(evidence, **PRICES, redraws=100, labelling="random")
    reach = evidence.class_prior.unlabelled_interval
    place = int(np.flatnonzero(Actions.of(evidence).thresholds == decision.threshold)[0])
    regrets, worst = [], None
    for share in np.linspace(reach.low, reach.high, 101):
        costs = Actions.of(evidence, float(share)).costs(Costs(100.0, 20.0))
        regrets.append(costs[place] - costs.min())
        worst = costs - costs.min() if worst is None else np.maximum(worst, costs - costs.min())
    result = decision.regret_over_range
    assert result.largest == pytest.approx(max(regrets), rel=1e-3)
    assert result.safest_regret == pytest.approx(worst.min(), rel=1e-3)
    assert 1000 * result.largest >= max(each.cost_above_best for each in decision.regret) - 1e-9
    by_regret = pulens.decide(evidence, **PRICES, choose="regret", redraws=100, labelling="random")
    assert by_regret.regret_over_range.largest == pytest.approx(result.safest_regret, rel=0.05)
    assert "smallest regret over class priors from 0.06 to 0.4" in first_line(by_regret)
    assert decision.to_dict()["regret_over_range"]["largest"] == pytest.approx(1000 * result.largest)


def test_a_class_prior_that_the_rows_rule_out_is_not_to_be_acted_on():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [100, 900])
    scores = rng.normal(2.0 * (labels | (rng.random(1000) < 0.1))).round(2)
    decision = pulens.decide(labels, scores, **PRICES, class_prior=0.8, redraws=100, labelling="random")
    assert str(decision).startswith("Do not act on this: these rows rule out class prior 0.8")
    assert decision.cost.interval.low >= 0  # misses and alarms bring no money


def test_a_recall_floor_does_not_depend_on_the_class_prior(rows):
    lines = {
        first_line(pulens.decide(*rows, recall_at_least=0.6, class_prior=prior, redraws=100, labelling="random")).split(
            "flagged "
        )[0]
        for prior in (0.2, (0.06, 0.4))
    }
    assert len(lines) == 1


def test_a_floor_that_must_hold_as_often_as_not_is_read_off_an_interval_that_has_a_width():
    """At a confidence of one half the interval is a point, and its width over its reach was a number over zero."""
    rng = np.random.default_rng(1)
    positive = rng.random(900) < 0.3
    labels, scores = (positive & (rng.random(900) < 0.4)).astype(int), rng.normal(2 * positive).round(2)
    asked = {"precision_at_least": 0.3, "class_prior": "auto", "scenario": "single-set", "redraws": 100}
    thresholds = [
        pulens.decide(labels, scores, **asked, confidence=one, labelling="random").threshold for one in (0.75, 0.5, 0.4)
    ]
    assert thresholds[0] >= thresholds[1] >= thresholds[2]
