"""Learners on real labels side by side in several processes, into the file that `pulens reproduce wild-learners` reads.

PULENS_WILD=FOLDER python benchmarks/wild_learners.py --out OUT --processes 8 --seconds 280
PULENS_WILD=FOLDER pulens reproduce wild-learners --out OUT     # the tables; it trains what is missing

Learners come one after another, so that a run that is cut has whole columns. Nothing is begun after --seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from pulens.research.studies._stored import store_path  # noqa: E402  (threads are counted when numpy is imported)
from pulens.research.studies._study import Workbench  # noqa: E402
from pulens.research.studies._wild_learners import NAMES, folder, read_runs, run_world, worlds  # noqa: E402
from pulens.research.studies.wild_learners import outcome_of  # noqa: E402


def one(until, path, world, name, seed):
    """A run as a line, or why there is none."""
    if time.time() > until:
        return None
    try:
        return run_world(path, world, name, seed).to_line()
    except Exception as error:  # a learner that cannot take a data set must not end the others
        return f"# {world['world']} {name}: {type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learners", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--worlds", help="only data sets whose name begins so")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    store = store_path(Workbench(out=given.out, seed=given.seed), "wild-learners", ".jsonl")
    done = {(run.world, run.learner) for run in read_runs(store)}
    there = [(path, world) for path, world in worlds(folder()) if world["world"].startswith(given.worlds or "")]
    wanted = [(p, w, name) for name in given.learners for p, w in there if (w["world"], name) not in done]
    until, began = time.time() + given.seconds, time.time()
    with ProcessPoolExecutor(given.processes) as pool, store.open("a", encoding="utf-8") as file:
        waiting = [pool.submit(one, until, *job, given.seed) for job in wanted]
        for future in as_completed(waiting):
            line = future.result()
            if line:
                print(line, file=file, flush=True)
    made = len(read_runs(store)) - len(done)
    print(f"{made:,} of {len(wanted):,} runs in {time.time() - began:.0f} s")
    print("\n\n".join(outcome_of(read_runs(store)).tables))


if __name__ == "__main__":
    main()
