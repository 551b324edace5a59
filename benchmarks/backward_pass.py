"""Is the hand-written backward pass of small dense networks worth its lines? The Spambase job with and without it.

    python benchmarks/backward_pass.py                    # 50 runs each way, three rounds
    python benchmarks/backward_pass.py --epochs 3         # the same stacks, a few epochs of each: some minutes

Four ways to train the same stacks on a CPU, in one process, one after the other in every round:

- by hand: ``pulens.learners.stack.dense``, as shipped;
- autograd: the same stacks with one batched product per layer and torch's own gradients;
- left-out: the same, for the runs that have not stopped yet, picked out of the stack before every pass;
- compiled: those handed to ``torch.compile`` (needs a C++ compiler; what compiling took is told apart).

The job is that of ``bench_speed.py``: nnPU, VPU, PUSB, Dist-PU and PN on Spambase. Time is the processor's, of training
and of looking at every epoch; the archive and the reading of data are left out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial

import torch

WAYS = ("by-hand", "autograd", "left-out", "compiled")


def leave_out_stopped_runs(network: type) -> None:
    """Let passes compute the runs that go on, by picking their parameters; the others give 0."""
    from pulens.learning.learners.stack.streams import Streams

    whole = network.__call__

    def call(self, x, streams=None, moment=(0, 0)):
        stopped = self.__dict__.get("resting" if streams is not None else "unscored", ())
        if not stopped:
            return whole(self, x, streams, moment)
        going = [run for run in range(self.runs) if run not in stopped]
        part = copy(self)
        part.runs, part.resting, part.unscored = len(going), (), ()
        part.parameters = {name: own[going] for name, own in self.parameters.items()}
        part.forward = part._chain
        chance = None if streams is None else Streams([streams.seeds[run] for run in going], streams.device)
        found = part(x[going], chance, moment)
        return found.new_zeros(self.runs, *found.shape[1:]).index_copy(0, torch.tensor(going), found)

    network.__call__ = call
    network.goes_run_by_run = True
    network.rest = lambda self, runs: setattr(self, "resting", tuple(runs))
    network.leave_unscored = lambda self, runs: setattr(self, "unscored", tuple(runs))


@contextmanager
def trained(way: str) -> Iterator[None]:
    """Networks that compute in one of the three ways."""
    from pulens.learning.learners.stack import networks

    names = ("__init__", "__call__", "goes_run_by_run", "rest", "leave_unscored")
    before, by_hand = {name: networks.StackedNetwork.__dict__[name] for name in names}, networks.dense_chain
    usual = networks.StackedNetwork.__init__

    def compiled(self, *given, **named):
        usual(self, *given, **named | {"compiled": True})

    if way == "compiled":
        torch._dynamo.config.recompile_limit = 64  # methods, networks and batch sizes each want their own
        networks.StackedNetwork.__init__ = compiled
    if way == "left-out":
        leave_out_stopped_runs(networks.StackedNetwork)
    if way != "by-hand":
        networks.dense_chain = lambda *given, **named: None
    try:
        yield
    finally:
        networks.dense_chain = by_hand
        for name, own in before.items():
            setattr(networks.StackedNetwork, name, own)


def job(seeds: int, epochs: int | None):
    """The stacks of the job, one for each method; with ``epochs`` at most so many of them in every stage."""
    from bench_speed import SEEDS, SPAMBASE
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import parse_protocol

    text = SPAMBASE % "selection: proxy_accuracy"
    plan = expand(parse_protocol(text, "the job", {"seeds": list(SEEDS[:seeds])}))
    stacks: dict[str, list] = {}
    for run in plan.runs:
        lengths = {name: min(epochs or 1 << 30, run.settings[name]) for name in run.settings if name.endswith("epochs")}
        stacks.setdefault(run.method, []).append(replace(run, settings={**run.settings, **lengths}))
    return list(stacks.values())


def spent(stacks, way: str) -> tuple[dict[str, float], dict[str, float]]:
    """Processor seconds and mean test accuracy by method."""
    from pulens.research.benchmark.training import train

    seconds, accuracy = {}, {}
    with trained(way):
        for runs in stacks:
            begun = time.process_time()
            rows = train(runs, "cpu")
            seconds[runs[0].method] = time.process_time() - begun
            chosen = [
                next(one["accuracy"] for one in row["choices"] if one["selection"] == row["own_selection"])
                for row in rows
            ]
            accuracy[runs[0].method] = statistics.mean(chosen)
    return seconds, accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="runs of each of the five methods (default 10: 50 runs)")
    parser.add_argument("--epochs", type=int, help="at most so many epochs of every stage (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    stacks, brief = job(given.seeds, given.epochs), job(given.seeds, 1)
    say = partial(print, flush=True)
    first = {}
    for way in given.ways:  # loads libraries, and compiles what is to be compiled
        begun = time.process_time()
        try:
            spent(brief, way)
        except Exception as error:  # no compiler, or one that cannot do this
            say(f"{way}: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
            continue
        first[way] = time.process_time() - begun
        say(f"{way:<9} an epoch of everything, for the first time: {first[way]:7.1f} processor s")
    found = {way: [] for way in first}
    for number in range(given.rounds):
        for way in first:
            begun = time.perf_counter()
            seconds, accuracy = spent(stacks, way)
            clock = time.perf_counter() - begun
            found[way].append(sum(seconds.values()))
            each = ", ".join(f"{method} {value:.1f} s ({accuracy[method]:.4f})" for method, value in seconds.items())
            say(f"round {number + 1} {way:<9} {found[way][-1]:7.1f} processor s, {clock:.1f} by the clock: {each}")
    least = {way: min(values) for way, values in found.items()}
    for way, value in least.items():
        say(f"{way:<9} {value:7.1f} processor s at the least, {value / least[given.ways[0]]:.2f} of {given.ways[0]}")


if __name__ == "__main__":
    main()
