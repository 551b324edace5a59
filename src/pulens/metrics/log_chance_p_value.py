"""The log of the p-value of the rows called positive, for classifiers too good for the p-value to be told from 0."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.pulp_at_threshold import tails_at
from pulens.recovery.assumptions import Assumptions


def log_chance_p_value(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`\log P(X \ge k)`, natural; summed as it stands, never as one minus something near one.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(log_chance_p_value(tally, 0.6, Assumptions(0.2)), 6)
    -0.693147
    """
    return float(tails_at(tally, threshold, "log_chance_p_value").log_at_least)


METRIC = Metric(
    log_chance_p_value,
    "Log of the chance that as many random rows hold at least as many labelled ones",
    reads="counts",
    higher_is_better=False,
    lowest=-np.inf,
    highest=0.0,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
)
