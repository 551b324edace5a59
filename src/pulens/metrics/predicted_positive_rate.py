"""Predicted positive rate: share of the population that is flagged."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def predicted_positive_rate(table: Contingency) -> Floats:
    r""":math:`(TP+FP)/(TP+FP+FN+TN)`.

    >>> predicted_positive_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.45
    """
    return divide(table.predicted_positive, table.total)


METRIC = Metric(
    predicted_positive_rate,
    "Share of the population that is flagged",
    needs_class_prior=False,
    counted=True,
    undefined_because="the target population is empty",
    derivation="(TP + FP) / all rows of the population.",
    page_computes=True,
)
