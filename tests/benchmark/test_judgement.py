"""Evaluation without negatives, judged: its rows add up, and on labels at random its intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import InputError
from pulens.research.benchmark.analyse.judgement import coverage, epoch_regret, judge, learner_regret
from pulens.research.benchmark.rates import forecast, measured_rates, rates_text


def test_estimates_are_those_of_evaluate_on_the_same_counts(undisturbed):
    import pulens

    run = undisturbed.done[-1]
    result = {row["metric"]: row for row in judge(undisturbed, rows=[run], redraws=200)}
    tally = undisturbed.tally(run["key"])
    labelled, unlabelled, _ = tally.increments()
    labels = np.repeat(np.repeat([[1, 0]], len(tally), 0).ravel(), np.stack([labelled, unlabelled], 1).ravel())
    scores = np.repeat(np.repeat(tally.thresholds, 2), np.stack([labelled, unlabelled], 1).ravel())
    prior = run["test_positives"] / run["test_rows"]
    options = {"class_prior": prior, "scenario": run["scenario"], "threshold": 0.0, "redraws": 200}
    expected = pulens.evaluate(labels, scores, **options, labelling="random")
    for name in ("roc_auc", "recall", "accuracy"):
        assert result[name]["estimate"] == pytest.approx(expected.estimates[name].value)
        assert result[name]["low"] == pytest.approx(expected.estimates[name].interval.low)


def test_intervals_hold_where_labels_are_at_random(undisturbed):
    judged = judge(undisturbed, metrics=("accuracy", "recall"), redraws=200)
    for row in coverage(judged, by=("metric",)):
        assert row["runs"] == 20
        assert row["held"] >= 0.85


def test_a_reason_stands_where_there_is_no_answer(undisturbed):
    for row in judge(undisturbed, prior="estimated", metrics=("accuracy",)):
        assert ("held" in row) == (row["reason"] is None)


def test_the_best_epoch_costs_nothing_and_others_cost_something(undisturbed):
    result = {row["selection"]: row for row in epoch_regret(undisturbed)}
    for row in result.values():
        assert 0 <= row["regret"] <= row["worst"]
    assert result["oracle_accuracy"]["uses_truth"]
    assert not result["proxy_roc_auc"]["uses_truth"]
    assert result["loss"]["runs"] == 4  # VPU alone has a loss of its own


def test_choosing_a_method_by_the_truth_costs_nothing(undisturbed):
    judged = judge(undisturbed, metrics=("accuracy",), redraws=200)
    perfect = [{**row, "estimate": row["truth"]} for row in judged]
    ways = {row["way"]: row for row in learner_regret(undisturbed, perfect)}
    assert ways["test accuracy (known prior)"]["regret"] == 0
    assert ways["test accuracy (known prior)"]["rank_correlation"] == pytest.approx(1)
    assert ways["validation proxy_roc_auc"]["choices"] == 4


def test_unknown_words_are_refused(undisturbed):
    with pytest.raises(InputError, match="prior is one of"):
        judge(undisturbed, prior="guessed")
    with pytest.raises(InputError, match="metric must be one of"):
        epoch_regret(undisturbed, "test_lift")


def test_rates_of_an_archive_forecast_its_own_plan(smoke, undisturbed):
    rates = measured_rates(undisturbed)
    result = forecast(smoke.runs, rates, "cpu")
    assert (result.measured, result.unknown) == (20, 0)
    assert result.seconds == pytest.approx(sum(rate.seconds * rate.runs for rate in rates))
    without = forecast(smoke.runs, [rate for rate in rates if rate.learner != "vpu"], "cpu")
    assert (without.unknown, without.unknown_learners) == (4, ("vpu",))
    assert '"source": "here"' in rates_text(undisturbed, "here")


def test_a_choice_without_the_metric_costs_nothing_and_breaks_nothing() -> None:
    class Told:
        done = ({"key": "a", "own_selection": "loss"}, {"key": "b", "own_selection": "loss"})

        def curve(self, key):
            return {"test_accuracy": np.array([0.5, 0.9])}

        def choice(self, key, selection):
            return {"accuracy": None if key == "a" else 0.5}

    result = {row["selection"]: row for row in epoch_regret(Told())}
    assert result["loss"]["runs"] == 1
    assert result["loss"]["regret"] == pytest.approx(0.4)
