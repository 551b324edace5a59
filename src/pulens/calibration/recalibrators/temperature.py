"""Temperature scaling: one number that makes all logits larger or smaller."""

from __future__ import annotations

import numpy as np

from pulens.calibration._likelihood import LARGEST_LOGIT, CannotFitError, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator
from pulens.errors import listed


def fit_temperature(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(\mathrm{logit}\,s / T)` by the likelihood of the labels.

    One number cannot repair both the spread of the scores and a wrong number of positives.
    """
    logits = logits_of(points.scores, scores_are)
    finite = np.abs(logits) < LARGEST_LOGIT
    if not (logits[finite] != 0).any():
        seen = listed(np.unique(points.scores).tolist(), limit=4)
        raise CannotFitError(
            f"'temperature' divides logits and needs a score other than 0, one half and 1; the scores are {seen}. "
            "Recalibrate with 'isotonic' or 'histogram', which need no logits."
        )
    fit = fit_logistic(logits[:, None], points, np.array([1.0]), right_mean=False)
    # a map must not turn the order round: at worst every score becomes one half
    slope = max(float(fit.coefficients[0]), 0.0)
    return CalibrationMap("temperature", scores_are, (0.0, slope))


RECALIBRATOR = Recalibrator(fit_temperature, "All logits divided by one temperature")
