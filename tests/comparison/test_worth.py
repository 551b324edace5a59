"""Models compared by net benefit and by the first k rows, and where two of them are worth the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.comparison import compare
from pulens.comparison.worth import crossovers
from pulens.counts.joint import JointTally
from pulens.decisions.crossings import fieller
from pulens.evidence import gather
from pulens.report.comparison import comparison_text

#: flagged by neither, by the second alone, by the first alone, by both
FLAGS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def rows(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    labels = (positive & (rng.random(n) < 0.5)).astype(int)
    return labels, {"a": rng.normal(2.0 * positive), "b": rng.normal(1.2 * positive)}


def of_counts(labelled, unlabelled, prior, scenario):
    """Two models that only say yes or no."""
    joint = JointTally.from_increments(
        ("a", "b"), FLAGS, np.asarray(labelled), np.asarray(unlabelled), np.zeros(4, np.int64)
    )
    given = {"class_prior": prior, "scenario": scenario}
    evidences = {name: gather(joint.tally(name), **given) for name in joint.names}
    return joint, evidences


def test_the_worked_example_crosses_at_its_class_prior_and_cost_ratio():
    labelled, unlabelled = [10, 50, 0, 40], [600, 300, 0, 100]  # recall .4 and .9, flagged .1 and .4
    joint, evidences = of_counts(labelled, unlabelled, 0.1, "case-control")
    (pair,) = crossovers(joint, evidences, {"a": 0.5, "b": 0.5}, 0.2, 0.95)
    assert pair.class_priors == pytest.approx([3 / 25])
    assert pair.ratio == pytest.approx(1 / 6)
    assert (pair.sparing, pair.generous) == ("a", "b")
    by_pencil = fieller(1.25 * 0.5, 0.25 * 0.3, 1.25**2 * 0.25 / 100, 0.25**2 * 0.21 / 1000, 1.959964)
    assert (pair.prior_interval.low, pair.prior_interval.high) == pytest.approx(by_pencil)
    assert pair.ratio_interval.low < 1 / 6 < pair.ratio_interval.high


def test_a_class_prior_in_doubt_widens_the_interval_of_the_cost_ratio():
    labelled, unlabelled = [10, 50, 0, 40], [600, 300, 0, 100]
    result = {}
    for prior in (0.1, (0.08, 0.12), (0.05, 0.15)):
        joint, evidences = of_counts(labelled, unlabelled, prior, "case-control")
        (pair,) = crossovers(joint, evidences, {"a": 0.5, "b": 0.5}, 0.2, 0.95)
        result[prior] = pair.ratio_interval
    assert result[(0.05, 0.15)].low < result[(0.08, 0.12)].low < result[0.1].low
    assert result[(0.05, 0.15)].high > result[(0.08, 0.12)].high > result[0.1].high


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_intervals_of_crossings_hold_the_truth(scenario):
    """Counted with known truth; 500 sets, so one standard error is .01."""
    rng = np.random.default_rng(3)
    of_positives = np.array([0.2, 0.3, 0.1, 0.4])
    of_negatives = np.array([0.85, 0.11, 0.01, 0.03])
    prior, ratio, rows_in_all, frequency = 0.2, 0.2, 4000, 0.4
    recall = of_positives @ FLAGS
    flagged = prior * recall + (1 - prior) * of_negatives @ FLAGS
    odds = ratio / (1 - ratio)
    true_prior = odds * (flagged[1] - flagged[0]) / ((1 + odds) * (recall[1] - recall[0]))
    true_ratio = prior * (recall[1] - recall[0]) / (flagged[1] - flagged[0])
    held = np.zeros(2)
    for _ in range(500):
        if scenario == "case-control":
            labelled = rng.multinomial(300, of_positives)
            unlabelled = rng.multinomial(rows_in_all, prior * of_positives + (1 - prior) * of_negatives)
        else:
            positives = rng.binomial(rows_in_all, prior)
            result = rng.binomial(positives, frequency)
            labelled = rng.multinomial(result, of_positives)
            unlabelled = rng.multinomial(positives - result, of_positives)
            unlabelled = unlabelled + rng.multinomial(rows_in_all - positives, of_negatives)
        joint, evidences = of_counts(labelled, unlabelled, prior, scenario)
        (pair,) = crossovers(joint, evidences, {"a": 0.5, "b": 0.5}, ratio, 0.95)
        held[0] += pair.prior_interval.low <= true_prior <= pair.prior_interval.high
        held[1] += pair.ratio_interval.low <= true_ratio <= pair.ratio_interval.high
    assert np.all(np.abs(held / 500 - 0.95) < 0.03), held / 500


def test_hits_cut_at_the_rows_flagged_leave_no_interval():
    joint, evidences = of_counts([10, 50, 0, 40], [9600, 300, 0, 100], 0.2, "case-control")
    (pair,) = crossovers(joint, evidences, {"a": 0.5, "b": 0.5}, 0.2, 0.95)
    assert np.isnan(pair.ratio)  # at this class prior both would find more positives than they flag rows
    assert pair.ratio_interval is None
    assert "no cost ratio does" in str(pair)
    joint, evidences = of_counts([10, 50, 0, 40], [700, 200, 0, 100], 0.2, "case-control")
    (pair,) = crossovers(joint, evidences, {"a": 0.5, "b": 0.5}, 0.7, 0.95)
    assert pair.class_priors[0] * 0.4 > 0.1  # the first model's hits are cut there
    assert pair.prior_interval is None


def test_net_benefit_and_the_first_rows_are_compared_as_evaluations_have_them():
    labels, scores = rows()
    comparison = compare(
        labels, scores, class_prior=0.2, cost_ratio=0.1, k=100, threshold=1.0, redraws=100, labelling="random"
    )
    assert list(comparison.estimates)[:4] == ["net_benefit", "recall_at_k", "precision_at_k", "ndcg_at_k"]
    assert comparison.metric == "net_benefit"
    for model in "ab":
        alone = pulens.evaluate(labels, scores[model], class_prior=0.2, threshold=1.0, redraws=100, labelling="random")
        result = comparison.estimates["precision_at_k"][model]
        there = alone.top(100)["precision_at_k"]
        assert (result.value, result.interval.low) == pytest.approx((there.value, there.interval.low))
        worth = pulens.metrics.net_benefit(labels, scores[model], class_prior=0.2, threshold=1.0, cost_ratio=0.1)
        assert comparison.estimates["net_benefit"][model].value == pytest.approx(worth.value)
    pair = comparison.difference("a", "b", "net_benefit")
    values = comparison.estimates["net_benefit"]
    assert pair.value == pytest.approx(values["a"].value - values["b"].value)
    assert pair.interval.low < pair.value < pair.interval.high
    assert "worth" in comparison.to_dict()
    assert comparison.to_dict()["k"] == 100
    assert "the order is the same at every class prior" in comparison_text(comparison, explain=True)


def test_without_a_threshold_each_model_stands_where_it_is_worth_most():
    labels, scores = rows()
    comparison = compare(labels, scores, class_prior=0.2, cost_ratio=0.1, redraws=100, labelling="random")
    for model in "ab":
        best = pulens.evaluate(labels, scores[model], class_prior=0.2, labelling="random").best_threshold(
            "net_benefit", cost_ratio=0.1
        )
        assert comparison.worth.thresholds[model] == best
    assert comparison.worth.is_chosen
    assert "worth most on these rows" in " ".join(comparison_text(comparison, explain=True).split())
    named = compare(
        labels, scores, class_prior=0.2, metrics=["roc_auc"], cost_ratio=0.1, redraws=100, labelling="random"
    )
    assert list(named.estimates) == ["roc_auc", "net_benefit"]
    alone = compare(
        labels, scores, class_prior=0.2, metrics=["net_benefit"], cost_ratio=0.1, redraws=100, labelling="random"
    )
    assert alone.worth.thresholds == named.worth.thresholds


def test_without_the_new_arguments_nothing_is_said_of_worth():
    labels, scores = rows(300)
    comparison = compare(labels, scores, class_prior=0.2, redraws=100, labelling="random")
    assert comparison.worth is None
    assert "worth" not in comparison.to_dict()
    assert "worth the same" not in str(comparison)


def test_bad_ratios_and_places_are_refused_by_name():
    labels, scores = rows(300)
    with pytest.raises(pulens.PulensError, match="cost_ratio of net_benefit must lie strictly between 0 and 1, got 2"):
        compare(labels, scores, class_prior=0.2, cost_ratio=2, redraws=100, labelling="random")
    with pytest.raises(pulens.PulensError, match="301 rows, and the list has 300"):
        compare(labels, scores, class_prior=0.2, k=301, redraws=100, labelling="random")
    cells = np.arange(300) % 2
    with pytest.raises(pulens.PulensError, match=r"k=10 compares the first rows of lists where labels"):
        compare(labels, scores, class_prior=0.2, labelled_within=cells, k=10, redraws=100, labelling="random")


@pytest.mark.parametrize("threshold", [None, 1.0])
def test_one_cell_is_compared_by_worth_as_rows_without_cells(threshold):
    labels, scores = rows(600)
    asked = {"class_prior": 0.2, "cost_ratio": 0.1, "threshold": threshold, "redraws": 2000}
    plain, within = (
        compare(labels, scores, labelled_within=cells, **asked, labelling="random") for cells in (None, np.zeros(600))
    )
    one, other = (result.difference("a", "b", "net_benefit") for result in (plain, within))
    assert other.value == pytest.approx(one.value, abs=1e-12)
    assert other.interval.width == pytest.approx(one.interval.width, rel=0.15)  # 2,000 redraws of either
    assert within.worth.thresholds == plain.worth.thresholds
    assert within.worth.pairs[0].class_priors == pytest.approx(plain.worth.pairs[0].class_priors)
    assert within.worth.pairs[0].ratio_interval is None
    assert within.verdict.startswith("a") == plain.verdict.startswith("a")


def test_rows_that_belong_together_are_compared_by_worth_without_its_intervals():
    labels, scores = rows(600)
    comparison = compare(
        labels,
        scores,
        class_prior=0.2,
        cost_ratio=0.1,
        k=60,
        threshold=1.0,
        cluster=np.arange(600) // 3,
        redraws=100,
        labelling="random",
    )
    assert comparison.difference("a", "b", "net_benefit").interval is not None
    assert comparison.worth.pairs[0].ratio_interval is None


def test_the_command_compares_by_cost_ratio_and_top(tmp_path, capsys):
    labels, scores = rows(400)
    file = tmp_path / "scores.csv"
    lines = [f"{y},{a!r},{b!r}" for y, a, b in zip(labels, scores["a"].tolist(), scores["b"].tolist(), strict=True)]
    file.write_text("label,a,b\n" + "\n".join(lines))
    words = ["compare", str(file), "--score=a", "--score=b", "--class-prior=0.2", "--redraws=100", "--labelling=random"]
    main([*words, "--cost-ratio=0.1", "--top=10%", "--json=-"])
    result = json.loads(capsys.readouterr().out)
    assert result["metric"] == "net_benefit"
    assert result["k"] == 40
    assert result["worth"]["pairs"][0]["cost_ratio"] == 0.1
    main([*words, "--cost-ratio=0.1", "--html", str(tmp_path / "models.html")])
    assert "worth the same" in capsys.readouterr().out
    page = (tmp_path / "models.html").read_text()
    assert "Over the cost ratio" in page
