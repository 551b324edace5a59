"""The command line uses its options, not Python's arguments."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from pulens.cli import COMMANDS, app, main
from pulens.command_words import OPTIONS, in_command_words


def every_option() -> set[str]:
    result: set[str] = set()

    def add(command: click.Command) -> None:
        result.update(name for option in command.params for name in option.opts)
        for one in getattr(command, "commands", {}).values():
            add(one)

    context = click.Context(app)
    for name in COMMANDS:
        add(app.get_command(context, name))
    return result


def test_every_argument_that_is_translated_is_an_option_of_some_command():
    assert set(OPTIONS.values()) <= every_option()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("say noise='slow'.", "say --noise slow."),
        ("wait for labels (labels_lag='90d', ...)", "wait for labels (--labels-lag 90d, ...)"),
        ("give positive=... or negative=...", "give --positive or --negative"),
        ("name it (table=..., or --table); there are 'a'", "name it (--table); there are 'a'"),
        ("Labels and scores given as arrays take weights=.", "Labels and scores given as arrays take weights=."),
    ],
)
def test_arguments_become_options(said, told):
    assert in_command_words(said) == told


def test_a_refusal_names_no_argument_of_python(tmp_path, capsys):
    """It said: Give class_prior= as a number or a range, or check some unlabelled rows by hand (audit=)."""
    path = tmp_path / "few.csv"
    path.write_text("score,label\n0.9,1\n0.8,0\n0.7,0\n0.2,0\n")
    with pytest.raises(SystemExit):
        main(["evaluate", str(path), "--class-prior", "auto"])
    said = capsys.readouterr().err
    assert "--class-prior" in said
    assert not re.search(r"\b[a-z_]+=", said)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--class-prior", "0.3:0.1"), "--class-prior must be .* got 0.3:0.1"),
        (("--class-prior", "0.2", "--confidence", "95"), "--confidence must lie"),
        (("--class-prior", "0.2", "--redraws", "3"), "--redraws must be"),
        (
            ("--class-prior", "0.2", "--group-by", "regoin"),
            r"the columns are 'score', 'label', 'region'\. Did you mean",
        ),
    ],
)
def test_a_refusal_names_options_and_the_columns_of_the_file(options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("score,label,region\n" + "0.9,1,n\n0.8,1,s\n0.3,0,n\n0.2,0,s\n" * 10)
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "s.csv", *options])
    assert re.search(words, capsys.readouterr().err)
