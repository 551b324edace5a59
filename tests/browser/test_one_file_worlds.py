"""The one page's scripts in the browser itself: the worlds that node is asked about, answered as Python does."""

from __future__ import annotations

import json

import pytest

from one_file_driver import REQUESTS, differences, page_scripts, rows, worlds
from pulens.counts.tally import Totals
from pulens.evaluation.evaluate import evaluate
from pulens.priors.class_prior import population_prior
from pulens.scenario import Scenario
from tests_support import case_rows

ASK = """(asked) => JSON.stringify(asked.map((each) => {
  try {
    return requests.rows(each).answer;
  } catch (error) {
    if (!(error instanceof evidence.Refusal)) throw error;
    return { refused: error.message };
  }
}), plain)"""


def in_the_browser(chromium, asked):
    """What the page's scripts answer there; they may say nothing else."""
    context = chromium.new_context()
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.add_script_tag(content=f"{page_scripts()}\n{REQUESTS}")
    answers = json.loads(page.evaluate(ASK, asked))
    context.close()
    assert said == []
    return answers


@pytest.mark.parametrize("labelling", ["practice", "random"])
def test_sixty_worlds_have_pythons_numbers_in_the_browser(chromium, labelling):
    asked = [rows(labels, scores, **given, confidence=None, labelling=labelling) for labels, scores, given in worlds()]
    answers = in_the_browser(chromium, asked)
    assert len(answers) == 60
    for answer, (labels, scores, given) in zip(answers, worlds(), strict=True):
        expected = evaluate(labels, scores, **given, confidence=None, labelling=labelling).to_dict()
        for part in ("estimates", "class_prior", "threshold"):
            assert differences(answer[part], expected[part]) == [], given


def reference_worlds(cases):
    """Every reference case that has rows of both kinds, in both scenarios, at its own share of positives."""
    for name, case in cases.items():
        try:
            labels, scores = case_rows(case)
        except (KeyError, TypeError, ValueError):
            continue  # counts or rates, and no rows
        if not {0, 1} <= set(labels.tolist()):
            continue
        params = case["params"]
        share = next((params[key] for key in ("alpha", "prior") if isinstance(params.get(key), float)), 0.2)
        totals = ((labels == 1).sum(), (labels == 0).sum(), (labels == -1).sum())
        threshold = params.get("threshold", 0.5)
        for scenario in Scenario:
            prior = share if scenario is Scenario.CASE_CONTROL else _population(share, totals)
            yield name, labels, scores, {"class_prior": prior, "scenario": str(scenario), "threshold": threshold}


def _population(share, totals):
    return float(population_prior(share, Totals(*map(float, totals)), Scenario.SINGLE_SET, 0.0))


def test_reference_cases_have_pythons_numbers_in_the_browser_or_are_refused(chromium, reference_cases):
    made = list(reference_worlds(reference_cases))
    assert {"a1", "a2", "a3", "b1", "b2", "b3", "d1", "d2", "d3", "d5", "d6", "e2"} <= {name for name, *_ in made}
    answers = in_the_browser(
        chromium, [rows(labels, scores, **given, confidence=None) for _, labels, scores, given in made]
    )
    answered = 0
    for answer, (name, labels, scores, given) in zip(answers, made, strict=True):
        expected = evaluate(labels, scores, **given, confidence=None, labelling="random")
        assert ("refused" in answer) == (expected.contradiction is not None), name
        if "refused" in answer:
            assert "do not fit together" in answer["refused"]
            continue
        answered += 1
        assert differences(answer["estimates"], expected.to_dict()["estimates"], name) == []
    assert answered > len(made) / 2


@pytest.mark.parametrize("name", ["d1", "d3", "d5"])
def test_worked_cases_have_their_exact_answers_in_the_browser(chromium, reference_cases, name):
    case = reference_cases[name]
    labels, scores = case_rows(case)
    given = {"class_prior": case["params"]["alpha"], "threshold": case["params"].get("threshold", 0.5)}
    (answer,) = in_the_browser(chromium, [rows(labels, scores, scenario="case-control", confidence=None, **given)])
    result = {metric: each["value"] for metric, each in answer["estimates"].items()}
    expected = case["expected"]
    wanted = {"roc_auc": expected["auc_direct"], "average_precision": expected["aucpr_ap"]}
    wanted |= {each: expected["at_threshold"][each] for each in ("precision", "f1") if "at_threshold" in expected}
    assert {metric: result[metric] for metric in wanted} == pytest.approx(wanted, rel=1e-9)
