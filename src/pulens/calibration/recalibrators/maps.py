"""Maps from scores to true probabilities: lines through the logits, and steps and lines that rise with the score."""

from __future__ import annotations

import numpy as np

from pulens.calibration._isotonic import isotonic_shares
from pulens.calibration._likelihood import LARGEST_LOGIT, CannotFitError, check_spread, fit_logistic, logits_of
from pulens.calibration._risk import Points
from pulens.calibration.binning import optimal_bins
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator, log_sides
from pulens.catalogue import Declared
from pulens.errors import listed

ANY = ("probability", "logit", "rank")
RECALIBRATOR = Declared(Recalibrator)


@RECALIBRATOR("The best map among all that rise with the score", reads=ANY)
def isotonic(points: Points, scores_are: str) -> CalibrationMap:
    """Rising shares of positives by the PU risk with the squared loss; straight lines between the blocks."""
    shares = isotonic_shares(points)
    turns = np.flatnonzero(np.diff(shares) != 0)
    kept = np.unique(np.concatenate([[0], turns, turns + 1, [shares.size - 1]]))  # both ends of every block
    return CalibrationMap(
        "isotonic", scores_are, knots=tuple(points.scores[kept].tolist()), shares=tuple(shares[kept].tolist())
    )


@RECALIBRATOR("Each bin of scores gets its recovered share of positives", reads=ANY)
def histogram(points: Points, scores_are: str) -> CalibrationMap:
    """Each bin of scores gets its recovered share of positives, clipped to [0, 1] (Zadrozny & Elkan 2001).

    Bins are of equal mass, and as many as Corollary 1 of the PU-ECE paper recommends.
    """
    prior = min(max(points.class_prior, 1e-6), 1.0)
    wanted = max(1, min(optimal_bins(prior, points.counts[0].sum(), points.rows), int(points.rows // 2)))
    running = np.cumsum(points.population)
    ends = np.unique(np.searchsorted(running, np.arange(1, wanted) / wanted * running[-1] * (1 - 1e-12)))
    ends = ends[ends < points.scores.size - 1]
    starts = np.concatenate([[0], ends + 1])
    positive = np.add.reduceat(points.positive, starts)
    population = np.add.reduceat(points.population, starts)
    shares = np.divide(positive, population, out=np.ones_like(positive), where=population > 0)
    knots = points.scores[np.concatenate([ends, [points.scores.size - 1]])]
    clipped = np.clip(shares, 0.0, 1.0)
    return CalibrationMap(
        "histogram", scores_are, knots=tuple(knots.tolist()), shares=tuple(clipped.tolist()), steps=True
    )


@RECALIBRATOR("A straight line through the logits", reads=ANY)
def platt(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(a + b\,\mathrm{logit}\,s)` by the likelihood of the labels; a mere rank is its own logit."""
    check_spread(points.scores, "'platt'", scores_are)
    logits = logits_of(points.scores, scores_are)
    design = np.column_stack([np.ones_like(logits), logits])
    prior = min(max(points.class_prior, 1e-12), 1 - 1e-12)
    start = np.array([0.0, 1.0]) if scores_are != "rank" else np.array([np.log(prior / (1 - prior)), 0.0])
    fit = fit_logistic(design, points, start)
    return CalibrationMap("platt", scores_are, tuple(fit.coefficients.tolist()))


@RECALIBRATOR("Three parameters, which bend the two ends of the scale separately")
def beta(points: Points, scores_are: str) -> CalibrationMap:
    r""":math:`\sigma(c + a\ln s - b\ln(1-s))` with :math:`a, b \ge 0`, by the likelihood of the labels.

    The two ends of the scale are bent apart (Kull et al. 2017).
    """
    check_spread(points.scores, "'beta'", scores_are)
    low, high = log_sides(points.scores, scores_are)
    columns = {"both": [low, high], "low": [low], "high": [high], "none": []}
    chosen: tuple[float, ...] = ()
    for which, used in columns.items():
        design = np.column_stack([np.ones_like(low), *used])
        start = np.concatenate([[0.0], np.ones(len(used))])
        fit = fit_logistic(design, points, start)
        slopes = fit.coefficients[1:]
        if (slopes >= 0).all():  # a negative slope would turn the order round: leave that end out, as Kull et al. do
            a = slopes[0] if which in ("both", "low") else 0.0
            b = slopes[-1] if which in ("both", "high") else 0.0
            chosen = (float(fit.coefficients[0]), float(a), float(b))
            break
    return CalibrationMap("beta", scores_are, chosen)


@RECALIBRATOR("All logits divided by one temperature")
def temperature(points: Points, scores_are: str) -> CalibrationMap:
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
