"""Calibration where labels are random within cells only: what is not linear in the masses of the cells.

Values come from the weighted tally of :class:`pulens.strata.WeightedEvidence`, through the formulas for one tally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pulens.calibration._replicated import blocks_in_bins, replicates_of
from pulens.calibration.masses import BinCounts, MassMap, count_bins
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.inference.clustered import ends_around
from pulens.inference.kernels.jackknife import student_quantile
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.prior_uncertainty import KnownOfPrior, known_of_prior
from pulens.strata import WeightedEvidence
from pulens.strata.rates import positives_of, pseudo_count
from pulens.types import Floats

FRACTIONS_DRAWN = 1000


def errors_of_fits(
    evidence: WeightedEvidence, fit: Callable[[Evidence], Any], confidence: float, most: int = 200
) -> Floats:
    """Standard errors, as wide as Student's, of numbers that have to be fitted to each replicate."""
    result = replicates_of(evidence, redraws=most)
    assert result is not None  # of strata there always are
    values = []
    for positive, population in zip(result.positive, result.population, strict=True):
        prior = float(positive[-1])
        labelled = np.maximum.accumulate(positive / max(prior, 1e-12)) * evidence.tally.totals.labelled
        listed = np.maximum.accumulate(population) * evidence.tally.totals.unlabelled
        tally = Tally(result.thresholds.copy(), labelled, listed, np.zeros(listed.size))
        share = replace(evidence.class_prior, value=prior, unlabelled=prior)
        values.append(fit(Evidence(tally, share, 0.0, evidence.scenario)))
    each = np.array(values, float)
    known = ~np.isnan(each).any(axis=1)
    kept = replace(result, weights=result.weights[known])
    return np.asarray(kept.error(each[known])) * result.times_as_wide(confidence)


def fractions_within(
    evidence: WeightedEvidence, counted: BinCounts, shares: Floats, confidence: float, seed: int
) -> tuple[Floats, Floats]:
    """Interval of each bin's share of positives: rates of cells drawn with a borrowed row, or buckets left out."""
    if evidence.cells.priors.treatment == "range":
        ways = [_way(one, counted, confidence, seed) for one in evidence.settings(mean_scores(evidence))]
        low, high = np.min([way[0] for way in ways], axis=0), np.max([way[1] for way in ways], axis=0)
        return np.fmin(low, np.clip(shares, 0.0, 1.0)), np.fmax(high, np.clip(shares, 0.0, 1.0))
    tail = (1 - confidence) / 2
    if evidence.is_clustered:
        low, high = _left_out_fractions(evidence, counted, shares, tail)
    else:
        low, high = np.nanquantile(_drawn_fractions(evidence, counted, seed), [tail, 1 - tail], axis=0)
    return np.clip(np.fmin(low, shares), 0.0, 1.0), np.clip(np.fmax(high, shares), 0.0, 1.0)


def _way(evidence: WeightedEvidence, counted: BinCounts, confidence: float, seed: int) -> tuple[Floats, Floats]:
    """At one setting of a range."""
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    here = count_bins(evidence.tally, counted.edges)
    population = here.population_mass(masses)
    nothing = np.full(counted.bins, np.nan)
    shares = np.divide(here.positive_mass(masses), population, out=nothing, where=population > 0)
    return fractions_within(evidence, counted, shares, confidence, seed)


def uncertainty_of_scores(evidence: Evidence) -> KnownOfPrior:
    """What is known of the class prior, or of those of strata, which extreme splits fill in order of mean scores."""
    return known_of_prior(evidence, mean_scores)


def mean_scores(evidence: Any) -> Floats:
    """Mean score of every cell's labelled rows, in whose order extreme splits fill them."""
    result = []
    for tally in evidence.cells.cells.tallies:
        labelled = np.asarray(tally.increments()[0], float)
        total = labelled.sum()
        result.append(float(labelled @ np.asarray(tally.thresholds, float)) / total if total else math.nan)
    mean = np.array(result)
    return np.where(np.isnan(mean), np.nanmean(mean), mean)


def _in_bins(evidence: WeightedEvidence, edges: Floats) -> Floats:
    """Rows of every cell, kind and bin."""
    return np.stack([count_bins(tally, edges).counts for tally in evidence.cells.cells.tallies])


def _drawn_fractions(
    evidence: WeightedEvidence, counted: BinCounts, seed: int, redraws: int = FRACTIONS_DRAWN
) -> Floats:
    cells, totals = evidence.cells, evidence.cells.cells.totals
    inside = _in_bins(evidence, counted.edges)
    rng = np.random.Generator(np.random.PCG64([seed, 53]))
    many, bins = len(totals), counted.bins
    rates = np.zeros((redraws, many, 3, bins))
    for kind in range(3):
        if not totals[:, kind].any():
            continue
        for index in range(bins):
            hits = inside[:, kind, index]
            own = pseudo_count(hits, totals[:, kind])
            rates[:, :, kind, index] = rng.beta(hits + own, totals[:, kind] - hits + 1 - own, (redraws, many))
    weight = rng.standard_gamma(np.where(totals > 0, totals + 0.5, 0.0), (redraws, many, 3))
    if not cells.is_single:
        weight[:, :, [0, 2]] = 0.0
    share = weight / weight.sum(axis=(1, 2), keepdims=True)
    draws = cells.priors.draws
    alpha = cells.priors.shares[None] if draws is None else draws[np.arange(redraws) % len(draws)]
    held = positives_of(cells, share, alpha)
    first, second = (np.broadcast_to(each, held.shape) for each in cells.coefficients(alpha))
    recall = first[:, :, None] * rates[:, :, 0]
    if cells.label_noise:
        recall = recall + second[:, :, None] * rates[:, :, 1]
    positive = np.einsum("rc,rcb->rb", held, recall)
    population = np.einsum("rck,rckb->rb", share, rates)
    return np.asarray(np.divide(positive, population, out=np.full(population.shape, np.nan), where=population > 0))


def _left_out_fractions(
    evidence: WeightedEvidence, counted: BinCounts, shares: Floats, tail: float
) -> tuple[Floats, Floats]:
    result = replicates_of(evidence, counted.edges)
    assert result is not None
    positive, population = (each @ blocks_in_bins(result, counted) for each in result.between())
    ratio = np.divide(positive, population, out=np.broadcast_to(shares, positive.shape).copy(), where=population > 0)
    errors = result.error(np.nan_to_num(ratio))
    reach = student_quantile(result.freedom, tail), normal_quantile(1 - 2 * tail)
    buckets = 0 if evidence.by_bucket is None else evidence.by_bucket.fewest
    ends = [
        ends_around(float(np.clip(share, 0.0, 1.0)), float(error), tail, reach, buckets, float(rows))
        if not math.isnan(share)
        else (math.nan, math.nan)
        for share, error, rows in zip(shares, errors, np.maximum(counted.counts.sum(axis=0), 1.0), strict=True)
    ]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])
