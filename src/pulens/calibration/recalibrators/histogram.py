"""Histogram binning (Zadrozny & Elkan 2001): each bin of scores gets its recovered share of positives."""

from __future__ import annotations

import numpy as np

from pulens.calibration._risk import Points
from pulens.calibration.binning import optimal_bins
from pulens.calibration.calibration_map import CalibrationMap, Recalibrator


def fit_histogram(points: Points, scores_are: str) -> CalibrationMap:
    """Bins of equal mass, as many as Corollary 1 of the PU-ECE paper recommends; shares are clipped to [0, 1]."""
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


RECALIBRATOR = Recalibrator(
    fit_histogram, "Each bin of scores gets its recovered share of positives", ("probability", "logit", "rank")
)
