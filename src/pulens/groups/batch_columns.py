"""Metrics of many segments in columns: values, ranges over the class prior, and the limits of inference's methods.

At a threshold a segment's numbers depend on its counts there and on its class prior alone. Segments that agree in both
share one answer, and those that agree in some count share its plausible rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.segment_block import SegmentBlock
from pulens.groups.metric_columns import Limits, MetricColumns, shown_limits, widen
from pulens.groups.prior_columns import PriorColumns
from pulens.groups.segment_priors import SharedAssumptions
from pulens.inference.delong import NORMAL, AreaLimits
from pulens.inference.kernels.placements import PlacementMoments, placement_moments
from pulens.inference.kernels.quantiles import row_percentiles
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.prior_draws import AssumedRows
from pulens.inference.rates import DrawsByCount, PlausibleRates
from pulens.metrics import METRICS
from pulens.metrics.parts.confirmed import confirmed_shares
from pulens.metrics.parts.measure import PRIORS_TRIED, priors_tried
from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import ROUNDING, Tables
from pulens.recovery.many import ManyRecoveries
from pulens.scenario import Scenario
from pulens.types import Booleans, Floats

TOGETHER = 16  # segments whose draws are held at once: what a core's cache takes
MIXED_TOGETHER = 32  # segments whose mixtures over the class prior are held at once
SHARE = 64 * TOGETHER  # segments that a thread takes at a time


def threshold_columns(
    metrics: Mapping[str, Metric],
    above: Floats,
    totals: Floats,
    priors: PriorColumns,
    shared: SharedAssumptions,
    resampling: Resampling | None,
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, MetricColumns]:
    """Every metric of every segment; ``above`` and ``totals`` of shape (segments, 3). ``done`` hears of progress."""
    known = [priors.share, priors.low, priors.high, priors.reach_low, priors.reach_high, priors.elsewhere]
    order = [totals, above[:, 1:2], above[:, :1], above[:, 2:]]
    alike = np.column_stack([*order, *(np.nan_to_num(column, nan=-1.0) for column in known)])
    _, first, inverse = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    sizes = np.bincount(inverse.ravel(), minlength=first.size)
    result = {name: MetricColumns.empty(first.size) for name in metrics}

    def work(start: int) -> int:
        draws = None if resampling is None else DrawsByCount(resampling)
        stop = min(start + SHARE, first.size)
        for begin in range(start, stop, TOGETHER):
            indices = np.arange(begin, min(begin + TOGETHER, stop))
            rows = first[indices]
            some = _at_threshold(metrics, above[rows], totals[rows], priors.take(rows), shared, draws)
            for name, own in some.items():
                result[name].put(indices, own)
        return int(sizes[start:stop].sum())

    starts = range(0, first.size, SHARE)
    workers = 1 if resampling is None else resampling.workers
    if workers == 1 or len(starts) == 1:
        for start in starts:
            done(work(start))
    else:
        with ThreadPoolExecutor(workers) as pool:
            for number in pool.map(work, starts):
                done(number)
    return {name: own.take(inverse.ravel()) for name, own in result.items()}


def _at_threshold(
    metrics: Mapping[str, Metric],
    above: Floats,
    totals: Floats,
    priors: PriorColumns,
    shared: SharedAssumptions,
    draws: DrawsByCount | None,
) -> dict[str, MetricColumns]:
    rows = priors.rows(totals, shared)
    observed = np.divide(above, totals, out=np.zeros(above.shape), where=totals > 0)
    table = _table(rows.recoveries(tuple(totals.T), priors.share), *observed.T)
    possible = np.broadcast_to(table.is_possible, priors.share.shape)
    over = _table(rows.recoveries(rows.totals, priors.over_reach()), *(rate[:, None] for rate in observed.T))
    read = None if draws is None else _Read(PlausibleRates(above, totals, rows, draws), priors)
    least: Any = {"is_single": shared.scenario is Scenario.SINGLE_SET, "label_noise": shared.label_noise}
    answer = {}
    for name, metric in metrics.items():
        unmoved = metric.ignores_class_prior or (not metric.needs_class_prior and shared.label_noise == 0)
        raw = np.broadcast_to(metric.compute(table), priors.share.shape).astype(float)
        value = np.clip(raw, metric.lowest, metric.highest)
        own = MetricColumns.empty(value.size)
        own.value = value
        own.reach_low, own.reach_high = _reach(metric, over, value, priors, unmoved=unmoved)
        low, high = own.reach_low, own.reach_high
        if read is not None:
            limits = read.limits(metric, drawn=False)
            own.sample_low, own.sample_high = low, high = shown_limits(limits, value, value - raw, metric)
            if priors.drawn.any() and not unmoved:
                both = shown_limits(read.limits(metric, drawn=True), value, value - raw, metric)
                low, high = (np.where(priors.drawn, end, alone) for end, alone in zip(both, (low, high), strict=True))
            nothing = np.isnan(low) | np.isnan(own.sample_low)
            low, high = np.where(nothing, own.reach_low, low), np.where(nothing, own.reach_high, high)
            for part in ("sample_low", "sample_high"):
                setattr(own, part, np.where(nothing, np.nan, getattr(own, part)))
        own.low, own.high = low, high
        if not metric.ignores_class_prior:
            widen(own, (np.abs(raw - value) > ROUNDING) | ~possible, metric)
        confirmed = confirmed_shares(metric, above, **least)
        own.low = np.where(own.low < confirmed, np.minimum(confirmed, own.high), own.low)
        answer[name] = own
    return answer


def _table(maps: ManyRecoveries, *observed: Any) -> Tables:
    return Tables(np.zeros(1), *maps.rates(*observed), maps.positive, maps.negative)


def _reach(metric: Metric, over: Tables, value: Floats, priors: PriorColumns, *, unmoved: bool) -> Limits:
    """Smallest and largest value over the class prior's interval, where it has one."""
    has_reach = ~np.isnan(priors.reach_low)
    if unmoved or not has_reach.any():
        return np.where(has_reach, value, np.nan), np.where(has_reach, value, np.nan)
    tried = np.clip(metric.compute(over), metric.lowest, metric.highest)
    tried = np.column_stack([value, np.broadcast_to(tried, (value.size, PRIORS_TRIED))])
    low, high = (reduce(tried, axis=1) for reduce in (np.fmin.reduce, np.fmax.reduce))
    return np.where(has_reach, low, np.nan), np.where(has_reach, high, np.nan)


class _Read:
    """Limits of metrics over plausible tables of a few segments, which they share."""

    def __init__(self, rates: PlausibleRates, priors: PriorColumns) -> None:
        self._rates, self._priors = rates, priors
        self._tables: dict[bool, list[tuple[Tables, Booleans]]] = {}

    def limits(self, metric: Metric, *, drawn: bool) -> Limits:
        """At the class prior itself, or with it drawn from its interval."""
        if drawn not in self._tables:
            own = self._priors.share[:, None]
            base = own
            if drawn:  # what has no interval to draw from stays where it is; its answer is not used
                spread = self._priors.drawn_at(self._rates.drawn.normal)
                base = np.where(self._priors.drawn[:, None], spread, own)
            self._tables[drawn] = self._rates.tables(self._rates.rows.moved(base, self._rates.drawn.totals), own)
        resampling, many = self._rates.known.resampling, self._priors.share.size
        low, high = np.full(many, np.inf), np.full(many, -np.inf)
        for table, which in self._tables[drawn]:
            computed = np.broadcast_to(metric.compute(table), (int(which.sum()), resampling.redraws))
            result = row_percentiles(np.clip(computed, metric.lowest, metric.highest), resampling.tail)
            # as Python's min and max take them: what comes later counts only if it is smaller, or larger
            low[which] = np.where(np.isinf(low[which]) | (result[0] < low[which]), result[0], low[which])
            high[which] = np.where(np.isinf(high[which]) | (result[1] > high[which]), result[1], high[which])
        return low, high


def raw_areas(block: SegmentBlock, maps: ManyRecoveries) -> tuple[Floats, Floats]:
    """Areas between the kinds of rows (segments, 3, 3), and ROC AUC before clipping.

    They are from whole numbers of pairs, to the digit those of :func:`pulens.recovery.direct_roc_auc`.
    """
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
    hits, alarms = maps.true_positive_rate, maps.false_positive_rate
    return areas, np.array([left @ each @ right for left, each, right in zip(hits, areas, alarms, strict=True)])


def _before(block: SegmentBlock, kind: int) -> NDArray[Any]:
    """Rows of a kind above each score, as running sums have them."""
    before = np.concatenate([[0.0], block.running[kind][:-1]])
    before[block.first] = 0.0
    return before


def area_columns(
    block: SegmentBlock,
    areas: Floats,
    raw: Floats,
    priors: PriorColumns,
    rows: AssumedRows,
    resampling: Resampling | None,
    outside: Booleans,
) -> MetricColumns:
    """ROC AUC of every segment; ``outside`` says where some recovered rate leaves [0, 1]."""
    metric = METRICS["roc_auc"]
    value = np.clip(raw, metric.lowest, metric.highest)
    own = MetricColumns.empty(value.size)
    own.value = value
    missing = np.isnan(priors.reach_low)
    if not missing.all():
        maps = rows.recoveries(rows.totals, priors.over_reach(priors_tried(int(block.sizes.max(initial=0)))))
        tried = PlacementMoments(areas, {}, {}, block.totals).value(maps.hits, maps.alarms)
        tried = np.column_stack([value, np.clip(tried, metric.lowest, metric.highest)])
        own.reach_low, own.reach_high = (
            np.where(missing, np.nan, end) for end in (tried.min(axis=1), tried.max(axis=1))
        )
    low, high = own.reach_low, own.reach_high
    if resampling is not None:
        moments = placement_moments(block)
        limits = AreaLimits(moments, rows).at(rows.moved(priors.share[:, None], rows.totals), resampling.tail)
        own.sample_low, own.sample_high = low, high = shown_limits(limits, value, value - raw, metric)
        drawn = np.flatnonzero(priors.drawn)
        if drawn.size:
            mixed = np.full((2, value.size), np.nan)
            for start in range(0, drawn.size, MIXED_TOGETHER):
                some = drawn[start : start + MIXED_TOGETHER]
                here = rows.take(some)
                shares = here.moved(priors.take(some).drawn_at(NORMAL), here.totals)
                mixed[:, some] = AreaLimits(moments.take(some), here).mixed(shares, resampling.tail)
            both = shown_limits((mixed[0], mixed[1]), value, value - raw, metric)
            low, high = (np.where(priors.drawn, end, alone) for end, alone in zip(both, (low, high), strict=True))
    own.low, own.high = low, high
    widen(own, (np.abs(raw - value) > ROUNDING) | outside, metric)
    return own
