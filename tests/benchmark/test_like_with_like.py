"""Tables compare like with like: whose epochs read true labels, one condition, one device, how many seeds."""

from __future__ import annotations

import csv
import io
import json
import re
from statistics import fmean

import pytest
from pulens.benchmark import leaderboard

from pulens.research.benchmark.analyse import costs, labels
from pulens.research.benchmark.analyse.judgement import epoch_regret, judge, learner_regret
from pulens.research.benchmark.leaderboard import judged, page, page_data
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from synthetic_archive import LEARNERS, make, rewritten

FEW = {name: LEARNERS[name] for name in ("nnpu", "vpu", "dist_pu", "pn")}
ORACLE = "true validation labels"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "archive"
    return make(folder, learners=FEW, datasets={"spambase": 0.4, "mnist": 0.5}, seeds=(1, 2, 3), epochs=6, rows=200)


@pytest.fixture(scope="module")
def oracle(plain, tmp_path_factory):
    """nnPU selects its epochs with the truth on one of two data sets, PN on both."""

    def change(row):
        told = row["learner"] == "pn" or (row["learner"], row["dataset"]) == ("nnpu", "mnist")
        return row | {"own_selection": "oracle_accuracy"} if told else row

    return rewritten(plain, tmp_path_factory.mktemp("oracle") / "archive", change)


@pytest.fixture(scope="module")
def policies(plain, tmp_path_factory):
    """Every run of nnPU once more, its class prior estimated and its metrics worse."""

    def change(row):
        if row["learner"] != "nnpu":
            return None
        choices = [{**choice, "accuracy": choice["accuracy"] - 0.3} for choice in row["choices"]]
        return row | {"key": row["key"][::-1], "prior_policy": "estimated", "choices": choices}

    folder = tmp_path_factory.mktemp("policies") / "archive"
    rewritten(plain, folder, lambda row: row)
    return rewritten(plain, folder, change)


def test_a_protocol_can_make_a_methods_own_criterion_an_oracle():
    protocol = load_protocol("smoke", learners=["nnpu"], settings={"nnpu": {"all": {"selection": "oracle"}}})
    assert {run.own_selection for run in expand(protocol).runs} == {"oracle_accuracy"}


def test_methods_whose_own_criterion_reads_the_truth_are_marked_in_every_table(plain, oracle):
    result = leaderboard.board(oracle)
    assert (result.learners["nnpu"].marked, result.learners["pn"].marked) == ("nnPU §", "PN †§")
    assert result.learners["vpu"].mark == ""
    text = leaderboard.report_text(result, oracle)
    assert "those marked § read TRUE validation labels" in text.split("\n\n")[0]
    assert f"§ its own criterion selects the epoch with {ORACLE}" in text
    assert not re.search(r"^nnPU  ", text, re.MULTILINE), "unmarked"
    notes = {(row["learner"], row["dataset"]): row["note"] for row in csv.DictReader(io.StringIO(result.csv()))}
    assert ORACLE in notes["nnpu", "mnist"]
    assert notes["nnpu", "spambase"] == notes["vpu", "mnist"] == ""
    latex = result.latex()
    assert r"nnPU$^\S$ &" in latex
    assert r"% $^\S$: its own criterion" in latex
    assert "§ read TRUE" in latex
    rendered = page.leaderboard_page(oracle, result)
    assert "<td>nnPU §</td>" in rendered
    assert "own criterion, from PU labels. Metrics" not in rendered
    boards = page_data.page_data(oracle, result)
    names = [one["name"] for one in boards["learners"]]
    assert [names[m] for m in boards["boards"]["0|own|f1"]["oracle"]] == ["nnpu", "pn"]
    assert boards["boards"]["0|last|f1"]["oracle"] == []
    other = leaderboard.board(oracle, selection="proxy_roc_auc")
    assert other.learners["nnpu"].marked == "nnPU"
    assert "§" not in leaderboard.report_text(leaderboard.board(plain), plain)


def test_the_caption_claims_no_pu_labels_where_all_criteria_are_oracles(plain, tmp_path):
    told = rewritten(plain, tmp_path / "a", lambda row: row | {"own_selection": "oracle_f1"})
    result = leaderboard.board(told)
    for text in (leaderboard.report_text(result, told), result.latex(), page.leaderboard_page(told, result)):
        text = " ".join(text.split())
        assert "all of them read TRUE validation labels" in text
        assert "from PU labels" not in text.replace("from PU labels of", "")


def test_runs_whose_own_criterion_reads_the_truth_are_no_evidence_for_own(plain, oracle):
    whole = {row["selection"]: row for row in epoch_regret(plain)}
    part = {row["selection"]: row for row in epoch_regret(oracle)}
    assert (whole["own"]["runs"], part["own"]["runs"]) == (24, 24 - 6 - 3)
    assert part["proxy_accuracy"] == whole["proxy_accuracy"]
    left = [row for row in oracle.done if row["own_selection"] == "proxy_accuracy"]
    assert part["own"]["regret"] == pytest.approx(
        fmean(
            max(0, oracle.curve(row["key"])["test_accuracy"].max() - oracle.choice(row["key"])["accuracy"])
            for row in left
        )
    )


def test_methods_are_chosen_within_one_whole_condition(plain, policies):
    told = {row["way"]: row["choices"] for row in learner_regret(policies, judge(policies, metrics=("accuracy",)))}
    assert set(told.values()) == {6}, "two data sets, three seeds; a learner alone under its policy is no choice"
    same = {row["way"]: row for row in learner_regret(plain, [])}
    assert {row["way"]: row for row in learner_regret(policies, [])} == same


def test_a_method_twice_is_no_choice_of_method(plain, tmp_path):
    alone = rewritten(plain, tmp_path / "a", lambda row: row if row["learner"] == "nnpu" else None)
    again = rewritten(alone, tmp_path / "a", lambda row: row | {"key": row["key"][::-1], "settings": '{"changed": 1}'})
    assert len(again.done) == 12
    assert learner_regret(again, judge(again, metrics=("accuracy",), redraws=50)) == []


def test_a_criterion_is_judged_by_the_epoch_that_it_chose(plain, tmp_path):
    def change(row):
        """The criterion points the right way at its own epochs; at the last ones the truth is upside down."""
        if row["learner"] == "pn":
            return None
        good = {"nnpu": 0.9, "vpu": 0.8, "dist_pu": 0.7}[row["learner"]]
        truth = {"proxy_accuracy": good, "last": 1 - good}
        choices = [
            choice | {"value": good, "accuracy": truth[choice["selection"]]}
            for choice in row["choices"]
            if choice["selection"] in truth
        ]
        return row | {"own_selection": "last", "choices": choices}

    result = {row["way"]: row for row in learner_regret(rewritten(plain, tmp_path / "a", change), [])}
    assert result["validation proxy_accuracy"]["regret"] == 0
    assert result["validation proxy_accuracy"]["rank_correlation"] == pytest.approx(1)


def test_the_report_judges_the_runs_of_its_own_condition(policies):
    first, second = leaderboard.conditions_of(policies.done)
    assert (first.name, second.name) == ("S1 0.1 prior estimated", "S1 0.1 prior known")
    result = judged.judge_within(policies, second, most=6, redraws=50)
    assert (result.runs, result.sampled) == (18, 6)
    assert {row["choices"] for row in result.learners} == {6}
    assert {row["choices"] for row in result.sampled_learners} == {2}
    assert {row["way"] for row in result.learners} > {"validation proxy_roc_auc", "test f1 (known prior)"}
    assert "test f1 (estimated prior)" in {row["way"] for row in result.sampled_learners}
    assert {(row["prior"], row["runs"]) for row in result.coverage} == {("known", 18), ("estimated", 6)}
    assert {row["runs"] for row in result.epochs} == {24}
    text = leaderboard.report_text(leaderboard.board(policies, condition=second.name), policies, result)
    assert "18 runs; the prior estimated on 6 of them" in " ".join(text.split())
    alone = judged.judge_within(policies, first, redraws=50)
    assert alone.learners == alone.sampled_learners == ()


def test_curves_over_labels_keep_the_rest_of_the_condition(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "dist_pu")}
    conditions = (("S1", 0.05), ("S1", 0.1), ("S2", 0.1))
    made = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5}, seeds=(1, 2), epochs=3, conditions=conditions)
    before = leaderboard.report_text(leaderboard.board(made), made)

    def worse(row):
        choices = [{**choice, "accuracy": 0.01 * row["seed"]} for choice in row["choices"]]
        changed = {"key": row["key"][::-1], "choices": choices, "prior_policy": "estimated"}
        return row | changed if row["label_frequency"] == 0.1 else None

    mixed = rewritten(made, tmp_path / "a", worse)
    after = leaderboard.report_text(leaderboard.board(mixed, condition="S1 0.1 prior known"), mixed)
    for title in ("lowest label frequency", "lost by biased labels"):
        section = [text[text.index(title) :].split("\n\n")[0] for text in (before, after)]
        assert section[0] == section[1], title
    rows = list(mixed.results("own"))
    assert {len(one.summaries) for one in labels.label_curves(rows)} == {2}
    assert [one.summaries[1].n for one in labels.label_curves(rows)] == [2, 2], "seeds of one policy"
    lost = labels.robustness(rows, "accuracy")
    assert len(lost) == 4
    assert {round(one.loss, 9) for one in lost if "estimated" in one.setting} == {0.0}


def test_parameters_of_a_strategy_have_columns_of_their_own(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "dist_pu")}
    conditions = (("S1", 0.1), ("S3", 0.1))
    made = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5}, seeds=(1, 2), epochs=3, conditions=conditions)

    def change(row):
        return (
            row | {"key": row["key"][::-1], "parameters": '{"offset": 2}'} if row["mechanism_alias"] == "S3" else None
        )

    both = rewritten(made, tmp_path / "a", change)
    text = leaderboard.report_text(leaderboard.board(both, condition="S1 0.1"), both)
    head = text[text.index("lost by biased labels") :].splitlines()[1]
    assert head.split() == ["S3", "0.1", '{"offset":', "2}", "S3", "0.1", '{"power":', "10}"]


@pytest.mark.parametrize(
    "other",
    [{"unlabelled": "disjoint"}, {"prior_policy": "estimated"}, {"scenario": "single-set"}, {"rows_used": 500}],
)
def test_the_published_table_stands_beside_no_other_protocol(plain, tmp_path, other):
    assert leaderboard.board(plain).published
    changed = rewritten(plain, tmp_path / "a", lambda row: row | other if row["seed"] == 1 else None)
    result = leaderboard.board(changed)
    assert not result.condition.is_conventional
    assert not result.published


def test_shares_make_conditions_of_their_own(plain, tmp_path):
    def change(row):
        return row | {"test_share": 0.5, "key": row["key"][::-1]}

    folder = tmp_path / "a"
    rewritten(plain, folder, lambda row: row if row["seed"] == 1 else None)
    both = rewritten(plain, folder, change)
    assert [one.name for one in leaderboard.conditions_of(both.done)] == ["S1 0.1 test 0.2", "S1 0.1 test 0.5"]


def cost_rows():
    about = {"mechanism_alias": "S1", "stack_runs": 2, "stack_peak_memory": 2000, "device": "cuda"}
    measured = [
        ("quick", 0.8, [(1.0, "large"), (50.0, "small"), (50.0, "small")]),
        ("slow", 0.9, [(2.0, "large"), (90.0, "small")]),
        ("here", 0.7, [(40.0, "small")]),
    ]
    return [
        about
        | {"learner": learner, "dataset": "x", "seed": seed, "f1": value, "seconds": seconds, "device_name": place}
        for learner, value, runs in measured
        for seed, (seconds, place) in enumerate(runs)
    ]


def test_costs_are_compared_on_one_device_only():
    result = {(one.learner, one.device): one for one in costs.costs(cost_rows())}
    assert result["quick", "large"].seconds == 1.0
    assert (result["quick", "small"].seconds, result["quick", "small"].runs) == (50.0, 2)
    assert {place for place, one in result.items() if one.is_efficient} == {
        ("quick", "large"),
        ("slow", "large"),
        ("quick", "small"),
        ("slow", "small"),
        ("here", "small"),
    }
    assert costs.devices(result.values()) == ["small", "large"]
    alone = costs.costs([row for row in cost_rows() if row["learner"] == "here"])
    assert not alone[0].is_efficient, "there is nobody to beat"


def test_costs_stand_under_the_name_of_their_device(plain, tmp_path):
    def change(row):
        elsewhere = row["learner"] == "vpu" or (row["learner"], row["seed"]) == ("nnpu", 1)
        return row | {"device_name": "a large one", "seconds": 0.001} if elsewhere else row

    both = rewritten(plain, tmp_path / "a", change)
    text = leaderboard.report_text(leaderboard.board(both), both)
    section = text[text.index("costs per run") :].split("\n\n")[0]
    assert "costs on different devices do not compare" in section
    (small, large) = re.fullmatch(r".*?on a processor(.*)on a large one(.*)", section, re.DOTALL).groups()
    assert "VPU" in large
    assert "VPU" not in small, "it ran elsewhere"
    data = page_data.page_data(both, leaderboard.board(both))
    assert sorted(data["costs"][0]["devices"]) == ["a large one", "a processor"]
    place = data["costs"][0]["devices"].index("a large one")
    seconds = {cell[3] for cell in data["costs"][0]["cells"] if cell[2] == place}
    assert seconds == {0.001}


def test_cells_say_where_they_have_other_numbers_of_seeds(plain, tmp_path):
    def change(row):
        return None if (row["learner"], row["dataset"], row["seed"]) == ("vpu", "mnist", 3) else row

    fewer = rewritten(plain, tmp_path / "a", change)
    result = leaderboard.board(fewer)
    assert (result.seeds, result.other_seeds) == (3, {("vpu", "mnist"): 2})
    text = leaderboard.report_text(result, fewer)
    (line,) = [line for line in text.split("mean rank")[0].splitlines() if "(2)" in line and line.startswith("VPU")]
    assert len(re.findall(r"± \d+\.\d+ \(2\)", line)) == 1
    assert "(2) after a value: the number of seeds, where it is not 3" in text
    latex = result.latex()
    assert latex.count("$^{(2)}$") == 1
    assert "% over 3 seeds, or as many as a number in brackets" in latex
    rendered = page.leaderboard_page(fewer, result)
    assert rendered.count('<span class="count">(2)</span>') == 1
    assert "<sup>" not in rendered
    assert "the number of seeds, where it is not 3" in rendered
    same = leaderboard.board(plain)
    assert "(2)" not in leaderboard.report_text(same, plain)
    assert "^{(" not in same.latex()


def test_every_run_of_the_page_has_what_its_pu_labels_say(policies):
    result = leaderboard.board(policies)
    fared = judged.judge_within(policies, result.condition, most=6, redraws=50)
    data = page_data.page_data(policies, result, judged=fared)
    assert len(data["runs"]) == len(policies.done) == 30
    assert [name for name, _ in data["estimated"]] == ["accuracy", "f1", "precision", "recall", "roc_auc"]
    expected = {(row["key"], row["metric"]): row for row in judge(policies, redraws=50)}
    for run in data["runs"]:
        for (name, _), said in zip(data["estimated"], run["pu"], strict=True):
            row = expected[run["key"], name]
            if row["reason"] is not None:
                assert data["reasons"][said[0]] == row["reason"]
                continue
            assert said[0] / data["estimates"] == pytest.approx(row["estimate"], abs=1e-4)
            low, high = (value / data["estimates"] for value in said[1:3])
            assert (low, high) == pytest.approx((row["low"], row["high"]), abs=1e-4)
            assert said[3] == int(row["held"])
    json.dumps(data, allow_nan=False)
    without = page_data.page_data(policies, result)
    assert without["estimated"] == []
    assert not any("pu" in run for run in without["runs"])


def test_a_reason_stands_where_a_run_has_no_answer(plain, tmp_path):
    def change(row):
        if (row["learner"], row["dataset"], row["seed"]) != ("vpu", "mnist", 1):
            return row
        # all scores below the decision: nothing is called positive
        tallies = [
            {**tally, "lowest": [x - 50 for x in tally["lowest"]], "highest": [x - 50 for x in tally["highest"]]}
            for tally in row["tallies"]
        ]
        choices = [{**choice, "precision": float("nan"), "recall": 0.0} for choice in row["choices"]]
        return row | {"tallies": tallies, "choices": choices}

    made = rewritten(plain, tmp_path / "a", change)
    result = leaderboard.board(made)
    data = page_data.page_data(made, result, judged=judged.judge_within(made, result.condition, most=6, redraws=50))
    said = [one for run in data["runs"] for one in run["pu"] if len(one) == 1]
    assert said == [[0]]
    assert "nothing is predicted positive" in data["reasons"][0]
