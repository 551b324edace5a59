"""Mutual information between labels and calls, averaged over all operating points."""

from __future__ import annotations

import numpy as np

from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points, mutual_information_at
from pulens.recovery.assumptions import Assumptions


def averaged_mutual_information(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`\sum p \log (p / p_{expected})`, in nats.

    Every row without a label counts as a negative, as paper 000 compares the measures (section 3).

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_mutual_information(tally, Assumptions(0.2)), 6)
    0.026895
    """
    return average_over_points(tally, ties, "averaged_mutual_information", mutual_information_at)


METRIC = Metric(
    averaged_mutual_information,
    "Mutual information of labels and calls in nats, averaged over operating points",
    reads="ranking",
    lowest=0.0,
    highest=float(np.log(2)),
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
