r"""Metrics as functions of two totals, the true positives TP and the false negatives FN, all else being counted.

F rows are flagged and M rows there are in all; neither depends on who is positive. Each metric here moves in one
direction with TP and in one with FN, which is what its limits rest on. With :math:`P = TP + FN`:

- precision, recall, F1, accuracy, specificity: plain to see. Balanced accuracy and Youden's J are sums of recall and
  specificity, lift is recall times M/F.
- Matthews: with the shares :math:`u = TP/F`, :math:`v = FN/(M-F)`, :math:`w = F/M` and :math:`m = wu + (1-w)v` it is
  :math:`(u-v)\sqrt{w(1-w)}/\sqrt{m(1-m)}`. The sign of its derivative in u is that of
  :math:`2m(1-m) - w(u-v)(1-2m)`, and :math:`m \ge w(u-v)` makes this at least :math:`m > 0` where :math:`m \le 1/2`;
  where :math:`m > 1/2` both terms are positive if :math:`u \ge v`, and otherwise :math:`1 - m \ge w(v-u)` does the
  same. Swapping classes and flags gives the derivative in v.
- Cohen's kappa is :math:`2(M\,TP - F P)/(FM + (M-2F)P)`. Its derivative in FN has the sign of
  :math:`-(F^2 + TP(M-2F))`, at most :math:`-F(M-F)` where :math:`M < 2F` as :math:`TP \le F`; that in TP the sign of
  :math:`(M-F)F + (M-2F)FN`, at least :math:`(M-F)^2` where :math:`M < 2F` as :math:`FN \le M-F`.

Mutual information is not among them: it falls and rises again as a share passes that of independence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.types import Floats


class Formula(NamedTuple):
    """A metric of (TP, FN, F, M); nan where it is undefined, and what its limits then are.

    ``reads`` names the totals: those of the flagged rows alone, of both groups, or the sum of all. ``rises`` says
    whether the metric rises with TP (and falls with FN) or the other way round; a sum rises with both.
    """

    of: Callable[[Any, Any, float, float], Floats]
    undefined_because: str
    reads: Literal["above", "both", "everywhere"] = "both"
    rises: bool = True
    lowest: float = 0.0
    highest: float = 1.0


def divide(top: Any, bottom: Any) -> Floats:
    """nan where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0))


def _class_prior(positives: Any, _: Any, flagged: float, rows: float) -> Floats:
    return divide(positives, rows)


def _precision(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(hits, flagged)


def _recall(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(hits, hits + missed)


def _f1(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(2 * hits, flagged + hits + missed)


def _accuracy(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(hits + (rows - flagged) - missed, rows)


def _error_rate(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide((flagged - hits) + missed, rows)


def _specificity(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(rows - flagged - missed, rows - hits - missed)


def _balanced_accuracy(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return (_recall(hits, missed, flagged, rows) + _specificity(hits, missed, flagged, rows)) / 2


def _youden_j(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return _recall(hits, missed, flagged, rows) + _specificity(hits, missed, flagged, rows) - 1


def _matthews_correlation(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    positives = hits + missed
    spread = np.sqrt(flagged) * np.sqrt(rows - flagged) * np.sqrt(positives) * np.sqrt(rows - positives)
    return divide(rows * hits - flagged * positives, spread)  # TP TN - FP FN


def _cohen_kappa(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    positives = hits + missed
    chance = flagged * (rows - positives) + (rows - flagged) * positives
    return divide(2 * (rows * hits - flagged * positives), chance)


def _lift(hits: Any, missed: Any, flagged: float, rows: float) -> Floats:
    return divide(_recall(hits, missed, flagged, rows) * rows, flagged)


def in_words(metric: str) -> str:
    """A metric's name as a sentence says it.

    >>> in_words("f1"), in_words("class_prior")
    ('F1', 'class prior')
    """
    return "F1" if metric == "f1" else metric.replace("_", " ")


NO_POSITIVE = "no positive was found"
NOT_FLAGGED = "no row is flagged at this threshold"
_ONE_CLASS = "one of the classes was not found"

#: By the names that the package's metrics have; the class prior is the share of positives in the population.
FORMULAS: Mapping[str, Formula] = {
    "class_prior": Formula(_class_prior, "there are no rows", "everywhere"),
    "precision": Formula(_precision, NOT_FLAGGED, "above"),
    "recall": Formula(_recall, NO_POSITIVE),
    "f1": Formula(_f1, f"{NO_POSITIVE}, and {NOT_FLAGGED}"),
    "accuracy": Formula(_accuracy, "there are no rows"),
    "specificity": Formula(_specificity, "no negative was found"),
    "matthews_correlation": Formula(
        _matthews_correlation,
        "one of the classes was not found, or all rows fall on one side of the threshold",
        lowest=-1,
    ),
    "balanced_accuracy": Formula(_balanced_accuracy, _ONE_CLASS),
    "cohen_kappa": Formula(_cohen_kappa, "prediction and answers are both constant", lowest=-1),
    "error_rate": Formula(_error_rate, "there are no rows", rises=False),
    "lift": Formula(_lift, f"{NO_POSITIVE}, or {NOT_FLAGGED}", highest=np.inf),
    "youden_j": Formula(_youden_j, _ONE_CLASS, lowest=-1),
}
