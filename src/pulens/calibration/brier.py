"""The Brier score without negatives, and its parts: calibration, resolution, uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.answer import Answer
from pulens.calibration._risk import mean_estimate
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.calibration.statistic import of_rows
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.types import Floats


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


@of_rows
def brier_score(
    evidence: Evidence, *, binning: str = "mass", bins: int | str | None = None, confidence: float = 0.95
) -> ProperScore:
    r"""Mean squared difference between probability and class, from positives and unlabelled rows.

    .. math:: E[(f - Y)^2] = E[f^2] + \pi\,E[1 - 2f \mid Y = 1]

    the unbiased PU risk (the PU-ECE paper, equation 2) of the squared loss. With :math:`p_b, \bar f_b, \hat y_b` of the
    bins as in :func:`reliability`, the parts are :math:`\sum_b p_b(\bar f_b - \hat y_b)^2` (calibration),
    :math:`\sum_b p_b(\hat y_b - \pi)^2` (resolution) and :math:`\pi(1-\pi)` (uncertainty): Murphy (1973).

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
    f = np.asarray(evidence.tally.thresholds, float)

    def parts(share: Floats, fraction: Floats, promised: Floats, prior: float) -> tuple[float, float, float]:
        calibration, resolution = ((share @ each**2) for each in (promised - fraction, fraction - prior))
        return float(calibration), float(resolution), prior * (1 - prior)

    result = mean_estimate("brier_score", evidence, 1 - 2 * f, f * f, confidence)
    return decomposed(result, evidence, choose_edges(evidence, binning=binning, bins=bins), parts)


def decomposed(
    result: Estimate, evidence: Evidence, edges: Floats, parts: Callable[..., tuple[float, float, float]]
) -> ProperScore:
    """A proper score with its parts, of each bin's share of the population, of positives in it, and mean score."""
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    counted = count_bins(evidence.tally, edges)
    population = counted.population_mass(masses)
    filled = population > 0
    share = population[filled]
    fraction, promised = (mass[filled] / share for mass in (counted.positive_mass(masses), counted.score_mass(masses)))
    calibration, resolution, uncertainty = parts(share, fraction, promised, masses.class_prior)
    within = result.value - (calibration - resolution + uncertainty)
    given = Decomposition(calibration, resolution, uncertainty, within)
    return ProperScore(result.metric, result.value, result.interval, sources=result.sources, decomposition=given)
