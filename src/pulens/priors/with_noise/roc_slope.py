"""ROC slope for noisy labels: the slopes at both ends of the curve."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import NoiseEstimator, NoiseFinding
from pulens.priors._twice import run_twice


def roc_slope(tally: Tally, *, confidence: float = 0.95) -> NoiseFinding:
    """Run :mod:`pulens.priors.from_scores.roc_slope` both ways round and untangle the two shares."""
    return run_twice(tally, "roc_slope")


ESTIMATOR = NoiseEstimator(
    roc_slope,
    "ROC slope, run twice with roles exchanged",
    "Each class has a region of scores that the other does not reach.",
    "Scott 2015; Jain, White and Radivojac 2016",
    rank_based=True,
)
