"""R-precision: precision at as many rows as there are positives."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.top_intervals import RPrecisionAtPlace
from pulens.metrics.parts.top_of_list import RankedList
from pulens.recovery.assumptions import Assumptions


def r_precision(tally: Tally, assumptions: Assumptions) -> float:
    r""":math:`\gamma` at k = P, where precision and recall are equal; the class prior places k.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, -1, 1, -1, -1]), np.array([.9, .8, .7, .6, .1]))
    >>> r_precision(tally, Assumptions(0.0))
    0.5
    """
    ranked = RankedList.of(tally, assumptions)
    return ranked.of_positives(ranked.membership(ranked.positives))


METRIC = Metric(
    r_precision,
    "Precision at as many rows as there are positives",
    reads="ranking",
    listed=False,
    construction=lambda **_: RPrecisionAtPlace,
    title="R-precision",
    derivation="The share of labelled rows among the first P rows of the list, P the number of positives in it.",
)
