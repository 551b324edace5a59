"""Intervals, bounds and ranges that the page finds by itself are those of the Python package."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from page_scripts import answers_of, page_data
from pulens.counts.tally import Tally
from pulens.evaluation.bounds import bounds
from pulens.evaluation.evaluate import evaluate

DRIVER = """
globalThis.recovery = require(process.argv[1] + "/recovery.js");
const doubt = require(process.argv[1] + "/doubt.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = cases.map((data) => {
  const index = recovery.indexAt(data.counts.thresholds, data.threshold);
  const found = recovery.evaluate(data, data.prior, index);
  const rates = doubt.drawRates(data.counts, data.totals, index);
  const totals = doubt.drawTotals(data.totals, data.scenario);
  const limits = doubt.bounds(data, found.given, 0.95);
  const ranges = Object.fromEntries(["precision", "recall", "f1", "error_rate"].map((name) =>
    [name, doubt.sensitivity(data, found.tables.map, data.scenario, index, name, 2.5)]));
  const asked = [data, found.given, totals, rates, found.values, 0.95];
  const intervals = doubt.intervals(...asked);
  return { intervals, wider: doubt.intervals(...asked, [0, 0], 1.5), values: found.values, limits, ranges };
});
console.log(JSON.stringify(answers));
"""


def worlds():
    rng = np.random.default_rng(3)
    for number in range(8):
        rows = 1200 if number < 4 else 150
        positive = rng.random(rows) < 0.3
        labels = (positive & (rng.random(rows) < 0.5)).astype(int)
        scores = np.round(rng.normal(1.5 * positive), 1 if number % 2 else 6)
        if number == 3:
            labels[~positive & (rng.random(rows) < 0.3)] = -1
        yield labels, scores, ["case-control", "single-set"][number % 2], 0.2, 0.8


@pytest.fixture(scope="module")
def answers():
    cases = [
        page_data(Tally.from_arrays(labels, scores), scenario, prior, threshold)
        for labels, scores, scenario, prior, threshold in worlds()
    ]
    return list(zip(worlds(), answers_of(DRIVER, cases), strict=True))


def test_bounds_on_curves_agree(answers):
    for (labels, scores, scenario, prior, _), answer in answers:
        ours = bounds(labels, scores, unlabelled_prior=prior, scenario=scenario)
        for curve, pair in (("roc", ours.roc), ("precisionRecall", ours.precision_recall)):
            for end, expected in zip(("lower", "upper"), pair, strict=True):
                np.testing.assert_allclose(answer["limits"][curve][end]["x"], expected.x, rtol=0, atol=1e-9)
                np.testing.assert_allclose(answer["limits"][curve][end]["y"], expected.y, rtol=0, atol=1e-9)
        areas = [answer["limits"]["roc"][end]["area"] for end in ("lower", "upper")]
        np.testing.assert_allclose(areas, [ours.roc_auc.low, ours.roc_auc.high], rtol=0, atol=1e-9)


def test_ranges_under_other_labelling_agree(answers):
    for (labels, scores, scenario, prior, threshold), answer in answers:
        evaluation = evaluate(
            labels,
            scores,
            unlabelled_prior=prior,
            scenario=scenario,
            threshold=threshold,
            confidence=None,
            labelling="random",
        )
        for name, result in answer["ranges"].items():
            expected = evaluation.sensitivity(name, factor=2.5).interval
            np.testing.assert_allclose(
                [result["low"], result["high"]], [expected.low, expected.high], rtol=0, atol=1e-9, err_msg=name
            )


def test_intervals_agree_up_to_their_draws(answers):
    """Both draw the same law with other random numbers: ends differ by a few hundredths of the width."""
    for (labels, scores, scenario, prior, threshold), answer in answers:
        tally = Tally.from_arrays(labels, scores)
        population = pulens.priors.population_prior(prior, tally.totals, pulens.Scenario(scenario))
        evaluation = evaluate(tally, class_prior=population, scenario=scenario, threshold=threshold, labelling="random")
        for name in ("precision", "recall", "f1", "specificity", "accuracy", "matthews_correlation"):
            ours, theirs = evaluation.estimates[name].interval, answer["intervals"][name]
            assert ours is not None
            slack = 0.15 * ours.width + 0.002
            assert theirs["low"] == pytest.approx(ours.low, abs=slack), (name, scenario)
            assert theirs["high"] == pytest.approx(ours.high, abs=slack), (name, scenario)


def test_where_more_than_rows_was_drawn_the_ends_lie_as_many_times_as_far_away(answers):
    for (_, _, scenario, _, _), answer in answers:
        for name, near in answer["intervals"].items():
            value, metric = answer["values"][name], pulens.metrics.METRICS[name]
            far = max(value - 1.5 * (value - near["low"]), metric.lowest)
            high = min(value + 1.5 * (near["high"] - value), metric.highest)
            result = [answer["wider"][name][end] for end in ("low", "high")]
            assert result == pytest.approx([far, high], abs=1e-12), (name, scenario)
