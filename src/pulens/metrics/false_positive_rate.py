"""False positive rate: share of the negatives that are predicted positive."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def false_positive_rate(table: Contingency) -> Floats:
    r""":math:`FP/(TN+FP)`, one minus specificity; Jain et al. 2017's equation 2.

    >>> false_positive_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.25
    """
    return table.alarm_rate


METRIC = Metric(
    false_positive_rate,
    "Of the negatives, how many are flagged",
    higher_is_better=False,
    listed=False,
    undefined_because="the target population holds no negatives",
    derivation="η = (β u − α l) / (β − α), with l and u the shares of labelled and unlabelled rows at or above the "
    "threshold (equation 2).",
    shown=Shown(gaps=1),
)
