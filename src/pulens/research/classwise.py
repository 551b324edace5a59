"""Calibration of several classes, each against the rest (the PU-ECE paper, appendix H)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.calibration.expected_error import CalibrationError, expected_calibration_error
from pulens.errors import InputError, listed, shown
from pulens.estimate import Estimate, Interval
from pulens.inputs.arrays import listed_values, plain_values
from pulens.inputs.columns import is_null
from pulens.keywords import forwards_keywords
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Floats

UNLABELLED, UNKNOWN = -1, -2  # places of rows without a class, and of those whose class is no column


@dataclass(frozen=True, slots=True)
class ClasswiseError(Estimate):
    """The mean over classes of the one-against-rest calibration error, and each class's own."""

    classes: Mapping[Any, CalibrationError] | None = None

    @property
    def noise_floor(self) -> float:
        return float(np.mean([one.noise_floor for one in (self.classes or {}).values()]))

    @property
    def corrected(self) -> float:
        return float(np.mean([one.corrected for one in (self.classes or {}).values()]))

    def to_dict(self) -> dict[str, Any]:
        each = {str(name): one.to_dict() for name, one in (self.classes or {}).items()}
        return {
            **Estimate.to_dict(self),
            "noise_floor": self.noise_floor,
            "corrected": self.corrected,
            "classes": each,
        }


@forwards_keywords(expected_calibration_error)
def classwise_calibration_error(
    labels: Any,
    scores: Any,
    *,
    classes: Sequence[Any],
    class_prior: Sequence[float] | Mapping[Any, float],
    scenario: str = DEFAULT_SCENARIO,
    **options: Any,
) -> ClasswiseError:
    """Mean calibration error of the columns of a matrix of probabilities (Kull et al. 2019), from PU labels.

    Parameters
    ----------
    labels
        The class of each labelled row, null for unlabelled rows.
    scores
        One column of probabilities per class.
    classes
        The class that each column is about.
    class_prior
        The share of each class in the population, in the order of ``classes`` or by name.
    options
        As for :func:`expected_calibration_error`.

    For each class its labelled rows are the positives. Rows labelled with another class are known not to belong to
    it: in the single-set scenario they are known negatives; in case-control, where the unlabelled rows alone are the
    sample of the population, they are left out. The interval is the mean of the classes' intervals, which is
    wider than it need be, since errors of different classes do not all fall on the same side.

    >>> labels = ["a", "a", "b", "b", None, None, None, None]
    >>> scores = [[.9, .1], [.8, .2], [.2, .8], [.3, .7], [.7, .3], [.6, .4], [.4, .6], [.1, .9]]
    >>> found = classwise_calibration_error(labels, scores, classes=["a", "b"], class_prior=[.5, .5], bins=2)
    >>> round(found.value, 3)
    0.25
    """
    if "negative" in options:
        raise InputError("negative= is not for several classes: rows of one class are known negatives of the others.")
    names = _checked_classes(classes)
    matrix, places = _checked_rows(labels, scores, names)
    priors = _checked_priors(class_prior, names)
    whole = check_scenario(scenario) is Scenario.SINGLE_SET
    result = {}
    for place, (name, prior) in enumerate(zip(names, priors, strict=True)):
        codes = np.where(places == UNLABELLED, 0, np.where(places == place, 1, -1)).astype(np.int8)
        kept = np.ones(codes.size, bool) if whole else codes >= 0
        result[name] = expected_calibration_error(
            codes[kept],
            matrix[kept, place],
            negative=-1,
            class_prior=prior,
            scenario=scenario,
            **{"labelling": "random", **options},
        )
    value = float(np.mean([one.value for one in result.values()]))
    interval = _mean_interval([one.interval for one in result.values() if one.interval is not None])
    return ClasswiseError("classwise_calibration_error", value, interval, classes=result)


def _checked_classes(classes: Any) -> list[Any]:
    """The class of each column, each once."""
    try:
        names = listed_values(classes)
        several = len(set(names)) == len(names) > 0
    except (InputError, TypeError):  # nothing to list, or lists among the names
        several = False
    if not several:
        raise InputError(f"classes must be a list, one for each column of scores and each once, got {shown(classes)}.")
    return names


def _checked_priors(class_prior: Any, classes: list[Any]) -> list[Any]:
    """The share of each class, in the order of the classes."""
    if isinstance(class_prior, Mapping):
        missing = [name for name in classes if name not in class_prior]
        if missing:
            raise InputError(f"class_prior needs one share per class, and has none of {listed(missing)}.")
        return [class_prior[name] for name in classes]
    try:
        priors = listed_values(class_prior)
    except InputError:
        raise InputError(f"class_prior needs one share per class, got {shown(class_prior)}.") from None
    if len(priors) != len(classes):
        raise InputError(f"class_prior needs one share per class, {len(classes)} of them, got {len(priors)}.")
    return priors


def _checked_rows(labels: Any, scores: Any, classes: list[Any]) -> tuple[Floats, NDArray[np.int64]]:
    """Probabilities as a matrix, and the place of each row's class among the columns."""
    try:
        matrix = np.asarray(plain_values(scores), float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"scores must be numbers, one column per class, got {shown(scores)}.") from None
    if matrix.ndim != 2 or matrix.shape[1] != len(classes):
        raise InputError(
            f"scores must have one column per class, {len(classes)} of them, got an array of shape {matrix.shape}."
        )
    values = listed_values(labels)
    if len(values) != matrix.shape[0]:
        raise InputError(f"labels and scores must have the same length, got {len(values)} and {matrix.shape[0]}.")
    known = {name: place for place, name in enumerate(classes)}
    places = np.array([UNLABELLED if is_null(value) else _place(value, known) for value in values], np.int64)
    unknown = sorted({repr(values[row]) for row in np.flatnonzero(places == UNKNOWN)})
    if unknown:
        raise InputError(f"labels {', '.join(unknown[:8])} are not among the classes {classes!r}.")
    return matrix, places


def _place(value: Any, known: dict[Any, int]) -> int:
    try:
        return known.get(value, UNKNOWN)
    except TypeError:  # what cannot be looked up, such as a list, is no class
        return UNKNOWN


def _mean_interval(intervals: Sequence[Interval]) -> Interval:
    return Interval(
        float(np.mean([one.low for one in intervals])),
        float(np.mean([one.high for one in intervals])),
        intervals[0].confidence,
        f"mean over classes, {intervals[0].method}",
    )
