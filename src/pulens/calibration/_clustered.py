"""Calibration of rows that belong together: every number without one bucket of clusters at a time."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

from pulens.calibration._gaps import BinGaps, ReplicatedGaps
from pulens.calibration._within import error_within, gaps_within
from pulens.calibration.masses import BinCounts, MassMap
from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Totals
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import (
    FEWEST_BUCKETS,
    freedom_of_totals,
    jackknife_error,
    student_quantile,
)
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.prior_draws import PriorDraws
from pulens.strata import WeightedEvidence
from pulens.types import Floats

USUAL = 0.95  # the confidence at which Student's width stands for a normal one where many are asked for


def student_factor(evidence: Evidence, confidence: float = USUAL) -> float:
    """How many times as wide as the normal interval Student's is; nan where there are too few clusters for any."""
    buckets = _buckets(evidence)
    if min(buckets.held) < FEWEST_BUCKETS:
        return math.nan
    if confidence == 0:  # neither reaches anywhere
        return 1.0
    return student_quantile(freedom_of_totals(buckets.totals), (1 - confidence) / 2) / normal_quantile(confidence)


@singledispatch
def error_of_mean(
    evidence: Evidence, of_positive: Floats, of_everyone: Floats, share: float, alone: float, confidence: float
) -> float:
    """The standard error of a recovered mean, as wide as Student's; ``alone`` is that of independent rows.

    The arrays hold one value per threshold of the tally, in its order; ``share`` is that of positives among the
    unlabelled rows.
    """
    if evidence.buckets is None:
        return alone
    return _left_out_error(evidence, of_positive, of_everyone, share) * student_factor(evidence, confidence)


error_of_mean.register(WeightedEvidence, error_within)


def _left_out_error(evidence: Evidence, of_positive: Floats, of_everyone: Floats, unlabelled_prior: float) -> float:
    buckets = _buckets(evidence)
    index = _place_of_blocks(buckets, evidence)
    sums = np.stack(
        [
            [np.bincount(buckets.bucket, kind * each[index], len(buckets)) for kind in _kinds(buckets)]
            for each in (of_positive, of_everyone)
        ]
    )  # positive or everyone, kind, bucket
    left = sums.sum(axis=2, keepdims=True) - sums
    result = []
    for bucket, (masses, totals) in enumerate(_maps(evidence, unlabelled_prior)):
        sizes = np.array([total or 1.0 for total in totals])
        result.append(float(np.array(masses.positive) / sizes @ left[0, :, bucket]))
        result[-1] += float(np.array(masses.population) / sizes @ left[1, :, bucket])
    return float(jackknife_error(np.array(result)))


@singledispatch
def gaps_of(
    evidence: Evidence, counted: BinCounts, masses: MassMap, unlabelled_prior: float
) -> BinGaps | ReplicatedGaps:
    """The gaps of bins; their doubt allows for rows that belong together."""
    plain = BinGaps.of(counted, masses)
    if evidence.buckets is None:
        return plain
    counts, sums = _in_bins(evidence, counted.edges)
    left_counts, left_sums = (held.sum(axis=0) - held for held in (counts, sums))
    replicates = []
    for bucket, (one, totals) in enumerate(_maps(evidence, unlabelled_prior)):
        sizes = np.array([total or 1.0 for total in totals])
        positive = np.array(one.positive) / sizes @ left_counts[bucket]
        replicates.append(positive - np.array(one.population) / sizes @ left_sums[bucket])
    gaps = np.array(replicates)
    away = (gaps - gaps.mean(axis=0)) * np.nan_to_num(student_factor(evidence), nan=1.0)
    return ReplicatedGaps(plain.gap, math.sqrt((len(away) - 1) / len(away)) * away)


gaps_of.register(WeightedEvidence, gaps_within)


def times_as_noisy(evidence: Evidence, counted: BinCounts) -> float:
    """How many times as far as with independent rows the gaps of a calibrated model would be from zero."""
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    alone = float(BinGaps.of(counted, masses).deviation.sum())
    together = gaps_of(evidence, counted, masses, evidence.class_prior.unlabelled).deviation.sum()
    return max(float(together) / alone, 1.0) if alone > 0 else 1.0


def design_effects(evidence: Evidence, counted: BinCounts) -> Floats | None:
    """Of the share of each kind of row in each bin, (kind, bin): how many times its variance is the binomial one."""
    if evidence.buckets is None:
        return None
    counts, _ = _in_bins(evidence, counted.edges)
    totals = counts.sum(axis=2, keepdims=True)
    whole, size = counts.sum(axis=0), totals.sum(axis=0)
    left = (whole - counts) / np.maximum(size - totals, 1.0)
    share = (whole + 0.5) / (size + 1.0)
    alone = share * (1 - share) / np.maximum(size, 1.0)
    return np.asarray(np.maximum(np.asarray(jackknife_error(left)) ** 2 / alone, 1.0))


def _in_bins(evidence: Evidence, edges: Floats) -> tuple[Floats, Floats]:
    """Rows, and sums of their scores, of every bucket, kind and bin."""
    buckets, bins = _buckets(evidence), edges.size - 1
    scores = np.asarray(buckets.lowest, float)[buckets.block]
    index = np.clip(np.searchsorted(edges, scores, side="left") - 1, 0, bins - 1)
    flat = buckets.bucket.astype(np.int64) * bins + index
    shape, size = (len(buckets), bins), len(buckets) * bins
    counts = [np.bincount(flat, kind, size).reshape(shape) for kind in _kinds(buckets)]
    sums = [np.bincount(flat, kind * scores, size).reshape(shape) for kind in _kinds(buckets)]
    return np.stack(counts, axis=1), np.stack(sums, axis=1)


def _maps(evidence: Evidence, unlabelled_prior: float) -> list[tuple[MassMap, Totals]]:
    """The recovered masses without each bucket, and the rows that are left."""
    buckets = _buckets(evidence)
    left = buckets.totals.sum(axis=0) - buckets.totals
    kinds = left[:, 0], left[:, 1], left[:, 2]
    priors = np.broadcast_to(PriorDraws(evidence).priors(unlabelled_prior, np.zeros(len(left)), kinds), len(left))
    result = []
    for totals, prior in zip(left.tolist(), priors.tolist(), strict=True):
        rows = Totals(*totals)
        result.append((MassMap.of(rows, evidence.assumptions_at(prior)), rows))
    return result


def _place_of_blocks(buckets: BucketTally, evidence: Evidence) -> Any:
    """For each row of counts the place of its block's lowest score among the thresholds of the tally."""
    falling = -np.asarray(evidence.tally.thresholds, float)
    index = np.searchsorted(falling, -np.asarray(buckets.lowest, float), side="left")
    return np.minimum(index, falling.size - 1)[buckets.block]


def _kinds(buckets: BucketTally) -> tuple[Any, Any, Any]:
    return buckets.labelled, buckets.unlabelled, buckets.negative


def _buckets(evidence: Evidence) -> BucketTally:
    assert evidence.buckets is not None
    return evidence.buckets
