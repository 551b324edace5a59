"""Correlation of labels and calls, averaged over all operating points."""

from __future__ import annotations

from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points, matthews_at
from pulens.recovery.assumptions import Assumptions


def averaged_matthews_correlation(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of the correlation between label and call: Pearson's, which is Matthews's.

    Every row without a label counts as a negative, as paper 000 compares the measures (section 3).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_matthews_correlation(tally, Assumptions(0.2)), 6)
    0.058318
    """
    return average_over_points(tally, ties, "averaged_matthews_correlation", matthews_at)


METRIC = Metric(
    averaged_matthews_correlation,
    "Correlation of labels and calls, averaged over operating points",
    reads="ranking",
    lowest=-1.0,
    highest=1.0,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
