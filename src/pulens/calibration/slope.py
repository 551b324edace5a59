"""Calibration slope and intercept: the straight line that would repair the logits."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from pulens.calibration._likelihood import CannotFitError, check_spread, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration._within import errors_of_fits, uncertainty_of_scores
from pulens.calibration.statistic import of_rows
from pulens.confidence import check_confidence
from pulens.errors import listed
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import JackknifeCounts, jackknife_error
from pulens.inference.kernels.redraws import compress
from pulens.inference.mass_replicates import student_factor
from pulens.inference.normal import normal_interval
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.prior_uncertainty import key_of_setting
from pulens.metrics.parts.rests_on import BASIS
from pulens.selection import moved_interval
from pulens.strata import WeightedEvidence

COEFFICIENTS = "calibration_intercept", "calibration_slope"


class CalibrationLine(NamedTuple):
    """Intercept and slope; a calibrated model has 0 and 1.

    A slope below 1: the scores are too extreme. Above 1: too timid.
    """

    intercept: Estimate
    slope: Estimate


@of_rows
def calibration_slope(evidence: Evidence, *, confidence: float = 0.95) -> CalibrationLine:
    r"""Fit :math:`P(Y = 1) = \sigma(a + b\,\mathrm{logit} f)` by the likelihood of the labels given the scores.

    Intervals are normal, with the sandwich variance of an M-estimator, so that they also hold where no straight line
    repairs the logits and the coefficients are those of the best one.

    Returns
    -------
    CalibrationLine
        ``intercept`` and ``slope``, each with its interval; 0 and 1 are right.

    Examples
    --------
    >>> import numpy as np
    >>> from pulens.testing import logistic_world
    >>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(2000, 20_000, np.random.default_rng(0))
    >>> labels, scores = np.repeat([1, 0], [2000, 20_000]), np.concatenate([labelled, unlabelled])
    >>> options = {"class_prior": 0.5, "scenario": "case-control", "labelling": "random"}
    >>> line = calibration_slope(labels, scores, **options)  # the truth: 2/3, 4/3
    >>> print(line.intercept, line.slope)
    calibration_intercept 0.666 [0.583, 0.749] calibration_slope 1.312 [1.196, 1.428]

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(calibration_slope(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2).slope)
    calibration_slope 0.796 [0.329, 1.189]
    """
    confidence = check_confidence(confidence)
    doubt = uncertainty_of_scores(evidence)
    if evidence.has_too_few_clusters:
        found = _line(evidence)[0]
        return CalibrationLine(*(Estimate(name, float(each)) for name, each in zip(COEFFICIENTS, found, strict=True)))
    fits: dict[Any, tuple[Any, Any]] = {}  # both coefficients and their errors, once per class prior
    times = _times_as_wide(evidence, confidence)

    def line_at(setting: Any) -> tuple[Any, Any]:
        key = key_of_setting(setting)
        if key not in fits:
            own, share = evidence.at_prior(setting)
            theta, covariance = _line(replace(own, class_prior=replace(own.class_prior, unlabelled=share)))
            fits[key] = theta, _errors(own, covariance, confidence) * times
        return fits[key]

    tilted: dict[int, Any] = {}

    def line_of(index: int, rows: Evidence) -> Any:
        """A coefficient at another tilt; both are asked for."""
        if id(rows) not in tilted:
            tilted[id(rows)] = rows, _line(rows)[0]
        return tilted[id(rows)][1][index]

    answers = []
    for index, name in enumerate(COEFFICIENTS):

        def at(setting: Any, index: int = index) -> tuple[float, float]:
            theta, errors = line_at(setting)
            return float(theta[index]), float(errors[index])

        value = at(doubt.own_setting)[0]
        if math.isnan(times[index]):  # there is no line without some clusters
            answers.append(Estimate(name, value))
            continue
        interval, sources = normal_interval(doubt, at, confidence)
        moved = moved_interval(evidence, interval, value, partial(line_of, index), coarsely=True)
        answers.append(Estimate(name, value, moved, sources=sources, basis=BASIS[evidence.labelling]))
    return CalibrationLine(*answers)


@singledispatch
def _errors(evidence: Evidence, covariance: Any, confidence: float) -> Any:
    """Standard errors of both coefficients."""
    return np.sqrt(np.diag(covariance))


@_errors.register
def _(evidence: WeightedEvidence, covariance: Any, confidence: float) -> Any:
    """Those of lines fitted to replicates."""

    def fitted(one: Evidence) -> Any:
        try:
            return _line(one)[0]
        except CannotFitError:
            return [math.nan, math.nan]

    return errors_of_fits(evidence, fitted, confidence)


def _times_as_wide(evidence: Evidence, confidence: float) -> Any:
    """How many times as wide as for independent rows the intervals are: the line is fitted without each bucket."""
    evidence, buckets = evidence.as_read, evidence.buckets
    if buckets is None or evidence.by_bucket is None:
        return np.ones(2)
    thresholds = compress(buckets.without([])).thresholds
    draws, result = PriorDraws(evidence), []
    left = JackknifeCounts.of(buckets, thresholds)
    own = evidence.class_prior.unlabelled
    priors = np.broadcast_to(draws.priors(own, np.zeros(len(left.totals)), left.kinds), len(left.totals))
    for tally, prior in zip(left.tallies(thresholds), priors.tolist(), strict=True):
        moved = replace(evidence.with_tally(tally), class_prior=replace(evidence.class_prior, unlabelled=prior))
        try:
            result.append(_line(moved)[0])
        except CannotFitError:  # without this bucket there is no line
            result.append([math.nan, math.nan])
    alone = np.sqrt(np.diag(_line(evidence)[1]))
    return jackknife_error(np.array(result)) / alone * student_factor(evidence.by_bucket.freedom, confidence)


def _line(evidence: Evidence) -> tuple[Any, Any]:
    """Coefficients and their covariance."""
    points = Points.of(evidence)
    check_spread(points.scores, "calibration_slope")
    logits = logits_of(points.scores)
    result = fit_logistic(np.column_stack([np.ones_like(logits), logits]), points, np.array([0.0, 1.0]))
    if (np.count_nonzero(points.counts, axis=1) <= 1).all():
        raise CannotFitError(
            "calibration_slope measures its error by how scores differ among rows of the same kind, and here each kind "
            f"has one score only ({listed(points.scores.tolist(), limit=3)} in all). Give more rows, or recalibrate "
            "with 'isotonic' or 'histogram', which need no line."
        )
    return result
