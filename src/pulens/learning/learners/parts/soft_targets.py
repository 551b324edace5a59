"""From scores to P(positive), by the likelihood of the PU labels: what a second stage learns, and its calibration."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from pulens.errors import PulensError
from pulens.learning.learners.parts.bags import BagScores
from pulens.learning.learners.parts.training_rows import TrainingRows
from pulens.scenario import Scenario
from pulens.types import Floats

WORTH_OF_SLOPE = 60  # labelled rows that weigh as much as the guess that a slope is 1


def soft_targets(known: TrainingRows, scores: BagScores, class_prior: float, scenario: Scenario) -> Floats:
    r"""P(positive) of each row: 1 where it is labelled, else what its score says at the class prior.

    In a single set an unlabelled row is positive with probability :math:`(1-c)p/(1-cp)`, c being the label frequency.
    """
    intercept, slope = platt(known, scores.alike, class_prior, scenario)
    chance: Floats = expit(intercept + slope * scores.best)
    if scenario is Scenario.SINGLE_SET:
        frequency = min(known.share_labelled() / class_prior, 1 - 1e-6)
        chance = (1 - frequency) * chance / (1 - frequency * chance)
    return np.where(known.labelled, 1.0, chance)


def platt(known: TrainingRows, scores: Floats, class_prior: float, scenario: Scenario) -> tuple[float, float]:
    """Intercept and slope of the log-odds in a score, by the likelihood of the labels: :func:`pulens.recalibrate`.

    Where labels are too few for that, the slope is 1 and the mean of the probabilities is the class prior.
    """
    from pulens.calibration import recalibrate

    try:
        fitted = recalibrate(
            known.labelled.astype(int),
            scores,
            labelling="random",
            method="platt",
            scores_are="rank",
            class_prior=class_prior,
            scenario=str(scenario),
            folds=2,
            redraws=1,
            **known.weighting,
        ).map.logit
        if fitted[1] > 0:
            return float(fitted[0]), float(fitted[1])
    except PulensError:
        pass
    return _intercept(known, scores, class_prior, scenario), 1.0


def shrunk(known: TrainingRows, scores: Floats, class_prior: float, scenario: Scenario) -> tuple[float, float]:
    """Intercept and slope for scores that are log-odds of probabilities already, if noisy ones.

    Their slope by the likelihood is drawn towards 1, the more the fewer rows are labelled: scores of stage two know a
    little of every label, which a handful of labels takes for certainty. The mean probability is the class prior.
    """
    labelled = int(known.labelled.sum())
    slope = platt(known, scores, class_prior, scenario)[1] ** (labelled / (labelled + WORTH_OF_SLOPE))
    return _intercept(known, slope * scores, class_prior, scenario), slope


def _intercept(known: TrainingRows, scores: Floats, class_prior: float, scenario: Scenario) -> float:
    """Where the mean probability over the population is the class prior."""
    from scipy.optimize import brentq

    weights = known.weights * (1.0 if scenario is Scenario.SINGLE_SET else ~known.labelled)
    reach = float(np.abs(scores).max()) + 40.0
    return float(brentq(lambda shift: np.average(expit(scores + shift), weights=weights) - class_prior, -reach, reach))
