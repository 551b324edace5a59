"""PULP beside scipy: one hypergeometric distribution per rank against one evaluation per labelled row.

Run: python benchmarks/pulp.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy.stats import hypergeom

from pulens.counts.hypergeometric import tails
from pulens.counts.operating_points import Ranking
from pulens.counts.tally import Tally
from pulens.metrics import pulp
from pulens.metrics.pulp import pulp_of

SLICE = 4_000  # ranks on which scipy is timed; its cost per rank is then scaled to all of them


def rows(n: int, labelled: int, shift: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = np.zeros(n, np.int8)
    labels[rng.choice(n, labelled, replace=False)] = 1
    return labels, rng.normal(shift * labels)


def timed(work, repeats: int = 3):
    """Best of a few runs, and the result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def against_scipy(n: int, labelled: int, shift: float, rng: np.random.Generator) -> None:
    labels, scores = rows(n, labelled, shift, rng)
    ranking = Ranking.of(Tally.from_arrays(labels, scores), "pulp")
    ours, value = timed(lambda: pulp_of(ranking))
    hits = np.concatenate([[0], np.cumsum(ranking.labelled)])
    ranks = np.sort(rng.choice(n + 1, SLICE, replace=False))
    theirs, expected = timed(lambda: hypergeom.cdf(hits[ranks] - 1, n, labelled, ranks), repeats=1)
    per_rank = tails(hits[ranks], n, labelled, ranks).fewer
    scaled = theirs * (n + 1) / SLICE
    print(
        f"{n:>10,} rows {labelled:>7,} labelled, shift {shift:>4}: pulens {ours:8.4f} s, "
        f"scipy {scaled:8.2f} s scaled, ratio {scaled / ours:7.0f}; "
        f"largest difference at {SLICE:,} ranks {np.abs(per_rank - expected).max():.1e}; PULP {value:.12f}"
    )


def whole_sum(n: int, labelled: int, rng: np.random.Generator) -> None:
    """Every rank by scipy, where that takes seconds: the mean itself must agree."""
    labels, scores = rows(n, labelled, 0.1, rng)
    ranking = Ranking.of(Tally.from_arrays(labels, scores), "pulp")
    hits = np.concatenate([[0], np.cumsum(ranking.labelled)])
    expected = hypergeom.cdf(hits - 1, n, labelled, np.arange(n + 1)).mean()
    print(
        f"{n:>10,} rows {labelled:>7,} labelled, every rank by scipy: PULP differs by {pulp_of(ranking) - expected:.1e}"
    )


def tied(n: int, digits: int, share: float, shift: float, rng: np.random.Generator) -> None:
    """What a caller waits for: PULP of rounded scores, with its chance value and maximum, sorting not counted."""
    labels, scores = rows(n, int(share * n), shift, rng)
    tally = Tally.from_arrays(labels, np.round(scores, digits))
    start = time.process_time()
    result = pulp(tally)
    seconds = time.process_time() - start
    print(
        f"{n:>10,} rows, {digits} decimals, {len(tally):>6,} distinct, {share:>4.0%} labelled, shift {shift:>4}: "
        f"{seconds:6.2f} s, PULP {result.value:.9f}",
        flush=True,
    )


def main() -> None:
    rng = np.random.default_rng(0)
    print("beside scipy.stats.hypergeom.cdf, one call for all ranks of a slice")
    for shift in (0.0, 0.05, 1.0):
        against_scipy(1_000_000, 10_000, shift, rng)
    whole_sum(100_000, 1_000, rng)
    print("\ngrowth, 1% labelled, shift 0.05 (sorting the rows not counted)")
    for n in (10_000, 100_000, 1_000_000, 10_000_000):
        labels, scores = rows(n, n // 100, 0.05, rng)
        for digits in (None, 3):
            shown = scores if digits is None else np.round(scores, digits)
            ranking = Ranking.of(Tally.from_arrays(labels, shown), "pulp")
            seconds, value = timed(lambda ranking=ranking: pulp_of(ranking), repeats=2)
            ties = "no ties" if digits is None else f"{len(ranking.sizes):,} distinct scores"
            print(f"{n:>10,} rows, {ties:<24} {seconds:8.4f} s, PULP {value:.9f}")
    print("\nprocessor time of ties at every share of labelled rows, the value with its landmarks")
    for n, digits in ((1_000_000, 2), (1_000_000, 4), (10_000_000, 3)):
        for share in (0.01, 0.1, 0.3, 0.5, 0.9):
            for shift in (0.0, 0.05):
                tied(n, digits, share, shift, rng)
    print("\nten million rows, many labelled, chance ranking: the slowest there is")
    for labelled in (100_000, 1_000_000, 5_000_000):
        ranking = Ranking.of(Tally.from_arrays(*rows(10_000_000, labelled, 0.0, rng)), "pulp")
        seconds, value = timed(lambda ranking=ranking: pulp_of(ranking), repeats=1)
        print(f"{labelled:>10,} labelled: {seconds:8.2f} s, PULP {value:.9f}")


if __name__ == "__main__":
    main()
