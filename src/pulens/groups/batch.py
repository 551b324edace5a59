"""Many segments evaluated in batches: the methods of :mod:`pulens.inference` with their leading axis over segments.

Covered are segments with labelled and unlabelled rows, whatever their weights and known negatives, whose class prior
is a number or has an interval at a confidence, at a threshold that they did not choose, for ROC AUC and metrics at
a threshold. All others are evaluated one by one, and so are those whose rates leave [0, 1] by more than chance, whose
counts call for a rare warning, or whose bins of scores may have changed a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.counts.kernels import BLOCK
from pulens.counts.segment_block import SegmentBlock
from pulens.counts.tallies import Tallies
from pulens.diagnostics import SIGNIFICANT, labelled_twice, mixture_fit
from pulens.groups.batch_columns import area_columns, raw_areas, threshold_columns
from pulens.groups.metric_columns import MetricColumns
from pulens.groups.prior_columns import PriorColumns, is_covered
from pulens.groups.segment_priors import SharedAssumptions
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics import METRICS, find
from pulens.priors import ClassPrior
from pulens.priors.feasible import highest_priors
from pulens.recovery.feasibility import CHANCE_LIMIT, largest_excess
from pulens.scenario import Scenario
from pulens.types import Booleans, Floats

MOST_PAIRS = 2.0**52  # pairs of rows that are counted in whole numbers


@dataclass(frozen=True, eq=False)
class BatchResult:
    """What was found for the segments at ``indices``: a row of the columns for each."""

    indices: NDArray[np.intp]
    columns: Mapping[str, MetricColumns]
    raw_area: Floats  # ROC AUC before clipping
    feasible: Floats  # the highest share of positives among the unlabelled rows that scores leave room for
    implied_limit: Floats | None  # the same at the confidence of implied class priors


def covers(names: Sequence[str]) -> bool:
    """Whether all these metrics can be found in batches."""
    facts = {name: find(name) for name in names}
    return all(name == "roc_auc" or (own.reads == "threshold" and not own.landmarks) for name, own in facts.items())


def evaluate_batch(
    tallies: Tallies,
    priors: Sequence[ClassPrior | None],
    shared: SharedAssumptions,
    threshold: float,
    resampling: Resampling | None,
    names: Sequence[str],
    done: Callable[[int], None] = lambda _: None,
) -> BatchResult | None:
    """The table's numbers of all segments that are covered; ``None`` as class prior leaves a segment out."""
    covered = _covered(tallies, priors, shared)
    if not covered.any():
        return None
    indices = np.flatnonzero(covered)
    known = PriorColumns.of([prior for prior in (priors[index] for index in indices.tolist()) if prior is not None])
    limits = known.reach_confidence if shared.held == "frequency" else None
    result = _Rows.empty(indices.size, with_limits=limits is not None)
    row = np.cumsum(covered) - 1

    def work(segments: slice) -> None:
        keep = covered[segments]
        if keep.any():
            rows = row[segments][keep]
            block = SegmentBlock.of(tallies, segments, keep)
            result.fill(rows, block, known.take(rows), shared, threshold, resampling, limits)

    blocks = list(tallies.blocks())
    with ThreadPoolExecutor(1 if resampling is None else resampling.workers) as pool:
        list(pool.map(work, blocks))
    fine = np.flatnonzero(result.fine)
    if not fine.size:
        return None
    asked = {name: METRICS[name] for name in names if name != "roc_auc"}
    totals, own = tallies.totals[indices[fine]], known.take(fine)
    columns = threshold_columns(asked, result.above[fine], totals, own, shared, resampling, done)
    if "roc_auc" in names:
        columns["roc_auc"] = result.area.take(fine)
    limit = None if result.limit is None else result.limit[fine]
    return BatchResult(indices[fine], columns, result.raw[fine], result.feasible[fine], limit)


def _covered(tallies: Tallies, priors: Sequence[ClassPrior | None], shared: SharedAssumptions) -> Booleans:
    totals = tallies.totals
    covered = np.array([prior is not None and is_covered(prior) for prior in priors], bool)
    covered &= (totals[:, 0] > 0) & (totals[:, 1] > 0)
    covered &= np.diff(tallies.bounds) <= BLOCK  # longer ones are walked in blocks of their own
    covered &= totals.sum(axis=1) ** 2 < MOST_PAIRS
    if shared.scenario is Scenario.CASE_CONTROL:
        # a class prior of 0 says that every row is labelled, which makes another population
        covered &= np.array([prior is not None and prior.unlabelled > 0 for prior in priors], bool)
    return covered


@dataclass(frozen=True, eq=False)
class _Rows:
    """What a walk over the scores finds, one row per covered segment."""

    fine: Booleans
    above: Floats
    raw: Floats
    feasible: Floats
    limit: Floats | None
    area: MetricColumns

    @classmethod
    def empty(cls, size: int, *, with_limits: bool) -> _Rows:
        limit = np.full(size, math.nan) if with_limits else None
        return cls(
            np.zeros(size, bool), np.zeros((size, 3)), np.zeros(size), np.zeros(size), limit, MetricColumns.empty(size)
        )

    def fill(
        self,
        rows: NDArray[np.intp],
        block: SegmentBlock,
        priors: PriorColumns,
        shared: SharedAssumptions,
        threshold: float,
        resampling: Resampling | None,
        limits: float | None,
    ) -> None:
        noise, counted = shared.label_noise, priors.rows(block.totals, shared)
        maps = counted.recoveries(tuple(block.totals.T), priors.share)
        worst, outside = largest_excess(block, maps)
        rare = labelled_twice(block)[0] | block.blurs(threshold)
        if block.has_negatives and not noise:
            rare |= mixture_fit(block, priors.over_reach_or_own()).chance <= SIGNIFICANT
        self.fine[rows] = (worst < CHANCE_LIMIT) & ~rare
        self.above[rows] = block.above(threshold)
        self.feasible[rows] = highest_priors(block, 1 - SIGNIFICANT, label_noise=noise)
        if self.limit is not None and limits is not None:
            self.limit[rows] = highest_priors(block, limits, label_noise=noise)
        areas, self.raw[rows] = raw_areas(block, maps)
        found = area_columns(block, areas, self.raw[rows], priors, counted, resampling, outside)
        self.area.put(rows, found)
