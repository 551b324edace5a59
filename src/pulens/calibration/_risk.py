r"""Expectations over the population, from labelled and unlabelled rows.

For any loss, :math:`E[\ell(f, Y)] = E[\ell(f,0)] + \pi E[\ell(f,1) - \ell(f,0) \mid Y = 1]`: a mean over everyone
plus a mean over positives (the unbiased PU risk, the PU-ECE paper, equation 2). Both are linear in the rates of the
three kinds of rows, so value and variance follow from one pass over the distinct scores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pulens.calibration._clustered import error_of_mean, student_factor
from pulens.calibration._within import error_within, over_settings
from pulens.calibration.masses import MassMap
from pulens.cells import WeightedEvidence
from pulens.confidence import check_confidence
from pulens.counts.tally import Tally
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.intervals.kernels.quantiles import normal_quantile
from pulens.intervals.normal import normal_interval
from pulens.intervals.prior_doubt import PriorDoubt
from pulens.types import Floats

TINY = 1e-12


class Points(NamedTuple):
    """What stands at each distinct score, lowest score first: rows of each kind, recovered masses.

    ``intensity`` holds, for each kind of row, a constant and a coefficient: where the probability of being positive
    is p, rows of the kind are found in proportion to constant + coefficient * p.
    """

    scores: Floats
    counts: Floats  # (kind, score)
    positive: Floats
    population: Floats
    intensity: tuple[Floats, Floats]
    row_mass: Floats  # what one row of each kind adds to the population's mass
    class_prior: float
    rows: float  # rows of the sample of the population

    @classmethod
    def of(cls, evidence: Evidence) -> Points:
        totals, assumptions = evidence.tally.totals, evidence.assumptions
        masses = MassMap.of(totals, assumptions)
        counts = np.array([kind[::-1] for kind in evidence.tally.increments()], float)
        sizes = np.array([total or 1.0 for total in totals])
        positive, population = (np.array(which) / sizes @ counts for which in (masses.positive, masses.population))
        prior = min(max(masses.class_prior, TINY), 1 - TINY)
        unlabelled = prior if masses.unlabelled_only else assumptions.unlabelled_prior
        purity = np.array([assumptions.labelled_purity, unlabelled, 0.0])
        fixed = np.array(totals) * (1 - purity) / (1 - prior)
        rising = np.array(totals) * purity / prior - fixed
        rising[np.abs(rising) < TINY * sizes] = 0.0
        rows = totals.unlabelled if masses.unlabelled_only else totals.rows
        scores = np.asarray(evidence.tally.thresholds[::-1], float)
        row_mass = np.array(masses.population) / sizes
        return cls(scores, counts, positive, population, (fixed, rising), row_mass, masses.class_prior, rows)


def recovered_mean(tally: Tally, masses: MassMap, of_positive: Floats, of_everyone: Floats) -> tuple[float, float]:
    """Mean of ``of_everyone`` over the population plus ``of_positive`` over its positives, and its variance.

    Both arrays hold one value per threshold of the tally, in its order.
    """
    value = variance = 0.0
    for kind, (counts, total) in enumerate(zip(tally.increments(), tally.totals, strict=True)):
        if not total:
            continue
        each = masses.positive[kind] * of_positive + masses.population[kind] * of_everyone
        mean = float(counts @ each) / total
        value += mean
        variance += max(float(counts @ (each - mean) ** 2), 0.0) / total**2
    return value, variance


def mean_estimate(
    name: str, evidence: Evidence, of_positive: Floats, of_everyone: Floats, confidence: float
) -> Estimate:
    """The expectation with a normal interval that carries the doubt about the class prior."""
    confidence = check_confidence(confidence)
    if isinstance(evidence, WeightedEvidence):
        return over_settings(evidence, lambda one: _mean_within(name, one, of_positive, of_everyone, confidence))
    totals = evidence.tally.totals

    def at(unlabelled_prior: float) -> tuple[float, float]:
        masses = MassMap.of(totals, evidence.assumptions_at(unlabelled_prior))
        value, variance = recovered_mean(evidence.tally, masses, of_positive, of_everyone)
        if evidence.buckets is None:
            return value, math.sqrt(variance)
        error = error_of_mean(evidence, of_positive, of_everyone, unlabelled_prior)
        return value, error * student_factor(evidence, confidence)

    if evidence.buckets is not None and math.isnan(student_factor(evidence)):
        return Estimate(name, at(evidence.class_prior.unlabelled)[0])

    interval, sources = normal_interval(PriorDoubt(evidence), at, confidence)
    return Estimate(name, at(evidence.class_prior.unlabelled)[0], interval, sources=sources)


def _mean_within(
    name: str, evidence: Evidence, of_positive: Floats, of_everyone: Floats, confidence: float
) -> Estimate:
    """The same within cells, at one setting of their class priors."""
    assert isinstance(evidence, WeightedEvidence)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    value, _ = recovered_mean(evidence.tally, masses, of_positive, of_everyone)
    if evidence.has_too_few_clusters:
        return Estimate(name, value)
    reach = normal_quantile(confidence) * error_within(evidence, of_positive, of_everyone, confidence)
    method = "normal, within cells" if not evidence.is_clustered else "delete-a-bucket jackknife, within cells"
    interval = Interval(value - reach, value + reach, confidence, method)
    return Estimate(name, value, interval, sources={"sample": interval})
