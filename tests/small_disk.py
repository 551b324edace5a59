"""A file system of one MiB that a test can fill: a tmpfs in a mount namespace of its own, gone with its process."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pulens.cli import main

SIZE = 1 << 20
PAGE = 4096
FILLER = "filler"


class SmallDisk:
    """Commands run in a child that sees the disk at ``folder``; the test sees it at ``seen``."""

    def __init__(self, folder: Path, holder: int) -> None:
        self.folder = folder
        self.seen = Path(f"/proc/{holder}/root{folder}")
        self._spaces = [f"/proc/{holder}/ns/{kind}" for kind in (("mnt",) if os.getuid() == 0 else ("user", "mnt"))]

    def leave(self, pages: int) -> None:
        """Fill the disk but for so many pages."""
        place = self.seen / FILLER
        place.unlink(missing_ok=True)
        free = os.statvfs(self.seen).f_bavail
        if pages < free:
            with place.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, (free - pages) * PAGE)
            assert os.statvfs(self.seen).f_bavail == pages

    def contents(self) -> dict[str, bytes]:
        """Every file by its name, hidden ones too, and what it holds."""
        return {
            str(path.relative_to(self.seen)): path.read_bytes()
            for path in sorted(self.seen.rglob("*"))
            if path.is_file() and path.name != FILLER
        }

    def run(self, *words: str, given: Path | None = None, temporary: bool = False) -> tuple[int, str]:
        """A command that stands on the disk: its exit code and what it said on standard error."""
        with tempfile.TemporaryFile("w+") as said:
            child = os.fork()
            if child == 0:
                self._main(list(words), said.fileno(), given, temporary)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            return code, said.read()

    def _main(self, words: list[str], said: int, given: Path | None, temporary: bool) -> None:
        code = 70
        try:
            with open(os.devnull, "w") as nothing, open(given or os.devnull) as source:
                for number, file in ((0, source.fileno()), (1, nothing.fileno()), (2, said)):
                    os.dup2(file, number)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
            sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
            spaces = [os.open(space, os.O_RDONLY) for space in self._spaces]
            for space in spaces:
                if ctypes.CDLL(None, use_errno=True).setns(space, 0):
                    raise OSError(ctypes.get_errno(), "the namespace of the disk cannot be entered")
            os.chdir(self.folder)
            if temporary:
                os.environ["TMPDIR"] = tempfile.tempdir = str(self.folder)
            main(words)
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.stderr.flush()
            os._exit(code)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Mount the disk on an empty folder, for the eyes of a process of its own; skip where that is not allowed."""
    if sys.platform != "linux":
        pytest.skip("a small disk is made with Linux's namespaces")
    folder.mkdir()
    alone = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    script = f'mount -t tmpfs -o size={SIZE},nr_inodes=200 small-disk "$1" && echo mounted && exec cat'
    try:
        holder = subprocess.Popen(
            [*alone, "sh", "-c", script, "sh", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    except FileNotFoundError:
        pytest.skip("a small disk needs unshare, from util-linux")
    with holder:  # its standard input is closed at the end: it ends, and its disk with it
        assert holder.stdout is not None
        assert holder.stderr is not None
        if holder.stdout.readline() != "mounted\n":
            pytest.skip(f"this system lets nobody mount a small disk: {holder.stderr.read().strip()}")
        yield SmallDisk(folder, holder.pid)
