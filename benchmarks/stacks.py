"""What a benchmark costs when its runs are trained as stacks, beside the published release and beside one at a time.

    python benchmarks/stacks.py                        # 50 Spambase runs on one core, beside the release
    python benchmarks/stacks.py --device cuda --jobs 12 # four tables x ten seeds x methods that stack, on a GPU
    python benchmarks/stacks.py --tables digits --methods nnpu pn --seeds 3 --share 0.1    # to try it out anywhere

The first is the job that costs the release of paper 004's benchmark 478 processor seconds on one core: nnPU, VPU, PUSB,
Dist-PU and PN, ten seeds, at most 40 epochs, its batch sizes and its early stopping. Ours includes everything: Python's
start, data, every criterion and the test rows after every epoch, tallies and the archive.

The second runs the same plan twice: as stacks, several processes sharing the device; and one run at a time. The latter
is timed on a sample (the first seed of every method and data set) and multiplied by the number of seeds, which is said;
``--all`` times every run. On a GPU single runs are timed twice: with steps launched one by one, which is how networks
are usually trained, and with recorded steps, which is all that a single run can gain here. ``--share 0.2`` shortens all
trainings alike.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from dataclasses import replace
from datetime import datetime

RELEASE_SECONDS = 478.0  # processor seconds of the release for the same 50 runs, one core
SEEDS = (2, 25, 42, 52, 99, 103, 250, 666, 777, 2026)
SPAMBASE = """
name: spambase-speed
methods: [nnpu, vpu, pusb, dist_pu, pn]
datasets: [spambase]
seeds: [2, 25, 42, 52, 99, 103, 250, 666, 777, 2026]
conditions: [{mechanisms: S1, label_frequencies: 0.1}]
settings:
  nnpu: {all: {epochs: 40, batch_size: 256, patience: 10}}
  # an epoch of the release: 15 batches of 256 rows, labelled and not
  vpu: {all: {epochs: 40, batch_size: 128, steps_per_epoch: 15, learning_rate: 3.0e-4, patience: 10, %s}}
  pusb: {all: {epochs: 40, batch_size: 256, patience: 10}}
  dist_pu: {all: {warm_up_epochs: 20, epochs: 20, batch_size: 256, patience: 10}}
  pn: {all: {epochs: 40, batch_size: 128, patience: 5}}
"""


def spambase(stack: int | None, precision: str) -> None:
    import torch

    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import parse_protocol
    from pulens.research.benchmark.run import Options, run_plan

    torch.set_num_threads(1)
    plan = expand(parse_protocol(SPAMBASE % "selection: proxy_accuracy", "the job", {"precision": precision}))
    with tempfile.TemporaryDirectory() as folder:
        run_plan(plan, folder, Options(device="cpu", most=stack))
        archive = read(folder)
        used = resource.getrusage(resource.RUSAGE_SELF)
        for method in ("nnpu", "vpu", "pusb", "dist_pu", "pn"):
            rows = [row for row in archive.results("own") if row["learner"] == method]
            seconds = sum(row["stack_processor_seconds"] / row["stack_runs"] for row in rows)
            accuracy = statistics.mean(row["accuracy"] for row in rows)
            epochs = statistics.mean(row["epochs"] for row in rows)
            print(f"{method:<8} {seconds:7.1f} processor s, {epochs:5.1f} epochs, accuracy {100 * accuracy:.2f}")
        assert len(archive.done) == 50
    total = used.ru_utime + used.ru_stime
    print(f"50 runs with everything: {total:.0f} processor seconds; the release: {RELEASE_SECONDS:.0f}")
    print(f"{RELEASE_SECONDS / total:.1f} times cheaper")


def shortened(plan, share: float):
    """The same plan with a share of the epochs and steps."""
    names = ("epochs", "warm_up_epochs", "pretraining_epochs", "pretraining_steps")

    def short(run):
        changed = {
            name: max(1, round(share * run.settings[name])) for name in names if isinstance(run.settings.get(name), int)
        }
        return replace(run, settings={**run.settings, **changed})

    return replace(plan, runs=tuple(short(run) for run in plan.runs)) if share < 1 else plan


def stacked_against_one_at_a_time(given: argparse.Namespace) -> None:
    from pulens.benchmark import methods

    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import load_protocol
    from pulens.research.benchmark.run import Options, run_plan
    from pulens.research.benchmark.training import train

    names = given.methods or [name for name in methods.everything() if methods.find(name).is_network]
    loaded = load_protocol(
        "conventional",
        methods=names,
        datasets=given.tables,
        seeds=list(SEEDS[: given.seeds]),
        precision=given.precision,
    )
    plan = shortened(expand(loaded), given.share)
    with tempfile.TemporaryDirectory() as folder:
        summary = run_plan(plan, folder, Options(device=given.device, jobs=given.jobs))
        archive = read(folder)
        failed = [f"{row['method']} on {row['dataset']}: {row['reason']}" for row in archive.failed]
        moments = [datetime.fromisoformat(row[name]) for row in archive.done for name in ("started", "finished")]
        together = (max(moments) - min(moments)).total_seconds()
    done = {(row["learner"], row["dataset"]) for row in archive.done}
    sample = plan.runs if given.all else [run for run in plan.runs if run.seed == SEEDS[0]]
    sample = [run for run in sample if (run.learner, run.dataset) in done]
    train(sample[:1], given.device)  # the first run pays for the device's start
    ways = {"step by step": "0", "recorded": "1"} if given.device.startswith("cuda") else {"": "1"}
    alone = dict.fromkeys(ways, 0.0)
    for run in sample:
        line = f"  alone {run.learner:<16} {run.dataset:<14}"
        for way, switch in ways.items():
            os.environ["PULENS_CUDA_GRAPHS"] = switch
            started = time.perf_counter()
            train([run], given.device)
            seconds = time.perf_counter() - started
            alone[way] += seconds * (1 if given.all else given.seeds)
            line += f" {seconds:8.2f} s {way}"
        print(line, flush=True)
    for line in failed:
        print(f"failed, on both sides left out: {line}")
    rate = f"{60 * summary.done / together:.1f} runs a minute"
    print(f"stacked, {given.jobs} processes: {summary.done} runs in {together:.1f} s, {rate}")
    print(f"  ({summary.seconds:.1f} s with the start of processes)")
    how = "all timed" if given.all else f"{len(sample)} timed, times {given.seeds} seeds"
    for way, total in alone.items():
        print(f"one at a time, {way}: {summary.done} runs in {total:.1f} s ({how})")
        print(
            f"  {60 * summary.done / total:.1f} runs a minute; stacks are {total / together:.1f} times faster", end=" "
        )
        print(f"({total / summary.seconds:.1f} with the start of processes)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--stack", type=int, help="runs per stack of the Spambase job; default: what fits, as in a benchmark"
    )
    parser.add_argument("--tables", nargs="+", help="data sets of the second part")
    parser.add_argument("--methods", nargs="+", help="of the second part; default: all that stack")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the epochs")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--all", action="store_true", help="time every run one at a time, not a sample")
    given = parser.parse_args()
    if given.device == "cpu" and given.tables is None:
        spambase(given.stack, given.precision)
        return
    given.tables = given.tables or ["imdb", "newsgroups20", "connect4", "spambase"]
    stacked_against_one_at_a_time(given)


if __name__ == "__main__":
    main()
