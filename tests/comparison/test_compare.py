"""Comparisons: who wins, how sure that is, and where the class prior decides."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.comparison import redraws
from pulens.comparison.joint import JointCounts, read_models
from pulens.comparison.paired import DifferenceOfRedraws, two_sided_p
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError, PulensError
from pulens.estimate import Interval
from pulens.inference.kernels.holm import holm
from pulens.priors import ClassPrior
from pulens.recovery import direct_roc_auc
from pulens.recovery.assumptions import Assumptions
from pulens.report.comparison import comparison_text
from pulens.scenario import Scenario


def rows(n_labelled=150, n_unlabelled=1200, prior=0.3, shifts=(2.0, 1.0), seed=0, agreement=0.5):
    """Case-control rows, one model per shift, their errors partly shared."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labelled, bool), rng.random(n_unlabelled) < prior])
    labels = np.repeat([1, 0], [n_labelled, n_unlabelled])
    common = rng.normal(size=positive.size)
    models = {
        f"model {i}": shift * positive
        + np.sqrt(agreement) * common
        + np.sqrt(1 - agreement) * rng.normal(size=positive.size)
        for i, shift in enumerate(shifts)
    }
    return labels, models


def test_a_better_model_is_found_and_the_sentence_says_so():
    comparison = pulens.compare(*rows(), class_prior=0.3, redraws=300, scenario="case-control", labelling="random")
    assert comparison.winner == "model 0"
    assert comparison.verdict.startswith("model 0 is better than model 1: ROC AUC differs by +0.")
    pair = comparison.difference("model 0", "model 1")
    assert pair.interval.low > 0
    assert pair.probability > 0.99
    assert pair.adjusted_p_value < 0.05


def test_models_of_equal_worth_cannot_be_told_apart_and_the_sentence_says_so():
    comparison = pulens.compare(
        *rows(shifts=(1.5, 1.5)), class_prior=0.3, redraws=300, scenario="case-control", labelling="random"
    )
    assert comparison.winner is None
    assert comparison.verdict.startswith("No clear difference between ")


def test_a_model_compared_with_itself_differs_by_nothing():
    labels, models = rows()
    same = {"a": models["model 0"], "b": models["model 0"].copy()}
    pair = pulens.compare(
        labels, same, class_prior=0.3, redraws=100, scenario="case-control", labelling="random"
    ).difference("a", "b")
    assert (pair.value, pair.interval.low, pair.interval.high) == (0, 0, 0)
    assert pair.p_value == 1
    assert pair.probability == 0.5


def test_turning_a_pair_round_turns_its_numbers_round():
    comparison = pulens.compare(*rows(), class_prior=0.3, redraws=100, scenario="case-control", labelling="random")
    there, back = comparison.difference("model 0", "model 1"), comparison.difference("model 1", "model 0")
    assert back.value == -there.value
    assert (back.interval.low, back.interval.high) == (-there.interval.high, -there.interval.low)
    assert back.probability == pytest.approx(1 - there.probability)


def test_the_value_of_each_model_is_the_one_that_evaluate_gives():
    labels, models = rows()
    comparison = pulens.compare(
        labels, models, class_prior=0.3, threshold=0.5, redraws=100, scenario="case-control", labelling="random"
    )
    for name, scores in models.items():
        evaluation = pulens.evaluate(
            labels, scores, class_prior=0.3, threshold=0.5, scenario="case-control", labelling="random"
        )
        for metric in ("roc_auc", "average_precision", "f1", "accuracy", "precision", "recall"):
            assert comparison.estimates[metric][name].value == pytest.approx(evaluation.estimates[metric].value)


def test_redraws_spread_like_delong_says():
    labels, models = rows(200, 1500)
    comparison = pulens.compare(
        labels, models, class_prior=0.3, metrics=["roc_auc"], redraws=1500, scenario="case-control", labelling="random"
    )
    interval = comparison.difference("model 0", "model 1").interval
    deviation = delong_deviation(labels, *models.values()) / (1 - 0.3)
    from scipy.stats import t

    assert interval.width == pytest.approx(2 * t.ppf(0.975, 199) * np.sqrt(200 / 199) * deviation, rel=0.08)


def delong_deviation(labels, first, second):
    """Standard error of the difference of two AUCs on the same rows (DeLong et al. 1988)."""
    parts = []
    for scores in (first, second):
        above, below = scores[labels == 1], scores[labels == 0]
        wins = (above[:, None] > below[None, :]) + 0.5 * (above[:, None] == below[None, :])
        parts.append((wins.mean(axis=1), wins.mean(axis=0)))
    by_labelled, by_unlabelled = (parts[0][i] - parts[1][i] for i in (0, 1))
    return np.sqrt(by_labelled.var(ddof=1) / by_labelled.size + by_unlabelled.var(ddof=1) / by_unlabelled.size)


def test_agreement_between_models_narrows_the_difference():
    widths = [
        pulens.compare(
            *rows(agreement=share, seed=3),
            class_prior=0.3,
            metrics=["roc_auc"],
            redraws=400,
            scenario="case-control",
            labelling="random",
        )
        .difference("model 0", "model 1")
        .interval.width
        for share in (0.0, 0.95)
    ]
    assert widths[1] < 0.75 * widths[0]


def test_the_same_seed_gives_the_same_answer():
    first, second = (
        pulens.compare(
            *rows(), class_prior=0.3, redraws=100, seed=5, scenario="case-control", labelling="random"
        ).to_dict()
        for _ in range(2)
    )
    assert first == second


def test_holm_is_what_the_procedure_says():
    # smallest times 4, next times 3 and so on, never below one before it, never above 1
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_are_corrected_within_each_metric():
    comparison = pulens.compare(
        *rows(shifts=(2.0, 1.6, 1.5)), class_prior=0.3, redraws=300, scenario="case-control", labelling="random"
    )
    pairs = comparison.differences["roc_auc"]
    assert len(pairs) == 3
    assert [pair.adjusted_p_value for pair in pairs] == pytest.approx(holm([pair.p_value for pair in pairs]))


def ends_of(draws, n_labelled):
    return DifferenceOfRedraws(np.zeros(1), [draws], n_labelled).ends(0, 0.025)


def test_the_p_value_and_the_interval_agree_about_zero():
    rng = np.random.default_rng(0)
    for shift in np.linspace(0, 4, 30):
        for n_labelled in (10, 60, 10_000):
            draws = rng.normal(shift, 1, 4000)
            low, high = ends_of(draws, n_labelled)
            p_value = two_sided_p(draws, n_labelled)
            if abs(p_value - 0.05) > 0.004:
                assert (low > 0 or high < 0) == (p_value < 0.05)


def test_few_labelled_rows_widen_the_interval():
    draws = np.random.default_rng(0).normal(size=20_000)
    narrow, wide = (ends_of(draws, n) for n in (100_000, 10))
    assert wide[1] - wide[0] > 1.15 * (narrow[1] - narrow[0])


def test_the_order_of_recovered_auc_does_not_move_with_the_class_prior():
    for seed in range(5):
        labels, models = rows(40, 300, shifts=(1.2, 1.1), seed=seed)
        comparison = pulens.compare(
            labels,
            models,
            class_prior=(0.05, 0.6),
            metrics=["roc_auc"],
            redraws=100,
            scenario="case-control",
            labelling="random",
        )
        assert comparison.order["roc_auc"].crossings == ()
        gaps = [
            direct_roc_auc(
                Tally.from_arrays(labels, models["model 0"]), Assumptions(alpha, scenario=Scenario.CASE_CONTROL)
            )
            - direct_roc_auc(
                Tally.from_arrays(labels, models["model 1"]), Assumptions(alpha, scenario=Scenario.CASE_CONTROL)
            )
            for alpha in (0.05, 0.3, 0.6)
        ]
        assert np.ptp(np.sign(gaps)) == 0


def crossing_rows():
    """Two classifiers at threshold 0.5: the careful one has the better accuracy only while positives are rare.

    Careful: finds 40% of positives, calls 10% of the unlabelled. Bold: finds 90% and calls 40%.
    """
    labels = np.repeat([1, 0], [100, 1000])
    careful = np.concatenate([np.arange(100) < 40, np.arange(1000) < 100]).astype(float)
    bold = np.concatenate([np.arange(100) < 90, np.arange(1000) < 400]).astype(float)
    return labels, {"careful": careful, "bold": bold}


def test_crossing_points_are_computed():
    labels, models = crossing_rows()
    comparison = pulens.compare(
        labels,
        models,
        class_prior=(0.05, 0.4),
        metrics=["accuracy"],
        threshold=0.5,
        redraws=100,
        scenario="case-control",
        labelling="random",
    )
    (crossing,) = comparison.order["accuracy"].crossings
    # accuracy is 2 prior recall - share called positive + 1 - prior: equal where 2 prior (0.9 - 0.4) = 0.4 - 0.1,
    # but for the careful one's false positive rate, which stays above 0 up to a prior of 0.25
    assert crossing.below == "careful"
    assert crossing.above == "bold"
    exact = 0.3
    careful_is_possible = 0.1 - exact * 0.4 >= 0
    assert not careful_is_possible  # it finds no more than the 0.1 that it flags: accuracy is then 1 - (prior - 0.1)
    # 1.1 - prior = 0.6 + 0.8 prior  gives  prior = 5/18
    assert crossing.class_prior == pytest.approx(5 / 18, abs=1e-8)
    assert comparison.winner is None
    assert "depends on the class prior: careful is better below 0.278, bold above" in comparison.verdict


def test_a_range_of_priors_costs_certainty_and_never_adds_any():
    labels, models = crossing_rows()
    options = {"metrics": ["accuracy"], "threshold": 0.5, "redraws": 200}
    sure = pulens.compare(
        labels, models, class_prior=0.1, **options, scenario="case-control", labelling="random"
    ).difference("careful", "bold")
    ranged = pulens.compare(
        labels, models, class_prior=(0.05, 0.4), **options, scenario="case-control", labelling="random"
    ).difference("careful", "bold")
    assert sure.adjusted_p_value < 0.01
    assert ranged.adjusted_p_value == 1
    assert ranged.interval.low < sure.interval.low


def test_without_a_range_the_order_is_traced_over_the_priors_that_the_data_allow():
    labels, models = rows(prior=0.2)
    order = pulens.compare(
        labels, models, class_prior=0.2, redraws=100, scenario="case-control", labelling="random"
    ).order["average_precision"]
    assert order.class_priors[0] < 0.01
    assert 0.2 < order.class_priors[-1] < 0.6
    assert order.winners == ("model 0",)


def test_a_metric_that_should_be_low_is_won_by_the_lower():
    labels, models = rows()
    comparison = pulens.compare(
        labels,
        models,
        class_prior=0.3,
        metrics=["error_rate"],
        threshold=0.8,
        redraws=100,
        scenario="case-control",
        labelling="random",
    )
    assert comparison.leader() == "model 0"
    assert comparison.difference("model 0", "model 1").value < 0
    assert comparison.difference("model 0", "model 1").probability > 0.5


def test_measures_without_a_class_prior_can_be_compared():
    labels, models = rows(60, 300)
    comparison = pulens.compare(
        labels, models, metrics=["pulp", "proxy_roc_auc"], redraws=100, scenario="case-control", labelling="random"
    )
    assert comparison.leader("proxy_roc_auc") == "model 0"
    assert comparison.order["pulp"].crossings == ()
    assert "PULP: does not depend on the class prior" in comparison_text(comparison, explain=True)


def test_without_a_class_prior_one_estimate_serves_all_models():
    labels, models = rows(300, 2000, prior=0.2, shifts=(3.0, 1.0))
    comparison = pulens.compare(labels, models, redraws=100, scenario="case-control", labelling="random")
    assert comparison.winner == "model 0"
    estimates = [
        pulens.evaluate(labels, scores, scenario="case-control", labelling="random").class_prior.unlabelled
        for scores in models.values()
    ]
    assert comparison.class_prior.unlabelled == min(estimates)
    assert comparison.class_prior.unlabelled_interval is not None
    assert "at every class prior from" in comparison.verdict


def test_the_share_among_the_unlabelled_follows_the_redraw_where_the_class_prior_is_given():
    # single set: a redraw with more labelled rows leaves fewer positives among the unlabelled ones
    labels, models = rows(100, 900, prior=0.1)
    held, moving = (
        pulens.compare(
            labels,
            models,
            scenario="single-set",
            metrics=["accuracy"],
            threshold=0.8,
            redraws=400,
            **prior,
            labelling="random",
        )
        for prior in ({"unlabelled_prior": 0.1}, {"class_prior": 0.19})
    )
    assert held.estimates["accuracy"]["model 0"].value == pytest.approx(moving.estimates["accuracy"]["model 0"].value)
    assert held.estimates["accuracy"]["model 0"].interval != moving.estimates["accuracy"]["model 0"].interval


def test_a_range_that_begins_at_zero_is_no_obstacle():
    labels, models = rows()
    comparison = pulens.compare(
        labels, models, class_prior=(0.0, 0.3), redraws=100, scenario="case-control", labelling="random"
    )
    assert comparison.winner == "model 0"
    assert not any(pair.undefined_because for pairs in comparison.differences.values() for pair in pairs)


def test_redraws_keep_the_strata_of_case_control_and_mix_those_of_the_single_set():
    labels, models = rows(30, 200)
    joint = read_models(labels, models)
    rng = np.random.default_rng(0)

    def totals(scenario):
        paired = joint.paired(scenario)
        return [Totals(*np.bincount(paired.kinds, drawn, 3)) for drawn in paired.redraws(20, rng)]

    fixed, mixed = totals(Scenario.CASE_CONTROL), totals(Scenario.SINGLE_SET)
    assert {(t.labelled, t.unlabelled) for t in fixed} == {(30, 200)}
    assert len({t.labelled for t in mixed}) > 3
    assert {t.rows for t in mixed} == {230}


def test_few_thresholds_of_a_long_ranking_give_the_interval_of_all(monkeypatch):
    """Rankings without ties are redrawn at some of their thresholds, centred on what all of them show."""
    labels, models = rows(300, 1500)
    asked = {"class_prior": 0.3, "redraws": 300, "scenario": "case-control"}
    few = pulens.compare(labels, models, **asked, labelling="random")
    monkeypatch.setattr(redraws, "MOST_THRESHOLDS", 10**9)
    every = pulens.compare(labels, models, **asked, labelling="random")
    for name in ("roc_auc", "average_precision"):
        (one,), (all_of_them,) = few.differences[name], every.differences[name]
        assert one.value == all_of_them.value
        for end in ("low", "high"):
            there, here = getattr(all_of_them.interval, end), getattr(one.interval, end)
            assert here == pytest.approx(there, abs=0.05 * all_of_them.interval.width)


def test_tallies_of_the_rows_as_they_are_equal_those_of_each_model():
    labels, models = rows(30, 200)
    labels = labels.copy()
    labels[-20:] = -1
    models = {name: np.round(scores, 1) for name, scores in models.items()}
    joint = read_models(labels, models)
    assert isinstance(joint, JointCounts)
    for tally, scores in zip(joint.counted.values(), models.values(), strict=True):
        assert tally == Tally.from_arrays(labels, scores)


def test_answers_show_themselves():
    comparison = pulens.compare(
        *rows(), class_prior=(0.2, 0.4), threshold=0.5, redraws=100, scenario="case-control", labelling="random"
    )
    text = str(comparison)
    assert text.startswith(comparison.verdict[:40])
    assert "95% interval" in text
    text = comparison_text(comparison, explain=True)
    for part in ("model 0 - model 1", "order over the class prior", "95% interval", "joint resamples"):
        assert part in text
    assert (
        "<script"
        not in pulens.compare(
            rows()[0],
            {"<script>": rows()[1]["model 0"], "b": rows()[1]["model 1"]},
            class_prior=0.3,
            redraws=100,
            scenario="case-control",
            labelling="random",
        )._repr_html_()
    )
    answer = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert answer["winner"] == comparison.winner
    assert answer["metrics"]["roc_auc"]["differences"][0]["first"] == "model 0"
    assert len(answer["metrics"]["f1"]["order"]["class_priors"]) > 10


def test_a_comparison_draws_itself():
    pytest.importorskip("matplotlib").use("Agg")
    left, right = pulens.compare(
        *rows(), class_prior=0.3, redraws=100, scenario="case-control", labelling="random"
    ).plot()
    assert left.get_yticklabels()[0].get_text() == "model 0 - model 1"
    assert len(right.lines) >= 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"redraws": 10}, "redraws must be a whole number of at least 100, got 10"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1, got 95"),
        ({"metrics": ["auc_roc"]}, "there is no metric 'auc_roc'"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": ["f1"]}, "f1 needs a threshold"),
        ({"threshold": {"model 0": 0.5}}, "threshold must name each model once: 'model 0', 'model 1'"),
        ({"unlabelled_prior": 0.2}, "give exactly one of class_prior"),
        ({"confidence": None}, "needs a confidence"),
        ({"scenario": "both"}, "scenario must be"),
    ],
)
def test_bad_requests_are_refused_with_a_way_out(change, message):
    with pytest.raises(PulensError, match=message):
        pulens.compare(
            *rows(20, 60),
            **{"class_prior": 0.3, "scenario": "case-control", "redraws": 100, **change},
            labelling="random",
        )


def test_rows_that_do_not_fit_are_refused():
    labels, models = rows(20, 60)
    with pytest.raises(PulensError, match="at least two models, got 1"):
        pulens.compare(labels, {"a": models["model 0"]}, class_prior=0.3, scenario="case-control", labelling="random")
    with pytest.raises(InputError, match="same length"):
        pulens.compare(
            labels,
            {"a": models["model 0"], "b": models["model 1"][:-1]},
            class_prior=0.3,
            scenario="case-control",
            labelling="random",
        )
    with pytest.raises(PulensError, match="weighted rows"):
        pulens.compare(
            labels, models, class_prior=0.3, weights=np.ones(80), scenario="case-control", labelling="random"
        )
    with pytest.raises(PulensError, match="give labels and a mapping of scores"):
        pulens.compare(labels, models["model 0"], class_prior=0.3, scenario="case-control", labelling="random")
    with pytest.raises(PulensError, match="named twice"):
        pulens.compare("rows.csv", score=["a", "a"], class_prior=0.3, scenario="case-control", labelling="random")


def test_tables_name_their_columns_of_scores():
    import polars as pl

    labels, models = rows(30, 200)
    table = pl.DataFrame({"label": labels, **models})
    from_table = pulens.compare(
        table, score=list(models), class_prior=0.3, redraws=100, scenario="case-control", labelling="random"
    )
    assert (
        from_table.to_dict()
        == pulens.compare(
            labels, models, class_prior=0.3, redraws=100, scenario="case-control", labelling="random"
        ).to_dict()
    )


@pytest.mark.parametrize("models", [2, 3])
@pytest.mark.parametrize("prior", [0.2, (0.1, 0.3)])
def test_text_begins_with_the_verdict_and_says_what_p_allows_for(models, prior):
    rng = np.random.default_rng(4)
    labels = np.repeat([1, 0], [60, 400])
    scores = {f"model {k}": rng.normal((1 + 0.2 * k) * labels) for k in range(models)}
    comparison = pulens.compare(
        labels, scores, class_prior=prior, scenario="case-control", redraws=100, labelling="random"
    )
    assert " ".join(str(comparison).split()).startswith(comparison.verdict)
    text = " ".join(comparison_text(comparison, explain=True).split())
    assert text.startswith(comparison.verdict)
    assert "p is two-sided" in text
    assert "P(better)" not in text
    assert ("largest over the class priors in the range" in text) == (prior != 0.2)
    assert ("number of pairs (Holm)" in text) == (models == 3)


def study(value: float, low: float, high: float, confidence: float = 0.95) -> ClassPrior:
    interval = Interval(low, high, confidence, "another study")
    return ClassPrior(value, value, "another study", interval, interval)


def test_an_interval_holds_its_value_where_redraws_of_few_rows_all_err_to_one_side():
    labels = np.repeat([1, 0], [4, 18])
    models = {
        "a": [2, 2, 3, 4, 3, 1, 1, 1, 3, 1, 2, 3, 0, 0, 0, 3, 1, 3, 1, 1, 1, 2],
        "b": [13, 8, 37, 13, 45, 2, 43, 24, 99, 67, 16, 94, 38, 3, 64, 41, 42, 78, 96, 37, 23, 53],
    }
    options = {"scenario": "case-control", "metrics": ["average_precision"], "redraws": 100}
    comparison = pulens.compare(labels, models, class_prior=(0.3, 0.3), **options, labelling="random")
    for result in comparison.estimates["average_precision"].values():
        assert result.value in result.interval
    pair = comparison.difference("a", "b")
    assert pair.value in pair.interval


def test_each_model_has_the_interval_that_evaluate_gives():
    labels, models = rows(60, 400)
    for prior in (0.3, (0.2, 0.4), study(0.3, 0.2, 0.4)):
        options = {"class_prior": prior, "scenario": "case-control", "threshold": 0.5, "redraws": 200}
        comparison = pulens.compare(labels, models, **options, labelling="random")
        for name, scores in models.items():
            evaluation = pulens.evaluate(labels, scores, **options, labelling="random")
            for metric in ("roc_auc", "average_precision", "f1"):
                assert comparison.estimates[metric][name].interval == evaluation.estimates[metric].interval


def test_a_doubtful_prior_is_drawn_once_for_all_models():
    labels, models = rows(150, 1200)
    same = {"a": models["model 0"], "b": models["model 0"].copy()}
    options = {"scenario": "case-control", "class_prior": study(0.3, 0.1, 0.5), "redraws": 200, "threshold": 0.5}
    for pairs in pulens.compare(labels, same, **options, labelling="random").differences.values():
        assert (pairs[0].value, pairs[0].interval.low, pairs[0].interval.high) == (0, 0, 0)
    comparison = pulens.compare(labels, models, **options, labelling="random")
    pair = comparison.difference("model 0", "model 1")
    assert pair.interval.confidence == 0.95
    assert "class prior drawn" in pair.interval.method
    # drawn apart, the prior alone would move either area by more than the difference's whole interval
    each = comparison.estimates["roc_auc"]["model 0"].sources["class prior"]
    assert pair.interval.width < each.width + 0.05
    known = pulens.compare(labels, models, **{**options, "class_prior": 0.3}, labelling="random").difference(
        "model 0", "model 1"
    )
    assert pair.interval.width > known.interval.width


def test_a_drawn_prior_is_narrower_than_a_range_with_the_same_ends():
    labels, models = rows(150, 1200)
    options = {"scenario": "case-control", "redraws": 300, "threshold": 0.5, "metrics": ["f1"]}
    drawn = pulens.compare(labels, models, class_prior=study(0.3, 0.2, 0.4), **options, labelling="random")
    ranged = pulens.compare(labels, models, class_prior=(0.2, 0.4), **options, labelling="random")
    widths = [each.difference("model 0", "model 1").interval.width for each in (drawn, ranged)]
    assert widths[0] < widths[1]


@pytest.mark.slow
def test_over_a_range_the_p_value_is_the_level_at_which_the_interval_touches_zero():
    labels, models = crossing_rows()
    prior = {"class_prior": (0.15, 0.25), "scenario": "case-control", "threshold": 0.5}
    options = {**prior, "metrics": ["accuracy"], "redraws": 1000}
    p_value = pulens.compare(labels, models, **options, labelling="random").differences["accuracy"][0].p_value
    assert 0.001 < p_value < 0.5
    wider, narrower = (
        pulens.compare(labels, models, confidence=1 - p_value * factor, **options, labelling="random")
        .differences["accuracy"][0]
        .interval
        for factor in (0.8, 1.25)
    )
    assert wider.low < 0 < wider.high
    assert not narrower.low < 0 < narrower.high


def test_a_winner_found_with_a_drawn_prior_is_named_although_the_ends_of_its_interval_disagree():
    labels, models = crossing_rows()  # they change places at a class prior of .286
    options = {"metrics": ["accuracy"], "threshold": 0.5, "redraws": 2000, "scenario": "case-control"}
    sure = pulens.compare(
        labels, models, class_prior=study(0.1, 0.05, 0.29, confidence=0.99), **options, labelling="random"
    )
    assert sure.winner == "careful"
    assert sure.verdict.startswith("careful is better than bold")
    assert "at another class prior the order could change" in sure.verdict
    unsure = pulens.compare(labels, models, class_prior=study(0.25, 0.1, 0.4), **options, labelling="random")
    assert unsure.winner is None
    assert unsure.verdict.startswith("Which model is better by accuracy depends on the class prior")


def test_labels_that_cannot_be_random_are_said_before_any_winner():
    rng = np.random.default_rng(0)
    positive = rng.random(8000) < 0.1
    scores = {"followed": rng.normal(2.5 * positive), "other": rng.normal(2.0 * positive)}
    labels = (positive & (rng.random(8000) < np.where(scores["followed"] > 2.8, 0.9, 0.05))).astype(int)
    result = pulens.compare(labels, scores, class_prior=0.1, scenario="single-set", redraws=100, labelling="random")
    assert "followed" in result.contradicted
    assert result.verdict.startswith("These numbers do not fit together: with 10% positives, labels cannot be a random")
    assert "favour the model whose scores the labels followed" in result.verdict
    assert result.to_dict()["warnings"][0].startswith("These numbers do not fit together")
    at_random = (positive & (rng.random(8000) < 0.4)).astype(int)
    assert not pulens.compare(
        at_random, scores, class_prior=0.1, scenario="single-set", redraws=100, labelling="random"
    ).contradicted


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_the_order_of_rows_changes_no_number(scenario):
    rng = np.random.default_rng(4)
    positive = rng.random(150) < 0.4
    labels = np.where(positive & (rng.random(150) < 0.5), 1, np.where(~positive & (rng.random(150) < 0.1), -1, 0))
    models = {"a": rng.normal(positive).round(1), "b": rng.normal(1.2 * positive)}
    options = {"class_prior": (0.35, 0.45), "negative": -1, "redraws": 100, "scenario": scenario, "threshold": 0.5}
    first = pulens.compare(labels, models, **options, labelling="random")
    order = rng.permutation(150)
    again = pulens.compare(
        labels[order], {name: scores[order] for name, scores in models.items()}, **options, labelling="random"
    )
    assert again.to_dict() == first.to_dict()


def test_a_confidence_near_zero_still_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [40, 160])
    scores = {"a": rng.normal(labels), "b": rng.normal(size=200)}
    result = pulens.compare(
        labels,
        scores,
        class_prior=(0.35, 0.45),
        scenario="case-control",
        confidence=0.05,
        redraws=100,
        labelling="random",
    )
    for estimates in result.estimates.values():
        for estimate in estimates.values():
            assert estimate.interval.low <= estimate.value <= estimate.interval.high


def test_an_estimated_class_prior_says_by_whose_scores():
    labels, models = rows()
    result = pulens.compare(labels, models, redraws=100, labelling="random")
    own = min(result.prior_by, key=result.prior_by.get)
    assert result.prior_by[own] == result.class_prior.value
    explained = " ".join(comparison_text(result, explain=True).split())
    assert f"from the scores of {own}, the lowest of the models' estimates" in explained
    assert result.to_dict()["class_prior_by"] == dict(result.prior_by)
    assert f"from the scores of {own}" in result.to_html()
    given = pulens.compare(labels, models, class_prior=0.3, redraws=100, labelling="random")
    assert not given.prior_by
    assert "from the scores of" not in comparison_text(given, explain=True)


@pytest.mark.parametrize(
    ("probability", "p_value", "adjusted", "low", "said"),
    [
        (0.99, 0.03, 0.09, 0.001, "p allows for all 3 pairs"),
        (0.985, 0.08, 0.08, -0.001, ""),
        (0.99, 0.06, 0.06, 0.001, "a borderline case"),
        (0.99, 0.01, 0.01, 0.001, ""),
        (0.6, 0.7, 0.7, -0.01, ""),
    ],
)
def test_numbers_that_seem_to_disagree_are_explained(probability, p_value, adjusted, low, said):
    from dataclasses import replace

    from pulens.estimate import Interval
    from pulens.report.comparison import disagreements

    labels, models = rows()
    result = pulens.compare(
        labels, {**models, "third": models["model 0"]}, class_prior=0.3, redraws=100, labelling="random"
    )
    pair = replace(
        result.differences["roc_auc"][0],
        interval=Interval(low, 0.1, 0.95, "made up"),
        probability=probability,
        p_value=p_value,
        adjusted_p_value=adjusted,
    )
    told = disagreements(replace(result, differences={"roc_auc": (pair,)}))
    assert len(told) == bool(said)
    assert said in " ".join(told)


def test_the_band_of_a_measure_that_no_class_prior_moves_is_computed_once(monkeypatch):
    """A page asks for 20 class priors: each cost as much as the interval, and seconds became minutes."""
    from pulens.comparison import bands

    labels, models = rows(n_labelled=20, n_unlabelled=80)
    result = pulens.compare(
        labels, models, metrics=["log_pulp"], class_prior=0.3, scenario="case-control", redraws=100, labelling="random"
    )
    asked, estimate = [], bands.estimate
    monkeypatch.setattr(bands, "estimate", lambda *given, **more: asked.append(1) or estimate(*given, **more))
    band = result.bands.over("log_pulp", [0.1, 0.3, 0.5])
    assert len(asked) == len(models)
    assert all(len(ends) == 3 and len(set(ends)) == 1 for ends in band.values())


@pytest.mark.parametrize("together", [1, 2])
def test_a_range_of_class_priors_is_cut_by_the_scores_of_all_models_as_evaluate_cuts_it(together):
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.5
    labels, scores = (positive & (rng.random(300) < 0.5)).astype(int), rng.normal(1.5 * positive)
    asked = {"scenario": "case-control", "threshold": 1.0, "redraws": 100}
    if together > 1:
        asked["cluster"] = np.arange(300) // together
    names = ["roc_auc", "average_precision", "recall", "precision"]
    models = {"weak": rng.normal(size=300), "own": scores}  # the first rules nothing out
    result = pulens.compare(labels, models, class_prior=(0.4, 0.7), metrics=names, **asked, labelling="random")
    alone = pulens.evaluate(labels, scores, class_prior=(0.4, 0.7), **asked, labelling="random")
    assert alone.class_prior.interval.high < 0.7
    assert result.class_prior.interval == alone.class_prior.interval
    assert [notice.code for notice in result.notices].count("prior-range-cut") == 1
    for name in names:
        own = alone[name]
        told = result.estimates[name]["own"]
        assert told.value == pytest.approx(own.value, abs=1e-12), name
        assert (told.interval.low, told.interval.high) == pytest.approx((own.interval.low, own.interval.high)), name


def test_a_range_of_class_priors_is_kept_where_labels_favour_easy_positives():
    """It was cut to what random labels allow, which nobody had said they are."""
    rng = np.random.default_rng(2)
    positive = rng.random(4000) < 0.15
    first, second = rng.normal(2 * positive), rng.normal(positive)
    labels = (positive & (rng.random(4000) < 1 / (1 + np.exp(4 - 2 * first)))).astype(int)
    asked = {"class_prior": (0.1, 0.3), "redraws": 100}
    kept = pulens.compare(labels, {"a": first, "b": second}, **asked).class_prior
    assert (kept.interval.low, kept.interval.high, kept.method) == (0.1, 0.3, "given as a range")
    assert (
        "cut to what"
        in pulens.compare(labels, {"a": first, "b": second}, labelling="random", **asked).class_prior.method
    )
