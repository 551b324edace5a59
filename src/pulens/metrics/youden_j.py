"""Youden's J: recall plus specificity minus one."""

from __future__ import annotations

from pulens.contingency import Contingency
from pulens.metrics._metric import Floats, Metric, divide


def youden_j(table: Contingency) -> Floats:
    r""":math:`\gamma - \eta`, the height of the ROC curve above chance.

    >>> youden_j(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.5
    """
    return divide(table.true_positive, table.positive) - divide(table.false_positive, table.negative)


METRIC = Metric(
    youden_j,
    "Recall plus specificity minus one",
    lowest=-1.0,
    undefined_because="the target population lacks one of the classes",
)
