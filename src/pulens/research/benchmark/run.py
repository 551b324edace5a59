"""Running a plan into an archive: what is there is not done again, what fails is told, what is killed can go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from pulens.errors import InputError
from pulens.research.benchmark.archive import LOCK, Store
from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.claims import Claims
from pulens.research.benchmark.memory import budget_of, most_runs
from pulens.research.benchmark.plan import Plan, Run, stacks
from pulens.research.benchmark.rates import forecast, load_rates
from pulens.research.benchmark.work import do

PATIENCE = 0.2  # seconds between looks at what another process is doing


@dataclass(frozen=True)
class Options:
    """How to run, which changes nothing about the results."""

    device: str = "auto"
    jobs: int = 1
    ray: str | None = None
    most: int | None = None  # runs per stack; default: what fits
    retry_failed: bool = False
    time_limit: float | None = None  # seconds after which no stack is begun


AS_USUAL = Options()


@dataclass(frozen=True)
class PlanStatus:
    """How a plan stands after running it."""

    planned: int
    done: int
    failed: int
    added: int
    seconds: float
    damaged: Mapping[str, str] = field(default_factory=dict)  # files of the archive that were left out, and why

    @property
    def left(self) -> int:
        return self.planned - self.done - self.failed

    def __str__(self) -> str:
        parts = [f"{self.done:,} of {self.planned:,} runs done"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self.left:
            parts.append(f"{self.left:,} left")
        rate = f", {60 * self.added / self.seconds:.1f} runs a minute" if self.added and self.seconds > 0 else ""
        return f"{', '.join(parts)}; {self.added:,} in this call{rate}"


Watcher = Callable[[int, int], None]  # runs finished, runs failed


class Queue:
    """Stacks of a plan that nobody has done and nobody is doing, handed out one at a time to any thread."""

    def __init__(self, store: Store, plan: Plan, waiting: Sequence[tuple[Run, ...]], options: Options) -> None:
        self.store, self.options = store, options
        self.keys = {run.key for run in plan.runs}
        self.waiting = list(waiting)
        self.claims = Claims(store.folder / LOCK)
        self.until = None if options.time_limit is None else time.monotonic() + options.time_limit
        self.added = self.failures = 0
        self._lock = Lock()
        self._tried: set[str] = set()

    def next(self) -> tuple[Run, ...] | None:
        """A stack to do, or None when there is nothing left to begin. Waits for runs that another process is doing."""
        while True:
            with self._lock:
                if self.until is not None and time.monotonic() > self.until:
                    return None
                stack = self._claim()
                if stack or not self.waiting:
                    return stack
            time.sleep(PATIENCE)

    def next_without_waiting(self) -> tuple[Run, ...] | None:
        """A stack to do, or None if nothing can be begun right now."""
        with self._lock:
            return None if self.until is not None and time.monotonic() > self.until else self._claim()

    def _claim(self) -> tuple[Run, ...] | None:
        finished = self._finished()
        still: list[tuple[Run, ...]] = []
        for place, stack in enumerate(self.waiting):
            open_runs = [run for run in stack if run.key not in finished]
            if not open_runs:
                continue
            mine = self.claims.take(open_runs)
            if mine:
                finished = self._finished()  # somebody may have finished them just before we asked
                late = [run for run in mine if run.key in finished]
                self.claims.release(late)
                mine = tuple(run for run in mine if run.key not in finished)
            if mine:
                self.waiting = [*still, stack, *self.waiting[place + 1 :]]
                return mine
            still.append(stack)
        self.waiting = still
        return None

    def _finished(self) -> set[str]:
        """Done, or failed where that is not to be tried again or was tried in this call."""
        if not self.options.retry_failed:
            return self.store.finished()
        return self.store.finished(count_failed=False) | self._tried

    def keep(self, rows: list[RunRow]) -> None:
        """Put finished rows into the archive."""
        with self._lock:
            self.store.add(rows)
            self.added += len(rows)
            self.failures += sum(row.status == "failed" for row in rows)
            self._tried.update(row.key for row in rows)

    def count(self, finished: int, failures: int, stack: Sequence[Run]) -> None:
        """Take note of rows that a worker put into the archive itself."""
        with self._lock:
            self.added += finished
            self.failures += failures
            self._tried.update(run.key for run in stack)

    def release(self, stack: Sequence[Run]) -> None:
        with self._lock:
            self.claims.release(stack)

    def counts(self) -> tuple[int, int]:
        """Finished runs of the plan, failed ones among them."""
        with self._lock:
            everything = self.store.finished() & self.keys
            good = self.store.finished(count_failed=False) & self.keys
        return len(everything), len(everything) - len(good)


class Executor(Protocol):
    """Something that takes stacks from the queue until there are none."""

    def __call__(self, queue: Queue, options: Options, tick: Callable[[], None]) -> None: ...


def run_plan(
    plan: Plan, folder: str | Path, options: Options = AS_USUAL, *, watch: Watcher | None = None
) -> PlanStatus:
    """Do every run of a plan that the archive lacks.

    Killed at any moment it loses the stacks in progress and nothing else; call it again to go on. Several processes may
    run the same plan into the same folder.
    """
    begun = time.monotonic()
    _check(options)
    budget, on_cpu = budget_of(options.device, options.jobs)  # refuses a device before a folder is made
    store = Store(folder).open()
    store.remember(plan)
    packed = stacks(plan.runs, lambda group: options.most or most_runs(group, budget, on_cpu))
    order = {name: place for place, name in enumerate(dict.fromkeys(run.dataset for run in plan.runs))}
    packed.sort(key=lambda stack: order[stack[0].dataset])  # a worker then loads a data set once
    if options.jobs > 1 or options.ray is not None:
        packed = longest_first(packed, on_cpu)
    queue = Queue(store, plan, packed, options)
    last = [0.0]

    def tick() -> None:
        if watch is not None and time.monotonic() - last[0] > PATIENCE:
            last[0] = time.monotonic()
            watch(*queue.counts())

    try:
        executor(options)(queue, options, tick)
    finally:
        queue.claims.close()
        store.close()
    finished, failures = queue.counts()
    if watch is not None:
        watch(finished, failures)
    seconds = time.monotonic() - begun
    return PlanStatus(len(plan.runs), finished - failures, failures, queue.added, seconds, dict(store.damaged))


def longest_first(packed: Sequence[tuple[Run, ...]], on_cpu: bool) -> list[tuple[Run, ...]]:
    """Stacks by what they will take as far as rates were measured, so that workers end together; unknown ones first."""
    rates = [rate for rate in load_rates()[1] if (rate.device == "cpu") == on_cpu]
    devices = sorted({rate.device for rate in rates})

    def seconds(stack: tuple[Run, ...]) -> float:
        result = forecast(stack, rates, devices[0]) if devices else None
        return result.seconds if result is not None and not result.unknown else float("inf")

    return sorted(packed, key=seconds, reverse=True)


def executor(options: Options) -> Executor:
    """One process, several, or a Ray cluster."""
    if options.ray is not None:
        from pulens.research.benchmark.on_ray import on_ray

        return on_ray
    if options.jobs > 1:
        from pulens.research.benchmark.processes import in_processes

        return in_processes
    return in_this_process


def in_this_process(queue: Queue, options: Options, tick: Callable[[], None]) -> None:
    tick()
    while stack := queue.next():
        do(stack, options.device, queue.store.cache, queue.keep)
        queue.release(stack)
        tick()


def _check(options: Options) -> None:
    for name, value in (("jobs", options.jobs), ("most", options.most)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
    if options.time_limit is not None and not options.time_limit > 0:
        raise InputError(f"the time limit must be above 0 seconds, got {options.time_limit!r}.")


@contextmanager
def progress(total: int, *, wanted: bool = True) -> Iterator[Watcher]:
    """Runs done, rate and time left on a terminal; silence elsewhere."""
    import sys

    if not wanted or not sys.stderr.isatty():
        yield lambda done, failed: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[Any] = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, begun, first = bar.add_task("runs", total=total, rate=""), time.monotonic(), [-1]

        def watch(done: int, failed: int) -> None:
            first[0] = done if first[0] < 0 else first[0]
            minutes = (time.monotonic() - begun) / 60
            rate = f"{(done - first[0]) / minutes:.0f} a minute" if done > first[0] else ""
            words = f"runs ({failed} failed)" if failed else "runs"
            bar.update(task, completed=done, rate=rate, description=words)

        yield watch
