"""Accuracy: share of all rows that are predicted right."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def accuracy(table: Contingency) -> Floats:
    r""":math:`(TP+TN)/(TP+FP+FN+TN)`.

    >>> accuracy(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return divide(table.true_positive + table.true_negative, table.total)


METRIC = Metric(
    accuracy,
    "Share of rows predicted right",
    undefined_because="the target population is empty",
    derivation="(TP + TN) / all rows of the population.",
    shown=Shown(table=7, segments=6, comparison=4, gaps=3),
    page_computes=True,
)
