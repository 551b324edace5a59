"""The command line: tables for people, JSON for programs, exit code 2 and one message for bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import pulens
from pulens.cli import COMMANDS, main
from pulens.demo import run_demo

ROWS = [(0.85, 1), (0.65, 1), (0.45, 1), (0.9, 0), (0.7, 0), (0.5, 0), (0.3, 0), (0.2, 0)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("score,label\n" + "".join(f"{score},{label}\n" for score, label in ROWS))
    return path


def run(capsys, *arguments) -> tuple[int, str, str]:
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_for_programs(capsys, table):
    code, out, err = run(
        capsys, "evaluate", table, "--class-prior", "0.5", "--threshold", "0.5", "--labelling", "random", "--json", "-"
    )
    answer = json.loads(out)
    assert code == 0
    assert err == ""
    assert answer["estimates"]["roc_auc"]["value"] == pytest.approx(0.625)
    assert answer["class_prior"]["value"] == 0.5
    assert answer["threshold"] == 0.5


def test_a_table_for_people_without_colour_codes_in_a_pipe(capsys, table):
    code, out, _ = run(capsys, "evaluate", table, "--class-prior", "0.45:0.55")
    assert code == 0
    assert "if random" in out
    assert "uncorrected" in out
    assert "ROC AUC" in out
    assert "\x1b[" not in out


def test_other_columns_and_label_values(capsys, tmp_path):
    path = tmp_path / "named.tsv"
    path.write_text("p\tstatus\n0.9\tfraud\n0.5\t\n0.4\tcleared\n0.1\t\n")
    options = ["--score", "p", "--label", "status", "--positive", "fraud", "--negative", "cleared"]
    code, out, _ = run(capsys, "evaluate", path, *options, "--unlabelled-prior", "0.2", "--json", "-")
    assert code == 0
    assert json.loads(out)["counts"] == {"labelled": 1, "unlabelled": 2, "known_negative": 1, "distinct_scores": 4}


def test_same_input_same_bytes(capsys, table):
    arguments = ["evaluate", "--labelling", "random", table, "--class-prior", "0.5", "--json", "-"]
    assert run(capsys, *arguments) == run(capsys, *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-prior", "1.5"], "--class-prior must be"),
        (["--class-prior", "often"], "--class-prior must be a number such as 0.2"),
        (
            ["--class-prior", "0.5", "--score", "p"],
            "no column 'p' (set by --score); the columns are",
        ),
        (["--class-prior", "0.5", "--threshold", "high"], "must be a number, got 'high'"),
        (["--class-prior", "0.5", "--threshold", "nan"], "threshold must be a number, got nan"),
        (["--class-prior", "0.5", "--scenario", "other"], "is not one of"),
        (["--class-prior", "0.5", "--unlabelled-prior", "0.2"], "exactly one of"),
        (["--class-prior", "0.5", "--json", "/nowhere/at/all.json"], "cannot be written"),
        (["--class-prior", "0.5", "--colour", "red"], "No such option"),
    ],
)
def test_bad_input_ends_with_one_message_and_code_two(capsys, table, options, message):
    code, out, err = run(capsys, "evaluate", table, *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err + out


def test_a_missing_file_is_code_two(capsys, tmp_path):
    code, _, err = run(capsys, "evaluate", tmp_path / "none.csv", "--class-prior", "0.5")
    assert code == 2
    assert "there is no such file" in err


def test_a_failed_run_leaves_no_file_behind(capsys, table, tmp_path):
    target = tmp_path / "out.json"
    run(capsys, "evaluate", table, "--class-prior", "1.5", "--json", target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.csv"]


def test_json_files_are_written_whole(capsys, table, tmp_path):
    target = tmp_path / "out.json"
    code, out, _ = run(capsys, "evaluate", table, "--class-prior", "0.5", "--json", target)
    assert code == 0
    assert "uncorrected" in out  # people still see the table
    assert json.loads(target.read_text())["scenario"] == "single-set"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "scores.csv"]


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_every_command_explains_itself(capsys, command):
    code, out, _ = run(capsys, *([command] if command else []), "--help")
    assert code == 0
    assert "Usage: pulens" in out


def test_a_mistyped_command_is_met_with_its_neighbour(capsys):
    code, _, err = run(capsys, "evalute")
    assert code == 2
    assert "Did you mean 'evaluate'" in err


def test_the_demos_table_is_written_for_whoever_wants_to_judge_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, _ = run(capsys, "demo", "--table", "digits.csv")
    assert code == 0
    result = pulens.evaluate(
        "digits.csv", score="score", label="label", class_prior=0.5, confidence=None, labelling="random"
    )
    shown = run_demo()
    assert result.tally == shown.evaluation.tally
    code, _, said = run(capsys, "demo", "--table", "pulens-demo.html")
    assert code != 0
    assert "pulens-demo.html" in said


def test_demo_shows_the_truth_beside_the_estimate_and_says_where_its_page_is(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "demo")
    assert code == 0
    assert "truth" in out
    assert (tmp_path / "pulens-demo.html").resolve().as_uri() in out


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom pulens.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'rich', 'narwhals') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip().endswith("[]")


def test_a_reader_that_goes_away_is_no_error(table):
    done = subprocess.run(
        f"{sys.executable} -m pulens evaluate {table} --class-prior 0.5 | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_an_audit_decides_the_class_prior_by_itself(capsys, table, scenario):
    code, out, _ = run(capsys, "evaluate", table, "--audit", "10/50", "--scenario", scenario, "--json", "-")
    prior = json.loads(out)["class_prior"]
    assert code == 0
    assert prior["method"] == "audit of 50 rows"
    assert prior["unlabelled_prior"] == 0.2


def test_an_audit_beside_an_estimator_asks_which_of_them_decides(capsys, table):
    code, _, err = run(capsys, "evaluate", table, "--audit", "10/50", "--class-prior", "auto")
    assert code == 2
    assert "Leave out 'auto' to use the audit alone" in " ".join(err.split())
    assert "--combine" in err


@pytest.mark.parametrize("command", ["evaluate", "compare", "calibrate", "prior"])
def test_help_says_what_an_audit_cannot_repair(capsys, command):
    code, out, _ = run(capsys, command, "--help-all")
    assert code == 0
    assert "does not repair labels that are not a random draw" in " ".join(out.split())
