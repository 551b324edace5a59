"""Temperature scaling: one number that makes all logits larger or smaller."""

from __future__ import annotations

import numpy as np

from pulens.calibration._likelihood import fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration.recalibrators._map import CalibrationMap, Recalibrator


def fit_temperature(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(\mathrm{logit}\,s / T)` by the likelihood of the labels.

    One number cannot repair both the spread of the scores and a wrong number of positives.
    """
    logits = logits_of(points.scores, scores_are)
    fit = fit_logistic(logits[:, None], points, np.array([1.0]), right_mean=False)
    # a map must not turn the order round: at worst every score becomes one half
    slope = max(float(fit.coefficients[0]), 0.0)
    return CalibrationMap("temperature", scores_are, (0.0, slope))


RECALIBRATOR = Recalibrator(fit_temperature, "All logits divided by one temperature")
