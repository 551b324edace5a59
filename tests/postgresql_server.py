"""A PostgreSQL of a test's own, from Debian's server package, reachable by a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


class Server:
    """A server that can be stopped and started again; what was committed is there again after that."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder = binaries, folder
        self._user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []  # it refuses to run as root
        self._data = str(folder / "data")

    def address(self, user: str = "pulens", more: str = "") -> str:
        return f"postgresql+psycopg://{user}@/postgres?host={self.folder}{more}"

    def create(self) -> None:
        self._run("initdb", "-D", self._data, "-U", "pulens", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale")

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """At once, as after a crash: nobody who is connected is asked."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def _run(self, name: str, *arguments: str) -> None:
        words = [*self._user, str(self.binaries / name), *arguments]
        subprocess.run(words, check=True, capture_output=True, cwd="/")


@contextmanager
def postgresql_server() -> Iterator[Server]:
    """A running server; skips where none is installed."""
    result = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not result:
        pytest.skip("no PostgreSQL server is installed (Debian package postgresql)")
    pytest.importorskip("psycopg", reason="the PostgreSQL driver psycopg is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pulens-pg-"))
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    server = Server(result[-1].parent, folder)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):  # a test may have stopped it already
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
