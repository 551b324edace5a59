"""The log loss without negatives, and its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.brier import Decomposition, ProperScore
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.calibration.probabilities import calibration_evidence
from pulens.cells import gather_within
from pulens.errors import PulensError, shown
from pulens.inputs.reading import said
from pulens.keywords import hands_on
from pulens.scalars import real
from pulens.types import Column, Floats, LabelValues

CLIP = float(np.finfo(np.float64).eps)  # scikit-learn's choice: a score of 0 or 1 costs at most 36 nats


@hands_on(gather_within)
def log_loss(
    labels: Any,
    scores: Any = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Any = None,
    binning: str = "mass",
    bins: int | str | None = None,
    scores_are: str = "probability",
    confidence: float = 0.95,
    clip: float = CLIP,
    **options: Any,
) -> ProperScore:
    r"""Mean surprise in nats about the class, from positives and unlabelled rows.

    .. math:: E[-\ln(1-f)] + \pi\,E[\ln(1-f) - \ln f \mid Y = 1]

    the unbiased PU risk (the PU-ECE paper, equation 2) of the logistic loss. Scores are kept ``clip`` away from 0 and
    1. The parts use the Kullback-Leibler divergence from a bin's share of positives to its mean score (calibration) and
    to the class prior (resolution), and the entropy of the class prior (uncertainty); shares outside [0, 1] are
    clipped for them.

    >>> options = {"class_prior": 0.25, "scenario": "case-control", "bins": 2}
    >>> score = log_loss([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], **options)
    >>> round(score.value, 6), round(score.decomposition.total, 6)
    (0.320239, 0.320239)
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    given, clip = clip, real(clip)
    if not 0 < clip < 0.5:
        raise PulensError(f"clip must lie strictly between 0 and 0.5, got {shown(given)}.")
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    f = np.clip(np.asarray(evidence.tally.thresholds, float), clip, 1 - clip)
    unlikely = -np.log1p(-f)
    found = mean_estimate("log_loss", evidence, -np.log(f) - unlikely, unlikely, confidence)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    counted = count_bins(evidence.tally, choose_edges(evidence, binning=binning, bins=bins))
    population = counted.population_mass(masses)
    filled = population > 0
    share = population[filled]
    fraction = np.clip(counted.positive_mass(masses)[filled] / share, 0.0, 1.0)
    promised = np.clip(counted.score_mass(masses)[filled] / share, clip, 1 - clip)
    prior = np.full_like(share, min(max(masses.class_prior, clip), 1 - clip))
    calibration = float(share @ divergence(fraction, promised))
    resolution = float(share @ divergence(fraction, prior))
    uncertainty = -float(prior[0] * np.log(prior[0]) + (1 - prior[0]) * np.log1p(-prior[0]))
    within = found.value - (calibration - resolution + uncertainty)
    parts = Decomposition(calibration, resolution, uncertainty, within)
    return ProperScore(found.metric, found.value, found.interval, sources=found.sources, decomposition=parts)


def divergence(fraction: Floats, promised: Floats) -> Floats:
    """Kullback-Leibler divergence between coins, in nats."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(fraction, promised) + rel_entr(1 - fraction, 1 - promised), float)
