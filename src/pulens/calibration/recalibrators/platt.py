"""Platt scaling: a straight line through the logits."""

from __future__ import annotations

import numpy as np

from pulens.calibration._likelihood import check_spread, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator


def fit_platt(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(a + b\,\mathrm{logit}\,s)` by the likelihood of the labels; a mere rank is its own logit."""
    check_spread(points.scores, "'platt'", scores_are)
    logits = logits_of(points.scores, scores_are)
    design = np.column_stack([np.ones_like(logits), logits])
    prior = min(max(points.class_prior, 1e-12), 1 - 1e-12)
    start = np.array([0.0, 1.0]) if scores_are != "rank" else np.array([np.log(prior / (1 - prior)), 0.0])
    fit = fit_logistic(design, points, start)
    return CalibrationMap("platt", scores_are, tuple(fit.coefficients.tolist()))


RECALIBRATOR = Recalibrator(fit_platt, "A straight line through the logits", ("probability", "logit", "rank"))
