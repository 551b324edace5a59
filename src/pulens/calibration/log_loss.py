"""The log loss without negatives, and its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.brier import Decomposition, ProperScore
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.calibration.probabilities import calibration_evidence
from pulens.errors import PulensError, shown
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords
from pulens.scalars import real
from pulens.selection.gathering import gather_labelled
from pulens.types import Clusters, Column, Floats, LabelValues, RowsLike, Values

CLIP = float(np.finfo(np.float64).eps)  # scikit-learn's choice: a score of 0 or 1 costs at most 36 nats


@forwards_keywords(gather_labelled)
def log_loss(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
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

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table, file or database alone, as for :func:`pulens.evaluate`.
    score, label, positive, negative, unlabelled, cluster
        Columns of a table, and what its label values mean, as for :func:`pulens.evaluate`.
    binning, bins
        ``"mass"``: bins with equal shares of the population, ``"width"``: of equal width; and how many.
    scores_are
        ``"probability"``, or ``"logit"`` for scores that the logistic function turns into probabilities.
    confidence
        Level of the intervals.
    clip
        How far scores are kept from 0 and 1.
    options
        ``class_prior`` and the other assumptions of :func:`pulens.evaluate`.

    Returns
    -------
    ProperScore
        The score with its interval, and its ``decomposition``.

    Examples
    --------
    >>> options = {"class_prior": 0.25, "scenario": "case-control", "bins": 2, "labelling": "random"}
    >>> score = log_loss([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], **options)
    >>> round(score.value, 6), round(score.decomposition.total, 6)
    (0.320239, 0.320239)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(log_loss(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2))
    log_loss 0.409 [0.205, 0.623]
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
    result = mean_estimate("log_loss", evidence, -np.log(f) - unlikely, unlikely, confidence)
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
    within = result.value - (calibration - resolution + uncertainty)
    parts = Decomposition(calibration, resolution, uncertainty, within)
    return ProperScore(result.metric, result.value, result.interval, sources=result.sources, decomposition=parts)


def divergence(fraction: Floats, promised: Floats) -> Floats:
    """Kullback-Leibler divergence between coins, in nats."""
    from pulens.special import rel_entr

    return np.asarray(rel_entr(fraction, promised) + rel_entr(1 - fraction, 1 - promised), float)
