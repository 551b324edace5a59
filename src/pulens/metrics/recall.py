"""Recall, true positive rate, sensitivity: share of the positives that are predicted positive."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def recall(table: Contingency) -> Floats:
    r""":math:`TP/(TP+FN)`; Jain et al. 2017, equation 1.

    >>> recall(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return table.hit_rate


METRIC = Metric(
    recall,
    "Of the positives, how many are found",
    needs_class_prior=False,
    of_labelled=True,
    undefined_because="the target population holds no positives",
    derivation="γ = ((1 − α) l − (1 − β) u) / (β − α), with l and u the shares of labelled and unlabelled "
    "rows at or above the threshold (equation 1).",
    shown=Shown(table=4, tiles=3, segments=3, comparison=6),
    page_computes=True,
)
