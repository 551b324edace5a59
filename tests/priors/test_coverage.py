"""Intervals hold the truth about as often as they say: a small simulation; benchmarks/priors.py is the large one."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors import estimate_from_tally


def test_intervals_and_feasible_ranges_hold_the_truth():
    rng = np.random.default_rng(100)
    held, feasible, runs = 0, 0, 60
    for run in range(runs):
        prior, distance = (0.05, 0.2, 0.5)[run % 3], (1.2, 2.0)[run % 2]
        positives = rng.binomial(3000, prior)
        scores = np.concatenate([rng.normal(distance, 1, 200 + positives), rng.normal(0, 1, 3000 - positives)])
        result = estimate_from_tally(Tally.from_arrays(np.repeat([1, 0], [200, 3000]), scores))
        held += positives / 3000 in result.unlabelled_interval
        feasible += positives / 3000 in result.unlabelled_feasible
    assert held >= 53  # 60 at 95%: fewer than 53 has a chance of 1 in 70
    assert feasible == runs
