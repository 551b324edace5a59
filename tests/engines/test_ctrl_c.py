"""Ctrl-C inside a query: the query ends, the command says that it was stopped, and nothing is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pulens.inputs.engines.stopping import stopped_by_ctrl_c

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that tests could send")

# a command that writes down where its main thread is, ten times a second, and hears Ctrl-C even in a suite that runs in
# the background. A thread writes: faulthandler's own dump from within a signal can crash a process inside DuckDB
COMMAND = """
import os, signal, sys, threading, traceback

def write_down(path, main, over):
    while not over.wait(0.1):
        with open(path + ".new", "w") as file:
            file.write("".join(traceback.format_stack(sys._current_frames()[main])))
        os.replace(path + ".new", path)

signal.signal(signal.SIGINT, signal.default_int_handler)
over = threading.Event()
writer = threading.Thread(target=write_down, args=(sys.argv[1], threading.get_ident(), over))
writer.start()
from pulens.cli import main
try:
    main(sys.argv[2:])
finally:
    over.set()
    writer.join()
"""
QUERIES = {
    # DuckDB looks for Ctrl-C while it runs the second of these, and not while it runs the first
    "one series": "SELECT (range % 1000)::DOUBLE AS score, (range % 5 = 0)::INT AS label FROM range(1000000000000000)",
    "a join": (
        "SELECT (a.range % 1000)::DOUBLE AS score, (b.range % 5 = 0)::INT AS label "
        "FROM range(1000000000) a, range(1000000000) b"
    ),
}


def is_inside_a_query(stack: Path) -> bool:
    """Whether the innermost line that the command is at belongs to DuckDB or to what asks it for rows."""
    stack.unlink(missing_ok=True)
    time.sleep(0.3)
    lines = [line for line in stack.read_text().splitlines() if line.startswith("  File ")] if stack.exists() else []
    return bool(lines) and "duckdb" in lines[-1] and any("in _collect" in line for line in lines)


@pytest.mark.parametrize("query", QUERIES)
def test_ctrl_c_inside_a_query_of_duckdb_exits_with_130_and_leaves_nothing(query, tmp_path):
    import duckdb

    (tmp_path / "spill").mkdir()
    (tmp_path / "out").mkdir()
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute(f"CREATE VIEW endless AS {QUERIES[query]}")
    stack = tmp_path / "stack"
    words = [
        "evaluate",
        "--labelling",
        "random",
        f"duckdb:///{tmp_path / 'x.db'}",
        "--table",
        "endless",
        "--class-prior",
        "0.4",
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(stack), *words, str(tmp_path / "out" / "a.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "spill")},
    )
    try:
        seen = 0
        while seen < 3:  # time and again at the same place: it works there, and does not pass by
            assert process.poll() is None, process.communicate()
            seen = seen + 1 if is_inside_a_query(stack) else 0
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=60)  # the query itself would take years
    finally:
        process.kill()
    assert (process.returncode, shown, said.strip()) == (130, "", "pulens: stopped.")
    assert os.listdir(tmp_path / "out") == []
    assert os.listdir(tmp_path / "spill") == []


class Interrupted:
    def __init__(self) -> None:
        self.heard = threading.Event()

    def interrupt(self) -> None:
        self.heard.set()


def test_an_event_loop_that_listens_for_signals_keeps_its_ear(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno())
    try:
        with stopped_by_ctrl_c(Interrupted()):
            assert signal.set_wakeup_fd(writer.fileno()) == writer.fileno()
    finally:
        assert signal.set_wakeup_fd(before) == writer.fileno()
        reader.close()
        writer.close()


def test_afterwards_signals_go_where_they_went_before(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    threads = threading.active_count()
    before = signal.set_wakeup_fd(-1)
    try:
        with pytest.raises(KeyError), stopped_by_ctrl_c(Interrupted()):
            raise KeyError
        assert signal.set_wakeup_fd(-1) == -1
        assert threading.active_count() == threads
    finally:
        signal.set_wakeup_fd(before)


def test_threads_and_programs_with_other_plans_for_ctrl_c_are_left_alone():
    result = []

    def read() -> None:
        with stopped_by_ctrl_c(Interrupted()):
            result.append(threading.active_count())

    threads = threading.active_count()
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        read()
    finally:
        signal.signal(signal.SIGINT, before)
    assert result == [threads + 1, threads]  # the thread itself, and nobody who watches


def test_a_system_without_a_thread_to_spare_is_still_read(monkeypatch) -> None:
    """And leaves no mark behind for a thread that never came: the next query would fail by it."""

    def no_more(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_more)
        with stopped_by_ctrl_c(None):
            pass
    assert signal.set_wakeup_fd(-1) == -1
