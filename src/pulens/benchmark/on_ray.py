"""Stacks on a Ray cluster: the driver keeps the archive and the claims, workers send rows back.

Ray tries a stack again whose worker died; a stack that fails in Python is halved by the worker itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pulens.benchmark.archive.row import RunRow
from pulens.benchmark.plan import Run
from pulens.benchmark.run import Options, Queue
from pulens.benchmark.training import failed
from pulens.benchmark.work import do, halves
from pulens.errors import InputError, MissingDependencyError

TRIES = 4  # of a stack whose worker dies; then it is halved


def on_ray(queue: Queue, options: Options, tick: Callable[[], None]) -> None:
    """Keep every worker of the cluster busy with a stack."""
    ray = _connected(str(options.ray))
    resources = ray.cluster_resources()
    on_gpu = options.device.startswith("cuda") or (options.device == "auto" and resources.get("GPU", 0) > 0)
    share = {"num_gpus": 1 / options.jobs} if on_gpu else {"num_cpus": 1}
    slots = int(resources.get("GPU", 1) * options.jobs if on_gpu else resources.get("CPU", 1))
    device = "cuda" if on_gpu else "cpu"
    remote = ray.remote(_do_there).options(max_retries=TRIES - 1, **share)
    cache = str(queue.store.cache)
    doing: dict[Any, tuple[tuple[Run, ...], tuple[Run, ...]]] = {}  # task -> (its runs, the stack as claimed)
    again: list[tuple[tuple[Run, ...], tuple[Run, ...]]] = []
    exhausted = False
    while True:
        while len(doing) < slots:
            if again:
                part, claimed = again.pop()
            elif exhausted:
                break
            else:
                stack = queue.next() if not doing else queue.next_without_waiting()
                if stack is None:
                    exhausted = not doing  # while tasks run, others' claims may still come free
                    break
                part = claimed = stack
            doing[remote.remote([run.to_dict() for run in part], device, cache)] = part, claimed
        if not doing:
            return
        finished, _ = ray.wait(list(doing), timeout=1.0)
        for task in finished:
            part, claimed = doing.pop(task)
            try:
                for rows in ray.get(task):
                    queue.keep(rows)
            except ray.exceptions.RayError as error:
                if len(part) > 1:
                    again += [(half, claimed) for half in halves(part)]
                else:
                    words = " ".join(str(error).split())[:500]
                    queue.keep([failed(part[0], f"its worker ended in the middle of it ({words})")])
            if not any(other is claimed for _, other in [*doing.values(), *again]):
                queue.release(claimed)
        tick()


def _do_there(stack: list[dict[str, Any]], device: str, cache: str) -> list[list[RunRow]]:
    """On a worker: the rows of a stack, in the parts in which they were finished."""
    found: list[list[RunRow]] = []
    shared = Path(cache) if Path(cache).parent.is_dir() else None
    do([Run(**facts) for facts in stack], device, shared, found.append)
    return found


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
