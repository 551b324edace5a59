"""Metrics of many segments at one threshold, with the intervals of :mod:`pulens.intervals.threshold`.

A segment's answer depends on its counts at the threshold and on its class prior alone. Segments that agree in both
share one answer, and those that agree in some count share its plausible rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.doors.many_segments.ends import MetricColumns, row_percentiles, shown_ends, widen
from pulens.doors.many_segments.known_priors import KnownPriors
from pulens.doors.many_segments.recovered import Kinds, Tables, World, moved, recoveries, tables
from pulens.intervals.kernels.quantiles import even_jeffreys_quantiles, seeded_levels
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.rates import ranks_and_normal
from pulens.metrics.parts.confirmed import confirmed_shares
from pulens.metrics.parts.measure import PRIORS_TRIED
from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import ROUNDING, missing_of
from pulens.scenario import Scenario
from pulens.types import Floats

TOGETHER = 16  # segments whose draws are held at once: what a core's cache takes
REMEMBERED = 1024  # arrays of draws that are kept for the next segments: 16 MB
SHARE = 64 * TOGETHER  # segments that a thread takes at a time


def at_threshold(
    metrics: Mapping[str, Metric],
    hits: Floats,
    totals: Floats,
    priors: KnownPriors,
    world: World,
    resampling: Resampling | None,
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, MetricColumns]:
    """Every metric of every segment; ``hits`` and ``totals`` of shape (segments, 3). ``done`` hears of progress."""
    columns = [totals, hits[:, 1:2], hits[:, :1], hits[:, 2:]]
    known = [priors.share, priors.low, priors.high, priors.reach_low, priors.reach_high, priors.elsewhere]
    alike = np.column_stack([*columns, *(np.nan_to_num(column, nan=-1.0) for column in known)])
    _, first, inverse = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    sizes = np.bincount(inverse.ravel(), minlength=first.size)
    found = {name: MetricColumns.empty(first.size) for name in metrics}

    def work(start: int) -> int:
        remembered = _Remembered(resampling)
        stop = min(start + SHARE, first.size)
        for begin in range(start, stop, TOGETHER):
            places = np.arange(begin, min(begin + TOGETHER, stop))
            rows = first[places]
            some = _of_some(metrics, hits[rows], totals[rows], priors.take(rows), world, remembered)
            for name, own in some.items():
                found[name].put(places, own)
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
    return {name: own.take(inverse.ravel()) for name, own in found.items()}


def _of_some(
    metrics: Mapping[str, Metric],
    hits: Floats,
    totals: Floats,
    priors: KnownPriors,
    world: World,
    remembered: _Remembered,
) -> dict[str, MetricColumns]:
    kinds = _kinds(totals)
    rates = _kinds(np.divide(hits, totals, out=np.zeros(hits.shape), where=totals > 0))
    here = recoveries(tuple(kind[:, 0] for kind in kinds), priors.share, world)
    table = tables(here, tuple(rate[:, 0] for rate in rates))
    possible = np.broadcast_to(table.is_possible, priors.share.shape)
    over = tables(recoveries(kinds, priors.over_reach(PRIORS_TRIED), world), rates)
    draws = _RateDraws(hits, totals, priors, world, remembered)
    answer = {}
    for name, metric in metrics.items():
        unmoved = metric.ignores_class_prior or (not metric.needs_class_prior and world.label_noise == 0)
        raw = np.broadcast_to(metric.compute(table), priors.share.shape).astype(float)
        value = np.clip(raw, metric.lowest, metric.highest)
        own = MetricColumns.empty(value.size)
        own.value = value
        own.reach_low, own.reach_high = _reach(metric, over, value, priors, unmoved=unmoved)
        low, high = own.reach_low, own.reach_high
        if remembered.resampling is not None:
            ends = draws.ends(metric, drawn=False)
            own.sample_low, own.sample_high = low, high = shown_ends(ends, value, value - raw, metric)
            if priors.drawn.any() and not unmoved:
                both = shown_ends(draws.ends(metric, drawn=True), value, value - raw, metric)
                low, high = (np.where(priors.drawn, end, alone) for end, alone in zip(both, (low, high), strict=True))
            nothing = np.isnan(low) | np.isnan(own.sample_low)
            low, high = np.where(nothing, own.reach_low, low), np.where(nothing, own.reach_high, high)
            for part in ("sample_low", "sample_high"):
                setattr(own, part, np.where(nothing, np.nan, getattr(own, part)))
        own.low, own.high = low, high
        if not metric.ignores_class_prior:
            widen(own, (np.abs(raw - value) > ROUNDING) | ~possible, metric)
        least = confirmed_shares(
            metric, hits, is_single=world.scenario is Scenario.SINGLE_SET, label_noise=world.label_noise
        )
        own.low = np.where(own.low < least, np.minimum(least, own.high), own.low)
        answer[name] = own
    return answer


def _reach(metric: Metric, over: Tables, value: Floats, priors: KnownPriors, *, unmoved: bool) -> tuple[Floats, Floats]:
    """Smallest and largest value over the class prior's interval, where it has one."""
    has_reach = ~np.isnan(priors.reach_low)
    if unmoved or not has_reach.any():
        return np.where(has_reach, value, np.nan), np.where(has_reach, value, np.nan)
    tried = np.clip(metric.compute(over), metric.lowest, metric.highest)
    tried = np.column_stack([value, np.broadcast_to(tried, (value.size, PRIORS_TRIED))])
    return np.where(has_reach, np.fmin.reduce(tried, axis=1), np.nan), np.where(
        has_reach, np.fmax.reduce(tried, axis=1), np.nan
    )


def _kinds(values: Floats) -> Kinds:
    return values[:, :1], values[:, 1:2], values[:, 2:]


class _RateDraws:
    """Plausible tables of a few segments (rows), shared by metrics."""

    def __init__(
        self, hits: Floats, totals: Floats, priors: KnownPriors, world: World, remembered: _Remembered
    ) -> None:
        self._hits, self._totals, self._priors, self._world = hits, totals, priors, world
        self._remembered = remembered
        self._tables: dict[bool, list[tuple[Tables, NDArray[np.bool_]]]] = {}

    def ends(self, metric: Metric, *, drawn: bool) -> tuple[Floats, Floats]:
        """At the class prior itself, or with it drawn from its interval."""
        if drawn not in self._tables:
            self._tables[drawn] = self._made(drawn=drawn)
        assert self._remembered.resampling is not None
        shape, tail = (len(self._hits), self._remembered.resampling.redraws), self._remembered.resampling.tail
        low, high = np.full(shape[0], np.inf), np.full(shape[0], -np.inf)
        for table, own in self._tables[drawn]:
            computed = np.broadcast_to(metric.compute(table), (int(own.sum()), shape[1]))
            found = row_percentiles(np.clip(computed, metric.lowest, metric.highest), tail)
            # as Python's min and max take them: what comes later counts only if it is smaller, or larger
            low[own] = np.where(np.isinf(low[own]) | (found[0] < low[own]), found[0], low[own])
            high[own] = np.where(np.isinf(high[own]) | (found[1] > high[own]), found[1], high[own])
        return low, high

    def _made(self, *, drawn: bool) -> list[tuple[Tables, NDArray[np.bool_]]]:
        resampling, world, priors = self._remembered.resampling, self._world, self._priors
        assert resampling is not None
        *ranks, normal = ranks_and_normal(resampling.redraws, resampling.seed)
        rates: Kinds = tuple(  # type: ignore[assignment]
            self._remembered.rates(self._hits[:, kind], self._totals[:, kind], ranks[kind]) for kind in range(3)
        )
        totals = _kinds(self._totals)
        redrawn = self._remembered.totals(self._totals) if world.random_totals else totals
        base = priors.drawn_at(normal) if drawn else priors.share[:, None]
        # what has no interval to draw from stays where it is; its answer is not used
        base = np.where(priors.drawn[:, None], base, priors.share[:, None])
        share = moved(base, totals, redrawn, world, priors.elsewhere[:, None])
        table = tables(recoveries(redrawn, share, world), rates)
        everyone = np.ones(len(self._hits), bool)
        here = recoveries(totals, priors.share[:, None], world).rates(
            *_kinds(np.divide(self._hits, self._totals, out=np.zeros(self._hits.shape), where=self._totals > 0))
        )
        missing = [np.broadcast_to(each, (len(everyone), 1)) for each in missing_of(*here)]
        outside = np.maximum(np.abs(missing[0]), np.abs(missing[1]))[:, 0] > ROUNDING
        (cut,) = table.plausible()
        if not outside.any():
            return [(cut, everyone)]
        wide = table.true_positive_rate, table.false_positive_rate, table.positive, table.negative
        parts = (np.broadcast_to(each, (len(everyone), normal.size))[outside] for each in wide)
        _, *others = Tables(np.zeros(1), *parts).plausible((missing[0][outside], missing[1][outside]))
        return [(cut, everyone), *((each, outside) for each in others)]


class _Remembered:
    """Draws that many segments share: plausible rates by rows seen, numbers of rows by those in all."""

    def __init__(self, resampling: Resampling | None) -> None:
        self.resampling = resampling
        self._rates: dict[tuple[float, float], Floats] = {}
        self._totals: dict[tuple[float, ...], Floats] = {}

    def rates(self, hits: Floats, totals: Floats, rank: NDArray[np.intp]) -> Floats:
        assert self.resampling is not None
        size = self.resampling.redraws
        if not totals.any():
            return np.zeros((1, size))
        return np.stack([self._rate(pair, size)[rank] for pair in zip(hits.tolist(), totals.tolist(), strict=True)])

    def _rate(self, pair: tuple[float, float], size: int) -> Floats:
        if not pair[1]:
            return np.zeros(size)
        if pair not in self._rates:
            if len(self._rates) >= REMEMBERED:
                self._rates.clear()
            self._rates[pair] = even_jeffreys_quantiles(*pair, size)
        return self._rates[pair]

    def totals(self, totals: Floats) -> Kinds:
        drawn = np.stack([self._drawn(tuple(row)) for row in totals.tolist()])
        return drawn[:, 0], drawn[:, 1], drawn[:, 2]

    def _drawn(self, totals: tuple[Any, ...]) -> Floats:
        if totals not in self._totals:
            if len(self._totals) >= REMEMBERED // 4:
                self._totals.clear()
            assert self.resampling is not None
            _, state = seeded_levels(self.resampling.redraws, 4, self.resampling.seed)
            rng = np.random.Generator(np.random.PCG64())
            rng.bit_generator.state = state
            rows, own = sum(totals), np.array(totals)
            counts = rng.multinomial(max(round(rows), 1), own / rows, self.resampling.redraws)
            self._totals[totals] = np.where(own > 0, np.maximum(counts, 1), 0).T.astype(float)
        return self._totals[totals]
