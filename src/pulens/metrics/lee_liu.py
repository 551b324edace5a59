"""Lee and Liu's measure at a threshold: squared recall over the share called positive."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import recall_and_share
from pulens.recovery.assumptions import Assumptions


def lee_liu(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`r^2 / P(f = 1)`, which is precision times recall over class prior (Lee and Liu 2003; the PULP paper).

    In case-control the share called positive is that of the unlabelled rows, in the single set that of all rows,
    the form that the PULP paper uses. Zero when nothing is called positive.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> from pulens.recovery.assumptions import UNCORRECTED
    >>> round(lee_liu(tally, 0.6, UNCORRECTED), 6)
    0.888889
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    if share == 0:
        return 0.0 if recall == 0 else float("nan")
    return recall**2 / share


METRIC = Metric(
    lee_liu,
    "Squared recall over the share called positive",
    reads="counts",
    highest=np.inf,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    undefined_because="no unlabelled row is called positive at this threshold, but labelled ones are",
)
