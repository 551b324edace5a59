"""Beta calibration (Kull et al. 2017): the two ends of the scale are bent apart."""

from __future__ import annotations

import numpy as np

from pulens.calibration._likelihood import check_spread, fit_logistic
from pulens.calibration._risk import Points
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator, log_sides


def fit_beta(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(c + a\ln s - b\ln(1-s))` with :math:`a, b \ge 0`, by the likelihood of the labels."""
    check_spread(points.scores, "'beta'", scores_are)
    low, high = log_sides(points.scores, scores_are)
    columns = {"both": [low, high], "low": [low], "high": [high], "none": []}
    chosen: tuple[float, ...] = ()
    for which, used in columns.items():
        design = np.column_stack([np.ones_like(low), *used])
        start = np.concatenate([[0.0], np.ones(len(used))])
        fit = fit_logistic(design, points, start)
        slopes = fit.coefficients[1:]
        if (slopes >= 0).all():  # a negative slope would turn the order round: leave that end out, as Kull et al. do
            a = slopes[0] if which in ("both", "low") else 0.0
            b = slopes[-1] if which in ("both", "high") else 0.0
            chosen = (float(fit.coefficients[0]), float(a), float(b))
            break
    return CalibrationMap("beta", scores_are, chosen)


RECALIBRATOR = Recalibrator(fit_beta, "Three parameters, which bend the two ends of the scale separately")
