"""Killed at any moment, run twice at once, workers lost: the archive ends up the same as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from pulens.benchmark import processes

from pulens.errors import MissingDependencyError
from pulens.research.benchmark.archive import differences, read
from pulens.research.benchmark.memory import budget_of
from pulens.research.benchmark.run import Options, run_plan

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests fork and kill processes")


def started(plan, folder, options=None) -> int:
    """A runner in a process of its own; forked, since loading PyTorch ten times would take a minute."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 2)
            summary = run_plan(plan, folder, options or Options())
            code = 0 if summary.done == summary.planned else 4
        finally:
            os._exit(code)
    return child


def processor_seconds(child: int) -> float:
    fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_working(child: int) -> bool:
    """Whether a child is neither done nor gone."""
    return Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def killed(child: int, after: float) -> bool:
    """Kill -9 once the process has worked for so long; False if it was done before."""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return False
        if processor_seconds(child) >= after:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        time.sleep(0.005)


def finish(child: int) -> None:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def lose_something(folder: Path, chance: random.Random) -> None:
    """Throw away a finished file, so that there is something left to be killed at."""
    files = sorted((folder / "runs").glob("*.parquet"))
    for path in chance.sample(files, min(3, len(files))):
        path.unlink()


def test_killing_the_runner_again_and_again_changes_nothing(smoke, undisturbed, tmp_path, everything):
    folder, chance = tmp_path / "archive", random.Random(0)
    kills = 0
    while kills < (10 if everything else 4):
        if killed(started(smoke, folder), chance.uniform(0.0, 0.5)):
            kills += 1
        else:
            lose_something(folder, chance)
    finish(started(smoke, folder))
    assert differences(undisturbed, read(folder)) == []


def test_two_runners_at_once_one_of_them_killed_again_and_again_change_nothing(
    smoke, undisturbed, tmp_path, everything
):
    folder, chance = tmp_path / "archive", random.Random(1)
    steady = started(smoke, folder)
    kills = together = 0
    wanted = 10 if everything else 4
    while kills < wanted:
        if killed(started(smoke, folder), chance.uniform(0.0, 0.2)):
            kills += 1
            together += is_working(steady)
        else:  # all was done, by one of them or the other
            finish(steady)
            lose_something(folder, chance)
            steady = started(smoke, folder)
    finish(steady)
    assert kills == wanted
    assert together >= wanted // 3  # so often the other one was in the middle of it
    again = read(folder)
    assert differences(undisturbed, again) == []
    assert len(again.table(["key"])) == 20


def test_a_runner_waits_for_runs_that_another_one_is_doing_and_takes_over_when_it_dies(smoke, undisturbed, tmp_path):
    folder = tmp_path / "archive"
    other = started(smoke, folder)
    while not (folder / "lock").exists():
        time.sleep(0.005)
    os.kill(other, signal.SIGSTOP)  # it keeps its claims and does nothing
    second = started(smoke, folder)
    try:
        while processor_seconds(second) < 0.2 and os.waitpid(second, os.WNOHANG) == (0, 0):
            time.sleep(0.01)
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
    with suppress(ChildProcessError):
        finish(second)
    assert differences(undisturbed, read(folder)) == []


def test_nothing_is_done_twice(smoke, undisturbed, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in undisturbed.files}
    summary = run_plan(smoke, undisturbed.folder)
    assert summary.added == 0
    assert {path: path.stat().st_mtime_ns for path in undisturbed.files} == before


def test_a_time_limit_leaves_a_clean_archive_to_go_on_with(smoke, undisturbed, tmp_path):
    folder = tmp_path / "archive"
    first = run_plan(smoke, folder, Options(time_limit=1e-6))
    assert first.left == 20
    assert run_plan(smoke, folder).left == 0
    assert differences(undisturbed, read(folder)) == []


@pytest.mark.slow
def test_worker_processes_one_of_them_killed_change_nothing(smoke, undisturbed, tmp_path, monkeypatch):
    folder, deaths, real = tmp_path / "archive", [], processes._again

    def told(queue, part, count, how):
        deaths.append(how)
        return real(queue, part, count, how)

    monkeypatch.setattr(processes, "_again", told)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_plan, smoke, folder, Options(jobs=2))
        while not list((folder / "runs").glob("*.parquet")) and not running.done():
            time.sleep(0.005)
        there = workers()
        os.kill(there[0], signal.SIGKILL)
        summary = running.result()
    assert len(there) == 2
    assert deaths == ["signal 9"]  # it had work, which was done again
    assert (summary.done, summary.failed) == (20, 0)
    assert differences(undisturbed, read(folder)) == []
    assert workers() == []


def workers() -> list[int]:
    """Worker processes of this one."""
    result = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == os.getpid() and b"pulens.research.benchmark.processes" in (path / "cmdline").read_bytes():
                result.append(int(path.name))
    return sorted(result)


def test_without_torch_a_benchmark_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pulens\[torch\]'"):
        budget_of("cpu")
