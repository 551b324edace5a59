r"""One verdict over all tests of calibration.

A calibrated model has a mean score equal to the class prior (calibration in the large 0), a slope of 1, an intercept of
0, an expected calibration error of 0, and in each bin as many positives as it predicts. Each of the five is tested by
its interval: with ends :math:`l < v < h` at confidence :math:`1-\alpha` and :math:`z` the normal quantile, the distance
of the value :math:`v` to the calibrated value :math:`v_0` is measured in units of the end on that side,

.. math:: p = 2\Phi\bigl(-z\,|v - v_0| / |v - e|\bigr), \quad e = l \text{ if } v_0 < v \text{ else } h,

so that :math:`p < \alpha` exactly where the interval excludes :math:`v_0`, and all that the interval knows of (the
class prior's doubt, clusters, cells) is in p. The bins are one test: the smallest of their p-values times their number
(Bonferroni). Holm's correction over the five keeps the chance of any false alarm at :math:`\alpha`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulens.answer import Answer
from pulens.errors import spoken
from pulens.estimate import Estimate, Interval
from pulens.inference.kernels.holm import holm
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.special import ndtr

if TYPE_CHECKING:
    from pulens.calibration.reliability import Reliability

IF_CALIBRATED = {"calibration_in_the_large": 0.0, "calibration_slope": 1.0, "calibration_intercept": 0.0}
BINS = "bins"


@dataclass(frozen=True, slots=True)
class CalibrationTest(Answer):
    """One test of calibration: its p-value alone, and corrected for all tests of the verdict."""

    name: str
    value: float
    if_calibrated: float
    p_value: float
    corrected: float

    def __str__(self) -> str:
        if self.name == BINS:
            return f"{self.value:.0f} bin{'s' if self.value != 1 else ''}"
        return f"{self.name.replace('_', ' ')} {self.value:.3g}"


@dataclass(frozen=True, slots=True)
class CalibrationVerdict:
    """The verdict of all tests of calibration together.

    ``status`` is ``"miscalibrated"`` where a corrected p-value is below one minus the confidence, ``"inconclusive"``
    where only an uncorrected one is, ``"no evidence"`` where none is, and ``"untested"`` where nothing has an interval.
    """

    tests: tuple[CalibrationTest, ...]
    confidence: float

    @property
    def status(self) -> str:
        if not self.tests:
            return "untested"
        if self._below("corrected"):
            return "miscalibrated"
        return "inconclusive" if self._below("p_value") else "no evidence"

    def _below(self, which: str) -> list[CalibrationTest]:
        return [one for one in self.tests if getattr(one, which) < 1 - self.confidence]

    def __str__(self) -> str:
        status, many = self.status, len(self.tests)
        if status == "untested":
            return "Calibration was not tested: no number about it has an interval."
        if status == "miscalibrated":
            seen = [f"{one} ({_shown(one.corrected)})" for one in self._below("corrected")]
            return f"The probabilities are miscalibrated: {spoken(seen)}; p corrected for {many} tests."
        if status == "inconclusive":
            seen = [f"{one} ({_shown(one.p_value)})" for one in self._below("p_value")]
            chance = min(one.corrected for one in self._below("p_value"))
            return (
                f"Inconclusive: alone, {spoken(seen)} would show miscalibration, but over {many} tests a calibrated "
                f"model shows as much up to {chance:.1%} of the time."
            )
        least = min(one.corrected for one in self.tests)
        tests = f"{many} test{'s' if many > 1 else ''}"
        return f"No evidence of miscalibration in {tests} (smallest p, corrected for the number of tests: {least:.3f})."

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "status": self.status,
            "words": str(self),
            "confidence": self.confidence,
            "tests": [one.to_dict() for one in self.tests],
        }


def calibration_verdict(reliability: Reliability, others: Sequence[Estimate] = ()) -> CalibrationVerdict:
    """The verdict of a reliability diagram, its error and its bins, with other numbers about the same rows.

    Of ``others`` :func:`calibration_in_the_large` and both numbers of :func:`calibration_slope` are tested; what has no
    interval is not.

    >>> import numpy as np
    >>> from pulens import calibration
    >>> from pulens.testing import logistic_world
    >>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(1000, 10_000, np.random.default_rng(0))
    >>> rows = {"labels": np.repeat([1, 0], [1000, 10_000]), "scores": np.concatenate([labelled, unlabelled])}
    >>> given = rows | {"class_prior": 0.5, "scenario": "case-control"}
    >>> others = calibration.calibration_in_the_large(**given), *calibration.calibration_slope(**given)
    >>> calibration.calibration_verdict(calibration.reliability(**given), others).status
    'miscalibrated'
    """
    error = reliability.error
    result = [("expected_calibration_error", error.corrected, 0.0, error.p_value)]
    for one in others:
        if one.metric in IF_CALIBRATED and one.interval is not None:
            wanted = IF_CALIBRATED[one.metric]
            result.append((one.metric, one.value, wanted, p_of_interval(one.value, one.interval, wanted)))
    bins = bin_p_values(reliability)
    if any(not math.isnan(p) for p in bins):
        corrected = [p for p in holm(bins) if not math.isnan(p)]
        result.append((BINS, float(sum(p < _level(reliability) for p in corrected)), 0.0, min(corrected)))
    result = [one for one in result if not math.isnan(one[3])]
    adjusted = holm([one[3] for one in result])
    tests = tuple(CalibrationTest(*one, each) for one, each in zip(result, adjusted, strict=True))
    return CalibrationVerdict(tests, 1 - _level(reliability))


def bin_p_values(reliability: Reliability) -> list[float]:
    """For each bin, the p-value of "as many positives as predicted"; nan where a bin has no interval."""
    return [
        math.nan if one.interval is None else p_of_interval(one.fraction, one.interval, one.confidence)
        for one in reliability.bins
    ]


def p_of_interval(value: float, interval: Interval, wanted: float) -> float:
    """The two-sided p-value of a value that an interval at some confidence surrounds.

    >>> round(p_of_interval(0.2, Interval(0.0, 0.4, 0.95, ""), 0.0), 3)
    0.05
    """
    if interval.confidence is None:
        return math.nan
    end = interval.low if wanted < value else interval.high
    if value == wanted:
        return 1.0
    distance = abs(value - wanted)
    # no end beyond the value: all the doubt lies on the other side
    return float(2 * ndtr(-normal_quantile(interval.confidence) * distance / abs(value - end))) if end != value else 0.0


def _level(reliability: Reliability) -> float:
    """The chance of a false alarm that the confidence of the intervals allows."""
    intervals = [reliability.error.interval, *(one.interval for one in reliability.bins)]
    stated = [one.confidence for one in intervals if one is not None and one.confidence is not None]
    return 1 - stated[0] if stated else 0.05


def _shown(p: float) -> str:
    return "p below 0.001" if p < 0.001 else f"p = {p:.3f}"
