"""Reports of an archive: what the text, the tables and the page's data say, and what they refuse to say."""

from __future__ import annotations

import csv
import io
import json
import re
from statistics import fmean, stdev

import numpy as np
import pytest
from pulens.benchmark import leaderboard

from pulens.errors import InputError
from pulens.research.benchmark.analyse import paired
from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.leaderboard import judged, page, page_data
from synthetic_archive import DATASETS, LEARNERS, make

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return make(tmp_path_factory.mktemp("one") / "archive")


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Labels at random at two frequencies, and biased ones."""
    few = {name: LEARNERS[name] for name in ("nnpu", "dist_pu", "self_pu", "pn")}
    conditions = (("S1", 0.05), ("S1", 0.1), ("S2", 0.05))
    return make(tmp_path_factory.mktemp("several") / "a", learners=few, conditions=conditions, seeds=(1, 2), epochs=4)


def test_the_table_is_the_mean_over_seeds_of_the_epochs_that_the_selection_chose(archive):
    for selection, metric in (("own", "accuracy"), ("oracle_f1", "f1"), ("last", "roc_auc")):
        result = leaderboard.board(archive, selection=selection, metric=metric)
        text = leaderboard.report_text(result, archive)
        values = [
            archive.choice(row["key"], selection)[metric]
            for row in archive.done
            if (row["learner"], row["dataset"]) == ("vpu", "mnist")
        ]
        assert len(values) == 3
        assert f"{100 * fmean(values):.2f} ± {100 * stdev(values):.2f}" in text


def test_methods_that_are_told_the_truth_are_marked_and_do_not_compete(archive):
    result = leaderboard.board(archive)
    assert result.learners["pn"].marked == "PN †"
    assert result.learners["lagam"].needs_support
    assert result.order[-1] == "pn"  # the highest accuracy, below all others
    assert "pn" not in result.ranking.learners
    assert "pn" not in {one.learner for one in (*result.tests, *result.records)}
    assert not any(one.is_efficient for one in result.costs() if one.learner == "pn")
    rows = list(csv.DictReader(io.StringIO(result.csv())))
    assert {row["note"] for row in rows if row["learner"] == "pn"} == {"trained with true classes"}
    latex = result.latex().splitlines()
    line = next(line for line in latex if line.startswith("PN"))
    assert r"PN$^\dagger$" in line
    assert "textbf" not in line
    assert latex[latex.index(line) - 1] == r"\midrule"


@pytest.mark.slow
def test_oracle_selection_is_said_everywhere(archive):
    result = leaderboard.board(archive, selection="oracle_f1")
    assert "ORACLE" in leaderboard.report_text(result, archive).split("\n\n")[0]
    assert "true validation labels" in result.csv()
    assert "TRUE validation labels" in result.latex()
    rendered = page.leaderboard_page(archive, result)
    warning = re.search(r'<p id="oracle-warning"[^>]*>', rendered).group()
    assert "hidden" not in warning
    assert "ORACLE" not in leaderboard.report_text(leaderboard.board(archive), archive)


def test_marks_in_the_text_are_the_corrected_tests(archive):
    result = leaderboard.board(archive)
    text = leaderboard.report_text(result, archive)
    verdicts = {(one.learner, one.dataset): one.verdict() for one in paired.against_reference(result.competing)}
    assert {"better", "worse"} <= set(verdicts.values())
    table = text.split("mean ± sd over seeds")[1].split("mean rank over data sets")[0]
    line = " ".join(f"{line} " for line in table.splitlines() if line.startswith("PAN"))  # a block of data sets each
    signs = re.findall(r"± \d+\.\d+(?: \(\d+\))? ([+\- ])", line + " ")
    expected = [{"better": "+", "worse": "-", "tie": " "}[verdicts["pan", one]] for one in result.datasets]
    assert signs == expected


@pytest.mark.slow
def test_the_published_table_stands_beside_the_conventional_condition_only(archive, several):
    result = leaderboard.board(archive)
    assert result.published["dist_pu", "spambase"] == pytest.approx(0.8571)
    assert "85.71" in leaderboard.report_text(result, archive)
    assert not leaderboard.board(archive, metric="f1").published
    assert not leaderboard.board(several, condition="S1 0.05").published


def test_conditions_have_names_and_are_never_mixed(several):
    names = [one.name for one in leaderboard.conditions_of(several.done)]
    assert names == ["S1 0.05", "S1 0.1", "S2 0.05"]
    assert leaderboard.board(several).condition.name == "S1 0.1"  # Table 1's
    assert leaderboard.board(several, condition="s2").condition.name == "S2 0.05"
    assert {row["mechanism_alias"] for row in leaderboard.board(several, condition="S2:0.05").rows} == {"S2"}
    with pytest.raises(InputError, match=r"names several conditions; they are S1 0.05, S1 0.1, S2 0.05"):
        leaderboard.board(several, condition="S1")
    with pytest.raises(InputError, match="names no condition"):
        leaderboard.board(several, condition="S9 0.1")
    text = leaderboard.report_text(leaderboard.board(several), several)
    assert "lost by biased labels" in text
    assert "lowest label frequency" in text


def test_wrong_words_are_named_with_the_nearest_right_one(archive):
    with pytest.raises(InputError, match="Did you mean 'oracle_f1'"):
        leaderboard.board(archive, selection="oracle_f2")
    with pytest.raises(InputError, match="Did you mean 'accuracy'"):
        leaderboard.board(archive, metric="acuracy")
    with pytest.raises(InputError, match="has no run here; learners are 'dist_pu'"):
        leaderboard.board(archive, reference="upu")


def test_an_archive_without_the_reference_is_reported_without_comparisons(tmp_path):
    few = {name: LEARNERS[name] for name in ("vpu", "dist_pu")}
    result = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5}, seeds=(1,), epochs=3)
    board = leaderboard.board(result)
    assert board.reference is None
    assert board.tests == ()
    assert "ranks need at least 3 learners" in board.no_ranking_because
    text = leaderboard.report_text(board, result)
    assert "nothing is compared" in text
    assert "single seed" in text
    page.leaderboard_page(result, board)  # one seed, one data set: still a page


def test_runs_of_changed_settings_count_once_and_are_mentioned(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu", "dist_pu")}
    result = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5, "imdb": 0.5}, seeds=(1, 2), epochs=3)
    row = next(row for row in result.done if row["learner"] == "vpu")
    again = {**next(one for one in result.table().to_pylist() if one["key"] == row["key"])}
    again |= {"key": "f" * 16, "settings": '{"changed": 1}', "finished": "2027-01-01T00:00:00"}
    again["choices"] = [{**choice, "accuracy": 0.123} for choice in again["choices"]]
    Store(tmp_path / "a").open().add([again])
    board = leaderboard.board(read(tmp_path / "a"))
    assert any("other settings" in text for text in board.notices)
    assert board.cells[row["learner"], row["dataset"]][row["seed"]] == 0.123  # the newest


def test_a_metric_with_nothing_to_divide_by_is_left_out_and_marked(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu")}
    result = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5}, seeds=(1, 2, 3), epochs=3)
    path = next(path for path in result.files if path.name.startswith("vpu"))
    stack = [row for row in result.table().to_pylist() if row["learner"] == "vpu"]
    path.unlink()
    stack[0]["choices"] = [{**choice, "precision": float("nan")} for choice in stack[0]["choices"]]
    Store(tmp_path / "a").open().add(stack)
    again = read(tmp_path / "a")
    board = leaderboard.board(again, metric="precision")
    assert board.undefined == {("vpu", "mnist"): 1}
    assert len(board.cells["vpu", "mnist"]) == 2
    assert "? some seeds have no precision" in leaderboard.report_text(board, again)
    json.dumps(page_data.page_data(again, board), allow_nan=False)


def test_judgement_takes_whole_seeds_so_that_methods_stay_comparable(archive):
    condition = leaderboard.board(archive).condition
    result = judged.judge_within(archive, condition, most=14, redraws=50)
    assert (result.sampled, result.runs) == (12, 71)  # one seed of two data sets, six learners
    assert {row["prior"] for row in result.coverage} == {"known", "estimated"}
    text = leaderboard.report_text(leaderboard.board(archive), archive, result)
    assert "(71 runs; the prior estimated on 12 of them" in " ".join(text.split())
    assert "oracle_f1 (ORACLE)" in text
    assert "validation proxy_accuracy" in text


def test_the_pages_data_say_what_the_board_says(archive):
    board = leaderboard.board(archive, metric="f1", selection="proxy_roc_auc")
    data = page_data.page_data(archive, leaderboard.board(archive))
    held = data["boards"]["0|proxy_roc_auc|f1"]
    names = [one["name"] for one in data["learners"]]
    for (learner, dataset), own in board.cells.items():
        a, b = names.index(learner), data["datasets"].index(dataset)
        assert held["mean"][a][b] / data["scale"] == pytest.approx(fmean(own.values()), abs=1e-5)
        assert held["n"][a][b] == len(own)
    for test in board.tests:
        a, b = names.index(test.learner), data["datasets"].index(test.dataset)
        assert held["p"][a][b] == pytest.approx(test.corrected, rel=0.01)
        assert held["verdict"][a][b] == {"better": 1, "tie": 0, "worse": -1}[test.verdict()]
    ranks = dict(zip(board.ranking.learners, board.ranking.ranks, strict=True))
    assert {names[m]: r for m, r in zip(held["ranking"]["learners"], held["ranking"]["ranks"], strict=True)} == (
        pytest.approx(ranks, abs=1e-4)
    )
    over = {names[m]: pair for m, pair in enumerate(held["over"]) if pair}
    assert {name: pair[0] / 1000 for name, pair in over.items()} == (
        pytest.approx({name: belief.better for name, belief in board.beliefs.items()}, abs=1e-3)
    )


def test_published_figures_stand_in_one_order_on_every_page(archive):
    data = page_data.page_data(archive, leaderboard.board(archive))
    places = [(data["learners"][m]["name"], data["datasets"][d]) for m, d, _ in data["published"]]
    assert len(places) > 10
    assert places == sorted(places)  # not that of a set, which differs from one process to the next


@pytest.mark.slow
def test_wilcoxon_marks_need_enough_data_sets_and_point_the_right_way(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "dist_pu", "pan")}
    made = make(
        tmp_path / "a", learners=few, datasets={f"d{k}": 0.5 for k in range(9)}, seeds=(1, 2), epochs=3, rows=200
    )
    data = page_data.page_data(made, leaderboard.board(made))
    names = [one["name"] for one in data["learners"]]
    result = {name: data["boards"]["0|own|accuracy"]["wilcoxon"][names.index(name)] for name in ("dist_pu", "pan")}
    assert result["dist_pu"] == [9, 0.00391, 0.00781, 1]  # all nine agree: 2 / 2^9, twice that after Holm
    assert result["pan"] == [9, 0.00391, 0.00781, -1]


def test_details_of_runs_are_thinned_but_keep_every_chosen_epoch(tmp_path):
    result = make(tmp_path / "a", learners={"nnpu": 1, "vpu": 1}, datasets=DATASETS, seeds=(1, 2), epochs=60)
    board = leaderboard.board(result)
    data = page_data.page_data(result, board)
    assert len(data["runs"]) == 16
    for run in data["runs"]:
        assert len(run["curve"]["epoch"]) <= page_data.POINTS + len(run["epochs"])
        assert set(run["epochs"]) <= set(run["curve"]["epoch"])
        assert len(run["density"]["shares"]) == 3
        for shares in run["density"]["shares"]:
            assert sum(shares) == pytest.approx(1000, abs=page_data.BINS / 2)
        own = data["selections"].index("own")
        chosen = result.choice(run["key"], "own")
        assert run["epochs"][run["chosen"][own]] == chosen["epoch"]
        values = np.array(run["values"][run["chosen"][own]]) / data["scale"]
        np.testing.assert_allclose(values, [chosen[name] for name in data["metrics"]], atol=1e-5)
    fewer = page_data.page_data(result, board, detailed=6)
    assert len(fewer["runs"]) <= 6
    assert {(run["m"], run["d"]) for run in fewer["runs"]} >= {(0, 0), (1, 0)}
    assert fewer["runs_of"] == 16


def test_text_of_others_is_escaped(tmp_path):
    result = make(tmp_path / "a", learners={"nnpu": 1, "vpu": 1}, datasets={"mnist": 0.5, "imdb": 0.5}, seeds=(1, 2))
    mine, other = [row for row in result.table().to_pylist() if (row["learner"], row["dataset"]) == ("vpu", "mnist")]
    store = Store(tmp_path / "a").open()
    store.add([mine | {"key": "a" * 16, "learner": "mine", "title": SCRIPT, "family": SCRIPT, "notices": [SCRIPT]}])
    store.add([other | {"key": "b" * 16, "learner": "lost", "title": SCRIPT, "status": "failed", "reason": SCRIPT}])
    again = read(tmp_path / "a")
    rendered = page.leaderboard_page(again, leaderboard.board(again), title=SCRIPT)
    assert SCRIPT not in rendered
    assert rendered.count("&lt;script&gt;alert(1)") >= 4  # title, family, failed learner, reason


def test_the_page_allows_nothing_from_outside(archive):
    rendered = page.leaderboard_page(archive, leaderboard.board(archive))
    assert "default-src 'none'" in rendered
    assert not re.findall(r"src=[\"'](?!#)", rendered)
    assert not re.findall(r"<(?!a )\w+[^<>]*href=[\"'](?!#)", rendered), "a link home is all that may lead outside"
    assert "xmlns=" not in re.sub(r'xmlns="http://www.w3.org/2000/svg"', "", rendered)
