"""Isotonic recalibration: the best map among all that rise."""

from __future__ import annotations

import numpy as np

from pulens.calibration._isotonic import isotonic_shares
from pulens.calibration._risk import Points
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator


def fit_isotonic(points: Points, scores_are: str) -> CalibrationMap:
    """Rising shares of positives by the PU risk with the squared loss; straight lines between the blocks."""
    shares = isotonic_shares(points)
    turns = np.flatnonzero(np.diff(shares) != 0)
    kept = np.unique(np.concatenate([[0], turns, turns + 1, [shares.size - 1]]))  # both ends of every block
    return CalibrationMap(
        "isotonic", scores_are, knots=tuple(points.scores[kept].tolist()), shares=tuple(shares[kept].tolist())
    )


RECALIBRATOR = Recalibrator(
    fit_isotonic, "The best map among all that rise with the score", ("probability", "logit", "rank")
)
