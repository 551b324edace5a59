"""pulens compare"""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest

from pulens.cli import main


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    positive = rng.random(1500) < 0.2
    a, b = rng.normal(2.0 * positive), rng.normal(0.7 * positive)
    label = (positive & (rng.random(1500) < 0.5)).astype(int)
    path = tmp_path / "scores.csv"
    lines = [f"{x:.5f},{y:.5f},{z}" for x, y, z in zip(a, b, label, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]) + "\n")
    return path


FAST = ["--redraws", "100", "--class-prior", "0.2", "--scenario", "single-set"]
MODELS = ["--score", "a", "--score", "b"]


def test_the_terminal_shows_differences_and_a_verdict(file, capsys):
    main(["compare", str(file), *MODELS, *FAST])
    shown = capsys.readouterr().out
    assert shown.startswith("a is better than b")
    assert "difference" in shown
    main(["compare", str(file), *MODELS, *FAST, "--explain"])
    assert "a - b" in capsys.readouterr().out


def test_the_answer_fits_a_screen_has_one_sign_and_no_tiny_p(file, capsys, monkeypatch):
    """The better model comes first in the sentence and in the table, whichever was named first."""
    monkeypatch.chdir(file.parent)
    main(["compare", "scores.csv", "--score=b", "--score=a", *FAST, "--threshold=1.0", "--labelling=random"])
    shown = capsys.readouterr().out
    assert shown.startswith("a is better than b")
    assert len(shown.splitlines()) <= 24
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "p < 0.001" in shown
    assert "P(better)" not in shown
    area = next(line for line in shown.splitlines() if line.startswith("ROC AUC"))
    assert "+" in area
    assert "-0." not in area


def test_the_next_step_can_be_pasted_as_it_is(file, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)
    main(["compare", "scores.csv", *MODELS, *FAST, "--threshold", "1.0"])
    said = capsys.readouterr().out.partition("next: ")[2].replace("\\\n", " ")
    command = next(line for line in said.splitlines() if line.strip().startswith("pulens audit plan"))
    main(command.split()[1:])
    assert (file.parent / "queue.csv").exists()


def test_json_goes_to_standard_output_alone(file, capsys):
    main(
        [
            "compare",
            str(file),
            *MODELS,
            *FAST,
            "--metric",
            "f1",
            "--threshold",
            "a=1.0",
            "--threshold",
            "b=0.4",
            "--json",
            "-",
        ]
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["metric"] == "f1"
    assert answer["metrics"]["f1"]["estimates"]["a"]["threshold"] == 1.0


def test_standard_input_is_read_once_for_all_models(file, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    main(["compare", "-", *MODELS, *FAST, "--json", "-"])
    piped = capsys.readouterr().out
    main(["compare", str(file), *MODELS, *FAST, "--json", "-"])
    assert piped == capsys.readouterr().out


def test_mistakes_in_standard_input_are_named_as_such(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    with pytest.raises(SystemExit):
        main(["compare", "-", *MODELS, *FAST])
    assert capsys.readouterr().err.startswith("pulens: standard input: there is no column 'label'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--score", "a", *FAST], "at least two models"),
        (["--score", "a", "--score", "c", *FAST], "there is no column 'c'"),
        ([*MODELS, *FAST, "--threshold", "a:1"], "--threshold must be a number or MODEL=NUMBER, got 'a:1'"),
        ([*MODELS, *FAST, "--threshold", "a=1"], "threshold must name each model once"),
        ([*MODELS, *FAST, "--metric", "auc"], "there is no metric 'auc'"),
        ([*MODELS, *FAST, "--unlabelled-prior", "0.1"], "give exactly one of class_prior"),
        ([*FAST], "--score"),
    ],
)
def test_mistakes_end_with_one_message_and_code_two(arguments, message, file, capsys):
    with pytest.raises(SystemExit) as end:
        main(["compare", str(file), *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_a_joint_tally_file_is_compared_as_the_rows_it_counts(file, tmp_path, capsys):
    tally = str(tmp_path / "models.tally")
    main(["tally", str(file), *MODELS, "-o", tally])
    assert "scores a, b" in (said := capsys.readouterr().out)
    assert "Tally" not in said
    main(["compare", str(file), *MODELS, *FAST, "--json", "-"])
    rows = capsys.readouterr().out
    for words in ([], MODELS):
        main(["compare", tally, *words, *FAST, "--json", "-"])
        assert capsys.readouterr().out == rows


def test_joint_tallies_of_parts_add_up_to_that_of_the_whole(file, tmp_path, capsys):
    head, *lines = file.read_text().splitlines(keepends=True)
    for place, part in enumerate((lines[:700], lines[700:])):
        (tmp_path / f"{place}.csv").write_text(head + "".join(part))
        main(["tally", str(tmp_path / f"{place}.csv"), *MODELS, "-o", str(tmp_path / f"{place}.tally")])
    main(["merge", str(tmp_path / "0.tally"), str(tmp_path / "1.tally"), "-o", str(tmp_path / "all.tally")])
    capsys.readouterr()
    main(["compare", str(tmp_path / "all.tally"), *FAST, "--json", "-"])
    merged = capsys.readouterr().out
    main(["compare", str(file), *MODELS, *FAST, "--json", "-"])
    assert merged == capsys.readouterr().out


def test_what_a_tally_lacks_for_a_comparison_is_said_with_the_way_out(file, tmp_path, capsys):
    main(["tally", str(file), "--score", "a", "-o", str(tmp_path / "a.tally")])
    with pytest.raises(SystemExit) as end:
        main(["compare", str(tmp_path / "a.tally"), *MODELS, *FAST])
    assert end.value.code == 2
    assert "forgets which row is which" in (said := capsys.readouterr().err)
    assert "pulens tally --score a --score b" in said
    with pytest.raises(SystemExit) as end:
        main(["tally", str(file), *MODELS, "--tolerance", "0.01", "-o", str(tmp_path / "b.tally")])
    assert end.value.code == 2
    assert "keeps every combination of scores" in capsys.readouterr().err
