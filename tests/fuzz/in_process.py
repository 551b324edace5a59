"""One call of the command line in this process: how it ended, what it said, how long and how much memory it took."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST = 20  # seconds that one call may take


class TooLong(BaseException):
    """A call that did not end; no handler of ordinary errors may catch it."""


@dataclass(frozen=True)
class Outcome:
    """What the world saw of a call."""

    code: int
    shown: bytes
    said: str
    warned: tuple[str, ...]
    seconds: float
    memory: int  # bytes, at most, beyond what the process held before


def crowding() -> float:
    """How many processes share a processor: 1 at least."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@contextlib.contextmanager
def time_limit(seconds: int = LONGEST) -> Iterator[None]:
    """Stop what takes longer; by the clock three times as long, and more where others keep the processors busy."""
    began, worked = time.monotonic(), time.process_time()

    def stop(*_: object) -> None:
        if time.process_time() - worked > seconds / 2 or time.monotonic() - began > 3 * seconds * crowding() - 1:
            raise TooLong
        signal.alarm(seconds)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(words: list[str], folder: Path, *, standard_input: bytes = b"") -> Outcome:
    """Run a call in its folder; whatever it raises besides its exit code comes through."""
    from pulens.cli import main

    shown, said = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_standing_in(folder))
        stack.enter_context(_standard_input(standard_input))
        stack.enter_context(contextlib.redirect_stdout(shown))
        stack.enter_context(contextlib.redirect_stderr(said))
        told = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        held = _memory_begins()
        began = time.monotonic()
        code = 0
        with time_limit():
            try:
                main(words)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        seconds = time.monotonic() - began
        memory = _most_memory() - held
        shown.flush()
        warned = tuple(f"{one.category.__name__}: {one.message}" for one in told)
        return Outcome(code, shown.buffer.getvalue(), said.getvalue(), warned, seconds, memory)  # type: ignore[attr-defined]


@contextlib.contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    """Names in a call are relative to its folder, and temporary files would be seen beside it."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.gettempdir()  # else torch makes a folder of its own there
    before, temporary = os.getcwd(), tempfile.tempdir
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        os.chdir(before)
        tempfile.tempdir = temporary


@contextlib.contextmanager
def _standard_input(content: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(content), "utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def _memory_begins() -> int:
    """Forget the most that this process ever held, where the system allows it; what it holds now."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return _status("VmRSS")


def _most_memory() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
