"""What training costs when runs are trained as one stack: seconds per run and epoch, by learner, height and network.

    python benchmarks/stacks.py --learners NNPU --runs 1 10                      # on the CPU, a table like Spambase
    python benchmarks/stacks.py --like mnist --runs 10 50 --ways grouped patches # on a GPU: ways to convolve stacks
    python benchmarks/stacks.py --like cifar10 --runs 1 --learners NNPU --precisions float32 tf32 bfloat16
    python benchmarks/stacks.py --release        # 50 Spambase runs on one core, beside the release of PU-Bench

Rows are random numbers of the right shape: training time does not depend on what they say. With another version of the
package first on PYTHONPATH it says what a change has gained; the digest of what was learned shows that both learn the
same. ``--release`` is the job that costs PU-Bench's first release 478 processor seconds on one core: nnPU, VPU, PUSB,
Dist-PU and PN, ten seeds, at most 40 epochs, its batch sizes and early stopping; ours includes Python's start, data,
every criterion and the test rows after every epoch, tallies and the archive.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time

import numpy as np
import torch
from pulens.learners import fit_many

from pulens import learners

SHAPES = {"table": ((57,), "mlp"), "mnist": ((1, 28, 28), "lenet"), "cifar10": ((3, 32, 32), "cifar_cnn")}
EPOCHS = {  # enough that some are not the first of their stage, which records steps
    "NNPU": {"epochs": 4},
    "RobustPU": {"pretraining_epochs": 3, "episodes": 3},
    "DistPU": {"warm_up_epochs": 3, "epochs": 3},
    "PULDA": {"warm_up_epochs": 3, "epochs": 3},
    "LaGAM": {"warm_up_epochs": 3, "epochs": 3},
}
RELEASE_SECONDS = 478.0
RELEASE = """
name: spambase-speed
learners: [nnpu, vpu, pusb, dist_pu, pn]
datasets: [spambase]
seeds: [2, 25, 42, 52, 99, 103, 250, 666, 777, 2026]
conditions: [{mechanisms: S1, label_frequencies: 0.1}]
settings:
  nnpu: {all: {epochs: 40, batch_size: 256, patience: 10}}
  # an epoch of the release: 15 batches of 256 rows, labelled and not
  vpu: {all: {epochs: 40, batch_size: 128, steps_per_epoch: 15, learning_rate: 3.0e-4, patience: 10,
              selection: proxy_accuracy}}
  pusb: {all: {epochs: 40, batch_size: 256, patience: 10}}
  dist_pu: {all: {warm_up_epochs: 20, epochs: 20, batch_size: 256, patience: 10}}
  pn: {all: {epochs: 40, batch_size: 128, patience: 5}}
"""


def measured(name: str, runs: int, like: str, rows: int, way: str, **options) -> tuple[dict[str, float], float]:
    """Median seconds per epoch of each stage, the first of it left out, and a digest of what was learned."""
    shape, backbone = SHAPES[like]
    rng = np.random.default_rng(0)
    shift = np.where(np.arange(rows) < 0.4 * rows, 0.1, -0.1).reshape(-1, *[1] * len(shape))
    X = (rng.normal(size=(rows, *shape)) + shift).astype(np.float32)
    labels = (np.arange(rows) < 0.1 * rows).astype(int)
    options |= {"scenario": "case-control", "selection": "last", "progress": False, "backbone": backbone}
    options |= EPOCHS[name] | ({} if name == "LaGAM" else {"class_prior": 0.4})
    support = (np.r_[rows // 8 : rows // 8 + 50, rows - 50 : rows], np.repeat([1, -1], 50))
    marks: dict[str, list[float]] = {}

    def mark(program, number, stage) -> None:
        if options["device"] == "cuda":
            torch.cuda.synchronize()
        marks.setdefault(stage.name, []).append(time.perf_counter())

    stack = [getattr(learners, name)(random_state=seed, **options) for seed in range(runs)]
    extra = {"support": [support] * runs} if name == "LaGAM" else {}
    fit_many(stack, X, [labels] * runs, on_epoch=mark, convolution=way, **extra)
    digest = float(np.std([one.decision_function(X[:200]) for one in stack]))
    return {stage: float(np.median(np.diff(times))) for stage, times in marks.items()}, digest


def beside_the_release() -> None:
    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import parse_protocol
    from pulens.research.benchmark.run import Options, run_plan

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        run_plan(expand(parse_protocol(RELEASE, "the job")), folder, Options(device="cpu"))
        used = resource.getrusage(resource.RUSAGE_SELF)
        rows = read(folder).results("own")
    for name in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == name]
        seconds = sum(row["stack_processor_seconds"] / row["stack_runs"] for row in own)
        accuracy = 100 * statistics.mean(row["accuracy"] for row in own)
        print(f"{name:<8} {seconds:7.1f} processor s, accuracy {accuracy:.2f}")
    total = used.ru_utime + used.ru_stime
    print(f"{len(rows)} runs with everything: {total:.0f} processor seconds; the release: {RELEASE_SECONDS:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--learners", nargs="+", choices=list(EPOCHS), default=list(EPOCHS))
    parser.add_argument("--like", choices=list(SHAPES), default="table")
    parser.add_argument("--runs", nargs="+", type=int, default=[1, 10])
    parser.add_argument("--rows", type=int, default=3786)
    parser.add_argument(
        "--ways", nargs="+", default=[None], help="to convolve: grouped, patches; default: the package's"
    )
    parser.add_argument("--precisions", nargs="+", default=["float32"])
    parser.add_argument("--release", action="store_true")
    given = parser.parse_args()
    if given.release:
        beside_the_release()
        return
    for runs in given.runs:
        for name in given.learners:
            for way in given.ways:
                for precision in given.precisions:
                    options = {"device": given.device, "precision": precision}
                    spent, digest = measured(name, runs, given.like, given.rows, way, **options)
                    said = ", ".join(f"{stage} {value / runs:.4g}" for stage, value in spent.items())
                    how = f"{runs:3} runs, {given.rows:,} rows like {given.like}, {precision}{f', {way}' * bool(way)}"
                    print(f"{name:<9} {how}: {said} s per run and epoch (digest {digest:.4f})", flush=True)


if __name__ == "__main__":
    main()
