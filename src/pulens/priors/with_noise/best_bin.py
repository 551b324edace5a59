"""Best-bin estimation for noisy labels: run twice with roles exchanged."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import NoiseEstimator, NoiseFinding
from pulens.priors._twice import run_twice


def best_bin(tally: Tally, *, confidence: float = 0.95) -> NoiseFinding:
    """Run :mod:`pulens.priors.from_scores.best_bin` both ways round and untangle the two shares."""
    return run_twice(tally, "best_bin")


ESTIMATOR = NoiseEstimator(
    best_bin,
    "Best bin, run twice with roles exchanged",
    "Each class has a region of scores that the other does not reach.",
    "Garg et al. 2021; Jain, White and Radivojac 2016",
    rank_based=True,
)
