"""Curves through the tables of paper 001's bounds, and the areas under them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.contingency import Contingency
from pulens.estimate import Curve

Area = Literal["envelope", "sorted", "rank"]


def bound_roc(table: Contingency, area: Area = "envelope") -> Curve:
    """ROC points sorted by false positive rate, true positive rates never falling; or less of that."""
    alarms, hits, thresholds = table.false_positive_rate, table.true_positive_rate, table.thresholds
    if area != "rank":
        order = np.lexsort((hits, alarms))
        alarms, hits, thresholds = alarms[order], hits[order], thresholds[order]
    if area == "envelope":
        hits = np.maximum.accumulate(hits)
    return Curve("ROC", alarms.copy(), hits.copy(), thresholds.copy(), "false positive rate", "true positive rate")


def trapezoid(curve: Curve) -> float:
    """Area under straight lines between the points."""
    return float(np.diff(curve.x) @ (curve.y[1:] + curve.y[:-1]) / 2)


def bound_precision_recall(table: Contingency) -> Curve:
    """Precision against recall in the order of the ranking, from the first row predicted positive on."""
    called = table.predicted_positive
    shown = called > 0
    precision = table.true_positive[shown] / called[shown]
    return Curve(
        "precision-recall", table.true_positive_rate[shown], precision, table.thresholds[shown], "recall", "precision"
    )
