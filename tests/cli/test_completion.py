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
