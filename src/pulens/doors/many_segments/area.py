"""ROC AUC of many segments, with the intervals of :mod:`pulens.intervals.area`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.doors.many_segments.block import SegmentBlock
from pulens.doors.many_segments.ends import Ends, MetricColumns, shown_ends, widen
from pulens.doors.many_segments.known_priors import KnownPriors
from pulens.doors.many_segments.recovered import Kinds, World, moved, recoveries
from pulens.intervals.area import POINTS, REACH
from pulens.intervals.kernels.placements import SKEW_OF_NO_SPREAD
from pulens.intervals.kernels.quantiles import studentised_mixture_ends, studentised_quantile
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics.parts.measure import priors_tried
from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import ROUNDING
from pulens.types import Floats

TOGETHER = 32  # segments whose mixtures over the class prior are held at once
NO_SPREAD = 1e-15


class Area:
    """The area of every segment of a block, at one class prior or at many."""

    def __init__(self, block: SegmentBlock, priors: KnownPriors, world: World) -> None:
        self._block, self._priors, self._world = block, priors, world
        self._totals: Kinds = tuple(block.totals[:, kind : kind + 1] for kind in range(3))  # type: ignore[assignment]

    def raw(self) -> Floats:
        """Each value before clipping, from whole numbers of pairs, to the digit of :func:`direct_roc_auc`."""
        block = self._block
        areas = np.full((len(block), 3, 3), 0.5)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if j not in block.kinds:
                continue
            pairs = 2 * block.totals[:, i] * block.totals[:, j]
            heights = (2 * block.running[i] - block.at[i]) * block.at[j]
            if heights.dtype.kind == "f":  # the last digit of a sum depends on how it is taken
                heights = (block.running[i] + _before(block, i)) * block.at[j]
                ends = zip(block.first.tolist(), (block.first + block.sizes).tolist(), strict=True)
                doubled = np.array([heights[begin:end].sum() for begin, end in ends])
            else:
                doubled = block.sums(heights)
            areas[:, i, j] = np.divide(doubled, pairs, out=np.full(len(block), 0.5), where=pairs > 0)
            areas[:, j, i] = 1.0 - areas[:, i, j]
        maps = recoveries(tuple(kind[:, 0] for kind in self._totals), self._priors.share, self._world)
        hits, alarms = (
            np.stack([np.broadcast_to(each, (len(block),)) for each in triple], axis=-1)
            for triple in (maps.hits, maps.alarms)
        )
        self._areas = areas
        return np.array([left @ each @ right for left, each, right in zip(hits, areas, alarms, strict=True)])

    def columns(self, raw: Floats, metric: Metric, resampling: Resampling | None, outside: Any) -> MetricColumns:
        """Values and intervals; ``outside`` says where some recovered rate leaves [0, 1]."""
        value = np.clip(raw, metric.lowest, metric.highest)
        own = MetricColumns.empty(value.size)
        own.value = value
        if not np.isnan(self._priors.reach_low).all():
            own.reach_low, own.reach_high = self._reach(value, metric)
        low, high = own.reach_low, own.reach_high
        if resampling is not None:
            self._find_moments()
            ends = self._at_own(resampling.tail)
            own.sample_low, own.sample_high = low, high = shown_ends(ends, value, value - raw, metric)
            drawn = np.flatnonzero(self._priors.drawn)
            if drawn.size:
                mixed = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
                for start in range(0, drawn.size, TOGETHER):
                    some = drawn[start : start + TOGETHER]
                    mixed[0][some], mixed[1][some] = self._mixed(some, resampling.tail)
                both = shown_ends(mixed, value, value - raw, metric)
                low, high = (
                    np.where(self._priors.drawn, end, alone) for end, alone in zip(both, (low, high), strict=True)
                )
        own.low, own.high = low, high
        widen(own, (np.abs(raw - value) > ROUNDING) | outside, metric)
        return own

    def _reach(self, value: Floats, metric: Metric) -> Ends:
        longest = int(self._block.sizes.max(initial=0))
        tried = self._value(self._priors.over_reach(priors_tried(longest)), self._totals, self._areas)
        tried = np.column_stack([value, np.clip(tried, metric.lowest, metric.highest)])
        missing = np.isnan(self._priors.reach_low)
        return np.where(missing, np.nan, tried.min(axis=1)), np.where(missing, np.nan, tried.max(axis=1))

    def _value(self, priors: Floats, totals: Kinds, areas: Floats, some: Any = slice(None)) -> Floats:
        """The bilinear form at class priors of shape (segments, priors)."""
        maps = recoveries(totals, priors, self._world)
        value: Any = 0.0
        for i, j in product(self._block.kinds, repeat=2):
            value = value + maps.hits[i] * areas[some, i, j, None] * maps.alarms[j]
        return np.asarray(value)

    def _find_moments(self) -> None:
        """What :func:`pulens.intervals.kernels.placements.placement_moments` finds, for all segments in a few sums."""
        block = self._block
        size = len(block)
        outscored = []
        for kind in range(3):
            total = block.spread(block.totals[:, kind])
            passed = block.running[kind].astype(float) - block.at[kind].astype(float) / 2
            outscored.append(1.0 - np.divide(passed, total, out=np.zeros(total.shape), where=total > 0))
        areas = np.full((size, 3, 3), 0.5)
        self._second, self._third = {}, {}
        for kind in block.kinds:
            own = np.flatnonzero(block.at[kind])
            weight = block.at[kind][own].astype(float)
            total = block.totals[:, kind]
            # segments without such rows have no place among the sums
            owner = np.repeat(np.arange(size), block.sizes)[own]

            def mean(values: Floats, owner: Any = owner, total: Floats = total) -> Floats:
                summed = np.bincount(owner, values, minlength=size)
                return np.divide(summed, total, out=np.zeros(size), where=total > 0)

            others = [other for other in block.kinds if other != kind]
            gaps = {}
            for other in others:
                present = (total > 0) & (block.totals[:, other] > 0)
                areas[:, kind, other] = np.where(present, mean(weight * outscored[other][own]), 0.5)
                gap = outscored[other][own] - areas[owner, kind, other]
                gaps[other] = np.where(present[owner], gap, 0.0)
            for j, k in product(others, repeat=2):
                weighted = weight * gaps[j] * gaps[k]
                self._second[kind, j, k] = mean(weighted)
                for m in others:
                    self._third[kind, j, k, m] = mean(weighted * gaps[m])
        self._moment_areas = areas

    def _parts(self, priors: Floats, some: Any = slice(None)) -> tuple[Floats, Floats, Floats, Floats]:
        """Value, standard error, skewness and degrees of freedom, at class priors of shape (segments, priors)."""
        totals: Kinds = tuple(kind[some] for kind in self._totals)
        maps, kinds = recoveries(totals, priors, self._world), self._block.kinds
        left, right = maps.hits, maps.alarms
        value = self._value(priors, totals, self._moment_areas, some)
        variance: Any = np.zeros(value.shape)
        cumulant, parts = np.zeros(value.shape), np.zeros(value.shape)
        for kind in kinds:
            size = np.maximum(totals[kind], 2.0)
            weights = {other: left[kind] * right[other] - right[kind] * left[other] for other in kinds if other != kind}
            second: Any = sum(
                weights[j] * weights[k] * self._second[kind, j, k][some, None] for j, k in product(weights, repeat=2)
            )
            second = second * size / (size - 1)
            third: Any = sum(
                weights[j] * weights[k] * weights[m] * self._third[kind, j, k, m][some, None]
                for j, k, m in product(weights, repeat=3)
            )
            floor = 0.5 / (size + 1.0) ** 2
            for other, weight in weights.items():
                present = (totals[kind] > 0) & (totals[other] > 0)
                unspread = present & (self._second[kind, other, other][some, None] < NO_SPREAD)
                bend = -np.sign(self._moment_areas[some, kind, other, None] - 0.5) * unspread * SKEW_OF_NO_SPREAD
                second = second + weight**2 * unspread * floor * size
                third = third + weight**3 * bend * floor**1.5 * size**2
            has_rows = totals[kind] > 0
            own = np.where(has_rows, second / size, 0.0)
            variance = variance + own
            cumulant += np.where(has_rows, third / size**2, 0.0)
            parts += own**2 / np.maximum(totals[kind] - 1.0, 1.0)
        freedom = np.divide(variance**2, parts, out=np.full(value.shape, 1e9), where=parts > 0)
        if self._world.random_totals:
            variance = variance + self._variance_from_totals(priors, totals, some)
        error = np.sqrt(np.maximum(variance, 0.0))
        skew = np.divide(cumulant, error**3, out=np.zeros(value.shape), where=error > 0)
        return value, error, skew, freedom

    def _variance_from_totals(self, priors: Floats, totals: Kinds, some: Any) -> Floats:
        """What the numbers of rows, random in one sample, add: their slopes by finite differences."""
        squares: Any = 0.0
        crossed: Any = 0.0
        for kind in self._block.kinds:
            step = 1e-4 * totals[kind]
            found = []
            for sign in (1, -1):
                changed: Any = list(totals)
                changed[kind] = changed[kind] + sign * step
                share = moved(priors, totals, tuple(changed), self._world, self._priors.elsewhere[some, None])
                found.append(self._value(share, tuple(changed), self._moment_areas, some))
            slope = np.divide(found[0] - found[1], 2 * step, out=np.zeros(priors.shape), where=step > 0)
            squares = squares + totals[kind] * slope**2
            crossed = crossed + totals[kind] * slope
        return np.asarray(squares - crossed**2 / sum(totals))

    def _moved(self, shares: Floats, some: Any = slice(None)) -> Floats:
        totals: Kinds = tuple(kind[some] for kind in self._totals)
        return moved(shares, totals, totals, self._world, self._priors.elsewhere[some, None])

    def _at_own(self, tail: float) -> Ends:
        value, error, skew, freedom = (part[:, 0] for part in self._parts(self._moved(self._priors.share[:, None])))
        low, high = (value - error * studentised_quantile(level, skew, freedom) for level in (1 - tail, tail))
        return low, high

    def _mixed(self, some: NDArray[np.intp], tail: float) -> Ends:
        """Over the class prior's own distribution: a mixture of what each of its quantiles gives."""
        normal = np.linspace(-REACH, REACH, POINTS)
        priors = self._moved(self._priors.take(some).drawn_at(normal), some)
        return studentised_mixture_ends(self._parts(priors, some), np.exp(-(normal**2) / 2), tail)


def _before(block: SegmentBlock, kind: int) -> NDArray[Any]:
    """Rows of a kind above each score, as running sums have them."""
    before = np.concatenate([[0.0], block.running[kind][:-1]])
    before[block.first] = 0.0
    return before
