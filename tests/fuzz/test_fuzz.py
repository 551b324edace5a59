"""Whatever is fed to the command line, it answers rightly or refuses in one sentence.

``PULENS_FUZZ_SECONDS`` says for how long (60 by default; ``make fuzz`` runs ten minutes), ``PULENS_FUZZ_SEED`` where
the numbers of the calls begin. A failure names its number: with it as the seed, and 0 seconds, the call is repeated.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pulens.cli import main
from pulens.errors import LONGEST_MESSAGE

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from hostile import make_call

SECONDS = float(os.environ.get("PULENS_FUZZ_SECONDS", "60"))
SEED = int(os.environ.get("PULENS_FUZZ_SEED", "0"))
LONGEST = 20  # seconds that one call may take
SHOWN = 8  # failures told in full


class TooLong(BaseException):
    """A call that did not end; no handler of ordinary errors may catch it."""


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(arguments: list[str]) -> tuple[int, str]:
    """Exit code and what was said on standard error; whatever is raised besides comes through."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), time_limit():
        try:
            main(arguments)
        except SystemExit as end:
            return int(end.code or 0), err.getvalue()
    return 0, err.getvalue()


def not_json(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def wrong_intervals(answer: Any, place: str = "") -> Iterator[str]:
    """Values outside their own interval, anywhere in an answer."""
    if isinstance(answer, dict):
        value, interval = answer.get("value"), answer.get("interval")
        if isinstance(value, int | float) and isinstance(interval, dict) and {"low", "high"} <= interval.keys():
            low, high = interval["low"], interval["high"]
            if low is not None and high is not None and not low - 1e-9 <= value <= high + 1e-9:
                yield f"{place}: {value} outside {low} to {high}"
        for name, inner in answer.items():
            yield from wrong_intervals(inner, f"{place}/{name}")
    elif isinstance(answer, list):
        for number, inner in enumerate(answer):
            yield from wrong_intervals(inner, f"{place}/{number}")


def digests(folder: Path) -> dict[str, str]:
    return {entry.name: hashlib.sha256(entry.read_bytes()).hexdigest() for entry in folder.iterdir()}


def check(number: int, folder: Path, *, twice: bool) -> str:
    """How one call ended; an AssertionError where it broke a promise."""
    call = make_call(number, folder)
    before = digests(folder)
    code, said = run(call.arguments)
    after = digests(folder)
    assert {name: after.get(name) for name in before} == before, "an input was changed"
    if code == 0:
        made = set(after) - set(before)
        assert made <= {"out.json", "out.tally", "a.html", "mapped.csv"}, f"left behind: {made}"
        if "out.json" in made:
            answer = json.loads((folder / "out.json").read_bytes(), parse_constant=not_json)
            wrong = list(wrong_intervals(answer))
            assert not wrong, f"value outside its interval: {wrong[:3]}"
        if twice:
            for name in made:
                (folder / name).unlink()
            assert run(call.arguments)[0] == 0, "a second run failed"
            assert digests(folder) == after, "a second run gave other bytes"
        return "answered"
    assert code == 2, f"exit code {code}: {said[-300:]}"
    assert set(after) == set(before), f"left behind after an error: {set(after) - set(before)}"
    assert "Traceback" not in said, said
    message = said.strip().rpartition("Error: ")[2] if said.startswith("Usage: ") else said.strip()
    assert message, "an error without a word"
    assert "\n" not in message, f"more than one line: {message!r}"
    assert len(message) <= LONGEST_MESSAGE + len("pulens: "), f"{len(message)} characters: {message}"
    return "refused"


def test_hostile_calls_are_answered_or_refused(tmp_path):
    ends: Counter[str] = Counter()
    failures: list[str] = []
    until, number = time.monotonic() + SECONDS, SEED
    while number == SEED or time.monotonic() < until:
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ends[check(number, folder, twice=number % 10 == 0)] += 1
        except TooLong:
            ends["hang"] += 1
            failures.append(f"call {number} took longer than {LONGEST} s: {make_call(number, folder).arguments}")
        except AssertionError as error:
            ends["wrong"] += 1
            words = " ".join(make_call(number, folder).arguments)[:400]
            failures.append(f"call {number}: {words}\n{str(error)[:600]}")
        except Exception:
            ends["traceback"] += 1
            failures.append(f"call {number}: {traceback.format_exc()[-1500:]}")
        shutil.rmtree(folder)
        number += 1
    sys.stdout.write(f"\n{number - SEED:,} calls from {SEED}: {dict(ends)}\n")
    # one of each kind: the same mistake would fill the page
    told = "\n\n".join(list({failure.strip().rpartition("\n")[2]: failure for failure in failures}.values())[:SHOWN])
    assert not failures, f"{len(failures)} of {number - SEED:,} calls ({dict(ends)}):\n{told}"
    assert SECONDS < 30 or (ends["answered"] and ends["refused"]), "the calls are all of one kind"
