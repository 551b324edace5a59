"""Locks that the operating system lets go of however a process ends, so that nothing is left to clean up.

Two are needed: one that many may share and one may hold alone (who is at work in an archive), and one on a single byte
of a file (who does which run). Unix has both. Windows, as far as Python reaches it, has only the second: everybody who
is present there holds a byte of his own, and whoever holds all bytes is alone.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import ModuleType
from typing import Any, Protocol

PLACES = 1000  # who may be present at a time on Windows
WINDOWS_ROOM = 1 << 31  # bytes that can be locked there; nothing is ever written to them


class Locks(Protocol):
    """What an operating system offers; ``file`` is an open file's number, which holds the locks until it is closed."""

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
    """For systems with neither: one runner at a time, please, and nothing is swept."""

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
