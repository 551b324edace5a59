"""Decisions: worked numbers, exact class priors, floors that hold, colliding demands, refusals, the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import betabinom, norm

import pulens
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.decisions.actions import Actions
from pulens.decisions.capacity import chance_above
from pulens.decisions.costs import Costs
from pulens.decisions.linear import LinearAtThresholds, net_benefit_form
from pulens.evidence import gather

W = [1] * 3 + [0] * 5, [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2]
APART = {"unlabelled_prior": 0.2, "scenario": "case-control", "redraws": 100}
PRICES = {"cost_miss": 500, "cost_alarm": 20}
HUGE = 10**400  # whole numbers have no limit in Python, floats have


def rows(seed=0, size=1500, prior=0.15, apart=1.5, frequency=0.4):
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < prior
    return (positive & (rng.random(size) < frequency)).astype(int), rng.normal(positive * apart)


def test_the_worked_decision_comes_out_exactly():
    decision = pulens.decide(*W, **APART, **PRICES, labelling="random")
    assert decision.threshold == 0.45
    assert decision.cost.value == pytest.approx(8000)
    assert decision.cost.value + decision.saving["flag none"].value == pytest.approx(100_000)
    assert decision.cost.value + decision.saving["flag all"].value == pytest.approx(16_000)
    assert decision.priors == pytest.approx((3 / 130, 79 / 130))
    assert decision.useful_ratios == pytest.approx((0, 1 / 3))


def test_a_capacity_binds_and_says_what_it_costs():
    decision = pulens.decide(*W, **APART, **PRICES, capacity=2, labelling="random")
    assert decision.threshold == 0.65
    assert decision.cost.value == pytest.approx(38_666.6666667)
    assert decision.useful_ratios == pytest.approx((1 / 9, 1 / 3))
    assert decision.binds == ("capacity",)
    assert decision.without["capacity"] == pytest.approx((0.45, 30_666.6666667))


def test_dear_alarms_flag_no_row_until_positives_are_common():
    decision = pulens.decide(*W, **APART, cost_miss=100, cost_alarm=50, labelling="random")
    assert decision.threshold == math.inf
    assert decision.flag == "none"
    assert decision.cost.value == pytest.approx(20_000)
    assert decision.priors == pytest.approx((0, 1 / 5))
    assert decision.to_dict()["threshold"] is None
    assert decision.where() == "WHERE 1 = 0"


def test_net_benefit_has_the_worked_interval_at_a_fixed_threshold():
    counts = np.array([[20, 80], [700, 300]])
    tally = Tally.from_increments(np.array([0.0, 1.0]), *counts)
    evidence = gather(tally, class_prior=0.2, scenario="case-control")
    form = LinearAtThresholds(evidence, net_benefit_form(0.2), (np.array(80.0), np.array(300.0), np.array(0.0)))
    assert form.value(0.2) == pytest.approx(0.125)
    assert form.ends(0.2, 0.025) == pytest.approx((0.102248, 0.143645), abs=5e-7)
    assert form.ends(0.2, norm.cdf(-2.7)) == pytest.approx((0.093000, 0.149721), abs=5e-7)


@pytest.mark.parametrize(("labelled", "threshold"), [(60, 7), (14, 1)])
def test_a_recall_floor_takes_the_highest_score_that_keeps_it(labelled, threshold):
    labels = [1] * labelled + [0] * 100
    scores = [*range(1, labelled + 1), *np.linspace(0, 70, 100)]
    decision = pulens.decide(
        labels, scores, class_prior=0.2, scenario="case-control", recall_at_least=0.8, labelling="random"
    )
    assert decision.threshold == threshold
    assert decision.choice == "recall"


def test_a_recall_floor_that_few_labels_cannot_show_is_refused_with_the_number_needed():
    with pytest.raises(pulens.PulensError, match="14 are needed"):
        pulens.decide([1] * 10 + [0] * 30, range(40), class_prior=0.3, recall_at_least=0.8, labelling="random")


@pytest.mark.parametrize("seed", range(6))
def test_class_priors_between_which_the_choice_stands_are_those_a_search_finds(seed):
    rng = np.random.default_rng(seed)
    labels, scores = np.r_[np.ones(8), np.zeros(20)].astype(int), rng.integers(0, 12, 28).astype(float)
    options = {"scenario": "case-control", "confidence": None, "cost_miss": rng.uniform(1, 20), "cost_alarm": 3.0}
    decision = pulens.decide(labels, scores, class_prior=0.25, **options, labelling="random")
    low, high = decision.priors
    costs = Costs(options["cost_miss"], 3.0)
    priors = np.linspace(0.001, 0.999, 997)
    evidence = gather(labels, scores, class_prior=0.25, scenario="case-control")
    for prior in priors:
        points = Actions.of(evidence, prior)
        result = points.costs(costs)
        own = result[np.flatnonzero(points.thresholds == decision.threshold)[0]]
        if low + 1e-9 < prior < high - 1e-9:
            assert own <= result.min() + 1e-9
    for end, step in ((low, -1e-4), (high, 1e-4)):
        if 0 < end < 1:
            points = Actions.of(evidence, end + step)
            result = points.costs(costs)
            assert result[points.thresholds == decision.threshold][0] > result.min() + 1e-9


def test_where_rates_move_with_the_class_prior_the_ends_are_searched():
    labels, scores = rows(size=400)
    noisy = pulens.decide(
        labels, scores, class_prior=0.2, label_noise=1e-9, confidence=None, **PRICES, labelling="random"
    )
    clean = pulens.decide(labels, scores, class_prior=0.2, confidence=None, **PRICES, labelling="random")
    assert noisy.threshold == clean.threshold
    highest = 1 - 1e-6
    assert noisy.priors[0] == pytest.approx(max(clean.priors[0], labels.mean()), abs=1e-5)
    assert noisy.priors[1] == pytest.approx(min(clean.priors[1], highest), abs=1e-5)


def test_the_chance_of_more_alarms_is_beta_binomial():
    assert float(chance_above(50, 12_000, 13.0, 3000)) == pytest.approx(
        betabinom.sf(50, 12_000, 13.5, 2987.5), rel=1e-9
    )
    assert float(chance_above(2_500, 600_000, 13.0, 3000)) == pytest.approx(
        betabinom.sf(2_500, 600_000, 13.5, 2987.5), rel=2e-3
    )


def test_capacity_certainty_lowers_the_chance_of_overflow():
    labels, scores = rows()
    options = {"class_prior": 0.15, "capacity": 500, "volume": 12_000, "confidence": None}
    even, sure = (
        pulens.decide(labels, scores, **options, capacity_certainty=c, labelling="random") for c in (None, 0.95)
    )
    assert sure.threshold > even.threshold
    assert sure.chance_above_capacity <= 0.05 < even.chance_above_capacity
    assert even.flags_per_volume <= 500


def test_a_certainty_that_no_threshold_gives_is_told_without_inventing_one():
    decision = pulens.decide(
        *W, **APART, **PRICES, capacity=20, volume=500, capacity_certainty=0.9999, labelling="random"
    )
    assert decision.threshold is None
    assert (
        "not even flagging nothing is 0.9999 sure to stay within the capacity: 5 rows are too few" in decision.collision
    )


def test_a_recall_that_noisy_labels_cannot_show_is_told_with_the_best_lower_end():
    labels, scores = rows(size=400)
    decision = pulens.decide(
        labels, scores, class_prior=0.15, label_noise=0.6, recall_at_least=0.88, redraws=100, labelling="random"
    )
    assert decision.threshold is None
    said, best = decision.collision.removesuffix(".").split("; the best lower end seen is ")
    assert "no threshold shows recall of at least 0.88" in said
    assert 0.6 < float(best) < 0.88  # of recall: all rows flagged find all positives


def test_colliding_demands_are_named_and_no_threshold_is_invented():
    labels, scores = rows()
    decision = pulens.decide(
        labels, scores, class_prior=0.15, capacity=50, volume=12_000, recall_at_least=0.8, labelling="random"
    )
    assert decision.threshold is None
    assert decision.flag is None
    assert "capacity and recall collide" in decision.collision
    assert "alarms of 12,000 rows" in str(decision)
    with pytest.raises(pulens.PulensError, match="no threshold is left"):
        decision.where()


def test_a_precision_floor_gives_rows_that_keep_it_or_says_what_could_be_shown():
    labels, scores = rows(apart=3.0)
    kept = pulens.decide(labels, scores, class_prior=0.15, precision_at_least=0.5, labelling="random")
    assert kept.precision.value > 0.5
    asked_too_much = pulens.decide(labels, scores, class_prior=0.15, precision_at_least=0.999, labelling="random")
    assert asked_too_much.threshold is None
    assert "best lower end seen is 0." in asked_too_much.collision


def test_regret_is_told_at_both_ends_and_can_be_what_chooses():
    labels, scores = rows()
    options = {"class_prior": (0.08, 0.2), "confidence": None, **PRICES}
    cheapest, calm = (
        pulens.decide(labels, scores, **options, choose=by, labelling="random") for by in ("cost", "regret")
    )
    worst = [max(each.cost_above_best for each in result.regret) for result in (cheapest, calm)]
    assert worst[1] <= worst[0]
    assert [each.class_prior for each in cheapest.regret] == pytest.approx([0.08, 0.2])


def test_choosing_on_the_same_rows_widens_the_interval_of_the_cost():
    labels, scores = rows(size=600)
    decision = pulens.decide(labels, scores, class_prior=0.15, redraws=400, **PRICES, labelling="random")
    place = int(np.flatnonzero(Actions.of(decision.evidence).thresholds == decision.threshold)[0])
    above = decision.evidence.tally.at(decision.threshold)
    costs = decision.costs
    from pulens.decisions.linear import Form

    fixed = LinearAtThresholds(
        decision.evidence, Form(-costs.worth_of_hit, costs.price_of_flag, costs.miss), tuple(np.array(a) for a in above)
    )
    low, high = (1000 * float(end) for end in fixed.ends(decision.evidence.class_prior.unlabelled, 0.025))
    assert place
    assert decision.cost.interval.low <= low < high < decision.cost.interval.high
    assert decision.optimism > 0


def test_the_cost_interval_holds_the_truth_about_as_often_as_it_says():
    held = 0
    for seed in range(60):
        labels, scores = rows(seed, size=500)
        decision = pulens.decide(
            labels, scores, class_prior=0.15, confidence=0.9, redraws=200, **PRICES, labelling="random"
        )
        recall, alarms = norm.sf(decision.threshold - 1.5), norm.sf(decision.threshold)
        held += 1000 * (500 * 0.15 * (1 - recall) + 20 * 0.85 * alarms) in decision.cost.interval
    assert held / 60 > 0.78  # 90%, less three standard errors


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is nothing to decide by"),
        ({"cost_miss": 5}, "flagging every row"),
        ({"cost_alarm": 5}, "flagging no row"),
        ({"cost_miss": -1, "cost_alarm": 2}, "cost_miss must be a number of at least 0"),
        ({"cost_miss": "amount", "cost_alarm": 2}, "no threshold on the score"),
        ({"capacity": 2.5}, "capacity must be"),
        ({"capacity": 1.0}, "one row is 1"),
        ({"capacity": 0}, "capacity must be"),
        ({"capacity": 99}, "the list has 8 rows"),
        ({"capacity": 5, "volume": 0}, "volume must be"),
        ({"recall_at_least": 1}, "strictly between 0 and 1"),
        ({"precision_at_least": 80}, "strictly between 0 and 1"),
        ({"recall_at_least": 0.5, "confidence": None}, "a floor is kept with a confidence"),
        ({"cost_miss": 5, "cost_alarm": 2, "choose": "regret"}, "needs a class prior that is a range"),
        ({"cost_miss": 5, "cost_alarm": 2, "capacity_certainty": 0.9}, "give capacity= too"),
    ],
)
def test_what_cannot_be_decided_by_is_refused_with_the_way_out(given, said):
    with pytest.raises(pulens.PulensError, match=said):
        pulens.decide(*W, unlabelled_prior=0.2, **given, labelling="random")


def test_an_alarm_worth_a_hit_flags_none_without_an_error():
    decision = pulens.decide(*W, **APART, cost_miss=1, cost_flag=50, labelling="random")
    assert decision.flag == "none"
    assert "flag none" in decision.warnings[0]


def test_the_command_prints_writes_json_and_sql(tmp_path, capsys):
    labels, scores = rows()
    file = tmp_path / "scores.csv"
    file.write_text("score,label\n" + "\n".join(f"{s!r},{y}" for s, y in zip(scores.tolist(), labels, strict=True)))
    words = ["decide", str(file), "--class-prior=0.15", "--redraws=100", "--cost-miss=500", "--cost-alarm=20"]
    main(words)
    assert capsys.readouterr().out.startswith("Flag scores of ")
    main([*words, "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["cost_per_1000"]["low"] < answer["cost_per_1000"]["value"] < answer["cost_per_1000"]["high"]
    main([*words, "--sql"])
    assert capsys.readouterr().out == f"WHERE score >= {answer['threshold']!r}\n"
    with pytest.raises(SystemExit) as ended:
        main(["decide", str(file), "--capacity", "5", "--recall-at-least", "0.8", "--class-prior", "0.15"])
    assert ended.value.code == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "collide" in shown
    assert shown.count(": ") == 1  # "No threshold meets the demands: capacity and recall collide: the capacity"
    with pytest.raises(SystemExit) as ended:
        main(["decide", str(file), "--class-prior", "0.15"])
    assert ended.value.code == 2


def test_nothing_is_written_where_no_threshold_is_left_for_sql(tmp_path):
    labels, scores = rows()
    file, out = tmp_path / "scores.csv", tmp_path / "out.json"
    file.write_text("score,label\n" + "\n".join(f"{s!r},{y}" for s, y in zip(scores.tolist(), labels, strict=True)))
    asked = ["--capacity", "5", "--recall-at-least", "0.8", "--class-prior", "0.15", "--redraws=100"]
    with pytest.raises(SystemExit) as ended:
        main(["decide", str(file), *asked, "--sql", "--json", str(out)])
    assert ended.value.code == 2
    assert not out.exists()


def test_an_evaluation_decides_on_its_own_evidence():
    evaluation = pulens.evaluate(*W, unlabelled_prior=0.2, scenario="case-control", labelling="random")
    decision = evaluation.decide(**PRICES, redraws=100, labelling="random")
    assert decision.threshold == 0.45
    with pytest.raises(pulens.PulensError, match="cannot be changed now"):
        evaluation.decide(**PRICES, class_prior=0.3, labelling="random")


def test_evaluate_leads_with_the_top_that_was_asked_for(tmp_path, capsys):
    labels, scores = rows()
    file = tmp_path / "scores.csv"
    file.write_text("score,label\n" + "\n".join(f"{s!r},{y}" for s, y in zip(scores.tolist(), labels, strict=True)))
    words = [
        "evaluate",
        "--labelling",
        "random",
        str(file),
        "--class-prior=0.15",
        "--redraws=100",
        "--top=20",
        "--top",
        "1%",
    ]
    main(words)
    shown = capsys.readouterr().out
    table, _, rest = shown.partition("\nlabels  ")
    assert "first rows    positives expected          interval    share of all positives\n" in table
    assert [line.split()[0] for line in table.partition("positives\n")[2].splitlines()[:2]] == ["20", "15"]
    assert "ROC AUC" in rest
    main([*words, "--json", "-"])
    first, second = json.loads(capsys.readouterr().out)["top"]
    assert (first["k"], second["k"], first["of"]) == (20, 15, 1500)
    evaluation = pulens.evaluate(labels, scores, class_prior=0.15, labelling="random")
    assert first["estimates"]["recall_at_k"]["value"] == evaluation.top(20)["recall_at_k"].value


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("volume", HUGE, "volume must be a whole number of rows, 1 to 9,007,199,254,740,992"),
        ("volume", 2.0**60, "volume must be a whole number"),
        ("capacity", "1E+1000000000", "capacity must be a whole number of rows"),
        ("capacity", "1e-400", "capacity must be a whole number of rows"),
        ("cost_miss", 1e300, "cost_miss must be a number of at least 0"),
        ("benefit_hit", HUGE, "benefit_hit must be a number of at least 0"),
    ],
)
def test_numbers_beyond_what_can_be_computed_with_are_refused_by_name(option, value, words):
    given = {**PRICES, "capacity": 2} | {option: value}
    with pytest.raises(pulens.PulensError, match=words):
        pulens.decide(*W, **APART, **given, labelling="random")


def test_the_largest_costs_give_numbers(recwarn):
    decision = pulens.decide(*W, **APART, cost_miss=1e100, cost_alarm=1e98, labelling="random")
    json.dumps(decision.to_dict(), allow_nan=False)
    assert not recwarn.list


def test_a_line_of_sql_that_cannot_be_written_leaves_no_file(tmp_path, capsys):
    labels, scores = rows(apart=3.0)
    lines = [f"{score},{label}" for label, score in zip(labels, scores, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["score,label", *lines]))
    words = ["decide", str(tmp_path / "a.csv"), "--precision-at-least", "0.999", "--class-prior", "0.15", "--sql"]
    with pytest.raises(SystemExit) as end:
        main([*words, "--json", str(tmp_path / "out.json")])
    assert end.value.code == 2
    assert "no threshold is left" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
