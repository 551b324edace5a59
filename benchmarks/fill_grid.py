"""Do evaluations that the summary of the study still lacks, in order of worth, within a time limit.

python benchmarks/fill_grid.py --archive results --datasets mnist --jobs 4 --seconds 430          # on a GPU
python benchmarks/fill_grid.py --archive results --datasets connect4 imdb --learners nnpu vpu --plan
python benchmarks/fill_grid.py --archive results --protocol as-published --datasets mnist --every-seed

An evaluation is a learner on a data set under a labelling mechanism and a label frequency. Those that the package's
summary has (``--having``) are left out (with ``--every-seed``: the runs that it has, seed by seed), and so is what the
archive holds: call it again to go on, on any machine. ``--order worth`` takes biased labels before label frequencies,
then what takes least by measured rates; ``cheapest`` looks at the rates alone, ``listed`` at the order in which data
sets and learners were named. With ``--rounds 2 25,42`` all of that is done with seed 2 before anything with the others.
With ``--end 540`` no stack is begun that would not have ended by then, but its halves are: rates say how long it takes,
and stacks that have ended say how far rates are off. ``bench run`` does the same runs in the order of the protocol.
Afterwards: ``pulens bench report results --summary new.csv.gz`` and ``widen_summary.py new.csv.gz``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from statistics import median

from pulens.research.benchmark.archive import Store
from pulens.research.benchmark.archive.summary import read_summary
from pulens.research.benchmark.memory import budget_of, most_runs
from pulens.research.benchmark.plan import Plan, Run, expand, stacks
from pulens.research.benchmark.processes import in_processes
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.rates import forecast, load_rates
from pulens.research.benchmark.run import Options, Queue
from pulens.research.benchmark.vocabulary import variant_name
from pulens.research.benchmark.work import halves

THREE_SEEDS = (2, 25, 42)


def missing(runs: Sequence[Run], having: Path | None, *, by_seed: bool = False) -> list[Run]:
    """Runs that are not in the summary, or runs of evaluations of which it has no seed at all."""
    if having is None:
        return list(runs)
    names = ["dataset", "mechanism", "label_frequency", *(["seed"] if by_seed else [])]
    there = {(row["learner"], *(row[name] for name in names)) for row in read_summary(having)}

    def place(run: Run) -> tuple[object, ...]:
        learner = variant_name(run.learner, run.variant) if run.variant else run.learner
        return (learner, *(getattr(run, name) for name in names))

    return [run for run in runs if place(run) not in there]


class FittingQueue(Queue):
    """Hands out what would end in time, and nothing else."""

    def __init__(self, *given, seconds: Callable[[Sequence[Run]], float], end: float, jobs: int) -> None:
        super().__init__(*given)
        self.seconds, self.end, self.jobs = seconds, time.monotonic() + end, jobs
        self._begun: dict[tuple[str, ...], float] = {}
        self._ratios = [1.0]

    def _claim(self):
        # rates are of a device that nobody shares
        left = (self.end - time.monotonic()) / (self.jobs * median(self._ratios))

        def in_time(stack):
            if not left < self.seconds(stack) < float("inf"):
                return [stack]
            return [part for half in halves(stack) for part in in_time(half)] if len(stack) > 1 else []

        everything = self.waiting
        self.waiting = [part for stack in everything for part in in_time(stack)]
        stack = super()._claim()
        self.waiting = everything if self.waiting else []
        if stack:
            self._begun[tuple(run.key for run in stack)] = time.monotonic()
        return stack

    def release(self, stack: Sequence[Run]) -> None:
        super().release(stack)
        took = time.monotonic() - self._begun.pop(tuple(run.key for run in stack), time.monotonic())
        said = self.jobs * self.seconds(stack)
        if 0 < said < float("inf") and took > 1:
            self._ratios.append(took / said)
            name = f"{len(stack):3} {stack[0].learner} {stack[0].dataset}"
            print(f"{name}: {took:.0f} s, {said:.0f} said ({self.jobs} at once)", flush=True)


def rate_of(runs: Sequence[Run], on_cpu: bool) -> Callable[[Sequence[Run]], float]:
    """Seconds that a stack takes by measured rates."""
    rates = [rate for rate in load_rates()[1] if (rate.device == "cpu") == on_cpu]
    device_name = rates[0].device if rates else ""

    @lru_cache
    def of_one(learner: str, variant: str | None, dataset: str) -> float:
        run = next(run for run in runs if (run.learner, run.variant, run.dataset) == (learner, variant, dataset))
        result = forecast([run], rates, device_name)
        return float("inf") if result.unknown else result.seconds

    return lambda stack: len(stack) * of_one(stack[0].learner, stack[0].variant, stack[0].dataset)


def ordered(
    runs: Sequence[Run],
    most: Callable[[Sequence[Run]], int],
    seconds: Callable[[Sequence[Run]], float],
    order: str,
    named: Sequence[str],
    rounds: Sequence[set[int]],
) -> list[tuple[Run, ...]]:
    """Stacks in the order they are done."""

    def place(stack: Sequence[Run]) -> tuple[int, ...]:
        return tuple(
            named.index(name) if name in named else len(named) for name in (stack[0].dataset, stack[0].learner)
        )

    result = []
    for seeds in rounds:
        part = [run for run in runs if run.seed in seeds]
        halves = [[run for run in part if (run.alias != "S1") == biased] for biased in (True, False)]
        for half in halves if order == "worth" else [part]:
            result += sorted(
                stacks(half, most), key=place if order == "listed" else lambda stack: seconds(stack) / len(stack)
            )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--protocol", default="full")
    parser.add_argument("--datasets", nargs="+", required=True)
    parser.add_argument("--learners", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, default=THREE_SEEDS)
    parser.add_argument("--rounds", nargs="+", help="seeds with commas between them: those to do first, second, ...")
    parser.add_argument("--every-seed", action="store_true", help="the protocol's, less those that the summary has")
    parser.add_argument("--order", choices=("worth", "cheapest", "listed"), default="worth")
    parser.add_argument("--grid", action="store_true", help="under every condition of the full study")
    parser.add_argument("--without", nargs="+", default=["puet"], help="learners to leave out")
    parser.add_argument("--having", type=Path, default=resources.files("pulens.research.benchmark") / "summary.csv.gz")
    parser.add_argument("--anew", action="store_true", help="do not leave out what the summary has")
    parser.add_argument("--frequencies", nargs="+", type=float, help="label frequencies to do, of all of them")
    parser.add_argument("--rows", type=int, help="rows to take of every data set, to try it out")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sharing", type=int, help="processes that share the device; default: the jobs")
    parser.add_argument("--stack", type=int, default=60, help="most runs trained as one")
    parser.add_argument("--seconds", type=float, help="begin nothing after so long")
    parser.add_argument("--end", type=float, help="begin nothing that would take longer than to here, in seconds")
    parser.add_argument("--plan", action="store_true", help="say what would be done")
    given = parser.parse_args()
    changed = {"datasets": given.datasets, "learners": given.learners, "rows": given.rows}
    rounds = [{int(seed) for seed in part.split(",")} for part in given.rounds or ()]
    if rounds:
        changed["seeds"] = sorted(set().union(*rounds))
    elif not given.every_seed:
        changed["seeds"] = list(given.seeds)
    protocol = load_protocol(given.protocol, **changed)
    if given.grid:
        protocol = protocol.model_copy(update={"conditions": load_protocol("full").conditions})
    runs = [run for run in expand(protocol).runs if run.learner not in given.without]
    if given.frequencies:
        runs = [run for run in runs if run.label_frequency in given.frequencies]
    runs = missing(runs, None if given.anew else given.having, by_seed=given.every_seed)
    options = Options(device=given.device, jobs=given.jobs, time_limit=given.seconds)
    named = [*given.datasets, *(given.learners or [])]
    budget, on_cpu = budget_of(given.device, given.jobs)
    seconds = rate_of(runs, on_cpu)
    packed = ordered(
        runs,
        lambda group: min(given.stack, most_runs(group, budget, on_cpu)),
        seconds,
        given.order,
        named,
        rounds or [{run.seed for run in runs}],
    )
    print(f"{len(runs):,} runs in {len(packed):,} stacks", flush=True)
    if given.plan:
        for stack in packed:
            labels = ", ".join(sorted({run.alias for run in stack}))
            print(f"{len(stack):4} {stack[0].learner} {stack[0].dataset} {labels}")
        return
    store = Store(given.archive).open()
    store.remember(Plan(protocol, tuple(runs)))
    queue = (
        Queue(store, Plan(protocol, tuple(runs)), packed, options)
        if given.end is None
        else FittingQueue(
            store,
            Plan(protocol, tuple(runs)),
            packed,
            options,
            seconds=seconds,
            end=given.end,
            jobs=given.sharing or given.jobs,
        )
    )
    try:
        in_processes(queue, options, lambda: None)
    finally:
        queue.claims.close()
        store.close()
    done, failures = queue.counts()
    print(f"{done - failures:,} of {len(runs):,} runs done, {failures:,} failed")


if __name__ == "__main__":
    main()
