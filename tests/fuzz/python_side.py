"""Make many calls of the package from Python, side by side, and count how they ended. Needs no pytest.

    python -m tests.fuzz.python_side --calls 50000 --workers 16 --seconds 500 --seed 1 --out counts.json

Every public function gets rows in odd containers, odd values and odd options, its answers are asked what answers can be
asked, and some calls ask for one number through many doors. A call is answered, refused (an error of the package, in a
message of readable length), or it failed: a traceback, a hang, an answer that is wrong. ``--first N --calls 1`` with
the same seed repeats call N; ``--kinds evaluate,law`` makes calls of these kinds only, under numbers of their own.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ.setdefault("MPLBACKEND", "agg")

from campaign import ROOM, Result, alone, campaign, end, told_and_written

LAW = "law"
SHARE_OF_LAW = 8  # of about a hundred calls
COMPARED = 0.3  # of the answers about faithful containers, with those about plain arrays


def one_python_call(number: int, folder: Path, kinds: Sequence[str] = (), *, seed: int = 0) -> Result:
    """Make a call and look at how it ended, in this process."""
    from in_process import TooLong, time_limit

    from pulens.errors import LONGEST_TEXT, PulensError

    _load()
    folder.mkdir(parents=True)
    before = Path.cwd()
    os.chdir(folder)
    began, words = time.monotonic(), ["making", ""]
    ended, detail = "wrong", ""
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _make(random.Random(f"{seed} {number}"), folder, kinds, words)
            ended = "answered"
    except TooLong:
        ended, detail = "hang", " ".join(words)
    except PulensError as error:
        said = str(error)
        ended = "refused" if 0 < len(said) <= LONGEST_TEXT else "wrong"
        if ended == "wrong":
            detail = f"{' '.join(words)}\na message of {len(said)} characters: {said[:200]}"
    except AssertionError as error:
        detail = f"{' '.join(words)}\n{str(error)[:900] or _end_of_traceback()}"
    except Exception:
        ended, detail = "traceback", f"{' '.join(words)}\n{_end_of_traceback()}"
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)
    return Result(number, words[0], ended, time.monotonic() - began, detail=detail[:3000])


@functools.cache
def _load() -> None:
    """What calls need is loaded before the clock of the first one runs: half a library fails in odd ways ever after."""
    from python_calls import functions, law, methods  # noqa: F401
    from python_calls.libraries import has

    for name in ("pandas", "polars", "pyarrow.csv", "torch", "scipy.stats", "sklearn.linear_model", "narwhals"):
        has(name)


def _end_of_traceback() -> str:
    """The last lines, messages cut to what can be read."""
    return "\n".join(line[:300] for line in traceback.format_exc().splitlines()[-12:])


def _make(chance: random.Random, folder: Path, kinds: Sequence[str], words: list[str]) -> None:
    """Make a call; ``words`` are told its kind, and what was asked."""
    from python_calls import law
    from python_calls.functions import KINDS
    from python_calls.methods import ask

    shares = {**{name: share for name, (share, _) in KINDS.items()}, LAW: SHARE_OF_LAW}
    chosen = list(kinds or shares)
    kind = chance.choices(chosen, [shares[name] for name in chosen])[0]
    words[0] = kind
    if kind == LAW:
        wrong = law.broken(chance, folder, words)
        assert not wrong, "; ".join(wrong[:3])
        return
    call = KINDS[kind][1](chance, folder)
    words[1] = call.words
    answer = call()
    _look_at(answer)
    if call.twin is not None and chance.random() < COMPARED:
        _compare(answer, call.twin())
    if call.follow:
        ask(chance, answer, call.follow, words)


def _look_at(answer: Any) -> None:
    """Numbers within their intervals, intervals within what a metric can be, and plain JSON."""
    import json

    from answers import wrong_numbers

    told = getattr(answer, "to_dict", None)
    if told is None:
        return
    plain = told()
    json.dumps(plain, allow_nan=False)
    wrong = list(wrong_numbers(plain))
    assert not wrong, f"numbers that contradict each other: {wrong[:3]}"


def _compare(answer: Any, other: Any) -> None:
    """The same rows in plain arrays give the same numbers."""
    from answers import differences

    told = getattr(answer, "to_dict", None)
    first, second = (answer, other) if told is None else (told(), other.to_dict())
    if isinstance(first, dict | float | int):
        wrong = list(differences(first, second))
        assert not wrong, f"other numbers than from plain arrays: {wrong[:3]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other calls")
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", default="", help="kinds of calls to make, with commas between them; else all")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--out", type=Path, help="where the counts go, as JSON; written every minute and at the end")
    parser.add_argument("--room", type=float, default=4 * ROOM, help="gigabytes of addresses for each process")
    given = parser.parse_args()
    os.environ["PULENS_FUZZ_ROOM"] = str(given.room)
    alone()
    kinds = [name.strip() for name in given.kinds.split(",") if name.strip()]
    make = functools.partial(one_python_call, seed=given.seed)
    until, tell = time.monotonic() + given.seconds, told_and_written(given.out)
    asked: dict[str, Any] = {"kinds": kinds, "until": until, "tell": tell, "make": make}
    end(campaign(given.first, given.calls, given.workers, **asked), given.out)


if __name__ == "__main__":
    main()
