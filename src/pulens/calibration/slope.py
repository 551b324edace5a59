"""Calibration slope and intercept: the straight line that would repair the logits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pulens.calibration._likelihood import check_spread, fit_logistic, logits_of
from pulens.calibration._prior_doubt import PriorDoubt, normal_quantile
from pulens.calibration._risk import Points
from pulens.calibration._scores import calibration_evidence
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence


class CalibrationLine(NamedTuple):
    """Intercept and slope; a calibrated model has 0 and 1.

    A slope below 1: the scores are too extreme. Above 1: too timid.
    """

    intercept: Estimate
    slope: Estimate


def calibration_slope(
    labels: Any, scores: Any = None, *, scores_are: str = "probability", confidence: float = 0.95, **options: Any
) -> CalibrationLine:
    r"""Fit :math:`P(Y = 1) = \sigma(a + b\,\mathrm{logit} f)` by the likelihood of the labels given the scores.

    Intervals are normal, with the sandwich variance of an M-estimator, so that they also hold where no straight line
    repairs the logits and the coefficients are those of the best one.

    >>> import numpy as np
    >>> from pulens.calibration.worlds import logistic_world
    >>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(2000, 20_000, np.random.default_rng(0))
    >>> labels, scores = np.repeat([1, 0], [2000, 20_000]), np.concatenate([labelled, unlabelled])
    >>> line = calibration_slope(labels, scores, class_prior=0.5)  # the truth: a = 2/3, b = 4/3
    >>> print(line.intercept, line.slope)
    calibration_intercept 0.666 [0.583, 0.749] calibration_slope 1.312 [1.196, 1.428]
    """
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    doubt = PriorDoubt.of(evidence, confidence)
    theta, covariance = _line(evidence)
    tried = [(theta, covariance, normal_quantile(confidence))]
    for prior in doubt.priors:
        moved = replace(evidence.class_prior, unlabelled=prior)
        tried.append((*_line(replace(evidence, class_prior=moved)), doubt.quantile))
    method = "normal" if doubt.own is None else "hull over the class prior, normal"
    answers = []
    for place, name in enumerate(("calibration_intercept", "calibration_slope")):
        middles = [float(found[place]) for found, _, _ in tried]
        reaches = [quantile * math.sqrt(spread[place, place]) for _, spread, quantile in tried]
        low = min(middle - reach for middle, reach in zip(middles, reaches, strict=True))
        high = max(middle + reach for middle, reach in zip(middles, reaches, strict=True))
        answers.append(Estimate(name, middles[0], Interval(low, high, doubt.confidence, method)))
    return CalibrationLine(*answers)


def _line(evidence: Evidence) -> tuple[Any, Any]:
    """Coefficients and their covariance."""
    points = Points.of(evidence)
    check_spread(points.scores, "calibration_slope")
    logits = logits_of(points.scores)
    return fit_logistic(np.column_stack([np.ones_like(logits), logits]), points, np.array([0.0, 1.0]))
