"""Partial ROC AUC: the area up to a false positive rate, standardised."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.curves import partial_area, roc_curve
from pulens.errors import PulensError, shown
from pulens.metrics.parts.metric import Metric
from pulens.recovery import recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.binning_error import roc_curve_error
from pulens.scalars import real


def partial_roc_auc(tally: Tally, assumptions: Assumptions, *, max_false_positive_rate: float = 0.1) -> float:
    """Area under Algorithm 1's curve up to a false positive rate; 0.5 is chance, 1 perfection (McClish 1989).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([4, 3, 2, 1]))
    >>> partial_roc_auc(tally, Assumptions(0.0))
    1.0
    """
    most = real(max_false_positive_rate)
    if not 0 < most <= 1:
        raise PulensError(
            "max_false_positive_rate of partial_roc_auc must be above 0 and at most 1, "
            f"got {shown(max_false_positive_rate)}."
        )
    return partial_area(roc_curve(recover(tally, assumptions)), most)


def _binning_error(tally: Tally, assumptions: Assumptions, *, max_false_positive_rate: float = 0.1) -> float:
    area = roc_curve_error(tally, assumptions, max_false_positive_rate=max_false_positive_rate)
    return 0.5 * area / (max_false_positive_rate - max_false_positive_rate**2 / 2)


METRIC = Metric(
    partial_roc_auc,
    "Standardised ROC area up to a false positive rate of 0.1",
    reads="ranking",
    listed=False,
    parameters={"max_false_positive_rate": 0.1},
    binning_error=_binning_error,
)
