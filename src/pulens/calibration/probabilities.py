"""The door of this room: scores must be probabilities, or be declared to be something that can become one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import InputError, listed
from pulens.evidence import Evidence
from pulens.scalars import is_among
from pulens.selection.gathering import gather_labelled

ScoresAre = Literal["probability", "logit", "rank"]
MEANINGS = ("probability", "logit", "rank")


def calibration_evidence(
    labels: Any, scores: Any = None, *, scores_are: str = "probability", **options: Any
) -> Evidence:
    """Rows counted, their class prior resolved and scores read as probabilities.

    >>> calibration_evidence([1, 0, 0], [2.0, 0.0, -1.0], class_prior=0.5, scores_are="logit").tally.thresholds.round(3)
    array([0.881, 0.5  , 0.269])
    """
    check_meaning(scores_are)
    if scores_are == "rank":
        raise InputError(
            "ranks say which row is more likely positive, not how likely: they have no calibration error. Turn them "
            "into probabilities first with pulens.calibration.recalibrate(..., method='isotonic', scores_are='rank') "
            "(on the command line: --scores-are rank --fit isotonic)."
        )
    return as_probabilities(gather_labelled(labels, scores, **options), scores_are)


def as_probabilities(evidence: Evidence, scores_are: str) -> Evidence:
    """The same rows with scores read as probabilities."""
    if scores_are == "logit":
        return evidence.mapped(_logistic)
    check_probabilities(evidence.tally)
    return evidence.mapped(np.asarray)


def check_meaning(scores_are: str) -> None:
    if not is_among(scores_are, MEANINGS):
        raise InputError(f"scores_are must be one of {listed(MEANINGS)}, got {scores_are!r}.")


def check_probabilities(tally: Tally) -> None:
    """Refuse scores outside [0, 1]."""
    lowest, highest = float(tally.thresholds[-1]), float(tally.thresholds[0])
    if lowest < 0 or highest > 1:
        bad = lowest if lowest < 0 else highest
        raise InputError(
            f"scores are read as probabilities between 0 and 1, got {bad!r}. If they are logits, say "
            "scores_are='logit' (--scores-are logit). If they only rank the rows, turn them into probabilities first: "
            "pulens.calibration.recalibrate(..., method='isotonic', scores_are='rank') "
            "(--scores-are rank --fit isotonic)."
        )


def probabilities_of(scores: Any, scores_are: str = "probability") -> Any:
    """Scores of rows as probabilities; those outside [0, 1] are refused by whoever reads them.

    >>> probabilities_of(np.array([0.0]), "logit")
    array([0.5])
    """
    check_meaning(scores_are)
    numbers = np.asarray(scores, np.float64)
    return _logistic(numbers) if scores_are == "logit" else numbers


def _logistic(logits: Any) -> Any:
    from pulens.special import expit

    return expit(logits)
