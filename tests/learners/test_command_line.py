"""pulens train and pulens score: from a table to scores that pulens evaluate reads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pulens.cli import main
from pulens.errors import InputError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.4
    X = rng.normal(size=(400, 2)) * [1, 1000] + np.where(positive[:, None], [1, 1000], [-1, -1000])
    status = np.where(positive & (rng.random(400) < 0.5), "confirmed", "")
    lines = [f"{number},{a:.5f},{b:.5f},{s}" for number, ((a, b), s) in enumerate(zip(X, status, strict=True))]
    path = tmp_path / "claims.csv"
    path.write_text("\n".join(["id,first,second,status", *lines]) + "\n")
    return path, positive


TRAIN = ["--label", "status", "--positive", "confirmed", "--drop", "id", "--class-prior", "0.4", "--device", "cpu"]
QUICK = [
    "--method",
    "nnpu",
    "--backbone",
    "linear",
    "--set",
    "epochs=10",
    "--set",
    "learning_rate=0.05",
    "--scenario",
    "single-set",
]


def test_train_score_evaluate(table, tmp_path, capsys):
    path, positive = table
    model, scores = tmp_path / "model", tmp_path / "scores.csv"
    main(["train", str(path), "--out", str(model), *TRAIN, *QUICK])
    assert "kept epoch" in " ".join(capsys.readouterr().out.split())
    main(["score", str(model), str(path), "--label", "status", "--positive", "confirmed", "--out", str(scores)])
    rows = np.loadtxt(scores, delimiter=",", skiprows=1)
    assert ((rows[:, 1] > 0.5) == positive).mean() > 0.9  # features of very different scale
    assert set(rows[:, 0]) == {0, 1}
    main(["evaluate", "--labelling", "random", str(scores), "--class-prior", "0.4", "--scenario", "single-set"])
    assert "roc_auc" in capsys.readouterr().out
    main(["score", str(model), str(path)])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "score"
    assert len(shown) == 401


@pytest.mark.parametrize("words", [["puet"], ["kernel_pusb", "--set", "bandwidths=0.5,2", "--set", "centres=50"]])
def test_learners_without_networks_are_trained_and_scored_alike(table, tmp_path, words):
    path, positive = table
    model, scores = tmp_path / "model", tmp_path / "scores.csv"
    main(["train", str(path), "--out", str(model), *TRAIN, "--scenario", "single-set", "--method", *words])
    main(["score", str(model), str(path), "--out", str(scores)])
    assert ((np.loadtxt(scores, skiprows=1) > 0.5) == positive).mean() > 0.85


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "magic"], "there is no learner 'magic'"),
        (["--method", "nnpo"], "Did you mean 'nnpu'?"),
        (["--method", "oracle"], "needs the true class of every training row"),
        (["--method", "lagam"], "needs true labels of a few rows of both classes"),
        (["--set", "epoch=3"], "--set must be NAME=VALUE"),
        (["--set", "batch_size=many"], "--set batch_size must be a whole number"),
        (["--class-prior", "1.2"], "--class-prior must lie strictly between 0 and 1"),
        (["--feature", "third"], "there is no column 'third'"),
        (["--feature", "status"], "is the column of labels"),
    ],
)
def test_mistakes_end_with_one_message_and_nothing_written(table, tmp_path, capsys, words, message):
    with pytest.raises(SystemExit) as end:
        main(["train", str(table[0]), "--out", str(tmp_path / "model"), *TRAIN, *QUICK, *words])
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_several_numbers_are_given_with_commas(table, tmp_path, capsys):
    words = ["--method", "kernel_pusb", "--set", "bandwidths=1,wide"]
    with pytest.raises(SystemExit):
        main(["train", str(table[0]), "--out", str(tmp_path / "model"), *TRAIN, *words])
    assert "--set bandwidths must be numbers such as 0.01,0.05" in capsys.readouterr().err


def test_a_folder_of_somebody_else_is_refused_before_training(table, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["train", str(table[0]), "--out", str(tmp_path), *TRAIN, *QUICK])
    assert "not a saved learner" in capsys.readouterr().err


def test_scoring_with_a_missing_column_names_it(table, tmp_path, capsys):
    path, _ = table
    main(["train", str(path), "--out", str(tmp_path / "model"), *TRAIN, *QUICK])
    other = tmp_path / "other.csv"
    other.write_text("first\n1.0\n")
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "model"), str(other)])
    assert "there is no column 'second'" in capsys.readouterr().err


def test_a_model_whose_numbers_overflow_is_told_by_its_scores_alone() -> None:
    from pulens.cli.score import _scored

    class Overflowing:
        def predict_proba(self, values):
            huge = np.full((len(values), 2), 1e300) * 1e300
            return huge - huge

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="gives no number for 3 of 3 rows"):
            _scored(Overflowing(), np.zeros((3, 2)), "model", "rows.csv")
