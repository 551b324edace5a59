r"""Logistic maps fitted by the likelihood of the labels given the scores.

Let p(s) be the probability of being positive at score s, :math:`f_1 = pf/\pi` and :math:`f_0 = (1-p)f/(1-\pi)` the
densities of positives and negatives. A row of score s is of kind k (labelled, unlabelled, known negative) with
probability proportional to

.. math:: \lambda_k(p) = n_k\left(\frac{a_k}{\pi}\,p + \frac{1-a_k}{1-\pi}\,(1-p)\right)

where :math:`a_k` is the share of positives in that kind: one minus the label noise, the unlabelled prior, zero. So
the kinds of rows at each score tell p without any negative: in case-control :math:`P(\text{labelled} \mid s) =
p/(p + \pi n_U/n_L)`, in the single set the label frequency times p; with every class known it is plain logistic
regression. Beside the likelihood stands what the labels given the scores do not say: over the population p must
average to the class prior, up to the sample's own error (a quadratic penalty with the mean's variance).

The PU risk (the PU-ECE paper, equation 2) has its lowest point at the same p, but weighs positives of high score
linearly in their logit; the likelihood bounds their weight. What that gains: docs/guides/calibration.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pulens.calibration._risk import Points
from pulens.errors import InputError, listed
from pulens.special import expit
from pulens.types import Floats

GROUPS = 1 << 14
LARGEST_SCORE = 1e140  # beyond, the sum of the squares of many leaves what a double holds
PRIOR_DEVIATION = 10.0  # of coefficients around their start: of no weight unless the data would let them run away
CLOSE = 1e-7  # nats still to be gained: coefficients are then within a thousandth of their standard errors
NEVER = 1e-4
SMALLEST_VARIANCE = 1e-24  # of the mean of a map that gives every row the same probability
LARGEST_LOGIT = 36.0  # of the double next to 1


class CannotFitError(InputError):
    """No straight line through these scores is better than all others."""


class LogisticFit(NamedTuple):
    """Coefficients and their covariance (sandwich: valid where the true map is not of this form, too)."""

    coefficients: Floats
    covariance: Floats


def logits_of(scores: Floats, scores_are: str = "probability") -> Floats:
    """Logits within the range of doubles; logits and ranks are taken as they are."""
    if scores_are == "probability":
        with np.errstate(divide="ignore"):
            scores = np.log(scores) - np.log1p(-scores)
        return np.clip(scores, -LARGEST_LOGIT, LARGEST_LOGIT)
    return np.asarray(scores, float)


def check_spread(scores: Floats, needed_by: str, scores_are: str = "probability") -> None:
    """A slope needs two different logits; scores of exactly 0 and 1 have none."""
    values = np.asarray(scores, float)
    finite = values[(values > 0) & (values < 1)] if scores_are == "probability" else values
    if np.unique(finite).size >= 2:
        return
    what = "different scores strictly between 0 and 1" if scores_are == "probability" else "different scores"
    seen = listed(np.unique(values).tolist(), limit=4)
    raise CannotFitError(
        f"{needed_by} fits a line through the logits of the scores and needs at least two {what}; the scores are "
        f"{seen}. Recalibrate with 'isotonic' or 'histogram', which need no line."
    )


def fit_logistic(design: Floats, points: Points, start: Floats, *, right_mean: bool = True) -> LogisticFit:
    """Maximise the likelihood over linear maps of the design's columns (one row per score of ``points``).

    ``right_mean=False`` leaves out the penalty on a wrong mean, for families that have no intercept to move it with:
    there the penalty would trade the shape of the map for its mean.
    """
    design, points = _grouped(design, points)
    try:
        free = _climb(design, points, start, start, math.inf)
        if not right_mean:
            return LogisticFit(*free)
        share = expit(design @ free[0])
        mean = float(points.population @ share)
        variance = max(float(points.population @ (share - mean) ** 2) / points.rows, SMALLEST_VARIANCE)
        return LogisticFit(*_climb(design, points, free[0], start, variance))
    except np.linalg.LinAlgError as error:
        raise CannotFitError(
            f"the likelihood of the labels has no highest point over straight lines through {points.scores.size:,} "
            "different scores: they separate labelled and unlabelled rows completely, or are too few for a slope. "
            "Recalibrate with 'isotonic' or 'histogram', which need no line."
        ) from error


def held_out_likelihood(points: Points) -> float:
    """Log-likelihood per row of the labels where the scores themselves are the probabilities.

    Scores are kept a little away from 0 and 1: one labelled row at a score of 0 would otherwise decide everything.
    """
    share = np.clip(points.scores, NEVER, 1 - NEVER)
    return _likelihood(points, share)[0] / float(points.counts.sum())


def _grouped(design: Floats, points: Points) -> tuple[Floats, Points]:
    """Neighbouring scores taken together where there are very many: their mean stands for them.

    A group spans at most one part in ``GROUPS`` of the range of the logits and one of the scores' number, so what it
    hides is smaller than the coefficients' standard errors by orders of magnitude.
    """
    rows = points.scores.size
    if rows <= 2 * GROUPS:
        return design, points
    key = design.sum(axis=1)
    span = float(key[-1] - key[0]) or 1.0
    cell = np.floor((key - key[0]) * (GROUPS / span)).astype(np.int64)
    piece = np.arange(rows) * GROUPS // rows
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(cell) != 0) | (np.diff(piece) != 0)]))
    weight = points.counts.sum(axis=0)
    total = np.add.reduceat(weight, starts)
    means = np.add.reduceat(design * weight[:, None], starts, axis=0) / total[:, None]
    return means, points._replace(
        scores=points.scores[starts],
        counts=np.add.reduceat(points.counts, starts, axis=1),
        positive=np.add.reduceat(points.positive, starts),
        population=np.add.reduceat(points.population, starts),
    )


def _climb(
    design: Floats, points: Points, theta: Floats, start: Floats, variance: float, steps: int = 200
) -> tuple[Floats, Floats]:
    """Fisher scoring with step halving, from ``theta``; gives the coefficients and their covariance."""
    largest = float(np.abs(design).max(initial=0.0))
    if largest > LARGEST_SCORE:
        raise InputError(
            f"scores of up to {largest:.3g} are too large for a map of their logits: divide them by a number, which "
            f"keeps their order, or fit isotonic. Squares of scores above {LARGEST_SCORE:g} cannot be added up."
        )
    # in units of each column's spread, so that scores which only rank may have any scale
    spread = np.array([float(np.std(column)) or 1.0 for column in design.T])
    penalty = np.diag((spread / PRIOR_DEVIATION) ** 2)

    def objective(at: Floats) -> tuple[float, Floats, Floats]:
        share = expit(design @ at)
        value, slopes, weight = _likelihood(points, share)
        excess = float(points.population @ share) - points.class_prior
        moment = design.T @ (points.population * share * (1 - share))
        away = at - start
        value -= float(away @ penalty @ away) / 2 + excess**2 / (2 * variance)
        gradient = design.T @ (slopes * points.counts).sum(axis=0) - penalty @ away - moment * (excess / variance)
        information = (design * weight[:, None]).T @ design + penalty + np.outer(moment, moment) / variance
        return value, gradient, information

    value, gradient, information = objective(theta)
    rounding = 1e-13 * abs(value)
    for _ in range(steps):
        step = np.linalg.solve(information, gradient)
        gain = float(gradient @ step)
        if gain < CLOSE:
            break
        scale = 1.0
        while scale > 1e-8:
            tried = objective(theta + scale * step)
            if tried[0] >= value + 1e-4 * scale * gain - rounding:
                break
            scale /= 2
        else:
            break  # rounding: no step raises the likelihood any more
        theta = theta + scale * step
        value, gradient, information = tried
    return theta, _sandwich(design, points, theta, information, variance)


def _likelihood(points: Points, share: Floats) -> tuple[float, Floats, Floats]:
    """Log-likelihood, its slope in the logit for a row of each kind (kind, score), Fisher's information per score."""
    fixed, rising = points.intensity
    # the rate of a row that is surely negative and of one surely positive, mixed: neither is below zero, so nothing
    # cancels where the share rounds to 1
    rates = np.maximum(np.outer(fixed, 1 - share) + np.outer(np.maximum(fixed + rising, 0.0), share), 1e-300)
    everyone = rates.sum(axis=0)
    chances = rates / everyone
    present = points.counts.sum(axis=1) > 0
    value = float(sum(points.counts[k] @ np.log(chances[k]) for k in np.flatnonzero(present)))
    # the shares first: a rate may be so small that a quotient without them lies beyond the doubles
    either = share * (1 - share)
    slopes = either * rising[:, None] / rates - either * rising.sum() / everyone
    slopes[~present] = 0.0
    return value, slopes, points.counts.sum(axis=0) * (chances * slopes**2).sum(axis=0)


def _sandwich(design: Floats, points: Points, theta: Floats, information: Floats, variance: float) -> Floats:
    """Covariance with the observed spread of the slopes within each kind, whose number of rows is fixed.

    Each row's deviation goes through the inverse information before it is squared: written as a sum of squares no
    variance can come out below zero, however much the terms cancel.
    """
    share = expit(design @ theta)
    _, slopes, _ = _likelihood(points, share)
    moment = design.T @ (points.population * share * (1 - share)) / variance
    inverse = np.linalg.inv(information)
    covariance: Floats = np.zeros_like(information)
    for counts, slope, mass in zip(points.counts, slopes, points.row_mass, strict=True):
        total = counts.sum()
        if total:
            each = design * slope[:, None] - np.outer(mass * share, moment)
            away = (each - counts @ each / total) @ inverse
            covariance += (away * counts[:, None]).T @ away
    return covariance
