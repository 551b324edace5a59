"""What a fitted classifier says of rows, as one score of the labelled positive class for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED
from pulens.errors import InputError, PulensError, listed
from pulens.inputs.arrays import listed_values, plain_values
from pulens.inputs.columns import LabelCoding

PROBABILITIES, DECISIONS = "predict_proba", "decision_function"


def positive_scores(estimator: Any, X: Any, coding: LabelCoding) -> tuple[NDArray[Any], str]:
    """Scores of the labelled positive class, and which method gave them: probabilities before decision values.

    Which column is meant is read off ``classes_`` and off what labels mean; several positive classes add up.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["unknown", "unknown", "fraud", "fraud"]
    >>> scores, _ = positive_scores(LogisticRegression().fit(X, y), X, LabelCoding(positive="fraud"))
    >>> bool(scores[3] > 0.5 > scores[0])
    True
    """
    name = type(estimator).__name__
    method = next((one for one in (PROBABILITIES, DECISIONS) if hasattr(estimator, one)), None)
    if method is None:
        raise PulensError(f"{name} has neither {PROBABILITIES} nor {DECISIONS} to score rows with.")
    result = np.asarray(plain_values(getattr(estimator, method)(X)))
    classes = getattr(estimator, "classes_", None)
    if classes is None:  # by scikit-learn's custom the second of two classes is the positive one
        if result.ndim == 1:
            return result, method
        if result.ndim != 2 or result.shape[1] != 2:
            raise InputError(
                f"{method} of {name} gives an array of shape {result.shape}, and no classes_ to read it by."
            )
        return result[:, 1], method
    places = _places_of(name, listed_values(classes), coding)
    if result.ndim == 1 and len(classes) == 2:
        if places == [1]:
            return result, method
        return (-result if method == DECISIONS else 1 - result), method
    if result.ndim != 2 or result.shape[1] != len(classes) or (method == DECISIONS and len(places) > 1):
        raise InputError(
            f"{method} of {name} gives an array of shape {result.shape} for the classes {listed(classes)}: no score of "
            "the labelled positive class can be read off it."
        )
    return (result[:, places[0]] if len(places) == 1 else result[:, places].sum(axis=1)), method


def called_positive(calls: Any, coding: LabelCoding) -> NDArray[np.bool_]:
    """Which hard calls say labelled positive."""
    values = listed_values(calls)
    return np.isin(np.arange(len(values)), _labelled(values, coding))


def _places_of(name: str, classes: list[Any], coding: LabelCoding) -> list[int]:
    if len(classes) < 2:
        raise InputError(f"{name} was fitted on rows of one class ({listed(classes)}): it cannot rank rows.")
    places = _labelled(classes, coding)
    if not places or len(places) == len(classes):
        which = "every one" if places else "none"
        raise InputError(
            f"{name} was fitted on the classes {listed(classes)}, and {which} of them means labelled positive: say "
            "which does with positive=."
        )
    return places


def _labelled(values: list[Any], coding: LabelCoding) -> list[int]:
    """Places of values that mean labelled positive, in the user's words or, if there are none such, as 1 beside 0."""

    def places(meaning: LabelCoding) -> list[int]:
        return np.flatnonzero(meaning.encode(values, is_whole=False) == LABELLED).tolist()

    result = places(coding)
    if result:
        return result
    try:  # learners that tell positive from negative by themselves, whatever the labels were called
        return places(LabelCoding())
    except InputError:
        return []
