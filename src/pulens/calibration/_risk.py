r"""Expectations over the population, from labelled and unlabelled rows.

For any loss, :math:`E[\ell(f, Y)] = E[\ell(f,0)] + \pi E[\ell(f,1) - \ell(f,0) \mid Y = 1]`: a mean over everyone
plus a mean over positives (the unbiased PU risk, the PU-ECE paper, equation 2). Both are linear in the rates of the
three kinds of rows, so value and variance follow from one pass over the distinct scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pulens.calibration._replicated import error_of_mean
from pulens.calibration._within import uncertainty_of_scores
from pulens.calibration.masses import MassMap
from pulens.confidence import check_confidence
from pulens.counts.tally import Tally
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.inference.normal import normal_interval
from pulens.metrics.parts.rests_on import BASIS
from pulens.selection import moved_interval
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
    confidence, doubt = check_confidence(confidence), uncertainty_of_scores(evidence)

    def at(setting: Any, rows: Evidence = evidence) -> tuple[float, float]:
        own, share = rows.at_prior(setting)
        masses = MassMap.of(own.tally.totals, own.assumptions_at(share))
        value, variance = recovered_mean(own.tally, masses, of_positive, of_everyone)
        if rows is not evidence:  # another labelling, of which the value alone is asked for
            return value, math.nan
        return value, error_of_mean(own, of_positive, of_everyone, share, math.sqrt(variance), confidence)

    if evidence.has_too_few_clusters:
        return Estimate(name, at(doubt.own_setting)[0])
    interval, sources = normal_interval(doubt, at, confidence)
    value = at(doubt.own_setting)[0]
    moved = moved_interval(evidence, interval, value, lambda rows: at(doubt.own_setting, rows)[0])
    return Estimate(name, value, moved, sources=sources, basis=BASIS[evidence.labelling])
