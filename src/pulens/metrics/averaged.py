"""Measures of labelled against all other rows, averaged over all operating points.

A mean over the N + 1 places where a ranking can be cut, with k hits among the i rows called positive and t labelled
rows in all. Every row without a label counts as a negative, as in the comparison of measures that proposed pulp.
"""

from __future__ import annotations

import numpy as np

from pulens.catalogue import Declared
from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import (
    average_over_points,
    f1_at,
    lee_liu_at,
    matthews_at,
    mutual_information_at,
    pseudo_f_at,
)
from pulens.recovery.assumptions import Assumptions

METRIC = Declared(
    Metric,
    reads="ranking",
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)


@METRIC("F1 of labelled against other rows, averaged over operating points")
def averaged_f1(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`2k/(i + t)`, k hits among i rows called positive of t labelled.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_f1(tally, Assumptions(0.2)), 6)
    0.395703
    """
    return average_over_points(tally, ties, "averaged_f1", f1_at)


@METRIC("Squared recall over the share called positive, averaged over operating points", highest=np.inf)
def averaged_lee_liu(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`(k/t)^2 / (i/N)`, squared recall over the share called positive.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_lee_liu(tally, Assumptions(0.2)), 6)
    0.613404
    """
    return average_over_points(tally, ties, "averaged_lee_liu", lee_liu_at)


@METRIC("Correlation of labels and calls, averaged over operating points", lowest=-1.0)
def averaged_matthews_correlation(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of the correlation between label and call: Pearson's, which is Matthews's.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_matthews_correlation(tally, Assumptions(0.2)), 6)
    0.058318
    """
    return average_over_points(tally, ties, "averaged_matthews_correlation", matthews_at)


@METRIC("Mutual information of labels and calls in nats, averaged over operating points", highest=float(np.log(2)))
def averaged_mutual_information(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`\sum p \log (p / p_{expected})`, in nats.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_mutual_information(tally, Assumptions(0.2)), 6)
    0.026895
    """
    return average_over_points(tally, ties, "averaged_mutual_information", mutual_information_at)


@METRIC("Pseudo-F with the labelled share for class prior, averaged over operating points", highest=np.inf)
def averaged_pseudo_f(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`2(k/t) / (i/N + t/N)`: averaged F1 times N/t.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(averaged_pseudo_f(tally, Assumptions(0.2)), 6)
    1.055208
    """
    return average_over_points(tally, ties, "averaged_pseudo_f", pseudo_f_at)
