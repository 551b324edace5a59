r"""Elkan and Noto's e3: label frequency as the largest probability of being labelled.

:math:`c = \max g(x)` with g the probability of being labelled, logistic (Platt) in the score and out of fold; then
:math:`\alpha = \frac{1-c}c \frac nm`: Elkan and Noto (2008).

An extreme value: usually too low, since the logistic curve extrapolates.
A baseline, never a default.
"""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding
from pulens.priors.from_scores._label_probability import label_probabilities, prior_from_label_frequency


def elkan_noto_e3(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, seed: int = 0) -> Finding:
    """Largest probability of being labelled, turned into a class prior.

    >>> import numpy as np
    >>> scores = np.concatenate([np.linspace(2, 3, 300), np.linspace(0, 1, 400)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 500]), scores)  # every labelled row above all others
    >>> 0 <= elkan_noto_e3(tally).value <= 1
    True
    """
    probability, labelled, unlabelled = label_probabilities(tally, "platt", seed)
    frequency = float(probability[labelled + unlabelled > 0].max())
    value = prior_from_label_frequency(frequency, float(labelled.sum()), float(unlabelled.sum()))
    return Finding(value * (1 - label_noise), details={"label frequency": frequency})


ESTIMATOR = Estimator(
    elkan_noto_e3,
    "Largest probability of being labelled",
    "Some row is surely positive, and the probability of being labelled is logistic in the score.",
    "Elkan and Noto 2008",
    rank_based=False,
    parameters={"seed": 0},
)
