"""Cost of each class-prior estimator on a million unlabelled scores, in units of sorting them once.

    python benchmarks/prior_speed.py [--rows 1000000] [--labelled 1000]

CPU time of one process, best of five; memory is the highest that Python's allocator held above the tally, in units of
the input (labels and scores). The tally itself, which every result shares, is timed beside them.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from functools import partial

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors import feasible_range, find, names, with_noise


def best_of(function, times=5):
    spent = []
    for _ in range(times):
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return min(spent)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--labelled", type=int, default=1000)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    positives = chosen.labelled + chosen.rows // 5
    scores = np.concatenate(
        [rng.normal(1.5, 1, positives), rng.normal(0, 1, chosen.rows + chosen.labelled - positives)]
    )
    labels = np.repeat([1, 0], [chosen.labelled, chosen.rows]).astype(np.int8)
    order = rng.permutation(scores.size)
    scores, labels = scores[order], labels[order]
    unit = best_of(lambda: np.sort(scores))
    size = scores.nbytes + labels.nbytes
    print(f"{chosen.labelled:,} labelled, {chosen.rows:,} unlabelled; sorting the scores: {1000 * unit:.0f} ms CPU")
    built = best_of(lambda: Tally.from_arrays(labels, scores))
    print(f"{'':24}{'CPU ms':>8}{'x sort':>8}{'with tally':>12}{'memory x input':>16}")
    print(f"{'building the tally':24}{1000 * built:8.1f}{built / unit:8.2f}")
    tally = Tally.from_arrays(labels, scores)
    jobs = {name: partial(find(name).compute, tally) for name in names()}
    jobs["feasible range"] = lambda: feasible_range(tally)
    jobs |= {f"with noise: {name}": partial(with_noise.find(name).compute, tally) for name in with_noise.names()}
    worst = 0.0
    for name, job in jobs.items():
        spent = best_of(job)
        tracemalloc.start()
        job()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        worst = max(worst, spent / unit)
        print(f"{name:24}{1000 * spent:8.1f}{spent / unit:8.2f}{(spent + built) / unit:12.2f}{peak / size:16.2f}")
    print(f"slowest estimator: {worst:.2f} times the cost of sorting")


if __name__ == "__main__":
    main()
