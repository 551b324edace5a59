"""Which segments can be looked at together, and the look at them.

Covered are segments with labelled and unlabelled rows, whatever their weights and known negatives, whose class prior
is a number or has an interval at a confidence, at a threshold that they did not choose, for ROC AUC and metrics at
a threshold. Left to the ordinary road, one by one, are all others, and those whose rates leave [0, 1] by more than
chance, whose counts call for a rare warning, or whose bins of scores may have changed a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.counts.kernels import BLOCK
from pulens.counts.tallies import Tallies
from pulens.diagnostics import SIGNIFICANT
from pulens.doors.many_segments.area import Area
from pulens.doors.many_segments.at_threshold import at_threshold
from pulens.doors.many_segments.block import SegmentBlock
from pulens.doors.many_segments.doubtful import highest_priors, labelled_twice, not_a_mixture, outside_by
from pulens.doors.many_segments.ends import MetricColumns
from pulens.doors.many_segments.known_priors import KnownPriors, is_covered
from pulens.doors.many_segments.recovered import World
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics import METRICS, find
from pulens.metrics.parts.metric import Metric
from pulens.priors import ClassPrior
from pulens.recovery.feasibility import CHANCE_LIMIT
from pulens.scenario import Scenario
from pulens.types import Floats

MOST_PAIRS = 2.0**52  # pairs of rows that are counted in whole numbers


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found for the segments at ``places``: a row of the columns for each."""

    places: NDArray[np.intp]
    columns: Mapping[str, MetricColumns]
    raw_area: Floats  # ROC AUC before clipping
    feasible: Floats  # the highest share of positives among the unlabelled rows that scores leave room for
    implied_limit: Floats | None  # the same at the confidence of implied class priors


def covers(names: Sequence[str]) -> bool:
    """Whether all these metrics can be found together."""
    facts = {name: find(name) for name in names}
    return all(name == "roc_auc" or (own.reads == "threshold" and not own.landmarks) for name, own in facts.items())


def look(
    tallies: Tallies,
    priors: Sequence[ClassPrior | None],
    world: World,
    threshold: float,
    resampling: Resampling | None,
    names: Sequence[str],
    done: Callable[[int], None] = lambda _: None,
) -> Looked | None:
    """The table's numbers of all segments that are covered; ``None`` as class prior leaves a segment out."""
    covered = _covered(tallies, priors, world)
    if not covered.any():
        return None
    places = np.flatnonzero(covered)
    known = KnownPriors.of([prior for prior in (priors[place] for place in places.tolist()) if prior is not None])
    limits = known.reach_confidence if world.held == "frequency" else None
    found = _Rows.empty(places.size, with_limits=limits is not None)
    row = np.cumsum(covered) - 1

    def work(segments: slice) -> None:
        keep = covered[segments]
        if keep.any():
            rows = row[segments][keep]
            found.fill(
                rows, SegmentBlock.of(tallies, segments, keep), known.take(rows), world, threshold, resampling, limits
            )

    blocks = list(tallies.blocks())
    with ThreadPoolExecutor(1 if resampling is None else resampling.workers) as pool:
        list(pool.map(work, blocks))
    fine = np.flatnonzero(found.fine)
    if not fine.size:
        return None
    asked = {name: METRICS[name] for name in names if name != "roc_auc"}
    columns = at_threshold(
        asked, found.hits[fine], tallies.totals[places[fine]], known.take(fine), world, resampling, done
    )
    if "roc_auc" in names:
        columns["roc_auc"] = found.area.take(fine)
    limit = None if found.limit is None else found.limit[fine]
    return Looked(places[fine], columns, found.raw[fine], found.feasible[fine], limit)


def _covered(tallies: Tallies, priors: Sequence[ClassPrior | None], world: World) -> NDArray[np.bool_]:
    totals = tallies.totals
    covered = np.array([prior is not None and is_covered(prior) for prior in priors], bool)
    covered &= (totals[:, 0] > 0) & (totals[:, 1] > 0)
    covered &= np.diff(tallies.bounds) <= BLOCK  # longer ones are walked in blocks of their own
    covered &= totals.sum(axis=1) ** 2 < MOST_PAIRS
    if world.scenario is Scenario.CASE_CONTROL:
        # a class prior of 0 says that every row is labelled, which makes another population
        covered &= np.array([prior is not None and prior.unlabelled > 0 for prior in priors], bool)
    return covered


@dataclass(frozen=True, eq=False)
class _Rows:
    """What a walk over the scores finds, one row per covered segment."""

    fine: NDArray[np.bool_]
    hits: Floats
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
        priors: KnownPriors,
        world: World,
        threshold: float,
        resampling: Resampling | None,
        limits: float | None,
    ) -> None:
        metric: Metric = METRICS["roc_auc"]
        worst, outside = outside_by(block, priors.share, world)
        rare = labelled_twice(block) | not_a_mixture(block, priors, world) | block.blurs(threshold)
        self.fine[rows] = (worst < CHANCE_LIMIT) & ~rare
        self.hits[rows] = block.above(threshold)
        self.feasible[rows] = highest_priors(block, 1 - SIGNIFICANT, world.label_noise)
        if self.limit is not None and limits is not None:
            self.limit[rows] = highest_priors(block, limits, world.label_noise)
        area = Area(block, priors, world)
        self.raw[rows] = raw = area.raw()
        self.area.put(rows, area.columns(raw, metric, resampling, outside))
