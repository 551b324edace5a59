"""What cannot be written is refused before anything is read, and no output replaces another or the input."""

from __future__ import annotations

import pytest

from pulens.cli import main

ROWS = [(i / 200, (i * 7 % 200) / 200, int(i > 150 and i % 2)) for i in range(200)]
TABLE = "score,other,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in ROWS)
COMMANDS = {
    "evaluate": ["--score", "score", "--class-prior", "0.3", "--quiet"],
    "compare": ["--score", "score", "--score", "other", "--class-prior", "0.3", "--quiet"],
    "calibrate": ["--score", "score", "--class-prior", "0.3", "--quiet"],
    "prior": ["--score", "score"],
}
SECOND = {"evaluate": "--html", "compare": "--html", "calibrate": "--html", "prior": "--plot"}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(TABLE)
    return tmp_path


def refused(command, more, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "scores.csv", *COMMANDS[command], *more])
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_two_outputs_of_one_name_are_refused(command, table, capsys):
    words = refused(command, ["--json", "answer", SECOND[command], "./answer"], capsys)
    assert "one would replace the other" in words
    assert [file.name for file in table.iterdir()] == ["scores.csv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_input_is_never_replaced(command, table, capsys):
    assert "the file that is read" in refused(command, ["--json", "scores.csv"], capsys)
    assert (table / "scores.csv").read_text() == TABLE


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_folder_is_told_before_the_work_and_nothing_is_written(command, table, capsys):
    words = refused(command, ["--json", "answer.json", SECOND[command], "nowhere/page.html"], capsys)
    assert "the folder 'nowhere' does not exist" in words
    assert [file.name for file in table.iterdir()] == ["scores.csv"]


def test_a_picture_of_the_prior_in_no_known_format_leaves_no_file(table, capsys):
    assert "the figure cannot be written" in refused("prior", ["--plot", "prior.xyz"], capsys)
    assert [file.name for file in table.iterdir()] == ["scores.csv"]
