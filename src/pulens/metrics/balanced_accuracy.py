"""Balanced accuracy: the mean of recall and specificity."""

from __future__ import annotations

import numpy as np

from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def balanced_accuracy(table: Contingency) -> Floats:
    r""":math:`\frac12\left(\frac{TP}{TP+FN} + \frac{TN}{TN+FP}\right)`.

    >>> balanced_accuracy(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return np.asarray((1.0 + table.hit_rate - table.alarm_rate) / 2)


METRIC = Metric(
    balanced_accuracy,
    "Mean of recall and specificity",
    undefined_because="the target population lacks one of the classes",
    derivation="(recall + specificity) / 2.",
    page_computes=True,
)
