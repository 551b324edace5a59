"""Curves through the tables of Claesen et al.'s bounds, and the areas under them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.estimate import Curve
from pulens.recovery.contingency import Contingency
from pulens.types import Floats

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


def roc_areas(alarms: Floats, hits: Floats, area: Area) -> Floats:
    """:func:`trapezoid` of :func:`bound_roc` for many curves at once, one in each row."""
    x, y = _in_order(alarms, hits, area)
    return np.asarray((np.diff(x, axis=1) * (y[:, 1:] + y[:, :-1])).sum(axis=1) / 2)


def _in_order(alarms: Floats, hits: Floats, area: Area) -> tuple[Floats, Floats]:
    if area != "rank":
        order = np.lexsort((hits, alarms), axis=-1)
        alarms, hits = np.take_along_axis(alarms, order, axis=1), np.take_along_axis(hits, order, axis=1)
    return alarms, np.maximum.accumulate(hits, axis=1) if area == "envelope" else hits


def precision_areas(result: Floats, called: Floats, positive: Floats, *, trapezoid: bool) -> Floats:
    """Areas under many precision-recall curves at once: true positives in each row, rows called positive for all.

    The sum over steps of recall of the precision at their end, or halfway; the first step takes the first precision.
    """
    shown = called > 0
    recall, precision = result[:, shown] / positive[:, None], result[:, shown] / called[shown]
    if trapezoid:
        precision = (precision + np.concatenate([precision[:, :1], precision[:, :-1]], axis=1)) / 2
    return np.asarray((np.diff(recall, axis=1, prepend=0.0) * precision).sum(axis=1))


class CurveHull:
    """The lowest and the highest of many rising curves at each false positive rate, as they come in.

    Between two neighbouring rates every curve is a straight line, or, where there are too many rates to keep them all,
    lies between its heights at the two. At each rate there are two heights, to its left and to its right.
    """

    def __init__(self, rates: Floats, *, all_kept: bool) -> None:
        self.rates, self.all_kept = rates, all_kept
        self.low, self.high = (np.full((2, rates.size), end) for end in (np.inf, -np.inf))

    def add(self, alarms: Floats, hits: Floats) -> None:
        """Take in the envelope of one curve's points."""
        x, y = (values[0] for values in _in_order(alarms[None, :], hits[None, :], "envelope"))
        between = np.interp(self.rates, x, y)
        left, right = np.searchsorted(x, self.rates, side="left"), np.searchsorted(x, self.rates, side="right")
        at = left < right  # a point of the curve itself, perhaps a step
        heights = np.stack(
            [
                np.where(at, y[np.minimum(left, x.size - 1)], between),
                np.where(at, y[np.maximum(right - 1, 0)], between),
            ]
        )
        np.minimum(self.low, heights, out=self.low)
        np.maximum(self.high, heights, out=self.high)

    def add_heights(self, low: Floats, high: Floats) -> None:
        """Take in limits on curves that are not known point by point."""
        np.minimum(self.low, low, out=self.low)
        np.maximum(self.high, high, out=self.high)

    def curves(self) -> tuple[Curve, Curve]:
        """Lower and upper curve; no point belongs to one threshold."""
        result = []
        for heights, outwards in ((self.low, -1), (self.high, 1)):
            left, right = heights
            if not self.all_kept:  # flat between two rates, at the lower height or at the higher one
                if outwards < 0:
                    left = np.concatenate([left[:1], right[:-1]])
                else:
                    right = np.concatenate([left[1:], right[-1:]])
            x, y = np.repeat(self.rates, 2), np.stack([left, right], axis=1).ravel()
            nowhere = np.full(x.size, np.nan)
            result.append(Curve("ROC", x, y, nowhere, "false positive rate", "true positive rate"))
        return result[0], result[1]


def bound_precision_recall(table: Contingency) -> Curve:
    """Precision against recall in the order of the ranking, from the first row predicted positive on."""
    called = table.predicted_positive
    shown = called > 0
    precision = table.true_positive[shown] / called[shown]
    return Curve(
        "precision-recall", table.true_positive_rate[shown], precision, table.thresholds[shown], "recall", "precision"
    )
