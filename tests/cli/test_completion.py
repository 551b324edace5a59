"""Shells complete commands, options, files and the columns of the file already typed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from click.shell_completion import BashComplete

from pulens.cli import COMMANDS, app, main


def offered(*words: str) -> list[str]:
    *before, incomplete = words
    return [item.value for item in BashComplete(app, {}, "pulens", "_X").get_completions(before, incomplete)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_prints_a_script_for_each_shell(shell, capsys):
    main(["completion", shell])
    assert "_PULENS_COMPLETE" in capsys.readouterr().out


def test_an_unknown_shell_is_refused_with_the_choices(capsys):
    with pytest.raises(SystemExit) as end:
        main(["completion", "tcsh"])
    assert end.value.code == 2
    assert "bash" in capsys.readouterr().err


def test_commands_and_options_are_offered():
    assert set(offered("")) == set(COMMANDS)
    assert "--html" in offered("evaluate", "scores.csv", "--h")
    assert offered("evaluate", "scores.csv", "--scenario", "single") == ["single-set"]


def test_columns_of_the_file_are_offered(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model_a,model_b,status\n0.1,0.2,1\n")
    assert offered("evaluate", str(file), "--score", "mod") == ["model_a", "model_b"]
    assert offered("evaluate", str(tmp_path / "missing.csv"), "--score", "mod") == []
    assert offered("evaluate", "scores.parquet", "--score", "mod") == []


def test_every_command_has_an_example_in_its_help(capsys):
    for name in COMMANDS:
        with suppress(SystemExit):
            main([name, "--help"])
        assert f"pulens {name}" in capsys.readouterr().out.split("Usage:")[1].split("\n", 1)[1], name


TABLE = "model_a,model_b,status,region\n0.1,0.2,confirmed,north\n0.3,0.4,,south\n0.2,0.1,open,south\n"


def test_columns_are_offered_for_every_option_that_names_one(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(TABLE)
    for option in ("--score", "--label", "--weight", "--cluster", "--group-by", "--within", "--id", "--per"):
        assert offered("evaluate", str(file), option, "reg") == ["region"], option
    for command, option in (("train", "--feature"), ("train", "--drop"), ("train", "--cluster"), ("watch", "--time")):
        assert offered(command, str(file), option, "reg") == ["region"], option
    assert offered("audit", "plan", str(file), "--keep", "reg") == ["region"]
    assert offered("synthesise", str(file), "--target", "sta") == ["status"]


def test_columns_of_other_formats_folders_and_writings_are_offered(tmp_path):
    import polars

    polars.read_csv(TABLE.encode()).write_parquet(tmp_path / "scores.parquet")
    assert offered("evaluate", str(tmp_path / "scores.parquet"), "--score", "mod") == ["model_a", "model_b"]
    assert offered("evaluate", str(tmp_path / "*.parquet"), "--score", "mod") == ["model_a", "model_b"]
    file = tmp_path / "semicolons.csv"
    file.write_bytes(TABLE.replace(",", ";").encode("utf-16"))
    assert offered("evaluate", str(file), "--delimiter", ";", "--label", "sta") == ["status"]


def test_label_values_are_offered_once_their_column_is_named(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(TABLE)
    for option in ("--positive", "--negative", "--unlabelled"):
        assert offered("evaluate", str(file), "--label", "status", option, "") == ["confirmed", "open"]
    assert offered("evaluate", str(file), "--positive", "") == []
    assert offered("evaluate", str(file), "--label", "none", "--positive", "") == []


def test_estimators_metrics_and_learners_are_offered():
    assert offered("evaluate", "x.csv", "--class-prior", "alph") == ["alphamax"]
    assert offered("evaluate", "x.csv", "--unlabelled-prior", "ded") == ["dedpul"]
    assert offered("prior", "x.csv", "--method", "alph") == ["alphamax"]
    assert offered("compare", "x.csv", "--metric", "roc") == ["roc_auc"]
    assert offered("evaluate", "x.csv", "--gaps", "reca") == ["recall", "recall_at_k"]
    assert "nnpu" in offered("train", "x.csv", "--method", "nn")


def help_of(capsys, *words: str) -> str:
    with suppress(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


QUESTIONS = ["Columns and rows:", "What you know:", "What to show:", "Where to write:", "Other options:"]


@pytest.mark.parametrize(
    "command", [["evaluate"], ["prior"], ["compare"], ["calibrate"], ["decide"], ["audit", "plan"]]
)
def test_help_sorts_options_by_the_question_they_answer(capsys, command):
    text = help_of(capsys, *command)
    places = [text.index(f"\n{title}\n") for title in QUESTIONS]
    assert places == sorted(places)
    assert " ".join(text[places[-1] :].split()) == "Other options: -h, --help Show this message and exit."


def test_no_help_speaks_of_papers_by_number(capsys):
    for name in COMMANDS:
        assert "paper 0" not in help_of(capsys, name).lower()
