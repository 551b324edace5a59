"""The writing side of an archive: which runs are there, and how more are added."""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pulens import locks
from pulens.atomic_write import whole_file, write_whole
from pulens.errors import InputError
from pulens.research.benchmark.archive.files import FACTS, RUNS, check_format, fault, read_columns
from pulens.research.benchmark.archive.row import FORMAT, SCHEMA, RunRow
from pulens.research.benchmark.plan import Plan

CACHE, LOCK = "cache", "lock"
RUNNERS = "runners"  # a file that every runner holds a shared lock on


class Store:
    """The writing side: which runs are there, and how more are added."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}  # files that are no results, and why
        self._seen: dict[str, tuple[tuple[str, ...], bool]] = {}
        self._broken: dict[str, tuple[int, int]] = {}  # when a damaged file was last changed, and its size
        self._presence: int | None = None

    @property
    def cache(self) -> Path:
        return self.folder / CACHE

    def open(self) -> Store:
        """Make the folder, or check that it is an archive of this format; leave anything else alone."""
        try:
            return self._opened()
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written: {error.strerror or error}.") from error

    def _opened(self) -> Store:
        facts = self.folder / FACTS
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; an archive is a folder.")
        if not facts.exists():
            if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / RUNS).is_dir():
                raise InputError(f"{self.folder} holds something else than an archive. Choose another folder.")
            (self.folder / RUNS).mkdir(parents=True, exist_ok=True)
            write_whole(facts, json.dumps({"pulens_benchmark": FORMAT}))
        check_format(self.folder)
        (self.folder / RUNS).mkdir(exist_ok=True)
        self._sweep()
        return self

    def _say_format(self) -> None:
        """An archive of an older format that gets a file of this one says so, or older versions would misread it."""
        if check_format(self.folder) != FORMAT:
            write_whole(self.folder / FACTS, json.dumps({"pulens_benchmark": FORMAT}))

    def close(self) -> None:
        """Say that nobody writes here any more; the end of the process says the same."""
        if self._presence is not None:
            self._leave()
            self._presence = None

    def _sweep(self) -> None:
        """Remove what killed runners left half written, if nobody else is at work here.

        Clocks jump, so a file's age says nothing. Every runner is present for as long as it lives, and the operating
        system takes it away however the runner ends: who is alone may sweep.
        """
        if self._presence is not None:
            return
        self._presence = os.open(self.folder / RUNNERS, os.O_RDWR | os.O_CREAT, 0o666)
        self._leave = weakref.finalize(self, _close, self._presence)
        with locks.SYSTEM.presence(self._presence) as is_alone:
            for path in (self.folder / RUNS).glob(".*.parquet.*") if is_alone else ():
                with suppress(OSError):
                    path.unlink()

    def remember(self, plan: Plan) -> None:
        """Keep the protocol next to its results."""
        place = self.folder / f"protocol-{plan.protocol.name}.json"
        write_whole(place, json.dumps(plan.protocol.model_dump(mode="json"), indent=2, sort_keys=True))

    def finished(self, *, count_failed: bool = True) -> set[str]:
        """Keys of the runs that are there; files already looked at are not read again."""
        there = {path.name: path for path in (self.folder / RUNS).glob("*.parquet")}
        for name in set(self._seen) - set(there):
            del self._seen[name]
        result: set[str] = set()
        for name, path in there.items():
            if name not in self._seen:
                try:
                    looks = path.stat().st_mtime_ns, path.stat().st_size
                    if self._broken.get(name) == looks:
                        continue
                    why = fault(path)
                    if why is not None:  # its runs are to be done again, here or by somebody who replaces the file
                        self.damaged[name], self._broken[name] = why, looks
                        continue
                    table = read_columns(path, ["key", "status"])
                except FileNotFoundError:  # a failed run was replaced this very moment
                    continue
                self.damaged.pop(name, None)
                keys = tuple(table["key"].to_pylist())
                self._seen[name] = keys, "failed" in table["status"].to_pylist()
            keys, is_failed = self._seen[name]
            if count_failed or not is_failed:
                result.update(keys)
        return result

    def add(self, rows: Sequence[RunRow | Mapping[str, Any]]) -> Path:
        """Write the rows of a stack as one file; earlier failures of the same runs go away afterwards."""
        stack = [RunRow.of(row) for row in rows]
        keys = sorted(row.key for row in stack)
        digest = hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
        path = self.folder / RUNS / f"{stack[0].learner}-{stack[0].dataset}-{digest}.parquet"
        table = pa.Table.from_pylist([row.to_dict() for row in stack], SCHEMA)
        self._say_format()
        with whole_file(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", compression_level=9, write_statistics=False)
        self._seen.pop(path.name, None)
        self.damaged.pop(path.name, None)
        self.finished()
        for name, (old, is_failed) in list(self._seen.items()):
            if is_failed and name != path.name and set(old) <= set(keys):
                (self.folder / RUNS / name).unlink(missing_ok=True)
        return path


def _close(presence: int) -> None:
    with suppress(OSError):
        os.close(presence)
