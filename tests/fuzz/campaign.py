"""Make many hostile calls, side by side, and count how they ended. Needs no pytest.

    python tests/fuzz/campaign.py --first 0 --calls 100000 --processes 16 --out counts.json

A call that ends its process, or that nothing in the process can stop, is counted like any other failure, and its
process is replaced. ``--first N --calls 1`` repeats call N. ``--kinds watch,decide`` makes calls of these kinds
only, under numbers of their own: repeat them with the same kinds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import multiprocessing.connection
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

THOROUGH = 10  # every so many calls are repeated and asked again without limits
PATIENCE = 90  # seconds after which a process that says nothing is ended, more where processors are crowded
ROOM = 8  # gigabytes of addresses that a process may take beyond what it has when it begins
KEPT = 40  # failures of each kind told in full


@dataclass(frozen=True)
class Result:
    """How one call ended: answered, refused, or one of the failures."""

    number: int
    kind: str
    end: str
    seconds: float
    runs: int = 1
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.end not in ("answered", "refused")


@dataclass
class Summary:
    """Counts of many results."""

    first: int
    calls: int = 0
    runs: int = 0  # a call that is compared with others is run several times
    seconds: float = 0.0
    slowest: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    seconds_of_kinds: Counter[str] = field(default_factory=Counter)
    failures: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> None:
        self.calls += 1
        self.runs += result.runs
        self.slowest = max(self.slowest, result.seconds)
        self.ends[result.end] += 1
        self.kinds.setdefault(result.kind, Counter())[result.end] += 1
        self.seconds_of_kinds[result.kind] += result.seconds
        if result.failed and sum(result.end == other.end for other in self.failures) < KEPT:
            self.failures.append(result)

    @property
    def failed(self) -> int:
        return self.calls - self.ends["answered"] - self.ends["refused"]

    def to_json(self) -> str:
        plain = {**vars(self), "failures": [asdict(failure) for failure in self.failures]}
        return json.dumps(plain, indent=1, sort_keys=True)


def one_call(number: int, folder: Path, kinds: Sequence[str] = ()) -> Result:
    """Make a call and hold it to its promises, in this process."""
    from hostile.numbers import make_call
    from in_process import TooLong
    from promises import check

    folder.mkdir(parents=True)
    began, kind, words = time.monotonic(), "making", ""
    end, runs, detail = "wrong", 1, ""
    try:
        call = make_call(number, folder, kinds)
        kind, words = call.kind, " ".join(call.words)[:400]
        end, runs = check(call, folder, thorough=number % THOROUGH == 0)
    except TooLong:
        end, detail = "hang", words
    except AssertionError as error:
        # an assertion of the package itself says nothing but where it stands
        detail = f"{words}\n{str(error)[:600] or traceback.format_exc()[-1800:]}"
    except Exception:
        end, detail = "traceback", f"{words}\n{traceback.format_exc()[-1800:]}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(number, kind, end, time.monotonic() - began, runs, detail)


Maker = Callable[[int, Path, Sequence[str]], Result]  # makes a call of this number, in this folder, of these kinds


def _work(orders: Any, place: str, kinds: Sequence[str], make: Maker) -> None:
    """A process that makes the calls it is told to, one after the other."""
    from pulens import cli  # noqa: F401  (what everybody needs is loaded before addresses are limited)

    _limit_memory()
    folder = Path(place)
    while (number := orders.recv()) is not None:
        orders.send(make(number, folder / str(number), kinds))


def _limit_memory() -> None:
    import resource

    room = float(os.environ.get("PULENS_FUZZ_ROOM", ROOM))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + int(room * 2**30), resource.RLIM_INFINITY))


class Worker:
    """One process at work, and the number that it is busy with."""

    def __init__(self, place: Path, kinds: Sequence[str] = (), make: Maker = one_call) -> None:
        context = multiprocessing.get_context("spawn")
        self.orders, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, str(place), kinds, make), daemon=True)
        self.process.start()
        theirs.close()
        self.number, self.since = -1, 0.0

    def begin(self, number: int) -> None:
        self.number, self.since = number, time.monotonic()
        self.orders.send(number)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.orders.send(None)
        self.process.join(10)
        self.process.kill()


def campaign(
    first: int,
    calls: int,
    processes: int,
    *,
    kinds: Sequence[str] = (),
    until: float = float("inf"),
    tell: Callable[[Summary], None] | None = None,
    make: Maker = one_call,
) -> Summary:
    """Calls from a number on, over several processes."""
    from in_process import crowding

    summary, began = Summary(first), time.monotonic()
    with _prepared(of_commands=make is one_call) as place:
        numbers = iter(range(first, first + calls))
        workers: list[Worker] = []
        for number in numbers:
            workers.append(Worker(place, kinds, make))
            workers[-1].begin(number)
            if len(workers) == processes:
                break
        while workers:
            ready = multiprocessing.connection.wait([worker.orders for worker in workers], timeout=5)
            for worker in list(workers):
                if worker.orders not in ready and time.monotonic() - worker.since < PATIENCE * crowding():
                    continue
                result, alive = _result(worker, worker.orders in ready)
                summary.add(result)
                following = next(numbers, None) if time.monotonic() < until else None
                if following is None or not alive:
                    workers.remove(worker)
                    worker.end()
                if following is not None:
                    if not alive:
                        workers.append(worker := Worker(place, kinds, make))
                    worker.begin(following)
            summary.seconds = time.monotonic() - began
            if tell is not None:
                tell(summary)
    return summary


def _result(worker: Worker, ready: bool) -> tuple[Result, bool]:
    """What a process has to say, and whether it can go on."""
    took = time.monotonic() - worker.since
    if not ready:
        worker.process.kill()
        return Result(worker.number, "?", "hang", took, detail="nothing in the process could stop it"), False
    try:
        return worker.orders.recv(), True
    except (EOFError, OSError):
        worker.process.join(10)
        detail = f"the process ended with {worker.process.exitcode}"
        return Result(worker.number, "?", "killed", took, detail=detail), False


@contextlib.contextmanager
def _prepared(*, of_commands: bool) -> Iterator[Path]:
    """A folder for the files of calls; what commands tamper with is made once for all processes."""
    with tempfile.TemporaryDirectory(prefix="pulens-fuzz-") as folder:
        if of_commands:
            from hostile import originals

            if not os.environ.get(originals.PLACE):
                originals.make(Path(folder, "originals"))
                os.environ[originals.PLACE] = str(Path(folder, "originals"))
        yield Path(folder)


def _known(names: str, parser: argparse.ArgumentParser) -> list[str]:
    from hostile.numbers import KINDS

    kinds = [name.strip() for name in names.split(",") if name.strip()]
    strange = [name for name in kinds if name not in KINDS]
    if strange:
        parser.error(f"no calls are of the kind {strange[0]!r}; there are {', '.join(KINDS)}")
    return kinds


def alone() -> None:
    """One thread for each process and no accelerator: networks here are tiny, and processes many."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


def told_and_written(out: Path | None) -> Callable[[Summary], None]:
    """Tells where a campaign stands once a minute, and writes it."""
    told = time.monotonic()

    def tell(summary: Summary) -> None:
        nonlocal told
        if time.monotonic() - told > 60:
            told = time.monotonic()
            sys.stderr.write(f"{summary.calls:,} calls in {summary.seconds:.0f} s: {dict(summary.ends)}\n")
            if out:
                out.write_text(summary.to_json())

    return tell


def end(summary: Summary, out: Path | None) -> None:
    """Write the counts, tell the failures, and end with the code that they make."""
    if out:
        out.write_text(summary.to_json())
    for failure in summary.failures:
        detail = failure.detail.encode("utf-8", "backslashreplace").decode()  # words may hold half a character
        sys.stdout.write(f"\ncall {failure.number} ({failure.kind}): {failure.end}\n{detail}\n")
    rate = summary.calls / max(summary.seconds, 1e-9)
    took = f"{summary.seconds:.0f} s, {rate:.1f} a second, the slowest {summary.slowest:.1f} s"
    sys.stdout.write(f"\n{summary.calls:,} calls ({summary.runs:,} runs) in {took}: {dict(summary.ends)}\n")
    sys.exit(1 if summary.failed else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", default="", help="kinds of calls to make, with commas between them; else all")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--out", type=Path, help="where the counts go, as JSON; written every minute and at the end")
    room = "gigabytes of addresses for each process; each thread of many cores takes some"
    parser.add_argument("--room", type=float, default=ROOM, help=room)
    given = parser.parse_args()
    os.environ["PULENS_FUZZ_ROOM"] = str(given.room)
    alone()
    until = time.monotonic() + given.seconds
    kinds, tell = _known(given.kinds, parser), told_and_written(given.out)
    end(campaign(given.first, given.calls, given.processes, kinds=kinds, until=until, tell=tell), given.out)


if __name__ == "__main__":
    main()
