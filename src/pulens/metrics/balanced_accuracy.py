"""Balanced accuracy: the mean of recall and specificity."""

from __future__ import annotations

from pulens.contingency import Contingency
from pulens.metrics._metric import Floats, Metric, divide


def balanced_accuracy(table: Contingency) -> Floats:
    r""":math:`\frac12\left(\frac{TP}{TP+FN} + \frac{TN}{TN+FP}\right)`.

    >>> balanced_accuracy(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return (divide(table.true_positive, table.positive) + divide(table.true_negative, table.negative)) / 2


METRIC = Metric(
    balanced_accuracy,
    "Mean of recall and specificity",
    undefined_because="the target population lacks one of the classes",
)
