"""Several watches on one state at once, as real processes: every day that was judged stays judged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from pulens import locks
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.inputs.tally_files import TallyFile, write_tally_file
from pulens.monitoring.state import read_state

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the watches are forked")
TRIALS = 20


def rows(rng, share=0.3, n=400):
    positive = rng.random(n) < share
    return Tally.from_arrays((positive & (rng.random(n) < 0.4)).astype(int), np.round(rng.normal(1.5 * positive), 2))


@pytest.fixture(scope="module")
def tallies(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("tallies"), np.random.default_rng(5)
    for name in (*(f"ref-{day}" for day in range(4)), *(f"day-{day}" for day in range(1, 4))):
        write_tally_file(place / f"{name}.tally", TallyFile.of(rows(rng), source=name))
    return place


def started(tallies, state, days, ready, errors):
    """A child that watches as soon as the pipe is closed; it ends with the command's exit code."""
    child = os.fork()
    if child:
        return child
    os.close(ready[1])
    os.read(ready[0], 1)
    code = 1
    try:
        sys.stderr = errors.open("w")
        files = [f"{tallies}/day-{day}.tally" for day in days]
        main(["watch", f"{tallies}/ref-*.tally", *files, "--state", str(state), "--quiet"])
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.stderr.flush()
        os._exit(code)


def both(tallies, state, folder, first, second):
    ready = os.pipe()
    errors = folder / "first", folder / "second"
    children = [
        started(tallies, state, each, ready, words) for each, words in zip((first, second), errors, strict=True)
    ]
    for end in ready:
        os.close(end)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return list(zip(codes, [words.read_text() for words in errors], strict=True))


def test_of_two_watches_at_once_on_different_days_neither_loses_a_day(tallies, tmp_path):
    """A day that was judged (exit code 0) is in the state; one that came too late is refused in words."""
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        state = folder / "pulse.state"
        (code, said), (later, _) = both(tallies, state, folder, [1], [2])
        judged = list(read_state(state).windows)
        assert later == 0
        assert (code, judged) in ((0, ["day-1", "day-2"]), (2, ["day-2"])), said
        if code:
            assert "'day-1' lies before the last one that was judged" in said
        assert not list(folder.glob(".*.lock"))


def test_of_two_watches_at_once_on_a_state_that_both_continue_no_day_is_lost(tallies, tmp_path):
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        state = folder / "pulse.state"
        answers = both(tallies, state, folder, [1, 2], [1, 2, 3])
        assert [code for code, _ in answers] == [0, 0], answers
        assert list(read_state(state).windows) == ["day-1", "day-2", "day-3"]


HOLDER = """
import sys, time
from pulens.locks import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    state = tmp_path / "pulse.state"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(state)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield state, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_watch_waits_for_another_says_so_and_is_refused_after_a_while(holder, tallies, monkeypatch, capsys):
    state, process = holder
    monkeypatch.setattr(locks.locked.__wrapped__, "__kwdefaults__", {"seconds": 0.3, "say": None})
    with pytest.raises(SystemExit) as stop:
        main(["watch", f"{tallies}/ref-*.tally", f"{tallies}/day-1.tally", "--state", str(state)])
    assert stop.value.code == 2
    words = capsys.readouterr().err
    assert f"process {process.pid} on " in words
    assert "is using this file; waiting for up to 0.3 seconds." in words
    assert "did not finish within 0.3 seconds. Run the command again when it has." in " ".join(words.split())
    assert not state.exists()


def test_a_watch_that_waits_goes_on_as_soon_as_the_holder_is_killed(holder, tallies, capsys):
    state, process = holder
    killing = threading.Timer(0.5, process.kill)
    killing.start()
    main(["watch", f"{tallies}/ref-*.tally", f"{tallies}/day-1.tally", "--state", str(state)])
    assert "waiting for up to 60 seconds" in capsys.readouterr().err
    assert list(read_state(state).windows) == ["day-1"]


def test_the_lock_of_a_killed_process_is_taken_over(holder, tallies):
    state, process = holder
    lock = state.with_name(f".{state.name}.lock")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert lock.exists()  # what it leaves is a file, not a lock
    begun = time.monotonic()
    main(["watch", f"{tallies}/ref-*.tally", f"{tallies}/day-1.tally", "--state", str(state), "--quiet"])
    assert time.monotonic() - begun < locks.WAIT_SECONDS / 2
    assert list(read_state(state).windows) == ["day-1"]
    assert not lock.exists()
