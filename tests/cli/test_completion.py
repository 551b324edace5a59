"""Shells complete commands, options, files and the columns of the file already typed."""

from __future__ import annotations

import re
from contextlib import suppress

import click
import pytest
from click.shell_completion import BashComplete

from command_lines import found_command, understood
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
    assert offered("evaluate", "--labelling", "random", str(file), "--score", "mod") == ["model_a", "model_b"]
    assert offered("evaluate", "--labelling", "random", str(tmp_path / "missing.csv"), "--score", "mod") == []
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
        assert offered("evaluate", "--labelling", "random", str(file), option, "reg") == ["region"], option
    for command, option in (("train", "--feature"), ("train", "--drop"), ("train", "--cluster"), ("watch", "--time")):
        assert offered(command, str(file), option, "reg") == ["region"], option
    assert offered("audit", "plan", str(file), "--keep", "reg") == ["region"]
    assert offered("synthesise", str(file), "--target", "sta") == ["status"]


def test_columns_of_other_formats_folders_and_writings_are_offered(tmp_path):
    import polars

    polars.read_csv(TABLE.encode()).write_parquet(tmp_path / "scores.parquet")
    assert offered("evaluate", "--labelling", "random", str(tmp_path / "scores.parquet"), "--score", "mod") == [
        "model_a",
        "model_b",
    ]
    assert offered("evaluate", "--labelling", "random", str(tmp_path / "*.parquet"), "--score", "mod") == [
        "model_a",
        "model_b",
    ]
    file = tmp_path / "semicolons.csv"
    file.write_bytes(TABLE.replace(",", ";").encode("utf-16"))
    assert offered("evaluate", "--labelling", "random", str(file), "--delimiter", ";", "--label", "sta") == ["status"]


def test_label_values_are_offered_once_their_column_is_named(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(TABLE)
    for option in ("--positive", "--negative", "--unlabelled"):
        assert offered("evaluate", "--labelling", "random", str(file), "--label", "status", option, "") == [
            "confirmed",
            "open",
        ]
    assert offered("evaluate", "--labelling", "random", str(file), "--positive", "") == []
    assert offered("evaluate", "--labelling", "random", str(file), "--label", "none", "--positive", "") == []


def test_estimators_metrics_and_learners_are_offered():
    assert offered("evaluate", "--labelling", "random", "x.csv", "--class-prior", "alph") == ["alphamax"]
    assert offered("evaluate", "--labelling", "random", "x.csv", "--unlabelled-prior", "ded") == ["dedpul"]
    assert offered("prior", "x.csv", "--method", "alph") == ["alphamax"]
    assert offered("compare", "x.csv", "--metric", "roc") == ["roc_auc"]
    assert offered("evaluate", "--labelling", "random", "x.csv", "--gaps", "reca") == ["recall", "recall_at_k"]
    assert "nnpu" in offered("train", "x.csv", "--method", "nn")


def help_of(capsys, *words: str) -> str:
    with suppress(SystemExit):
        main([*words, *([] if words[-1].startswith("--help") else ["--help"])])
    return capsys.readouterr().out


GROUPS = ["Columns:", "Assumptions:", "Result:", "Output:", "Reading files:", "Advanced:", "Other options:"]


@pytest.mark.parametrize(
    "command", [["evaluate"], ["prior"], ["compare"], ["calibrate"], ["decide"], ["audit", "plan"]]
)
def test_help_groups_options_alike_in_every_command(capsys, command):
    text = help_of(capsys, *command, "--help-all")
    places = [text.index(f"\n{title}\n") for title in GROUPS]
    assert places == sorted(places)
    assert " ".join(text[places[-1] :].split()) == (
        "Other options: --help-all Show every option and example. -h, --help Show this message and exit."
    )


def every_command() -> list[list[str]]:
    result = []
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        result += [[name, inner] for inner in getattr(command, "commands", {})] or [[name]]
    return result


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_help_fits_a_screen_and_a_half_and_names_where_the_rest_is(capsys, command):
    text = help_of(capsys, *command)
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
    assert len(options) <= 15  # a dozen, --help and --help-all
    assert len(text.splitlines()) <= 56
    parsed, _ = found_command(command)
    declared = {option for option in parsed.params if isinstance(option, click.Option) and not option.hidden}
    if len(declared) > len(options):
        assert "--help-all" in text.splitlines()[-1]
        everything = help_of(capsys, *command, "--help-all")
        assert all(max(option.opts, key=len) in everything for option in declared)  # nothing is lost


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_option_says_what_it_is_for(command):
    parsed, _ = found_command(command)
    for option in parsed.params:
        assert not isinstance(option, click.Option) or option.hidden or option.help, option.opts


@pytest.mark.parametrize("command", ["tally", "merge", "calibrate", "fit", "train", "score", "synthesise"])
def test_what_is_written_is_named_by_o_as_well_as_out(command):
    parsed, _ = found_command([command])
    assert ["-o", "--out"] in [option.opts for option in parsed.params]


def test_older_names_of_options_still_work():
    for words in (["fit", "a.csv", "--method", "nnpu"], ["prior", "a.csv", "--labelled-within", "clinic"]):
        understood(words)


def test_no_help_speaks_of_papers_by_number(capsys):
    for name in COMMANDS:
        assert "paper 0" not in help_of(capsys, name).lower()
