"""Worked cases with exact answers: averages, operating points and the hypergeometric (group a), risks, proxies (e)."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.risks import nonnegative, unbiased

import pulens.metrics
from pulens.counts.hypergeometric import tails
from pulens.counts.tally import Tally
from pulens.metrics.parts.observed import f1_at, matthews_at, mutual_information_at, pseudo_f_at
from pulens.scenario import Scenario
from tests_support import assert_answer, case_rows

AVERAGES = {
    "pulp": "pulp",
    "lee_liu": "averaged_lee_liu",
    "pseudo_f": "averaged_pseudo_f",
    "f1": "averaged_f1",
    "mcc": "averaged_matthews_correlation",
    "mi": "averaged_mutual_information",
}


@pytest.mark.parametrize("ties", ["expected", "grouped", "optimistic", "pessimistic"])
@pytest.mark.parametrize("case_id", ["a1", "a2", "a3"])
def test_averages_over_operating_points_under_each_rule_for_ties(case_id, ties, reference_cases):
    case = reference_cases[case_id]
    rows = case_rows(case)
    result = {theirs: getattr(pulens.metrics, ours)(*rows, ties=ties).value for theirs, ours in AVERAGES.items()}
    assert_answer(result, case["expected"][ties], case)


def test_averages_of_a_thousand_rows(reference_cases):
    case = reference_cases["a6"]
    rows = case_rows(case)
    for theirs, ours in AVERAGES.items():
        if theirs in case["expected"]:
            assert_answer(getattr(pulens.metrics, ours)(*rows).value, case["expected"][theirs], case)


def test_values_at_thresholds_also_beyond_the_scores(reference_cases):
    case = reference_cases["a4"]
    labels, scores = case_rows(case)
    tally, prior = Tally.from_arrays(labels, scores), case["params"]["prior"]
    rows, labelled = int(tally.totals.rows), int(tally.totals.labelled)
    for expected in case["expected"]["rows"]:
        at = {"threshold": expected["threshold"], "scenario": "single-set"}
        called = tally.at(expected["threshold"])
        counts = (called.rows, called.labelled, rows, labelled)
        pseudo_f = pulens.metrics.pseudo_f(labels, scores, class_prior=prior, **at).value
        result = {
            "called_positive": called.rows,
            "hits": called.labelled,
            "pulp_point": pulens.metrics.pulp_at_threshold(labels, scores, **at).value,
            "lee_liu": pulens.metrics.lee_liu(labels, scores, **at).value,
            "pseudo_f": pseudo_f,
            "pseudo_f_times_prior": pseudo_f * prior,
            "f1": f1_at(*counts),
            "mcc": matthews_at(*counts),
            "mi": pulens.metrics.mutual_information(labels, scores, **at).value,
            "threshold": expected["threshold"],
        }
        assert_answer(result, expected, case)
        assert_answer(mutual_information_at(*counts), expected["mi"], case)
        assert_answer(pseudo_f_at(*counts, prior=prior), expected["pseudo_f"], case)


def test_hypergeometric_points(reference_cases):
    case = reference_cases["a5"]
    for expected in case["expected"]["rows"]:
        result = tails(expected["hits"], expected["N"], expected["labelled"], expected["called_positive"])
        assert_answer(result.fewer.item(), expected["pulp_point"], case)
        assert_answer(result.log_at_least.item(), expected["log_prob_at_least_hits"], case)


def test_risks_with_three_losses(reference_cases):
    from pulens.metrics.parts.risk import observed_risk
    from pulens.recovery.assumptions import Assumptions

    case = reference_cases["e1"]
    labels, logits = case_rows(case)
    prior = case["params"]["prior"]
    for theirs, ours in (("01", "zero-one"), ("sigmoid", "sigmoid"), ("logistic", "logistic")):
        parts = observed_risk(
            Tally.from_arrays(labels, logits), Assumptions(prior, scenario=Scenario.CASE_CONTROL), ours, "upu_risk"
        )
        result = {
            "upu": pulens.metrics.upu_risk(labels, logits, class_prior=prior, loss=ours, scenario="case-control").value,
            "nnpu": pulens.metrics.nnpu_risk(
                labels, logits, class_prior=prior, loss=ours, scenario="case-control"
            ).value,
            "positive_part": parts.positive,
            "negative_part": parts.negative,
        }
        assert_answer(result, case["expected"][theirs], case)
        assert result["upu"] == unbiased(parts)
        assert result["nnpu"] == nonnegative(parts)


@pytest.mark.parametrize(("setting", "scenario"), [("two_sample", "case-control"), ("one_sample", "single-set")])
def test_proxies_in_both_settings(setting, scenario, reference_cases):
    case = reference_cases["e2"]
    labels, scores = case_rows(case)
    prior, threshold = case["params"]["prior"], case["params"]["threshold"]
    expected = case["expected"][setting]
    proxy = pulens.metrics.proxy_accuracy
    if setting == "one_sample":  # fewer positives than labelled rows: no single set is like that, the formula is
        from pulens.metrics.parts.observed import recall_and_share
        from pulens.recovery.assumptions import UNCORRECTED

        recall, share = recall_and_share(Tally.from_arrays(labels, scores), threshold, UNCORRECTED)
        accuracy = 2 * prior * recall + 1 - share
    else:
        accuracy = proxy(labels, scores, class_prior=prior, threshold=threshold, scenario=scenario).value
    area = pulens.metrics.proxy_roc_auc(labels, scores, scenario=scenario).value
    result = {
        "proxy_accuracy": accuracy,
        "accuracy": accuracy - prior,
        "proxy_auc": area,
        "auc": (area - prior / 2) / (1 - prior),
    }
    assert_answer(result, expected, case)


def test_the_chance_value_and_the_maximum_of_pulp_are_those_tabulated():
    table = {(100, 5): (0.310, 0.823), (1000, 50): (0.436, 0.979), (10000, 100): (0.455, 0.989)}
    for (rows, labelled), (chance, maximum) in table.items():
        labels = np.repeat([1, 0], [labelled, rows - labelled])
        result = pulens.metrics.pulp(labels, labels * 1.0, scenario="case-control")
        assert result.landmarks["chance"] == pytest.approx(chance, abs=1e-3)
        assert result.landmarks["maximum"] == pytest.approx(maximum, abs=1e-3)
        assert result.value == pytest.approx(result.landmarks["maximum"])
        assert result.landmarks["scaled"] == pytest.approx(1.0)
