"""The Brier score without negatives, and its parts: calibration, resolution, uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.answer import Answer
from pulens.calibration._risk import mean_estimate
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.calibration.probabilities import calibration_evidence
from pulens.cells import gather_within
from pulens.estimate import Estimate
from pulens.inputs.reading import said
from pulens.keywords import hands_on
from pulens.types import Column, LabelValues


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


@hands_on(gather_within)
def brier_score(
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
    **options: Any,
) -> ProperScore:
    r"""Mean squared difference between probability and class, from positives and unlabelled rows.

    .. math:: E[(f - Y)^2] = E[f^2] + \pi\,E[1 - 2f \mid Y = 1]

    the unbiased PU risk (the PU-ECE paper, equation 2) of the squared loss. With :math:`p_b, \bar f_b, \hat y_b` of the
    bins as in :func:`reliability`, the parts are :math:`\sum_b p_b(\bar f_b - \hat y_b)^2` (calibration),
    :math:`\sum_b p_b(\hat y_b - \pi)^2` (resolution) and :math:`\pi(1-\pi)` (uncertainty): Murphy (1973).

    >>> options = {"class_prior": 0.25, "scenario": "case-control", "bins": 2}
    >>> score = brier_score([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], **options)
    >>> round(score.value, 6), round(score.decomposition.total, 6)
    (0.1, 0.1)
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    f = np.asarray(evidence.tally.thresholds, float)
    found = mean_estimate("brier_score", evidence, 1 - 2 * f, f * f, confidence)
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
    within = found.value - (calibration - resolution + uncertainty)
    parts = Decomposition(calibration, resolution, uncertainty, within)
    return ProperScore(found.metric, found.value, found.interval, sources=found.sources, decomposition=parts)
