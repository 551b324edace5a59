"""Trapezoidal area under the precision-recall curve."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.curves.precision_recall import Form, precision_recall_areas
from pulens.metrics.parts.metric import Metric
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.binning_error import precision_recall_errors


def pr_auc(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    """Straight lines between the points; the first step takes the first precision. Prefer average precision.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(pr_auc(tally, Assumptions(0.2)), 6)
    0.496296
    """
    return precision_recall_areas(tally, assumptions, form=form).trapezoid


def _binning_error(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    errors = precision_recall_errors(tally, assumptions, trapezoid=True) if form == "point" else None
    return float("nan") if errors is None else float(errors.sum())


METRIC = Metric(
    pr_auc,
    "Trapezoidal area under the precision-recall curve",
    reads="ranking",
    listed=False,
    undefined_because="no threshold has recovered rates within [0, 1]",
    parameters={"form": "point"},
    binning_error=_binning_error,
    title="PR AUC",
)
