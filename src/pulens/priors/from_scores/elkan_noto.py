r"""Elkan and Noto's three estimates of the label frequency c: mean, share and maximum of the probability of a label.

With g the probability of being labelled, out of fold, over labelled rows L and unlabelled rows U: e1 is :math:`c =
\frac1n \sum_L g(x)` and e2 :math:`c = \sum_L g(x) / \sum_{L \cup U} g(x)`, both with g isotonic in the score; e3 is
:math:`c = \max g(x)` with g logistic (Platt) in the score. Then :math:`\alpha = \frac{1-c}c \frac nm`: Elkan and Noto
(2008).

e1 and e2 are correct only if the classes do not overlap at all, otherwise far too high; for a calibrated g they are
equal up to noise. e3 is an extreme value, usually too low, since the logistic curve extrapolates. Baselines, never a
default.

>>> import numpy as np
>>> from pulens.priors import find
>>> scores = np.concatenate([np.linspace(2, 3, 300), np.linspace(0, 1, 400)])
>>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 500]), scores)  # every labelled row above all others
>>> [0 <= find(f"elkan_noto_{which}").compute(tally).value <= 1 for which in ("e1", "e2", "e3")]
[True, True, True]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding
from pulens.priors.from_scores._label_probability import label_probabilities, prior_from_label_frequency
from pulens.types import Floats


def _estimator(
    name: str,
    calibration: str,
    frequency_of: Callable[[Floats, Floats, Floats], Any],
    summary: str,
    assumption: str,
) -> Estimator:
    """The estimator that reads the label frequency off probabilities, labelled and unlabelled counts of cells."""

    def compute(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, seed: int = 0) -> Finding:
        probability, labelled, unlabelled = label_probabilities(tally, calibration, seed)
        frequency = float(frequency_of(probability, labelled, unlabelled))
        value = prior_from_label_frequency(frequency, float(labelled.sum()), float(unlabelled.sum()))
        return Finding(value * (1 - label_noise), details={"label frequency": frequency})

    compute.__name__ = name
    compute.__doc__ = f"{summary}, turned into a class prior."
    rank_based = calibration == "isotonic"
    return Estimator(compute, summary, assumption, "Elkan and Noto 2008", rank_based, parameters={"seed": 0})


ESTIMATOR = {
    "elkan_noto_e1": _estimator(
        "elkan_noto_e1",
        "isotonic",
        lambda probability, labelled, unlabelled: labelled @ probability / labelled.sum(),
        "Mean probability of being labelled over labelled rows",
        "The classes do not overlap.",
    ),
    "elkan_noto_e2": _estimator(
        "elkan_noto_e2",
        "isotonic",
        lambda probability, labelled, unlabelled: labelled @ probability / ((labelled + unlabelled) @ probability),
        "Labelled rows' share of all probability of being labelled",
        "The classes do not overlap.",
    ),
    "elkan_noto_e3": _estimator(
        "elkan_noto_e3",
        "platt",
        lambda probability, labelled, unlabelled: probability[labelled + unlabelled > 0].max(),
        "Largest probability of being labelled",
        "Some row is surely positive, and the probability of being labelled is logistic in the score.",
    ),
}
