"""One quantity is one number, whichever door it comes through, also where recovered rates leave [0, 1]."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import pulens
from pulens.decisions.actions import Actions
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import value
from pulens.recovery.contingency import Contingency, possible_hits

AT_A_THRESHOLD = ("recall", "precision", "f1", "predicted_positive_rate")


def rows(seed):
    """Few rows, and a class prior that often misfits."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(30, 300))
    positive = rng.random(size) < 0.3
    labels = (positive & (rng.random(size) < 0.5)).astype(int)
    labels[:2] = 1
    scores = np.round(rng.normal(1.2 * positive), int(rng.integers(0, 3)))
    prior = float(rng.uniform(labels.mean(), min(0.99, labels.mean() + 0.6)))
    return labels, scores, {"class_prior": prior, "scenario": str(rng.choice(["single-set", "case-control"]))}


def equal(result, expected):
    assert result.value == pytest.approx(expected.value, abs=1e-9, nan_ok=True), expected
    assert (result.undefined_because or "") == (expected.undefined_because or "")


@pytest.mark.parametrize("seed", range(24))
def test_a_number_at_a_threshold_is_the_same_through_every_door(seed):
    labels, scores, given = rows(seed)
    threshold = float(np.random.default_rng(seed + 1000).choice(scores))
    asked = {"threshold": threshold, "confidence": None, **given}
    plain = pulens.evaluate(labels, scores, **asked, labelling="random")
    table = pd.DataFrame({"label": labels, "score": scores, "place": "here"})
    within = pulens.evaluate(labels, scores, labelled_within=table["place"].to_numpy(), **asked, labelling="random")
    segment = pulens.evaluate_by(
        table, "place", metrics=["f1", "predicted_positive_rate"], **asked, labelling="random"
    )["here"]
    compared = pulens.compare(
        labels,
        {"a": scores, "b": -scores},
        threshold=threshold,
        metrics=["recall", "precision"],
        redraws=100,
        **given,
        labelling="random",
    )
    for name in AT_A_THRESHOLD:
        equal(plain.at(threshold)[name], plain[name])
        equal(within[name], plain[name])
        equal(segment.estimates[name], plain[name])
    for name in ("roc_auc", "average_precision"):
        equal(within[name], plain[name])
    for name in ("recall", "precision"):
        equal(compared.estimates[name]["a"], plain[name])
    if plain.labelling is None:
        curve = plain.decision_curve(ratios=[0.2]).model[0]
        net_benefit = value(METRICS["net_benefit"], plain.tally, plain.evidence.assumptions, threshold, cost_ratio=0.2)
        assert curve == pytest.approx(net_benefit, abs=1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_a_decision_says_what_an_evaluation_says_at_its_threshold(seed):
    labels, scores, given = rows(seed)
    listed = scores if given["scenario"] == "single-set" else scores[labels == 0]
    rows_to_check = max(int((listed >= np.quantile(scores, 0.8)).sum()), 1)
    for asked in ({"capacity": rows_to_check}, {"cost_miss": 5, "cost_alarm": 1}):
        for within in ({}, {"labelled_within": np.full(labels.size, "here")}):
            decision = pulens.decide(labels, scores, confidence=None, **asked, **within, **given, labelling="random")
            if decision.flag != "rows":
                continue
            point = pulens.evaluate(labels, scores, confidence=None, **given, labelling="random").at(decision.threshold)
            equal(decision.recall, point["recall"])
            equal(decision.precision, point["precision"])
            assert decision.flagged.value == pytest.approx(point["predicted_positive_rate"].value, abs=1e-9)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_a_decision_never_shows_a_recall_below_its_floor(confidence):
    shown = 0
    for seed in range(40):
        labels, scores, given = rows(seed)
        try:
            decision = pulens.decide(
                labels, scores, recall_at_least=0.5, confidence=confidence, redraws=100, **given, labelling="random"
            )
        except pulens.errors.PulensError:  # too few labelled rows for any floor
            continue
        if decision.threshold is not None:
            shown += 1
            assert decision.recall.value >= 0.5
            assert decision.recall.value in decision.recall.interval
    assert shown > 10


def test_every_table_is_possible_and_its_numbers_fit_together():
    rng = np.random.default_rng(3)
    size = 4000
    positive, negative = rng.uniform(0, 50, size), rng.uniform(0, 50, size)
    flagged = rng.uniform(0, 1, size) * (positive + negative)
    hit_rate = rng.uniform(-0.5, 1.5, size)
    alarm_rate = (flagged - positive * hit_rate) / negative
    table = Contingency(np.zeros(size), hit_rate, alarm_rate, positive, negative)
    cells = [table.true_positive, table.false_positive, table.false_negative, table.true_negative]
    assert min(cell.min() for cell in cells) > -1e-9
    np.testing.assert_allclose(table.predicted_positive, flagged, atol=1e-9)
    recall, precision = METRICS["recall"].compute(table), METRICS["precision"].compute(table)
    np.testing.assert_allclose(recall * positive, precision * flagged, atol=1e-9)
    np.testing.assert_allclose(METRICS["f1"].compute(table), 2 * table.true_positive / (positive + flagged), atol=1e-12)
    inside = table.is_possible
    assert inside.any()
    np.testing.assert_array_equal(recall[inside], hit_rate[inside])


def test_hits_are_those_of_the_nearest_table_with_the_same_margins():
    rng = np.random.default_rng(4)
    for _ in range(300):
        positive, negative = rng.integers(0, 12, 2)
        flagged, raw = int(rng.integers(0, positive + negative + 1)), float(rng.uniform(-5, 20))
        whole = [
            hits
            for hits in range(flagged + 1)
            if hits <= positive and flagged - hits <= negative  # cells of a table of whole rows
        ]
        lowest, highest = min(whole), max(whole)
        assert possible_hits(raw, flagged, positive, negative) == pytest.approx(min(max(raw, lowest), highest))


def test_money_reads_the_same_hits_as_the_tables():
    labels, scores, given = rows(5)
    evidence = pulens.evaluate(labels, scores, confidence=None, **given, labelling="random").evidence
    actions = Actions.of(evidence)
    for place, threshold in enumerate(actions.thresholds[1:], 1):
        recall = value(METRICS["recall"], evidence.tally, evidence.assumptions, float(threshold))
        assert actions.found[place] == pytest.approx(recall, abs=1e-9)
        precision = value(METRICS["precision"], evidence.tally, evidence.assumptions, float(threshold))
        assert math.isnan(precision) or actions.precision[place] == pytest.approx(precision, abs=1e-9)
