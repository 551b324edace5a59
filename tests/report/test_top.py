"""The first rows of a list in reports: what leads, and that the page's script has Python's arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from page_scripts import answers_of
from pulens.evaluation.evaluate import evaluate
from pulens.metrics import METRICS, leading
from pulens.metrics.parts.measure import value
from pulens.report.top import top_data

DRIVER = """
const recovery = require(process.argv[1] + "/recovery.js");
const top = require(process.argv[1] + "/top.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(({ place, totals, given }) =>
  top.evaluate(place.scenarios[given.scenario], place.k, recovery.mapOf(totals, given)))));
"""


def rows(seed, n=300, known=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    labels = (positive & (rng.random(n) < 0.5)).astype(int)
    if known:
        labels[~positive & (rng.random(n) < 0.2)] = -1
    return labels, np.round(rng.normal(1.5 * positive), 1)


def test_the_page_finds_what_python_finds_at_any_class_prior():
    cases, expected = [], []
    rng = np.random.default_rng(1)
    for seed in range(24):
        labels, scores = rows(seed, known=seed % 3 == 0)
        scenario = ("single-set", "case-control")[seed % 2]
        noise = 0.1 if seed % 5 == 0 else 0.0
        evaluation = evaluate(
            labels, scores, class_prior=0.3, label_noise=noise, scenario=scenario, confidence=None, labelling="random"
        )
        (place,) = top_data(evaluation, [evaluation.top(int(rng.integers(1, 100)))])
        share = float(rng.uniform(0.02, 0.6))
        given = {"unlabelledPrior": share, "labelNoise": noise, "scenario": scenario}
        cases.append({"place": place, "totals": evaluation.tally.totals._asdict(), "given": given})
        assumptions = evaluation.evidence.assumptions_at(share)
        k = int(place["k"])
        expected.append({name: value(METRICS[name], evaluation.tally, assumptions, k=k) for name in leading("top")})
    for result, there in zip(answers_of(DRIVER, cases), expected, strict=True):
        assert {name: result[name] for name in leading("top")} == pytest.approx(there, abs=1e-9)


def test_markdown_and_page_lead_with_the_top_of_the_list():
    labels, scores = rows(0)
    evaluation = evaluate(labels, scores, class_prior=0.3, redraws=100, labelling="random")
    first = evaluation.top(40)
    text = evaluation.to_markdown(top=[40, "5%"])
    assert text.splitlines()[2] == f"**{first.sentence}**"
    assert text.index("the first 15 of 300 rows") < text.index(evaluation.to_markdown().splitlines()[2])
    page = evaluation.to_html(top=40)
    assert page.index(first.sentence) < page.index('id="verdict"')
    assert "data-top=" not in evaluation.to_html().split("<script")[0]


def test_the_sentence_says_what_to_expect_and_what_is_known_already():
    labels, scores = rows(0)
    first = evaluate(labels, scores, class_prior=0.3, redraws=100, labelling="random").top(40)
    low, high = first.hits.low, first.hits.high
    assert first.sentence.startswith(f"Check 40 rows: expect {low:.0f} to {high:.0f} positives; the estimate is ")
    known = int((labels[np.argsort(-scores, kind="stable")[:40]] == 1).sum())
    assert abs(first.known - known) < 4  # ties share their places
    assert f"{first.known:.0f} of them labelled already" in first.sentence
    apart = evaluate(labels, scores, class_prior=0.3, scenario="case-control", redraws=100, labelling="random").top(40)
    assert "already" not in apart.sentence


def test_a_place_beyond_a_shorter_list_has_no_numbers_in_the_other_scenario():
    labels, scores = rows(0)
    evaluation = evaluate(labels, scores, class_prior=0.3, confidence=None, labelling="random")
    unlabelled = int((labels == 0).sum())
    (place,) = top_data(evaluation, [evaluation.top(unlabelled + 1)])
    assert place["scenarios"]["case-control"] is None
    assert place["scenarios"]["single-set"]["of"] == 300


def test_the_first_rows_of_clusters_have_what_needs_no_ranks():
    labels, scores = rows(0)
    result = evaluate(
        labels, scores, class_prior=0.3, cluster=np.arange(300) // 3, redraws=100, labelling="random"
    ).top(40)
    assert sorted(result) == ["enrichment_factor", "precision_at_k", "recall_at_k"]
