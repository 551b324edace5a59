"""The p-value of the rows called positive: how often as many random rows hold at least as many labelled ones."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.pulp_at_threshold import tails_at
from pulens.recovery.assumptions import Assumptions


def chance_p_value(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`P(X \ge k)`: Fisher's exact test, one-sided (the PULP paper, equation 2).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(chance_p_value(tally, 0.6, Assumptions(0.2)), 12)
    0.5
    """
    return float(tails_at(tally, threshold, "chance_p_value").at_least)


METRIC = Metric(
    chance_p_value,
    "Chance that as many random rows hold at least as many labelled ones",
    reads="counts",
    higher_is_better=False,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
)
