"""Stacks on a Ray cluster: the driver keeps the archive and the claims, workers send rows back.

Ray tries a stack again whose worker died; a stack that fails in Python is halved by the worker itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulens.errors import InputError, MissingDependencyError
from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.plan import Run
from pulens.research.benchmark.run import Options, Queue
from pulens.research.benchmark.training import failed
from pulens.research.benchmark.work import do, halves

TRIES = 4  # of a stack whose worker dies; then it is halved


def on_ray(queue: Queue, options: Options, tick: Callable[[], None]) -> None:
    """Keep every worker of the cluster busy with a stack."""
    ray = _connected(str(options.ray))
    device, share, slots = _room(ray.cluster_resources(), options)
    remote = ray.remote(_do_there).options(max_retries=TRIES - 1, **share)
    cache = str(queue.store.cache)
    parts = StackParts(queue)
    while True:
        while len(parts.doing) < slots and (result := parts.next()) is not None:
            parts.doing[remote.remote([run.to_dict() for run in result.runs], device, cache)] = result
        if not parts.doing:
            return
        finished, _ = ray.wait(list(parts.doing), timeout=1.0)
        for task in finished:
            part = parts.doing.pop(task)
            try:
                for rows in ray.get(task):
                    queue.keep(rows)
            except ray.exceptions.RayError as error:
                parts.give_up(part, error)
            parts.release(part)
        tick()


def _room(resources: Mapping[str, float], options: Options) -> tuple[str, dict[str, float], int]:
    """The device of the workers, the share of a machine that each takes, and for how many there is room."""
    if options.device.startswith("cuda") or (options.device == "auto" and resources.get("GPU", 0) > 0):
        return "cuda", {"num_gpus": 1 / options.jobs}, int(resources.get("GPU", 1) * options.jobs)
    return "cpu", {"num_cpus": 1}, int(resources.get("CPU", 1))


@dataclass(frozen=True)
class StackPart:
    """Runs that one worker does, of a stack as it was claimed."""

    runs: Sequence[Run]
    claimed: tuple[Run, ...]


class StackParts:
    """What is being done, and what has to be tried again."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.doing: dict[Any, StackPart] = {}  # by task
        self.again: list[StackPart] = []
        self.is_exhausted = False

    def next(self) -> StackPart | None:
        """A part to try again, or else a stack of the queue; None where there is nothing to begin now."""
        if self.again:
            return self.again.pop()
        if self.is_exhausted:
            return None
        stack = self.queue.next_without_waiting() if self.doing else self.queue.next()
        if stack is None:
            self.is_exhausted = not self.doing  # while tasks run, others' claims may still come free
            return None
        return StackPart(stack, stack)

    def give_up(self, part: StackPart, error: Exception) -> None:
        """Halve a part whose worker died as often as was tried; a single run has failed."""
        if len(part.runs) > 1:
            self.again += [StackPart(half, part.claimed) for half in halves(part.runs)]
        else:
            words = " ".join(str(error).split())[:500]
            self.queue.keep([failed(part.runs[0], f"its worker ended in the middle of it ({words})")])

    def release(self, part: StackPart) -> None:
        """Give the claim on a stack back where no part of it is left to do."""
        if not any(other.claimed is part.claimed for other in [*self.doing.values(), *self.again]):
            self.queue.release(part.claimed)


def _do_there(stack: list[dict[str, Any]], device: str, cache: str) -> list[list[RunRow]]:
    """On a worker: the rows of a stack, in the parts in which they were finished."""
    result: list[list[RunRow]] = []
    shared = Path(cache) if Path(cache).parent.is_dir() else None
    do([Run(**facts) for facts in stack], device, shared, result.append)
    return result


def _connected(address: str) -> Any:
    """Ray, connected to a cluster: the one named, the one that runs here, or a new local one."""
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError("Ray", purpose="running on a cluster", extra="ray") from error
    if ray.is_initialized():
        return ray
    quiet = {"log_to_driver": False, "logging_level": "error"}
    if address != "auto":
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"no Ray cluster answers at {address!r}: {' '.join(str(error).split())[:300]}") from error
        return ray
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:  # none runs here yet
        ray.init(include_dashboard=False, **quiet)
    return ray
