r"""Elkan and Noto's e1: label frequency as the mean probability of being labelled over the labelled rows.

:math:`c = \frac1n \sum_L g(x)` with g the probability of being labelled, isotonic in the score and out of fold; then
:math:`\alpha = \frac{1-c}c \frac nm`: Elkan and Noto (2008).

Correct only if the classes do not overlap at all: otherwise far too high.
A baseline, never a default.
"""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding
from pulens.priors.from_scores._label_probability import label_probabilities, prior_from_label_frequency


def elkan_noto_e1(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, seed: int = 0) -> Finding:
    """Mean probability of being labelled over labelled rows, turned into a class prior.

    >>> import numpy as np
    >>> scores = np.concatenate([np.linspace(2, 3, 300), np.linspace(0, 1, 400)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 500]), scores)  # every labelled row above all others
    >>> 0 <= elkan_noto_e1(tally).value <= 1
    True
    """
    probability, labelled, unlabelled = label_probabilities(tally, "isotonic", seed)
    frequency = float(labelled @ probability / labelled.sum())
    value = prior_from_label_frequency(frequency, float(labelled.sum()), float(unlabelled.sum()))
    return Finding(value * (1 - label_noise), details={"label frequency": frequency})


ESTIMATOR = Estimator(
    elkan_noto_e1,
    "Mean probability of being labelled over labelled rows",
    "The classes do not overlap.",
    "Elkan and Noto 2008",
    rank_based=True,
    parameters={"seed": 0},
)
