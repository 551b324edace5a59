r"""Elkan and Noto's e2: label frequency as the labelled rows' share of all probability of being labelled.

:math:`c = \sum_L g(x) / \sum_{L \cup U} g(x)` with g the probability of being labelled, isotonic in the
score and out of fold; then :math:`\alpha = \frac{1-c}c \frac nm`: Elkan and Noto (2008).

Correct only if the classes do not overlap at all: otherwise far too high. For a calibrated g it
equals e1 up to noise.
A baseline, never a default.
"""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding
from pulens.priors.from_scores._label_probability import label_probabilities, prior_from_label_frequency


def elkan_noto_e2(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, seed: int = 0) -> Finding:
    """Labelled rows' share of all probability of being labelled, turned into a class prior.

    >>> import numpy as np
    >>> scores = np.concatenate([np.linspace(2, 3, 300), np.linspace(0, 1, 400)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 500]), scores)  # every labelled row above all others
    >>> 0 <= elkan_noto_e2(tally).value <= 1
    True
    """
    probability, labelled, unlabelled = label_probabilities(tally, "isotonic", seed)
    frequency = float(labelled @ probability / ((labelled + unlabelled) @ probability))
    value = prior_from_label_frequency(frequency, float(labelled.sum()), float(unlabelled.sum()))
    return Finding(value * (1 - label_noise), details={"label frequency": frequency})


ESTIMATOR = Estimator(
    elkan_noto_e2,
    "Labelled rows' share of all probability of being labelled",
    "The classes do not overlap.",
    "Elkan and Noto 2008",
    rank_based=True,
    parameters={"seed": 0},
)
