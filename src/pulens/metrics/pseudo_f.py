"""Pseudo-F at a threshold: F1 over the class prior."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import class_prior_of, recall_and_share
from pulens.recovery.assumptions import Assumptions


def pseudo_f(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`2r / (P(f = 1) + P(y = 1))` (Calvo et al. 2007; the PULP paper).

    As printed it is F1 divided by the class prior, so it can exceed 1; the recovered ``f1`` is the scaled one.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(pseudo_f(tally, 0.6, Assumptions(0.2)), 6)  # 2 (2/3) / (4/8 + 4/8)
    1.333333
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    prior = class_prior_of(tally.totals, assumptions)
    return 2 * recall / (share + prior) if share + prior else float("nan")


METRIC = Metric(
    pseudo_f,
    "F1 over the class prior",
    reads="counts",
    highest=np.inf,
    listed=False,
    undefined_because="the class prior is 0 and nothing is called positive",
)
