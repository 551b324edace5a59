"""A database that goes down while it is read: a sentence now, and the right answer once it is up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from postgresql_server import Server, postgresql_server

ROWS = 2000
GIVEN = ("--class-prior", "0.4", "--seed", "3", "--quiet")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Scores in a view that takes as long for each row as another table says; nothing else uses this server."""
    import sqlalchemy as sa

    with postgresql_server() as running:
        rng = np.random.default_rng(5)
        labels = (rng.random(ROWS) < 0.2).astype(int)
        scores = np.round(rng.normal(size=ROWS) + labels, 3)
        values = ", ".join(f"({score}, {label})" for score, label in zip(scores, labels, strict=True))
        _tell(
            sa.create_engine(running.address()),
            "CREATE TABLE pace (seconds double precision)",
            "INSERT INTO pace VALUES (0)",
            "CREATE TABLE kept (score double precision, label int)",
            f"INSERT INTO kept VALUES {values}",
            "CREATE VIEW slow AS SELECT score, label FROM kept, pace WHERE pg_sleep(seconds) IS NOT NULL",
        )
        yield running


def _tell(engine, *statements: str) -> None:
    import sqlalchemy as sa

    with engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    engine.dispose()


def set_pace(server: Server, seconds: float) -> None:
    import sqlalchemy as sa

    _tell(sa.create_engine(server.address()), f"UPDATE pace SET seconds = {seconds}")


def begin(server: Server, out: str) -> tuple[subprocess.Popen[str], list[str]]:
    """A command that reads the view, and its words."""
    address = server.address(user="pulens:hunter2", more="&application_name=reader")
    words = [
        sys.executable,
        "-m",
        "pulens",
        "evaluate",
        "--labelling",
        "random",
        address,
        "--table",
        "slow",
        *GIVEN,
        "--json",
        out,
    ]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": hear_ctrl_c}
    return subprocess.Popen(words, **options), words


def hear_ctrl_c() -> None:
    """A shell that runs tests in the background lets them ignore Ctrl-C, and their children with them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for what must come about while a process runs; only a process that ended ends the waiting in vain."""
    while not holds():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def is_reading(server: Server) -> bool:
    """Whether the reader is in the middle of its rows: asleep over one of them."""
    import sqlalchemy as sa

    asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader' AND wait_event = 'PgSleep'"
    engine = sa.create_engine(server.address())
    with engine.connect() as connection:
        result = connection.execute(sa.text(asked)).scalar_one()
    engine.dispose()
    return bool(result)


def said_once(said: str) -> str:
    assert said.startswith("pulens: ")
    assert said.count("\n") == 1
    assert len(said) <= 400
    assert "hunter2" not in said
    return said


def test_a_server_that_stops_while_it_is_read_is_named_and_the_next_call_is_right(server, tmp_path):
    out = tmp_path / "a.json"
    set_pace(server, 0)
    process, words = begin(server, str(out))
    assert process.communicate() == ("", "")
    right = out.read_bytes()
    assert json.loads(right)["counts"]["unlabelled"] > 1000
    out.write_text("old")

    set_pace(server, 1)  # half an hour for all rows
    process, _ = begin(server, str(out))
    try:
        wait_until(lambda: is_reading(server), process)
        server.stop()
        shown, said = process.communicate()
        assert (process.returncode, shown) == (2, "")
        assert "the connection was lost" in said_once(said)
        assert os.listdir(tmp_path) == ["a.json"]
        assert out.read_text() == "old"

        down = subprocess.run(words, capture_output=True, text=True)  # and while it is down
        assert (down.returncode, down.stdout) == (2, "")
        said_once(down.stderr)
        assert out.read_text() == "old"
    finally:
        process.kill()
        server.start()

    set_pace(server, 0)
    subprocess.run(words, check=True)
    assert out.read_bytes() == right
    assert os.listdir(tmp_path) == ["a.json"]


def test_ctrl_c_while_a_server_is_read_exits_with_130_and_lets_the_server_go(server, tmp_path):
    set_pace(server, 1)
    process, _ = begin(server, str(tmp_path / "a.json"))
    try:
        wait_until(lambda: is_reading(server), process)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate()
        assert (shown, said.strip()) == ("", "pulens: stopped.")  # on a line of its own, after the terminal's ^C
        assert process.returncode == 130
    finally:
        process.kill()
    assert os.listdir(tmp_path) == []
    assert not is_reading(server)
