"""The page's arithmetic and Python's are the same arithmetic: node runs the page's script on the same counts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from page_scripts import answers_of, page_data
from pulens.counts.tally import Tally
from pulens.curves import precision_recall_curve, roc_curve
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import value
from pulens.priors import population_prior
from pulens.recovery import Recovery, recover, recover_at
from pulens.recovery.assumptions import UNCORRECTED, Assumptions
from pulens.recovery.feasibility import impossible_rates
from pulens.report.html import asset
from pulens.scenario import Scenario

COMPUTED = sorted(name for name, metric in METRICS.items() if metric.page_computes)
DRIVER = """
const recovery = require(process.argv[1] + "/recovery.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const plain = (array) => Array.from(array, (x) => (Number.isFinite(x) ? x : null));
const answers = cases.map((data) => {
  const index = recovery.indexAt(data.counts.thresholds, data.threshold);
  const found = recovery.evaluate(data, data.prior, index);
  const values = Object.fromEntries(
    Object.entries(found.values).map(([name, x]) => [name, Number.isFinite(x) ? x : null])
  );
  return {
    values, cells: found.cells, roc: [plain(found.roc.x), plain(found.roc.y)],
    precisionRecall: [plain(found.precisionRecall.x), plain(found.precisionRecall.y)],
    impossible: recovery.impossibleRates(data.counts, data.totals, found.tables),
    population: recovery.populationPrior(data.prior, data.totals, data.scenario, data.labelNoise),
  };
});
console.log(JSON.stringify(answers));
"""


def worlds():
    """Counts of many kinds: ties, few rows, known negatives, weights, noise, impossible class priors."""
    rng = np.random.default_rng(7)
    for number in range(60):
        rows = int(rng.integers(8, 400))
        positive = rng.random(rows) < rng.uniform(0.1, 0.6)
        labels = (positive & (rng.random(rows) < 0.5)).astype(int)
        if number % 3 == 0:
            labels[~positive & (rng.random(rows) < 0.2)] = -1
        labels[:2], labels[2:5] = 1, 0
        scores = rng.normal(positive * rng.uniform(0, 2))
        if number % 2:
            scores = np.round(scores)
        weights = rng.uniform(0.5, 3, rows) if number % 5 == 0 else None
        noise = [0.0, 0.0, 0.15][number % 3]
        scenario = Scenario.CASE_CONTROL if number % 2 else Scenario.SINGLE_SET
        prior = 0.0 if number % 11 == 0 else float(rng.uniform(0, 0.8))
        if prior == 0:
            scenario = Scenario.SINGLE_SET  # as an evaluation does: every row's class is then known
        threshold = float(rng.choice(scores)) + float(rng.choice([0, 0.01, 99]))
        yield Tally.from_arrays(labels, scores, weights), Assumptions(prior, noise, scenario), threshold


@pytest.fixture(scope="module")
def answers():
    cases = [
        page_data(tally, given.scenario, given.unlabelled_prior, threshold, given.label_noise)
        for tally, given, threshold in worlds()
    ]
    return list(zip(worlds(), answers_of(DRIVER, cases), strict=True))


def close(got, expected):
    expected = np.asarray(expected, float)
    np.testing.assert_allclose(np.array(got, float), expected, rtol=1e-9, atol=1e-9, equal_nan=True)


def test_metrics_agree(answers):
    assert len(answers) == 60
    for (tally, assumptions, threshold), answer in answers:
        for name in COMPUTED:
            close(answer["values"][name], value(METRICS[name], tally, assumptions, threshold))


def test_tables_agree(answers):
    for (tally, assumptions, threshold), answer in answers:
        table = recover_at(tally, assumptions, threshold)
        for theirs, ours in (
            ("truePositive", table.true_positive),
            ("falsePositive", table.false_positive),
            ("falseNegative", table.false_negative),
            ("trueNegative", table.true_negative),
        ):
            close(answer["cells"][theirs], ours[0])


def test_curves_agree(answers):
    for (tally, assumptions, _), answer in answers:
        table = recover(tally, assumptions)
        for name, curve in (("roc", roc_curve(table)), ("precisionRecall", precision_recall_curve(table))):
            close(answer[name][0], curve.x)
            close(answer[name][1], curve.y)


def test_warnings_of_impossible_rates_agree(answers):
    some = 0
    for (tally, assumptions, _), answer in answers:
        ours = impossible_rates(tally, assumptions)
        assert answer["impossible"]["thresholds"] == ours.thresholds
        close(answer["impossible"]["standardErrors"], ours.standard_errors)
        some += ours.thresholds > 0
    assert some > 5


def test_population_shares_agree(answers):
    for (tally, assumptions, _), answer in answers:
        expected = population_prior(
            assumptions.unlabelled_prior, tally.totals, assumptions.scenario, assumptions.label_noise
        )
        close(answer["population"], expected)


def test_the_page_computes_every_metric_at_a_threshold_that_is_listed_or_shows_it_as_written():
    formulas = asset("recovery.js").split("const metrics = {", 1)[1].split("\n  };", 1)[0]
    at_threshold = set(re.findall(r"^    (\w+):", formulas, re.MULTILINE))
    assert {name for name in COMPUTED if METRICS[name].reads == "threshold"} == at_threshold
    rankings = set(re.findall(r"^    values\.(\w+) = ", asset("recovery.js"), re.MULTILINE))
    assert {name for name in COMPUTED if METRICS[name].reads == "ranking"} == rankings


def test_uncorrected_means_every_unlabelled_row_is_negative():
    # the page draws uncorrected curves with these assumptions
    assert (UNCORRECTED.unlabelled_prior, UNCORRECTED.label_noise, str(UNCORRECTED.scenario)) == (0, 0, "single-set")
    assert 'unlabelledPrior: 0, labelNoise: 0, scenario: "single-set"' in " ".join(
        asset("evaluation_charts.js").split()
    )
    assert Recovery.of(Tally.from_arrays(np.array([1, 0]), np.array([1.0, 0.0])).totals, UNCORRECTED).positive == 1
