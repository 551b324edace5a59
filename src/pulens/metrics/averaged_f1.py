"""F1 of labelled against other rows, averaged over all operating points."""

from __future__ import annotations

from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points, f1_at
from pulens.recovery.assumptions import Assumptions


def averaged_f1(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`2k/(i + t)`, k hits among i rows called positive of t labelled.

    Every row without a label counts as a negative, as paper 000 compares the measures (section 3).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_f1(tally, Assumptions(0.2)), 6)
    0.395703
    """
    return average_over_points(tally, ties, "averaged_f1", f1_at)


METRIC = Metric(
    averaged_f1,
    "F1 of labelled against other rows, averaged over operating points",
    reads="ranking",
    lowest=0.0,
    highest=1.0,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
