"""Who works on what: one locked byte per run in a file of the archive, so that two runners never do the same run.

The operating system lets go of the bytes when a process ends, however it ends: nothing is left to clean up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pulens import locks
from pulens.research.benchmark.plan import Run

ROOM = 1 << 50  # places of locked bytes; nothing is ever written there


class Claims:
    """Claims of this process on runs of an archive. Keep one per process: closing the file lets go of everything."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self._mine: set[int] = set()

    def take(self, runs: Iterable[Run]) -> tuple[Run, ...]:
        """The runs of these that nobody else works on; they are now ours.

        If somebody has the first one, none: runners with the same plan then never share a stack between them.
        """
        taken: list[Run] = []
        for run in runs:
            if self._lock(_place(run)):
                taken.append(run)
            elif not taken:
                return ()
        return tuple(taken)

    def release(self, runs: Iterable[Run]) -> None:
        for run in runs:
            place = _place(run)
            if place in self._mine:
                locks.SYSTEM.free(self._file, place)
            self._mine.discard(place)

    def close(self) -> None:
        os.close(self._file)

    def _lock(self, place: int) -> bool:
        if place in self._mine or not locks.SYSTEM.take(self._file, place):
            return False
        self._mine.add(place)
        return True


def _place(run: Run) -> int:
    return int(run.key, 16) % ROOM
