"""Lift: how many times richer in positives the flagged rows are than the population."""

from __future__ import annotations

import numpy as np

from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def lift(table: Contingency) -> Floats:
    r""":math:`\frac{TP}{TP+FP} \Big/ \pi`: precision over class prior.

    >>> round(lift(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    1.666667
    """
    # recall over the share flagged: the same number, and one that stays when positives become rare
    return divide(table.hit_rate * table.total, table.predicted_positive)


METRIC = Metric(
    lift,
    "Precision as a multiple of the class prior",
    highest=np.inf,
    needs_class_prior=False,
    undefined_because="nothing is predicted positive at this threshold",
    derivation="Precision divided by the class prior.",
    page_computes=True,
)
