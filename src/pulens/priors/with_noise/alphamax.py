"""AlphaMax for noisy labels: run twice with roles exchanged, the second run capped by its ROC slope.

Without the cap, clean and well separated labels leave the second run no bend to find."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import NoiseEstimator, NoiseFinding
from pulens.priors._twice import run_twice


def alphamax(tally: Tally, *, confidence: float = 0.95) -> NoiseFinding:
    """Run :mod:`pulens.priors.from_scores.alphamax` both ways round and untangle the two shares."""
    return run_twice(tally, "alphamax", limit="roc_slope")


ESTIMATOR = NoiseEstimator(
    alphamax,
    "AlphaMax, run twice with roles exchanged",
    "Each class has a region of scores that the other does not reach.",
    "Jain, White and Radivojac 2016",
    rank_based=False,
)
