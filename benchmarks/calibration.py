"""Speed of PU-ECE with uniform-mass bins and 1,000 redraws on a million scores, beside one numpy.sort.

Run: python benchmarks/calibration.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from pulens.calibration import expected_calibration_error, reliability
from pulens.counts.tally import Tally
from pulens.testing import logistic_world

ROWS = 1_000_000
LABELLED = 100_000
REPEATS = 7


def best_of(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    rng = np.random.default_rng(0)
    labelled, unlabelled, _ = logistic_world(-0.5, 1.5, 0.3).draw(LABELLED, ROWS - LABELLED, rng)
    order = rng.permutation(ROWS)
    scores = np.concatenate([labelled, unlabelled])[order]
    labels = np.repeat(np.array([1, 0], np.int8), [LABELLED, ROWS - LABELLED])[order]
    tally = Tally.from_arrays(labels, scores)
    options = {"class_prior": 0.3, "scenario": "case-control", "redraws": 1000}
    result = expected_calibration_error(tally, **options)
    print(f"{ROWS:,} scores, {result.bins} bins of equal mass, 1,000 redraws: {result}")
    sort = best_of(lambda: np.sort(scores))
    rows = {
        "numpy.sort": sort,
        "tally of the rows": best_of(lambda: Tally.from_arrays(labels, scores)),
        "PU-ECE, noise floor and interval, from a tally": best_of(lambda: expected_calibration_error(tally, **options)),
        "reliability with 1,000 redraws per bin, from a tally": best_of(lambda: reliability(tally, **options)),
        "PU-ECE, noise floor and interval, from rows": best_of(
            lambda: expected_calibration_error(labels, scores, **options)
        ),
        "reliability with 1,000 redraws per bin, from rows": best_of(lambda: reliability(labels, scores, **options)),
    }
    for name, seconds in rows.items():
        print(f"{name:<56}{1000 * seconds:>9.1f} ms{seconds / sort:>8.1f} times numpy.sort")


if __name__ == "__main__":
    main()
