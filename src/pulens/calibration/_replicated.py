"""Calibration of rows that belong together, or whose labels are random within cells: errors from replicates of masses.

What is linear in the masses of positives and of the population has a replicate for each of theirs
(:mod:`pulens.inference.mass_replicates`); independent rows have variances in closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration._gaps import BinGaps, ReplicatedGaps
from pulens.calibration.binning import bin_starts
from pulens.calibration.masses import BinCounts, MassMap
from pulens.counts.buckets import BucketTally
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import jackknife_error
from pulens.inference.mass_replicates import REDRAWS, MassReplicates, mass_replicates
from pulens.types import Floats


def error_of_mean(
    evidence: Evidence, of_positive: Floats, of_everyone: Floats, share: float, alone: float, confidence: float
) -> float:
    """The standard error of a recovered mean, as wide as Student's; ``alone`` is that of independent rows.

    The arrays hold one value per threshold of the tally, in its order; ``share`` is that of positives among the
    unlabelled rows.
    """
    result = replicates_of(evidence, share=share)
    if result is None:
        return alone
    positive, population = result.between()
    first, second = _block_means(evidence, result, of_positive, of_everyone)
    return float(result.error(positive @ first + population @ second)) * result.times_as_wide(confidence)


def gaps_of(evidence: Evidence, counted: BinCounts, masses: MassMap, share: float) -> BinGaps | ReplicatedGaps:
    """The gaps of bins; their doubt allows for rows that belong together."""
    plain = BinGaps.of(counted, masses)
    result = replicates_of(evidence, counted.edges, share)
    if result is None:
        return plain
    positive, population = result.between()
    _, mean_score = _block_means(evidence, result, *(np.asarray(evidence.tally.thresholds, float),) * 2)
    in_bin = blocks_in_bins(result, counted)
    away = result.away(positive @ in_bin - (population * mean_score) @ in_bin) * result.times_as_wide()
    return ReplicatedGaps(plain.gap, away)


def replicates_of(
    evidence: Evidence, edges: Floats | None = None, share: float | None = None, redraws: int = REDRAWS
) -> MassReplicates | None:
    """Replicates at thresholds that never straddle the bins; ``None`` of independent rows."""
    scores = np.asarray(evidence.tally.thresholds, float)
    inner: Any = ()
    if edges is not None:
        starts = bin_starts(scores, edges)
        inner = scores[np.unique(starts[starts > 0]) - 1]
    return mass_replicates(
        evidence, evidence.class_prior.unlabelled if share is None else share, inner, redraws=redraws
    )


def _block_means(evidence: Evidence, result: MassReplicates, of_positive: Floats, of_everyone: Floats) -> Any:
    """What stands at the scores of every block, on average over labelled rows and over the list."""
    labelled, unlabelled, negative = (np.asarray(kind, float) for kind in evidence.tally.increments())
    is_apart = MassMap.of(evidence.tally.totals, evidence.assumptions).unlabelled_only
    listed = unlabelled if is_apart else labelled + unlabelled + negative
    index, many = result.places(evidence.tally.thresholds), result.thresholds.size
    means = []
    for each, rows in ((of_positive, labelled), (of_everyone, listed)):
        total = np.bincount(index, rows, many)
        alone = np.bincount(index, each, many) / np.maximum(np.bincount(index, minlength=many), 1)
        means.append(np.divide(np.bincount(index, rows * each, many), total, out=alone, where=total > 0))
    return means


def blocks_in_bins(result: MassReplicates, counted: BinCounts) -> Floats:
    """For each threshold 1 in the bin that holds it."""
    index = np.clip(np.searchsorted(counted.edges, result.thresholds, side="left") - 1, 0, counted.bins - 1)
    return np.asarray(np.eye(counted.bins)[index])


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
    counts = _in_bins(evidence.buckets, counted.edges)
    totals = counts.sum(axis=2, keepdims=True)
    whole, size = counts.sum(axis=0), totals.sum(axis=0)
    left = (whole - counts) / np.maximum(size - totals, 1.0)
    share = (whole + 0.5) / (size + 1.0)
    alone = share * (1 - share) / np.maximum(size, 1.0)
    return np.asarray(np.maximum(np.asarray(jackknife_error(left)) ** 2 / alone, 1.0))


def _in_bins(buckets: BucketTally, edges: Floats) -> Floats:
    """Rows of every bucket, kind and bin."""
    bins = edges.size - 1
    scores = np.asarray(buckets.lowest, float)[buckets.block]
    index = np.clip(np.searchsorted(edges, scores, side="left") - 1, 0, bins - 1)
    flat, shape = buckets.bucket.astype(np.int64) * bins + index, (len(buckets), bins)
    kinds = (buckets.labelled, buckets.unlabelled, buckets.negative)
    return np.stack([np.bincount(flat, kind, len(buckets) * bins).reshape(shape) for kind in kinds], axis=1)
