"""Macro-F1: the mean of the F1 of positives and the F1 of negatives."""

from __future__ import annotations

import numpy as np

from pulens.metrics.f1 import f1
from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def macro_f1(table: Contingency) -> Floats:
    r""":math:`\frac12\left(\frac{2TP}{2TP+FP+FN} + \frac{2TN}{2TN+FP+FN}\right)`.

    >>> round(macro_f1(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.744246
    """
    of_negatives = divide(2 * table.true_negative, table.negative + table.total - table.predicted_positive)
    return np.asarray((f1(table) + of_negatives) / 2)


METRIC = Metric(
    macro_f1,
    "Mean of the F1 of both classes",
    undefined_because="one of the classes neither occurs nor is predicted",
    title="Macro-F1",
    derivation="(F1 of positives + F1 of negatives) / 2.",
    page_computes=True,
)
