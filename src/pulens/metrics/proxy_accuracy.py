"""Proxy accuracy: accuracy plus the class prior, read off PU labels alone."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import class_prior_of, recall_and_share
from pulens.recovery.assumptions import Assumptions


def proxy_accuracy(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`2\pi r + P(f = 0)`; minus :math:`\pi` it is accuracy, so both choose the same model.

    The share called negative is taken over the unlabelled rows in case-control (the two-sample form) and over
    all rows in the single set (the one-sample form). A published variant of the one-sample form adds labelled
    rows called positive to the share called negative; that is no constant shift of accuracy and is not used.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .5, .5, .9, .5, .4, .2, .1]))
    >>> round(proxy_accuracy(tally, 0.5, Assumptions(0.25)), 6)
    1.4375
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    return 2 * class_prior_of(tally.totals, assumptions) * recall + 1 - share


METRIC = Metric(
    proxy_accuracy,
    "Accuracy plus the class prior, from PU labels alone",
    reads="counts",
    highest=2.0,
    listed=False,
)
