"""Lee and Liu's measure, averaged over all operating points."""

from __future__ import annotations

import numpy as np

from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points, lee_liu_at
from pulens.recovery.assumptions import Assumptions


def averaged_lee_liu(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`(k/t)^2 / (i/N)`, squared recall over the share called positive.

    Every row without a label counts as a negative, as paper 000 compares the measures (section 3).

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_lee_liu(tally, Assumptions(0.2)), 6)
    0.613404
    """
    return average_over_points(tally, ties, "averaged_lee_liu", lee_liu_at)


METRIC = Metric(
    averaged_lee_liu,
    "Squared recall over the share called positive, averaged over operating points",
    reads="ranking",
    lowest=0.0,
    highest=np.inf,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
