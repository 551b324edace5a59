"""Specificity, true negative rate: share of the negatives that are predicted negative."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def specificity(table: Contingency) -> Floats:
    r""":math:`TN/(TN+FP)`, one minus Jain et al. 2017's equation 2.

    >>> specificity(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return 1.0 - table.alarm_rate


METRIC = Metric(
    specificity,
    "Of the negatives, how many are not flagged",
    undefined_because="the target population holds no negatives",
    derivation="1 − η, with η = (β u − α l) / (β − α) the recovered false positive rate (equation 2).",
    shown=Shown(table=6, segments=5),
    page_computes=True,
)
