"""The Brier score without negatives, and its parts: calibration, resolution, uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.answer import Answer
from pulens.calibration._risk import mean_estimate
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.calibration.probabilities import calibration_evidence
from pulens.estimate import Estimate
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords
from pulens.selection.gathering import gather_labelled
from pulens.types import Clusters, Column, LabelValues, RowsLike, Values


@dataclass(frozen=True, slots=True)
class Decomposition(Answer):
    """A proper score as calibration - resolution + uncertainty + within bins; the four add up to it exactly.

    ``calibration`` is what better probabilities would save, ``resolution`` what the bins tell about the class,
    ``uncertainty`` the score of always saying the class prior, ``within_bins`` what the bins hide. Calibration and
    resolution are both biased upwards in small samples, by about the same amount.
    """

    calibration: float
    resolution: float
    uncertainty: float
    within_bins: float

    @property
    def total(self) -> float:
        return self.calibration - self.resolution + self.uncertainty + self.within_bins


@dataclass(frozen=True, slots=True)
class ProperScore(Estimate):
    """A proper score's estimate with its decomposition."""

    decomposition: Decomposition | None = None

    def to_dict(self) -> dict[str, Any]:
        parts = None if self.decomposition is None else self.decomposition.to_dict()
        return {**Estimate.to_dict(self), "decomposition": parts}


@forwards_keywords(gather_labelled)
def brier_score(
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
    **options: Any,
) -> ProperScore:
    r"""Mean squared difference between probability and class, from positives and unlabelled rows.

    .. math:: E[(f - Y)^2] = E[f^2] + \pi\,E[1 - 2f \mid Y = 1]

    the unbiased PU risk (the PU-ECE paper, equation 2) of the squared loss. With :math:`p_b, \bar f_b, \hat y_b` of the
    bins as in :func:`reliability`, the parts are :math:`\sum_b p_b(\bar f_b - \hat y_b)^2` (calibration),
    :math:`\sum_b p_b(\hat y_b - \pi)^2` (resolution) and :math:`\pi(1-\pi)` (uncertainty): Murphy (1973).

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
    options
        ``class_prior`` and the other assumptions of :func:`pulens.evaluate`.

    Returns
    -------
    ProperScore
        The score with its interval, and its ``decomposition``.

    Examples
    --------
    >>> options = {"class_prior": 0.25, "scenario": "case-control", "bins": 2, "labelling": "random"}
    >>> score = brier_score([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], **options)
    >>> round(score.value, 6), round(score.decomposition.total, 6)
    (0.1, 0.1)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(brier_score(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2))
    brier_score 0.134 [0.065, 0.199]
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    f = np.asarray(evidence.tally.thresholds, float)
    result = mean_estimate("brier_score", evidence, 1 - 2 * f, f * f, confidence)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    counted = count_bins(evidence.tally, choose_edges(evidence, binning=binning, bins=bins))
    population = counted.population_mass(masses)
    filled = population > 0
    share = population[filled]
    fraction = counted.positive_mass(masses)[filled] / share
    promised = counted.score_mass(masses)[filled] / share
    prior = masses.class_prior
    calibration = float(share @ (promised - fraction) ** 2)
    resolution = float(share @ (fraction - prior) ** 2)
    uncertainty = prior * (1 - prior)
    within = result.value - (calibration - resolution + uncertainty)
    parts = Decomposition(calibration, resolution, uncertainty, within)
    return ProperScore(result.metric, result.value, result.interval, sources=result.sources, decomposition=parts)
