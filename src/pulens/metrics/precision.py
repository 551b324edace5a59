"""Precision: share of the rows predicted positive that are positive."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def precision(table: Contingency) -> Floats:
    r""":math:`TP/(TP+FP)` in the target population; Jain et al. 2017, equation 3, for case-control data.

    >>> round(precision(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.666667
    """
    return divide(table.true_positive, table.predicted_positive)


METRIC = Metric(
    precision,
    "Of the rows flagged, how many are positive",
    confirmed=True,
    undefined_because="nothing is predicted positive at this threshold",
    derivation="TP / (TP + FP) in the population; in case-control data α γ / u (equation 3).",
    shown=Shown(table=3, tiles=2, segments=2, comparison=5, gaps=2),
    page_computes=True,
)
