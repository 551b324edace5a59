"""Standard input, standard output, the folder and Ctrl-C: each ends with a sentence and an exit code of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pulens.cli import main
from pulens.inputs.engines.lazy import explained

GIVEN = ("--scenario", "single-set", "--class-prior", "0.5")
TABLE = "label,score\n" + "1,3\n1,2\n0,1\n0,0\n0,2\n0,-1\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "é.csv").write_text(TABLE)
    return str(tmp_path / "é.csv")


def run(command: str, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """A command of ours in a shell that closes or fills its channels."""
    words = [sys.executable, "-m", "pulens", *arguments]
    return subprocess.run(
        ["sh", "-c", command, "sh", *words], capture_output=True, text=True, encoding="utf-8", **options
    )


def said_once(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stderr.strip()
    assert said.startswith("pulens: ")
    assert "\n" not in said
    return said


SHOWS = {  # what reaches standard output by click, by rich, as bytes, and before any command is loaded
    "table": ("evaluate", "--labelling", "random", "FILE", *GIVEN),
    "JSON": ("evaluate", "--labelling", "random", "FILE", *GIVEN, "--json", "-"),
    "a line beside a file": ("tally", "FILE", "-o", "OUT"),
    "version": ("--version",),
}


def told(words: tuple[str, ...], table: str) -> list[str]:
    return [{"FILE": table, "OUT": f"{table}.out"}.get(word, word) for word in words]


@pytest.mark.parametrize(("shows", "how"), [*((shows, ">&-") for shows in SHOWS), ("JSON", "1< /dev/null")])
def test_output_that_is_lost_to_a_closed_standard_output_is_no_success(shows, how, table):
    done = run(f'"$@" {how}', *told(SHOWS[shows], table))
    assert done.returncode == 2
    assert "standard output is closed" in said_once(done)
    assert Path(f"{table}.out").exists() == ("OUT" in SHOWS[shows])  # what went to a file is there, and whole


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize(("shows", "unbuffered"), [*((shows, "") for shows in SHOWS), ("JSON", "1")])
def test_a_full_standard_output_is_an_error(shows, unbuffered, table):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = run('"$@" > /dev/full', *told(SHOWS[shows], table), env=environment)
    assert done.returncode == 2
    assert "standard output cannot be written: No space left" in said_once(done)


def test_whoever_wants_files_only_needs_no_standard_output(table):
    done = run('"$@" >&-', "evaluate", table, *GIVEN, "--json", f"{table}.json", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(Path(f"{table}.json").read_text())


def test_a_closed_standard_error_takes_words_away_and_not_the_exit_code(table):
    assert run('"$@" 2>&-', "evaluate", f"{table}.missing").returncode == 2
    assert run('"$@" >&- 2>&-', "evaluate", table, *GIVEN).returncode == 2


def test_a_caller_from_python_keeps_its_closed_standard_output(monkeypatch, capsys, table):
    closed = io.StringIO()
    closed.close()
    for given in (None, closed):
        monkeypatch.setattr(sys, "stdout", given)
        with pytest.raises(SystemExit) as end:
            main(["evaluate", "--labelling", "random", table, *GIVEN])
        assert end.value.code == 2
        assert sys.stdout is given
    assert capsys.readouterr().err.count("standard output is closed") == 2


def test_a_reader_that_went_away_leaves_no_traceback(table):
    done = run('{ "$@"; echo $? >&2; } | true', "evaluate", table, *GIVEN, "--json", "-")
    assert done.stderr.strip() in ("0", "1")  # all of it may have been written before the reader went
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_ascii_terminal_shows_the_table_and_gets_whole_json(table):
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "200"}
    rows = TABLE.splitlines()[1:] * 20
    Path(table).write_text("label,score,site\n" + "".join(f"{row},né\n" for row in rows), encoding="utf-8")
    done = run('"$@"', "evaluate", table, *GIVEN, "--group-by", "site", "--same-prior", env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert "n?" in done.stdout
    done = run('"$@"', "evaluate", table, *GIVEN, "--json", "-", env=ascii_only)
    assert done.returncode == 0
    assert json.loads(done.stdout)


@pytest.mark.parametrize(
    "command", [("evaluate", "--labelling", "random", "-"), ("compare", "-", "--score", "a", "--score", "b")]
)
def test_a_closed_standard_input_is_named(command):
    done = run('"$@" <&-', *command, *GIVEN)
    assert done.returncode == 2
    assert "standard input is closed" in said_once(done)


def test_a_folder_that_is_gone_is_named(table, tmp_path):
    (tmp_path / "gone").mkdir()
    done = run(f'cd {tmp_path}/gone && rmdir ../gone && "$@"', "evaluate", table, *GIVEN, "--json", "a.json")
    assert done.returncode == 2
    assert "no longer there" in said_once(done)


@pytest.mark.parametrize("raised", [RuntimeError("Query interrupted"), None], ids=["words", "type"])
def test_ctrl_c_inside_duckdb_exits_with_130(raised, monkeypatch, capsys, table):
    def stopped(*_: object, **__: object) -> None:
        with explained("the table"):
            raise RuntimeError("Query interrupted")

    monkeypatch.setattr("pulens.evaluation.evaluate.evaluate", stopped)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--labelling", "random", table, *GIVEN])
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "pulens: stopped."
