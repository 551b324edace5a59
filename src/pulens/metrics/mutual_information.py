"""Mutual information between labels and calls at a threshold, in nats."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import mutual_information_at
from pulens.recovery.assumptions import Assumptions


def mutual_information(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`\sum p \log (p / p_{expected})` over the table of labels against calls (the PULP paper, section 3).

    Every row without a label counts as a negative. Zero when a margin of the table is empty.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(mutual_information(tally, 0.6, Assumptions(0.2)), 6)
    0.033822
    """
    called, totals = tally.at(threshold), tally.totals
    result = mutual_information_at(called.rows, called.labelled, totals.rows, totals.labelled)  # type: ignore[arg-type]
    return float(result)


METRIC = Metric(
    mutual_information,
    "What a prediction says about the label, in nats",
    reads="counts",
    highest=float(np.log(2)),
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
)
