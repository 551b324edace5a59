"""Matthews correlation: Pearson's correlation of prediction and truth."""

from __future__ import annotations

import numpy as np

from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def matthews_correlation(table: Contingency) -> Floats:
    r""":math:`\frac{TP\,TN - FP\,FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}`; zero when a margin is empty.

    >>> round(matthews_correlation(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.492366
    """
    called = table.predicted_positive
    covariance = table.true_positive * table.true_negative - table.false_positive * table.false_negative
    # roots of margins one by one: their product overflows for a population of 1e80 rows only
    spread = np.sqrt(called) * np.sqrt(np.maximum(table.total - called, 0.0))
    spread = spread * np.sqrt(table.positive) * np.sqrt(table.negative)
    return np.clip(divide(covariance, spread, empty=0.0), -1.0, 1.0)


METRIC = Metric(
    matthews_correlation,
    "Correlation of prediction and truth",
    lowest=-1.0,
    derivation="(TP·TN − FP·FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)).",
    page_computes=True,
)
