"""Worked cases with exact answers: areas of group a, recovery of group d."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally
from pulens.curves import precision_recall_curve, roc_area, roc_curve
from pulens.curves.precision_recall import curve_areas, precision_recall_areas
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import value
from pulens.recovery import (
    direct_roc_auc,
    pairwise_auc,
    precision_from_pu_precision,
    precision_in_unlabelled,
    recover,
    recovered_rates,
)
from pulens.recovery.assumptions import UNCORRECTED, Assumptions
from pulens.scenario import Scenario
from tests_support import assert_answer, case_rows


@pytest.mark.parametrize("case_id", ["a1", "a2", "a3", "a6"])
def test_areas_of_labelled_against_unlabelled_rows(case_id, reference_cases):
    case = reference_cases[case_id]
    tally = Tally.from_arrays(*case_rows(case))
    assert_answer(pairwise_auc(tally, "labelled", "unlabelled"), case["expected"]["auc_labelled_vs_unlabelled"], case)
    assert_answer(value(METRICS["roc_auc"], tally, UNCORRECTED), case["expected"]["auc_labelled_vs_unlabelled"], case)
    assert_answer(value(METRICS["average_precision"], tally, UNCORRECTED), case["expected"]["average_precision"], case)


@pytest.mark.parametrize("case_id", ["d1", "d2", "d3", "d5", "d6"])
def test_recovered_curves_and_areas(case_id, reference_cases):
    case = reference_cases[case_id]
    expected = case["expected"]
    assumptions = Assumptions(case["params"]["alpha"], 1 - case["params"]["beta"], scenario=Scenario.CASE_CONTROL)
    tally = Tally.from_arrays(*case_rows(case))
    table = recover(tally, assumptions)
    curve = roc_curve(table)
    direct = direct_roc_auc(tally, assumptions)
    point, through_roc = (precision_recall_areas(tally, assumptions, form=form) for form in ("point", "roc"))
    answers = {
        "auc_pu": pairwise_auc(tally, "labelled", "unlabelled"),
        "auc_direct_unclipped": direct,
        "auc_direct": value(METRICS["roc_auc"], tally, assumptions),
        "auc_indirect_trapezoid": value(METRICS["roc_auc"], tally, assumptions, method="indirect"),
        "auc_indirect_step_left": roc_area(curve, "step-left"),
        "auc_indirect_step_right": roc_area(curve, "step-right"),
        "aucpr_ap": point.average_precision,
        "aucpr_trapezoid": point.trapezoid,
        "aucpr_ap_from_roc": through_roc.average_precision,
        "aucpr_trapezoid_from_roc": through_roc.trapezoid,
        "points_kept": np.count_nonzero(table.is_possible),
        "roc": [{"eta": eta, "gamma": gamma} for eta, gamma in zip(curve.x, curve.y, strict=True)],
    }
    for form, name in (("point", "pr"), ("roc", "pr_from_roc")):
        pr = precision_recall_curve(table, form=form)
        answers[name] = [{"recall": r, "precision": p} for r, p in zip(pr.x, pr.y, strict=True)]
        assert curve_areas(pr) == pytest.approx(point if form == "point" else through_roc, rel=1e-12)
    for name, answer in answers.items():
        if name in expected:
            assert_answer(answer, expected[name], case)
    if "at_threshold" in expected:
        at = pulens.evaluate(
            *case_rows(case),
            class_prior=assumptions.unlabelled_prior,
            label_noise=assumptions.label_noise,
            scenario="case-control",
            labelling="random",
        ).at(expected["at_threshold"]["threshold"])
        for name, answer in _named_as_in_the_cases(at).items():
            assert_answer(answer, expected["at_threshold"][name], case)


@pytest.mark.parametrize("case_id", ["d1", "d2", "d3"])
def test_recovered_rates_at_every_threshold(case_id, reference_cases):
    case = reference_cases[case_id]
    alpha, beta = case["params"]["alpha"], case["params"]["beta"]
    table = recover(Tally.from_arrays(*case_rows(case)), Assumptions(alpha, 1 - beta, scenario=Scenario.CASE_CONTROL))
    points = case["expected"]["points"]
    assert len(table) == len(points)
    for place, point in enumerate(points):
        rates = {"unlabelled_prior": alpha, "label_noise": 1 - beta}
        gamma, eta = recovered_rates(point["gamma_pu"], point["eta_pu"], **rates)
        assert_answer(gamma, point["gamma"], case)
        assert_answer(eta, point["eta"], case)
        assert_answer(table.true_positive_rate[place], point["gamma"], case)
        assert_answer(table.false_positive_rate[place], point["eta"], case)
        assert bool(table.is_possible[place]) == point["kept"]
        assert_answer(table.thresholds[place], point["threshold"] or np.inf, case)
        if point["precision"] is not None:
            precision = precision_in_unlabelled(gamma, point["eta_pu"], unlabelled_prior=alpha)
            assert_answer(precision, point["precision"], case)


def test_threshold_metrics_from_rates(reference_cases):
    case = reference_cases["d4"]
    for row in case["expected"]["rows"]:
        alpha = row["alpha"]
        table = pulens.Contingency(
            np.array([0.5]), np.array([row["gamma_in"]]), np.array([row["eta_in"]]), alpha, 1 - alpha
        )
        got = {name: metric.compute(table)[0] for name, metric in METRICS.items() if metric.reads == "threshold"}
        for name, answer in _named_as_in_the_cases(got).items():
            assert_answer(answer, row[name], case)
    for row in case["expected"]["precision_two_forms"]:
        n_labelled, n_unlabelled = row["n_positive"], row["n_unlabeled"]
        gamma_pu, eta_pu = row["hits_positive"] / n_labelled, row["hits_unlabeled"] / n_unlabelled
        rates = {"unlabelled_prior": row["alpha"], "label_noise": 1 - row["beta"]}
        gamma, _ = recovered_rates(gamma_pu, eta_pu, **rates)
        direct = precision_in_unlabelled(gamma, eta_pu, unlabelled_prior=row["alpha"])
        assert_answer(direct, row["precision"], case)
        through_pu = precision_from_pu_precision(row["rho_pu"], row["c"], **rates)
        assert_answer(through_pu, row["precision_from_rho_pu"], case)


def _named_as_in_the_cases(estimates):
    names = {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced_accuracy",
        "precision": "precision",
        "recall": "recall",
        "f1": "f1",
        "mcc": "matthews_correlation",
        "share_called_positive": "predicted_positive_rate",
    }
    answers = {name: float(estimates[ours]) for name, ours in names.items()}
    return answers | {"fpr": 1 - float(estimates["specificity"])}
