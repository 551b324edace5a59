"""Runs of a stack on several cores: one thread takes whole runs, so that what a run works on stays in its cache.

Runs share nothing, and every run is computed by one thread alone: which thread it is changes no bit of the result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier

import torch

_pools: dict[int, ThreadPoolExecutor] = {}


def each_run(work: Callable[[int], None], runs: int) -> None:
    """Call ``work(run)`` for every run, without gradients, on as many cores as torch may use."""
    cores = torch.get_num_threads()
    if runs == 1 or cores == 1:
        with torch.no_grad():
            for run in range(runs):
                work(run)
        return
    pool, waiting = _pool(cores), iter(range(runs))  # whoever is free takes the next
    torch.set_num_threads(1)  # MKL has one number for all threads
    try:
        tasks = [pool.submit(_take_turns, work, waiting) for _ in range(min(cores, runs))]
        wait(tasks)
    finally:
        torch.set_num_threads(cores)
    for task in tasks:
        task.result()  # what went wrong there is raised here


def _take_turns(work: Callable[[int], None], waiting: Iterator[int]) -> None:
    with torch.no_grad():  # a thread has its own mode
        for run in waiting:
            work(run)


def _pool(cores: int) -> ThreadPoolExecutor:
    """Threads that compute on one core each."""
    if cores not in _pools:
        everyone = Barrier(cores)
        _pools[cores] = ThreadPoolExecutor(cores, "pulens-runs", torch.set_num_threads, (1,))
        for task in [_pools[cores].submit(everyone.wait) for _ in range(cores)]:  # all of them start now
            task.result()
    return _pools[cores]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork
