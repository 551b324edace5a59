"""Error rate: share of all rows that are predicted wrong."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def error_rate(table: Contingency) -> Floats:
    r""":math:`(FP+FN)/(TP+FP+FN+TN)`, one minus accuracy.

    >>> error_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.25
    """
    return divide(table.false_positive + table.false_negative, table.total)


METRIC = Metric(
    error_rate,
    "Share of rows predicted wrong",
    higher_is_better=False,
    undefined_because="the target population is empty",
    derivation="(FP + FN) / all rows of the population.",
    page_computes=True,
)
