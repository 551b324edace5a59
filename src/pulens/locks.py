"""Locks that the operating system lets go of however a process ends, so that nothing is left to clean up.

Three are needed: one that many may share and one may hold alone (who is at work in an archive), one on a single byte
of a file (who does which run), and one on a file that is read, changed and written again (:func:`locked`). Unix has
all. Windows, as far as Python reaches it, has only the second: everybody who is present in an archive there holds a
byte of his own, whoever holds all bytes is alone, and one byte stands for a whole file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pulens.atomic_write import AnyPath, behind_links, is_channel, words_for
from pulens.errors import PulensError

Say = Callable[[str], object] | None
WAIT_SECONDS = 60.0  # for another process to finish with a file
LOOK_SECONDS = 0.05  # between two looks whether it has
LONGEST_NAME = 200  # bytes of a file's name; systems allow 255
PLACES = 1000  # who may be present at a time on Windows
WINDOWS_ROOM = 1 << 31  # bytes that can be locked there; nothing is ever written to them


class Locks(Protocol):
    """What an operating system offers; ``file`` is an open file's number, which holds the locks until it is closed."""

    def take_file(self, file: int) -> bool:
        """Lock a whole file, unless another process or thread has it."""

    def presence(self, file: int) -> AbstractContextManager[bool]:
        """Be present until the file is closed; says inside the block whether nobody else is, or can come."""

    def take(self, file: int, place: int) -> bool:
        """Lock a byte, unless another process has it."""

    def free(self, file: int, place: int) -> None:
        """Let go of a byte."""


class UnixLocks:
    """``flock`` on whole files, ``lockf`` on bytes."""

    def __init__(self, fcntl: Any) -> None:
        self._fcntl = fcntl

    def take_file(self, file: int) -> bool:
        try:
            self._fcntl.flock(file, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)  # others: this disk has no locks
        return True

    @contextmanager
    def presence(self, file: int) -> Iterator[bool]:
        is_alone = True
        try:
            self._fcntl.flock(file, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except OSError:
            is_alone = False  # somebody is at work, or this disk has no locks
        try:
            yield is_alone
        finally:
            with suppress(OSError):
                self._fcntl.flock(file, self._fcntl.LOCK_SH)

    def take(self, file: int, place: int) -> bool:
        try:
            self._fcntl.lockf(file, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB, 1, place)
        except OSError:
            return False
        return True

    def free(self, file: int, place: int) -> None:
        self._fcntl.lockf(file, self._fcntl.LOCK_UN, 1, place)


class WindowsLocks:
    """``msvcrt.locking``: bytes from where the file stands, for one alone, and let go of exactly as they were taken."""

    def __init__(self, msvcrt: Any) -> None:
        self._msvcrt = msvcrt

    def take_file(self, file: int) -> bool:
        try:
            return self._lock(file, WINDOWS_ROOM - 1, 1)  # what is written at the file's start stays readable
        except OSError:
            return True  # this disk has no locks

    @contextmanager
    def presence(self, file: int) -> Iterator[bool]:
        try:
            mine = self._place_of_ones_own(file)
        except OSError:  # this disk has no locks
            yield False
            return
        others = [(first, last - first) for first, last in ((0, mine), (mine + 1, PLACES)) if first < last]
        held = []
        for first, size in others:
            if not self._lock(file, first, size):
                break
            held.append((first, size))
        try:
            yield len(held) == len(others)
        finally:
            for first, size in held:
                self._unlock(file, first, size)

    def take(self, file: int, place: int) -> bool:
        return self._lock(file, place % WINDOWS_ROOM, 1)

    def free(self, file: int, place: int) -> None:
        self._unlock(file, place % WINDOWS_ROOM, 1)

    def _place_of_ones_own(self, file: int) -> int:
        while True:
            for place in range(PLACES):
                if self._lock(file, place, 1):
                    return place
            time.sleep(0.05)  # somebody is alone for a moment, and holds all of them

    def _lock(self, file: int, first: int, size: int) -> bool:
        os.lseek(file, first, os.SEEK_SET)
        try:
            self._msvcrt.locking(file, self._msvcrt.LK_NBLCK, size)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):  # another process has it
                return False
            raise
        return True

    def _unlock(self, file: int, first: int, size: int) -> None:
        os.lseek(file, first, os.SEEK_SET)
        with suppress(OSError):
            self._msvcrt.locking(file, self._msvcrt.LK_UNLCK, size)


class NoLocks:
    """For systems with neither: one process at a time, please, and nothing is swept."""

    def take_file(self, file: int) -> bool:
        return True

    @contextmanager
    def presence(self, file: int) -> Iterator[bool]:
        yield False

    def take(self, file: int, place: int) -> bool:
        return True

    def free(self, file: int, place: int) -> None:
        return None


def _of_this_system() -> Locks:
    fcntl: ModuleType
    msvcrt: ModuleType
    try:
        import fcntl
    except ImportError:
        try:
            import msvcrt
        except ImportError:
            return NoLocks()
        return WindowsLocks(msvcrt)
    return UnixLocks(fcntl)


SYSTEM: Locks = _of_this_system()


@contextmanager
def locked(
    path: AnyPath, *, seconds: float = WAIT_SECONDS, say: Callable[[str], object] | None = None
) -> Iterator[None]:
    """Have a file for oneself while it is read, changed and written again.

    Whoever comes meanwhile waits, which ``say`` is told once, and is refused after ``seconds``. The lock is held on a
    file next to it, which names the holder and goes away with the lock. Whoever is killed leaves that file, but not the
    lock. On a disk without locks (some network mounts) nothing is locked.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(f"{folder}/a.state"):
    ...         print([entry.name for entry in Path(folder).iterdir()])
    ...     print(list(Path(folder).iterdir()))
    ['.a.state.lock']
    []
    """
    with words_for(path):
        passes_on = is_channel(path)
    if passes_on:
        yield
        return
    with words_for(path):
        lock = _lock_of(path)
        file = _waited_for(path, lock, seconds, say)
    try:
        yield
    finally:
        with suppress(OSError):  # not on Windows, while it is open
            lock.unlink()
        os.close(file)
        if os.name == "nt":  # which removes no file that another process has open
            with suppress(OSError):
                lock.unlink()


def _lock_of(path: AnyPath) -> Path:
    """The file beside a path that is locked for it, whichever link leads there."""
    place = behind_links(path)
    name = place.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return place.with_name(f".{name}.lock")


def _waited_for(path: AnyPath, lock: Path, seconds: float, say: Say) -> int:
    until = time.monotonic() + seconds
    has_waited = False
    while True:
        file = _opened(lock)
        if SYSTEM.take_file(file):
            if _is_same(file, lock):
                _name_holder(file)
                return file
            os.close(file)  # the holder before removed it: there is another one by now, or none
            continue
        holder = _holder(file)
        os.close(file)
        if time.monotonic() >= until:
            raise PulensError(
                f"{path}: {holder} is using this file, and did not finish within {seconds:g} seconds. Run the command "
                "again when it has."
            )
        if not has_waited and say is not None:
            say(f"{path}: {holder} is using this file; waiting for up to {seconds:g} seconds.")
        has_waited = True
        time.sleep(LOOK_SECONDS)


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:  # another user's, which can be locked all the same
        return os.open(lock, os.O_RDONLY)


def _is_same(file: int, lock: Path) -> bool:
    """Whether the open file is still the one of that name; it is opened again, since network disks remember names."""
    try:
        other = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.path.samestat(os.fstat(file), os.fstat(other))
    finally:
        os.close(other)


def _name_holder(file: int) -> None:
    words = f"process {os.getpid()} on {platform.node()} (since {time.strftime('%Y-%m-%d %H:%M:%S')})"
    with suppress(OSError):  # a full disk: nobody is named
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, words.encode("utf-8", "replace"))


def _holder(file: int) -> str:
    try:
        os.lseek(file, 0, os.SEEK_SET)
        words = os.read(file, 1000).decode("utf-8", "replace")
    except OSError:
        words = ""
    return words or "another process"
