"""Any metric of the catalogue from archived tallies: stored ones are a cache of what the counts say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pulens.benchmark import leaderboard
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, fbeta_score, matthews_corrcoef

from pulens.cli import main
from pulens.errors import InputError
from pulens.metrics import METRICS
from pulens.recovery.assumptions import UNCORRECTED
from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.archive.counts import METRICS as STORED
from pulens.research.benchmark.archive.measured import true_value
from pulens.research.benchmark.leaderboard import page, page_data
from synthetic_archive import LEARNERS, make


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Scores in 64 bins of about 5 rows."""
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu", "dist_pu", "pan", "pn")}
    sets = {"spambase": 0.4, "mnist": 0.5}
    return make(tmp_path_factory.mktemp("measured") / "a", learners=few, datasets=sets, seeds=(1, 2, 3), epochs=4)


@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_is_what_the_tally_says(undisturbed, archive, name):
    for source in (undisturbed, archive):
        for selection in ("own", "last", "oracle_f1"):
            for row in source.results(selection):
                tally = source.tally(row["key"], selection=selection, truth=True)
                is_exact = METRICS[name].reads != "ranking" or tally.binning is None
                tolerance = 1e-12 if is_exact else METRICS[name].binning_error(tally, UNCORRECTED)
                result = true_value(name, tally)
                assert result == pytest.approx(row[name], abs=tolerance, nan_ok=True)
                assert repr(source.metric(row["key"], name, selection)) == repr(row[name])  # exact where stored


def test_others_are_those_of_scikit_learn(archive):
    ways = {
        "matthews_correlation": matthews_corrcoef,
        "balanced_accuracy": balanced_accuracy_score,
        "cohen_kappa": cohen_kappa_score,
        "f_beta": lambda truth, called: fbeta_score(truth, called, beta=2),
    }
    for row in archive.done:
        counts = archive.counts(row["key"], "test", archive.choice(row["key"])["epoch"])
        called = counts["lowest"] >= 0
        truth = np.repeat(
            [1, 1, 0, 0],
            [counts[kind][own].sum() for kind in ("positive", "negative") for own in (called, ~called)],
        )
        calls = np.repeat(
            [1, 0, 1, 0],
            [counts[kind][own].sum() for kind in ("positive", "negative") for own in (called, ~called)],
        )
        for name, way in ways.items():
            assert archive.metric(row["key"], name) == pytest.approx(way(truth, calls), abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_the_catalogue_has_a_report(archive, name):
    board = leaderboard.board(archive, metric=name)
    text = leaderboard.report_text(board, archive)
    assert f"metric       {name} of test rows with true labels" in text
    row = board.rows[0]
    values = board.cells[row["learner"], row["dataset"]]
    assert values[row["seed"]] == archive.metric(row["key"], name)
    assert len(board.csv().splitlines()) == 11


def test_less_of_an_error_is_better(archive):
    right, wrong = (leaderboard.board(archive, metric=name) for name in ("accuracy", "error_rate"))
    assert wrong.order == right.order
    assert wrong.ranking.ranks == right.ranking.ranks
    assert wrong.verdicts == right.verdicts
    assert {"better", "worse"} & set(right.verdicts.values())
    assert [one.is_efficient for one in wrong.costs()] == [one.is_efficient for one in right.costs()]
    assert [one.losses for one in wrong.records] == [one.losses for one in right.records]
    assert "lower is better" in " ".join(leaderboard.report_text(wrong, archive).split())
    bold = [[line.split("&")[0] for line in one.latex().splitlines() if "textbf" in line] for one in (wrong, right)]
    assert bold[0] == bold[1]
    assert "lowest mean error_rate" in page.leaderboard_page(archive, wrong)


def test_what_is_no_share_is_not_shown_in_percent(archive):
    board = leaderboard.board(archive, metric="lift")
    means = [value for (learner, dataset), own in board.cells.items() for value in own.values()]
    assert 1 < np.mean(means) < 3
    assert "in percent" not in leaderboard.report_text(board, archive).split("\n\n")[0]
    mean = np.mean(list(board.cells["nnpu", "mnist"].values()))
    assert f"{mean:.2f} ±" in leaderboard.report_text(board, archive)
    assert f"{mean:.2f}" in next(line for line in board.latex().splitlines() if line.startswith("nnPU"))


def test_the_page_has_the_metric_it_was_asked_for(archive):
    board = leaderboard.board(archive, metric="error_rate")
    data = page_data.page_data(archive, board)
    assert data["metrics"][-1] == data["start"]["metric"] == "error_rate"
    assert (data["lower"], data["plain"]) == (["error_rate"], [])
    held = data["boards"]["0|last|error_rate"]
    other = data["boards"]["0|last|accuracy"]
    for mine, theirs in zip(held["mean"], other["mean"], strict=True):
        assert [a + b for a, b in zip(mine, theirs, strict=True)] == pytest.approx([data["scale"]] * len(mine), abs=1)
    assert held["verdict"] == other["verdict"]
    run = data["runs"][0]
    assert all(len(values) == 8 for values in run["values"])
    assert run["values"][0][-1] + run["values"][0][0] == pytest.approx(data["scale"], abs=1)


@pytest.mark.slow
def test_a_run_without_a_tally_has_no_such_metric_and_is_left_out(archive, tmp_path):
    rows = archive.table().to_pylist()
    broken = rows[0] | {"tallies": []}
    store = Store(tmp_path).open()
    for row in [broken, *rows[1:]]:
        store.add([row])
    again = read(tmp_path)
    assert math.isnan(again.metric(broken["key"], "matthews_correlation"))
    board = leaderboard.board(again, metric="matthews_correlation")
    assert board.undefined == {(broken["learner"], broken["dataset"]): 1}


def test_an_unknown_metric_is_refused_with_the_nearest(archive, capsys):
    with pytest.raises(InputError, match="Did you mean 'matthews_correlation'"):
        archive.metric(archive.done[0]["key"], "mathews_corelation")
    with pytest.raises(SystemExit):
        main(["bench", "report", str(archive.folder), "--metric", "mathews_corelation"])
    assert "Did you mean 'matthews_correlation'?" in capsys.readouterr().err
    main(["bench", "report", str(archive.folder), "--metric", "matthews_correlation", "--judge", "0", "--explain"])
    assert "matthews_correlation, mean ± sd over seeds" in capsys.readouterr().out
