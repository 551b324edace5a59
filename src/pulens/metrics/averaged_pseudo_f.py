"""Pseudo-F, averaged over all operating points, with the labelled share for class prior."""

from __future__ import annotations

import numpy as np

from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points, pseudo_f_at
from pulens.recovery.assumptions import Assumptions


def averaged_pseudo_f(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`2(k/t) / (i/N + t/N)`: averaged F1 times N/t.

    Every row without a label counts as a negative, as paper 000 compares the measures (section 3).

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_pseudo_f(tally, Assumptions(0.2)), 6)
    1.055208
    """
    return average_over_points(tally, ties, "averaged_pseudo_f", pseudo_f_at)


METRIC = Metric(
    averaged_pseudo_f,
    "Pseudo-F with the labelled share for class prior, averaged over operating points",
    reads="ranking",
    lowest=0.0,
    highest=np.inf,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
