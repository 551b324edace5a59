"""Youden's J: recall plus specificity minus one."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def youden_j(table: Contingency) -> Floats:
    r""":math:`\gamma - \eta`, the height of the ROC curve above chance.

    >>> youden_j(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.5
    """
    return table.hit_rate - table.alarm_rate


METRIC = Metric(
    youden_j,
    "Recall plus specificity minus one",
    lowest=-1.0,
    undefined_because="the target population lacks one of the classes",
    title="Youden's J",
    derivation="Recall − false positive rate: the height of the ROC curve above chance.",
    page_computes=True,
)
