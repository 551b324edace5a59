"""The page's arithmetic of costs is Python's: node runs the page's script on the same counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from page_scripts import answers_of, page_data
from pulens.decisions.actions import Actions, cheapest
from pulens.decisions.costs import Costs
from pulens.evidence import gather
from pulens.priors import ClassPrior, population_prior

DRIVER = """
const recovery = require(process.argv[1] + "/recovery.js");
const decision = require(process.argv[1] + "/decision.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((data) => {
  const given = { unlabelledPrior: data.prior, labelNoise: data.labelNoise, scenario: data.scenario };
  const points = decision.actionsOf(recovery.tablesOf(data.counts, data.totals, given));
  const money = decision.moneyAt(data.ratio, data.costs);
  const allowed = (i) => points.flagged[i] <= data.most + 1e-12;
  const place = decision.cheapest(points, money, allowed);
  return {
    money, place, cost: decision.costAt(points, place, money), all: decision.flagAll(points.prior, money),
    benefit: decision.netBenefit(points, place, data.ratio), useful: decision.useful(points, place),
  };
})));
"""


def world(number):
    """Counts of many kinds: ties, few rows, known negatives, noise, both scenarios."""
    rng = np.random.default_rng(100 + number)
    rows = int(rng.integers(20, 400))
    positive = rng.random(rows) < rng.uniform(0.1, 0.6)
    labels = (positive & (rng.random(rows) < 0.5)).astype(int)
    if number % 3 == 0:
        labels[~positive & (rng.random(rows) < 0.2)] = -1
    labels[:2], labels[2:5] = 1, 0
    scores = rng.normal(positive * rng.uniform(0.5, 2))
    scores = np.round(scores) if number % 2 else scores
    scenario = "case-control" if number % 4 < 2 else "single-set"
    noise = 0.1 if number % 5 == 0 else 0.0
    share = float(rng.uniform(0.02, 0.5))
    evidence = gather(labels, scores, unlabelled_prior=0.2, label_noise=noise, scenario=scenario)
    population = population_prior(share, evidence.tally.totals, evidence.scenario, noise)
    # a person who moves the slider takes the class prior for known
    moved = replace(evidence, class_prior=ClassPrior(population, share, "set"), prior_held="population")
    costs = Costs(miss=float(rng.uniform(1, 500)), alarm=1.0, flag=float(rng.uniform(0, 0.1)), hit=float(number % 2))
    ratio, most = float(rng.uniform(0.1, 0.7)), float(rng.choice([1.0, rng.uniform(0.05, 0.6)]))
    return moved, share, costs, ratio, most


def costs_at(ratio, costs):
    """Costs with the price of a false alarm that makes the cost ratio this one."""
    return replace(costs, alarm=(ratio * (costs.miss + costs.hit) - costs.flag) / (1 - ratio))


def test_costs_and_choice_are_pythons_in_sixty_worlds():
    cases, expected = [], []
    for number in range(60):
        evidence, share, costs, ratio, most = world(number)
        plain = {"miss": costs.miss, "alarm": 1.0, "flag": costs.flag, "hit": costs.hit}
        data = page_data(evidence.tally, evidence.scenario, share, 0.0, evidence.label_noise)
        cases.append(data | {"ratio": ratio, "costs": plain, "most": most})
        expected.append((evidence, costs_at(ratio, costs), ratio, most))
    for (evidence, costs, ratio, most), result in zip(expected, answers_of(DRIVER, cases), strict=True):
        points = Actions.of(evidence)
        allowed = points.flagged <= most + 1e-12
        place = cheapest(points.costs(costs), allowed)
        assert costs.ratio == pytest.approx(ratio, abs=1e-12)
        assert result["place"] == place
        assert result["cost"] == pytest.approx(float(points.costs(costs)[place]), abs=1e-9)
        everybody = costs.miss * points.class_prior + costs.price_of_flag - costs.worth_of_hit * points.class_prior
        assert result["all"] == pytest.approx(everybody, abs=1e-9)
        odds = ratio / (1 - ratio)
        benefit = (1 + odds) * points.hits[place] - odds * points.flagged[place]
        assert result["benefit"] == pytest.approx(benefit, abs=1e-9)


def test_the_useful_cost_ratios_are_those_of_the_worked_example():
    tally = gather(
        [1, 1, 1, 0, 0, 0, 0, 0], [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2],
        unlabelled_prior=0.2, scenario="case-control",
    ).tally  # fmt: skip
    driver = DRIVER.replace("const place = decision.cheapest(points, money, allowed);", "const { place } = data;")
    case = page_data(tally, "case-control", 0.2, 0.0) | {
        "ratio": 0.1,
        "costs": {"miss": 9.0, "alarm": 1.0, "flag": 0.0, "hit": 0.0},
        "most": 1.0,
    }
    places = [recovered_place(tally, threshold) for threshold in (0.45, 0.65)]
    at_45, at_65 = (result["useful"] for result in answers_of(driver, [case | {"place": place} for place in places]))
    assert at_45 == pytest.approx([0, 1 / 3], abs=1e-12)
    assert at_65 == pytest.approx([1 / 9, 1 / 3], abs=1e-12)


def recovered_place(tally, threshold):
    return int(np.searchsorted(-np.asarray(tally.thresholds, float), -threshold, side="right"))
