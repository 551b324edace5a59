"""The detection error trade-off: false negative rate against false positive rate."""

from __future__ import annotations

from pulens.curves.roc import roc_curve
from pulens.estimate import Curve
from pulens.recovery.contingency import Contingency


def detection_error_curve(table: Contingency) -> Curve:
    """The corrected ROC curve (Jain et al. 2017, Algorithm 1) turned upside down, as in speech and biometrics.

    >>> import numpy as np
    >>> curve = detection_error_curve(Contingency(np.array([np.inf, 0]), np.array([0, 1.]), np.array([0, 1.]), 1, 1))
    >>> curve.y
    array([1., 0.])
    """
    roc = roc_curve(table)
    return Curve("DET", roc.x, 1.0 - roc.y, roc.thresholds, "false positive rate", "false negative rate")
