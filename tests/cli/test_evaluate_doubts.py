"""`pulens evaluate --bounds` shows what was asked for, and `--sensitivity` is an older word for `--labelling`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from command_lines import EVALUATE
from pulens.cli import main


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 600])
    values = rng.normal(np.repeat([1.5, 1.5, 0.0], [60, 120, 480]), 1)
    path = tmp_path / "scores.csv"
    rows = [f"{label},{value}" for label, value in zip(labels, values, strict=True)]
    path.write_text("\n".join(["label,score", *rows]))
    return str(path)


def test_json_holds_bounds(scores, capsys) -> None:
    wishes = ["--class-prior", "0.2", "--scenario", "case-control", "--threshold", "1", "--redraws", "100"]
    main(["evaluate", "--labelling", "random", scores, *wishes, "--bounds", "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    options = {"class_prior": 0.2, "scenario": "case-control", "threshold": 1.0, "confidence": None}
    evaluation = pulens.evaluate(scores, **options, labelling="random")
    assert answer["bounds"]["roc_auc"]["low"] == evaluation.bounds().roc_auc.low
    assert answer["bounds"]["target_population"] == "the unlabelled rows"


def test_print_shows_them_after_the_estimates(scores, capsys) -> None:
    wishes = ["--class-prior", "0.2", "--scenario", "case-control", "--redraws", "100"]
    main(["evaluate", "--labelling", "random", scores, *wishes, "--bounds"])
    shown = capsys.readouterr().out
    assert "95% bounds from ranks: labels random, 0.2 of the unlabelled rows positive" in shown


def test_sensitivity_is_an_older_word_for_a_factor_of_the_labelling(scores, capsys) -> None:
    wishes = [scores, "--class-prior", "0.2", "--scenario", "case-control", "--threshold", "1", "--json", "-"]
    main(["evaluate", *wishes, "--sensitivity", "2"])
    told = capsys.readouterr()
    assert "--sensitivity 2 is --labelling 2" in told.err
    main(["evaluate", *wishes, "--labelling", "2"])
    assert json.loads(told.out)["estimates"] == json.loads(capsys.readouterr().out)["estimates"]
    with pytest.raises(SystemExit):
        main(["evaluate", *wishes, "--labelling", "random", "--sensitivity", "2"])
    assert "give one of them" in capsys.readouterr().err


def test_bounds_refuse_noisy_labels(scores, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*EVALUATE, scores, "--class-prior", "0.2", "--label-noise", "0.1", "--redraws", "100", "--bounds"])
    assert ended.value.code == 2
    assert "bounds hold for clean labels only, got --label-noise 0.1" in capsys.readouterr().err
