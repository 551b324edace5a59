"""What the studies of real labels share: their data sets, scored, and work on all cores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from math import isnan
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from pulens.atomic_write import write_whole
from pulens.research.benchmark.wild import WildProblem, family_of, read_problem, wild_folder, worlds
from pulens.research.studies._study import Workbench

QUICK_SETS = 3  # of each family in a quick run, and one model
FEW = 10  # runs of a family below which its share of intervals that hold says little
Result = TypeVar("Result")


MODELS = ("logistic", "boosting")


def wild_problems(bench: Workbench, quick: Sequence[str] = MODELS[:1]) -> list[WildProblem]:
    """Every data set with each model's scores out of fold; ``--quick`` takes a few of each family and these models."""
    found = list(worlds(wild_folder()))
    if bench.quick:
        found = [one for _, own in groupby(found, lambda one: family_of(one[1])) for one in list(own)[:QUICK_SETS]]
    models = quick if bench.quick else MODELS
    bench.progress(f"{len(found)} data sets, scores of {len(models)} models")
    jobs = [(path, world, model) for path, world in found for model in models]
    return on_all_cores(_read, jobs)


def _read(job: tuple[Path, dict[str, Any], str]) -> WildProblem:
    return read_problem(*job)


def on_all_cores(work: Callable[[Any], Result], jobs: Iterable[Any]) -> list[Result]:
    """Results in the order of the jobs; every process takes one thread."""
    listed = list(jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or len(listed) < 16:  # processes take seconds to start
        return [work(job) for job in listed]
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        return list(pool.map(work, listed, chunksize=max(1, len(listed) // (8 * cores))))


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def write_rows(store: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One row of results a line, as JSON; a number that was withheld is null."""
    write_whole(store, "\n".join(json.dumps({k: None if v != v else v for k, v in row.items()}) for row in rows))


def percent(share: float) -> str:
    return "-" if isnan(share) else f"{100 * share:.0f}"


def ruled(title: str, head: Sequence[str], lines: Iterable[tuple[str, Sequence[str]]], first: int = 44) -> str:
    """A table of text: names on the left, numbers under their heads."""
    width = max(8, *(len(name) + 2 for name in head))
    rows = [f"{'':<{first}}" + "".join(f"{name:>{width}}" for name in head)]
    rows += [f"{name:<{first}}" + "".join(f"{cell:>{width}}" for cell in cells) for name, cells in lines]
    return "\n".join([title, *rows])
