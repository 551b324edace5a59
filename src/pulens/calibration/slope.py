"""Calibration slope and intercept: the straight line that would repair the logits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pulens.calibration._clustered import student_factor
from pulens.calibration._likelihood import CannotFitError, check_spread, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration._within import errors_of_fits, over_settings
from pulens.calibration.probabilities import calibration_evidence
from pulens.cells import WeightedEvidence, gather_within
from pulens.confidence import check_confidence
from pulens.errors import listed
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.inputs.reading import said
from pulens.intervals.kernels.jackknife import LeftOut, jackknife_error
from pulens.intervals.kernels.quantiles import normal_quantile
from pulens.intervals.kernels.redraws import compress
from pulens.intervals.normal import normal_interval
from pulens.intervals.prior_doubt import PriorDoubt
from pulens.intervals.prior_draws import PriorDraws
from pulens.keywords import hands_on
from pulens.types import Column, LabelValues


class CalibrationLine(NamedTuple):
    """Intercept and slope; a calibrated model has 0 and 1.

    A slope below 1: the scores are too extreme. Above 1: too timid.
    """

    intercept: Estimate
    slope: Estimate


@hands_on(gather_within)
def calibration_slope(
    labels: Any,
    scores: Any = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Any = None,
    scores_are: str = "probability",
    confidence: float = 0.95,
    **options: Any,
) -> CalibrationLine:
    r"""Fit :math:`P(Y = 1) = \sigma(a + b\,\mathrm{logit} f)` by the likelihood of the labels given the scores.

    Intervals are normal, with the sandwich variance of an M-estimator, so that they also hold where no straight line
    repairs the logits and the coefficients are those of the best one.

    >>> import numpy as np
    >>> from pulens.testing import logistic_world
    >>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(2000, 20_000, np.random.default_rng(0))
    >>> labels, scores = np.repeat([1, 0], [2000, 20_000]), np.concatenate([labelled, unlabelled])
    >>> line = calibration_slope(labels, scores, class_prior=0.5, scenario="case-control")  # the truth: 2/3, 4/3
    >>> print(line.intercept, line.slope)
    calibration_intercept 0.666 [0.583, 0.749] calibration_slope 1.312 [1.196, 1.428]
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    confidence = check_confidence(confidence)
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    if isinstance(evidence, WeightedEvidence):
        return _line_within(evidence, confidence)
    doubt = PriorDoubt(evidence)
    fits: dict[float, tuple[Any, Any]] = {}  # both coefficients, once per class prior

    def line_at(prior: float) -> tuple[Any, Any]:
        if prior not in fits:
            fits[prior] = _line(replace(evidence, class_prior=replace(evidence.class_prior, unlabelled=prior)))
        return fits[prior]

    answers = []
    times = _times_as_wide(evidence, line_at(evidence.class_prior.unlabelled)[1], confidence)
    for place, name in enumerate(("calibration_intercept", "calibration_slope")):

        def at(prior: float, place: int = place) -> tuple[float, float]:
            theta, covariance = line_at(prior)
            return float(theta[place]), math.sqrt(covariance[place, place]) * times[place]

        if math.isnan(times[place]):
            answers.append(Estimate(name, at(evidence.class_prior.unlabelled)[0]))
            continue
        interval, sources = normal_interval(doubt, at, confidence)
        answers.append(Estimate(name, at(evidence.class_prior.unlabelled)[0], interval, sources=sources))
    return CalibrationLine(*answers)


def _line_within(evidence: WeightedEvidence, confidence: float) -> CalibrationLine:
    """The line of the weighted tally; its errors are those of lines fitted to replicates of the cells."""
    errors: dict[int, Any] = {}

    def fitted(one: Evidence) -> Any:
        try:
            return _line(one)[0]
        except CannotFitError:
            return [math.nan, math.nan]

    def at(one: Evidence, place: int, name: str) -> Estimate:
        assert isinstance(one, WeightedEvidence)
        value = float(_line(one)[0][place])
        if one.has_too_few_clusters:
            return Estimate(name, value)
        if id(one) not in errors:
            errors[id(one)] = (one, errors_of_fits(one, fitted, confidence))
        reach = normal_quantile(confidence) * float(errors[id(one)][1][place])
        interval = Interval(value - reach, value + reach, confidence, "normal, lines of replicates of the cells")
        return Estimate(name, value, interval, sources={"sample": interval})

    intercept, slope = (
        over_settings(evidence, lambda one, place=place, name=name: at(one, place, name))  # type: ignore[misc]
        for place, name in enumerate(("calibration_intercept", "calibration_slope"))
    )
    return CalibrationLine(intercept, slope)


def _times_as_wide(evidence: Evidence, covariance: Any, confidence: float) -> tuple[float, float]:
    """How many times as wide as for independent rows the intervals are: the line is fitted without each bucket."""
    buckets = evidence.buckets
    if buckets is None:
        return 1.0, 1.0
    factor = student_factor(evidence, confidence)
    if math.isnan(factor):
        return math.nan, math.nan
    thresholds = compress(buckets.without([])).thresholds
    draws, found = PriorDraws(evidence), []
    left = LeftOut.of(buckets, thresholds)
    own = evidence.class_prior.unlabelled
    priors = np.broadcast_to(draws.priors(own, np.zeros(len(left.totals)), left.kinds), len(left.totals))
    for tally, prior in zip(left.tallies(thresholds), priors.tolist(), strict=True):
        moved = replace(evidence.with_tally(tally), class_prior=replace(evidence.class_prior, unlabelled=prior))
        try:
            found.append(_line(moved)[0])
        except CannotFitError:  # without this bucket there is no line
            found.append([math.nan, math.nan])
    errors = jackknife_error(np.array(found))
    one, two = (float(error) / math.sqrt(covariance[place, place]) * factor for place, error in enumerate(errors))
    return one, two


def _line(evidence: Evidence) -> tuple[Any, Any]:
    """Coefficients and their covariance."""
    points = Points.of(evidence)
    check_spread(points.scores, "calibration_slope")
    logits = logits_of(points.scores)
    found = fit_logistic(np.column_stack([np.ones_like(logits), logits]), points, np.array([0.0, 1.0]))
    if (np.count_nonzero(points.counts, axis=1) <= 1).all():
        raise CannotFitError(
            "calibration_slope measures its error by how scores differ among rows of the same kind, and here each kind "
            f"has one score only ({listed(points.scores.tolist(), limit=3)} in all). Give more rows, or recalibrate "
            "with 'isotonic' or 'histogram', which need no line."
        )
    return found
