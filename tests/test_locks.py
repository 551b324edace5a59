"""Locks on Unix and on Windows: who is alone may sweep an archive, one runner does a run, one process has a file.

Windows' own locks cannot run here. A stand-in for its ``msvcrt.locking`` keeps the same rules with locks of Linux that
belong to an open file: bytes for one alone, from where the file stands, let go of as they were taken or at the end.
"""

from __future__ import annotations

import errno
import os
import struct
from types import SimpleNamespace

import pytest

from pulens import locks
from pulens.atomic_write import whole_file, write_whole
from pulens.errors import PulensError
from pulens.research.benchmark.archive import Store
from pulens.research.benchmark.archive.store import RUNNERS
from pulens.research.benchmark.claims import Claims

fcntl = pytest.importorskip("fcntl", reason="the stand-in for Windows is made of Linux's locks")
pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="the stand-in is made of Linux's locks")


def stand_in() -> SimpleNamespace:
    """``msvcrt`` as far as it is used; the numbers are Microsoft's."""
    LK_UNLCK, LK_NBLCK = 0, 2
    taken: dict[int, set[tuple[int, int]]] = {}

    def locking(file: int, mode: int, size: int) -> None:
        span = os.lseek(file, 0, os.SEEK_CUR), size
        if mode == LK_UNLCK and span not in taken.get(file, set()):
            raise OSError(errno.EACCES, "these bytes were not taken together")
        kind = fcntl.F_UNLCK if mode == LK_UNLCK else fcntl.F_WRLCK
        wish = struct.pack("hhqqi4x", kind, os.SEEK_SET, *span, 0)
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, wish)
        except OSError as error:
            raise OSError(errno.EACCES, "Permission denied") from error
        (taken.setdefault(file, set()).discard if mode == LK_UNLCK else taken.setdefault(file, set()).add)(span)

    return SimpleNamespace(locking=locking, LK_UNLCK=LK_UNLCK, LK_NBLCK=LK_NBLCK)


@pytest.fixture(params=["Unix", "Windows"])
def system(request, monkeypatch):
    made = locks.UnixLocks(fcntl) if request.param == "Unix" else locks.WindowsLocks(stand_in())
    monkeypatch.setattr(locks, "SYSTEM", made)
    return made


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "archive"


def in_child(work) -> int:
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def leftovers(folder) -> list[str]:
    return [path.name for path in (folder / "runs").glob(".*")]


def leave_half_a_file(folder) -> None:
    def killed() -> int:
        Store(folder).open()
        with whole_file(folder / "runs" / "a.parquet"):
            os._exit(9)

    assert in_child(killed) == 9


def test_what_a_killed_runner_left_is_swept_by_the_next(system, folder):
    leave_half_a_file(folder)
    assert len(leftovers(folder)) == 1
    Store(folder).open().close()
    assert leftovers(folder) == []


def test_nothing_is_swept_while_another_runner_lives(system, folder):
    alive = [Store(folder).open() for _ in range(3)]
    leave_half_a_file(folder)
    for _ in range(2):
        Store(folder).open().close()
        assert len(leftovers(folder)) == 1
        alive.pop(0).close()  # whichever goes first: the others are still there
    alive.pop().close()
    Store(folder).open().close()
    assert leftovers(folder) == []


def test_who_comes_while_somebody_sweeps_waits_for_the_end_and_is_not_alone(system, folder):
    Store(folder).open().close()
    first, swept = os.open(folder / RUNNERS, os.O_RDWR), folder / "swept"
    heard, tell = os.pipe()
    with system.presence(first) as is_alone:
        assert is_alone
        child = os.fork()
        if child == 0:
            file = os.open(folder / RUNNERS, os.O_RDWR)
            os.write(tell, b"coming")
            with system.presence(file) as is_alone:
                pass
            os._exit(10 + 2 * is_alone + swept.exists())
        assert os.read(heard, 6) == b"coming"
        swept.touch()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11
    for file in (heard, tell, first):
        os.close(file)


def test_a_run_is_done_by_one_runner_and_free_once_that_is_dead(system, folder):
    run = SimpleNamespace(key="ffffffffffffffff")  # far beyond what Windows can lock, and Unix can
    mine, theirs = Claims(folder / "lock"), Claims(folder / "lock")
    assert mine.take([run]) == (run,)
    assert mine.take([run]) == ()
    assert in_child(lambda: len(Claims(folder / "lock").take([run]))) == 0
    mine.release([run])
    assert in_child(lambda: len(Claims(folder / "lock").take([run]))) == 1
    assert theirs.take([run]) == (run,)  # the child that had it is gone
    mine.close()
    theirs.close()


def test_a_file_that_many_processes_read_and_write_again_loses_nothing(system, tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> int:
        for _ in range(25):
            with locks.locked(counter):
                write_whole(counter, str(int(counter.read_text()) + 1))
        os._exit(0)

    children = [os.fork() or count() for _ in range(4)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert counter.read_text() == "100\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["counter"]


def test_two_threads_of_one_process_do_not_have_a_file_at_once(system, tmp_path):
    path = tmp_path / "a.state"
    words = rf"process {os.getpid()} on .* did not finish within 0.1 seconds"
    with locks.locked(path), pytest.raises(PulensError, match=words), locks.locked(path, seconds=0.1):
        pass
    with locks.locked(path, seconds=0):
        pass


def test_a_link_and_the_file_that_it_leads_to_have_one_lock(system, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real/a.state")
    same = locks.locked(tmp_path / "real" / "a.state", seconds=0)
    with locks.locked(tmp_path / "link"), pytest.raises(PulensError, match="is using this file"), same:
        pass


def test_a_lock_is_free_once_its_holder_is_dead_and_the_file_it_left_is_no_lock(system, tmp_path):
    path = tmp_path / "a.state"

    def killed() -> int:
        with locks.locked(path):
            os._exit(9)

    assert in_child(killed) == 9
    assert [entry.name for entry in tmp_path.iterdir()] == [".a.state.lock"]
    with locks.locked(path, seconds=0):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [60, 250])
def test_files_with_long_names_are_locked_apart(length, tmp_path):
    one, other = (tmp_path / ("a" * (length - 1) + end) for end in "xy")
    with locks.locked(one), locks.locked(other, seconds=0):
        assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(PulensError, match="cannot be written: No such file"), locks.locked(tmp_path / "none" / "a"):
        pass


def test_a_disk_without_locks_sweeps_nothing_and_waits_for_nobody(folder, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    none = SimpleNamespace(locking=refused, LK_UNLCK=0, LK_NBLCK=2)
    monkeypatch.setattr(locks, "SYSTEM", locks.WindowsLocks(none))
    leave_half_a_file(folder)
    Store(folder).open().close()
    assert len(leftovers(folder)) == 1
    with locks.locked(folder / "a.state"), locks.locked(folder / "a.state", seconds=0):
        pass


def test_a_system_without_any_locks_still_runs(folder, monkeypatch):
    monkeypatch.setattr(locks, "SYSTEM", locks.NoLocks())
    leave_half_a_file(folder)
    Store(folder).open().close()
    assert len(leftovers(folder)) == 1
    claims = Claims(folder / "lock")
    run = SimpleNamespace(key="1f")
    assert claims.take([run]) == (run,)
    claims.release([run])
    assert claims.take([run]) == (run,)
    claims.close()
