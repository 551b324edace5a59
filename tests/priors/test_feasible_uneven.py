"""The largest possible share of positives where high scores were labelled more often than others."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally
from pulens.priors import feasible_range
from pulens.scenario import Scenario


def uneven(rng, scenario: str, favour: float, rows: int = 5000, labelled: int = 500):
    """Positives are two standard deviations higher; their chance of a label rises with the score, up to a factor."""
    positive = rng.random(rows) < 0.2
    scores = rng.normal(2.0 * positive)

    def chance(of):
        return (1 + (favour - 1) * np.clip((of - 0.5) / 3, 0, 1)) / favour

    if scenario == "single-set":
        labels = (positive & (rng.random(rows) < 0.7 * chance(scores))).astype(int)
        return labels, scores, float(positive[labels == 0].mean())
    drawn = rng.normal(2.0, 1, 20 * labelled)
    drawn = drawn[rng.random(drawn.size) < chance(drawn)][:labelled]
    return np.repeat([1, 0], [drawn.size, rows]), np.concatenate([drawn, scores]), float(positive.mean())


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_a_limit_for_uneven_labels_holds_where_that_for_random_ones_does_not(scenario: str) -> None:
    rng = np.random.default_rng(0)
    held = {1.0: 0, 8.0: 0}
    for _ in range(60):
        labels, scores, share = uneven(rng, scenario, 8.0)
        for factor in held:
            reach = feasible_range(Tally.from_arrays(labels, scores), factor=factor, scenario=Scenario(scenario))
            held[factor] += share <= reach.high
    assert held[8.0] == 60
    assert held[1.0] <= 30


def test_at_a_factor_of_one_both_scenarios_have_the_limit_for_random_labels() -> None:
    labels, scores, _ = uneven(np.random.default_rng(1), "single-set", 2.0)
    tally = Tally.from_arrays(labels, scores)
    limits = [feasible_range(tally, scenario=scenario).high for scenario in Scenario]
    assert limits == pytest.approx([feasible_range(tally).high] * 2)
    grows = [feasible_range(tally, factor=factor, scenario=Scenario.SINGLE_SET).high for factor in (1, 2, 3, 8)]
    assert grows == sorted(grows)


def test_the_limit_is_that_of_the_formula_where_rows_are_endless() -> None:
    labelled, unlabelled = np.array([600.0, 1000.0]) * 1e6, np.array([300.0, 4000.0]) * 1e6
    tally = Tally(np.array([1.0, 0.0]), labelled, unlabelled, np.zeros(2))
    for factor in (1.0, 3.0):
        share = 0.6 / (0.6 + factor * 0.4)
        apart, together = (
            feasible_range(tally, factor=factor, scenario=scenario).high
            for scenario in (Scenario.CASE_CONTROL, Scenario.SINGLE_SET)
        )
        assert apart == pytest.approx(0.075 / share, rel=1e-3)
        assert together == pytest.approx((0.075 + (0.6 - share) / 4) / share, rel=1e-3)


def test_the_note_says_that_its_limit_needs_random_labels_and_gives_the_other() -> None:
    labels, scores, _ = uneven(np.random.default_rng(2), "case-control", 8.0)
    prior = pulens.estimate_prior(labels, scores, scenario="case-control")
    note = next(notice.message for notice in prior.notices if notice.code == "prior-identified-from-above")
    assert f"up to {prior.unlabelled_feasible.high:.3f} is possible if labels are a random sample" in note
    assert (
        f"up to {prior.unlabelled_feasible_uneven.high:.3f} if high scores were labelled up to 3 times as often" in note
    )
    assert prior.to_dict()["feasible_high_uneven"] == prior.feasible_uneven.high > prior.feasible.high
    evaluation = pulens.evaluate(labels, scores, scenario="case-control", redraws=100, labelling="random")
    assert note in {notice.message for notice in evaluation.notices}
