"""Several worker processes, each fed one stack at a time. A worker that dies costs its stack one more try."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.plan import Run
from pulens.research.benchmark.run import Options, Queue
from pulens.research.benchmark.training import failed
from pulens.research.benchmark.work import do, halves


class WorkerDiedError(RuntimeError):
    """The process went away in the middle of a stack."""


class Worker:
    """A process that does stacks. It ends when its standard input does, so it never outlives the runner."""

    def __init__(self, folder: Path, device: str) -> None:
        threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pulens.research.benchmark.processes", str(folder), device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads},
        )

    def do(self, stack: Sequence[Run]) -> list[int]:
        """Numbers of finished and of failed runs; the worker itself puts them into the archive."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([run.to_dict() for run in stack]) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            raise WorkerDiedError(_how(self._process.wait()))
        counted: list[int] = json.loads(answer)
        return counted

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()


def in_processes(queue: Queue, options: Options, tick: Callable[[], None]) -> None:
    """As many workers as jobs, until nothing is left."""

    def serve() -> None:
        worker: Worker | None = None
        try:
            while stack := queue.next():
                todo = [(stack, 0)]
                while todo:
                    part, deaths = todo.pop(0)
                    worker = worker or Worker(queue.store.folder, options.device)
                    try:
                        finished, failures = worker.do(part)
                        queue.count(finished, failures, part)
                    except WorkerDiedError as error:
                        worker.close()
                        worker = None
                        todo[:0] = _again(queue, part, deaths + 1, str(error))
                queue.release(stack)
        finally:
            if worker is not None:
                worker.close()

    with ThreadPoolExecutor(options.jobs) as pool:
        serving = [pool.submit(serve) for _ in range(options.jobs)]
        while not all(one.done() for one in serving):
            tick()
            wait(serving, timeout=0.2)
        for one in serving:
            one.result()


def _again(queue: Queue, part: tuple[Run, ...], deaths: int, how: str) -> list[tuple[tuple[Run, ...], int]]:
    """Once more as it was, then as halves; a run that alone kills its process twice has failed."""
    finished = queue.store.finished()
    left = tuple(run for run in part if run.key not in finished)
    if deaths < 2 or not left:
        return [(left, deaths)] if left else []
    if len(left) > 1:
        return [(half, 1) for half in halves(left)]
    queue.keep([failed(left[0], f"its process ended in the middle of it ({how})")])
    return []


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def main(folder: str, device: str) -> None:
    """The worker: a stack per line of standard input, numbers of finished and failed runs per line of output."""
    from pulens.research.benchmark.archive import Store

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a learner prints must not look like an answer
    store = Store(folder).open()
    incoming: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            incoming.put(line)
        os._exit(1)  # the runner is gone or done: what is half done would be nobody's

    Thread(target=listen, daemon=True).start()
    while True:
        stack = [Run(**facts) for facts in json.loads(incoming.get())]
        counted = [0, 0]

        def keep(rows: list[RunRow], counted: list[int] = counted) -> None:
            store.add(rows)
            counted[0] += len(rows)
            counted[1] += sum(row.status == "failed" for row in rows)

        do(stack, device, store.cache, keep)
        answers.write(json.dumps(counted) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
