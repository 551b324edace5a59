"""Estimators of one number for noisy labels: run twice with roles exchanged, see :mod:`pulens.priors._twice`.

The ROC slope run twice is the slope at both ends of the curve. AlphaMax's second run is capped by its ROC slope:
without the cap, clean and well separated labels leave that run no bend to find.

>>> from pulens.priors import with_noise
>>> with_noise.find("best_bin").summary
'Best bin, run twice with roles exchanged'
"""

from __future__ import annotations

from functools import partial

from pulens.counts.tally import Tally
from pulens.priors._estimator import NoiseEstimator, NoiseFinding
from pulens.priors._twice import run_twice


def _both_ways(tally: Tally, *, name: str, limit: str | None = None, confidence: float = 0.95) -> NoiseFinding:
    """Run the estimator of that name both ways round and untangle the two shares."""
    return run_twice(tally, name, limit=limit)


def _twice(name: str, title: str, source: str, *, rank_based: bool, limit: str | None = None) -> NoiseEstimator:
    return NoiseEstimator(
        partial(_both_ways, name=name, limit=limit),
        f"{title}, run twice with roles exchanged",
        "Each class has a region of scores that the other does not reach.",
        source,
        rank_based=rank_based,
    )


ESTIMATOR = {
    "alphamax": _twice("alphamax", "AlphaMax", "Jain, White and Radivojac 2016", rank_based=False, limit="roc_slope"),
    "best_bin": _twice("best_bin", "Best bin", "Garg et al. 2021; Jain, White and Radivojac 2016", rank_based=True),
    "roc_slope": _twice("roc_slope", "ROC slope", "Scott 2015; Jain, White and Radivojac 2016", rank_based=True),
}
