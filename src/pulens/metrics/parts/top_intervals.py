"""Intervals of measures of the top of a list: the place of the k-th row is itself a matter of chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import (
    effective_degrees_of_freedom,
    jeffreys_quantiles,
    normal_quantile,
    percentiles,
    studentised_quantile,
)
from pulens.inference.method import Limits
from pulens.inference.percentile import RankingRedraws
from pulens.inference.sampling_distribution import SamplingDistribution
from pulens.metrics.parts.top_of_list import (
    RankedList,
    Running,
    around,
    cut_between,
    decays,
    discounts,
    is_unlabelled_list,
    rising_with,
    rows_of,
)
from pulens.types import Floats

LEVELS = 24  # quantiles that stand for a rate's distribution
COMPOSITIONS = 9  # and for the share of labelled rows in one sample
SHARES = 25  # and for a class prior that is drawn
FEW_SEEN = 2.0  # labelled rows that may stand among the first ones by chance alone
REACH, MOST_PLACES = 5.0, 160  # thresholds looked at: within this many standard deviations of the k-th place, thinned


def _even(size: int) -> Floats:
    return (np.arange(size) + 0.5) / size


@dataclass(frozen=True)
class _OfTop(RankingRedraws):
    """What both methods ask of the evidence: rows of one sample."""

    shop: SamplingDistribution
    fits_any_design = False

    @property
    def _tally(self) -> Tally:
        return self.shop.evidence.tally

    @property
    def _list_is_unlabelled(self) -> bool:
        return is_unlabelled_list(self._tally, self.shop.evidence.assumptions)

    def _shares(self, prior: float | None, totals: Any) -> Floats:
        """Shares of positives among the unlabelled rows: the one given, or quantiles of its distribution."""
        from pulens.special import ndtri

        normal = ndtri(_even(SHARES)) if prior is None else np.zeros(1)
        return np.broadcast_to(self.shop.draws.priors(prior, normal, totals), normal.shape)

    def _k(self, rows: float) -> float:
        return rows_of(self.target.parameters.get("k", 0.1), rows, "an interval")


@dataclass(frozen=True)
class RecallAtPlace(_OfTop):
    """Quantiles of the labelled rate at the quantiles of where the list reaches its k-th row.

    For every pair of levels the Jeffreys quantiles of the labelled rate and of the others' rate are two paths over the
    thresholds; the labelled one is read where the list has k rows. In the single set labelled rows are rows of the
    list, and their share of it is spread over its own Jeffreys quantiles.
    """

    method = "Jeffreys, at the place of the k-th row"

    def scaled(self, recall: Floats, prior: float, rows: float, k: float) -> Floats:
        return recall

    def rows_looked_at(self, prior: float, rows: float) -> float:
        return self._k(rows)

    def ends(self, prior: float | None, tail: float) -> Limits:
        return super().ends(prior, tail) if self._needs_redraws else self._ends_at(None, prior, tail)

    @property
    def _needs_redraws(self) -> bool:
        """Whether the rows of the list no longer tell the rate of the unlabelled ones."""
        return bool(self.shop.evidence.label_noise and (self._tally.totals.negative or not self._list_is_unlabelled))

    @property
    def _rows(self) -> float:
        totals = self._tally.totals
        return float(totals.unlabelled if self._list_is_unlabelled else totals.rows)

    def _ends_at(self, k: float | None, prior: float | None, tail: float) -> Limits:
        """Ends for the first k rows, or for as many as were asked for."""
        rows = self._rows
        result = [self._at(float(share), rows, k) for share in self._shares(prior, tuple(self._tally.totals))]
        low, high = percentiles(np.concatenate(result), tail, tail)
        return (min(low, 0.0) if self._may_be_none(rows, tail, k) else low), high

    def _may_be_none(self, rows: float, tail: float, k: float | None) -> bool:
        """Whether labelled rows among the first ones may be there by chance alone: one or two, none further up.

        Then the k-th place of the population may lie above all of them, and a rate of nothing is possible.
        """
        ranked = RankedList.of(self._tally, self.shop.evidence.assumptions)
        k = self.rows_looked_at(ranked.positives / rows, rows) if k is None else k
        surely = max(k - normal_quantile(1 - 2 * tail) * math.sqrt(k), 0.0)
        seen, further_up = ranked.among(np.array([k, surely]))[0].tolist()
        return 0 < seen <= FEW_SEEN and further_up == 0 and not self.shop.evidence.label_noise

    def _at(self, share: float, rows: float, k: float | None = None) -> Floats:
        """The number at all levels, at one share of positives among the unlabelled rows."""
        totals = tuple(self._tally.totals)
        own = self.shop.draws.recoveries(totals, np.array([share]))
        prior = float(own.positive[0] / (own.positive[0] + own.negative[0]))
        k = self.rows_looked_at(prior, rows) if k is None else k
        if self._list_is_unlabelled:
            coefficients = own.true_positive_rate[0]
            recall = coefficients[0] * self._labelled_where(k, rows) + coefficients[1] * k / rows
            return np.asarray(self.scaled(recall, prior, rows, k)).ravel()
        answer = []
        for labelled_share, recall in zip(*self._in_one_sample(k, rows), strict=True):
            others = (1 - labelled_share) * rows / max(rows - totals[0], 1e-300)
            moved = (labelled_share * rows, *(others * total for total in totals[1:]))
            there = self.shop.draws.recoveries(moved, self.shop.draws.moved(share, moved))
            positives = float(there.positive[0] / (there.positive[0] + there.negative[0]))
            answer.append(np.asarray(self.scaled(recall, positives, rows, k)).ravel())
        return np.concatenate(answer)

    def _labelled_where(self, k: float, rows: float) -> Floats:
        """Labelled rates (levels by levels) where the unlabelled rows alone reach k."""
        labelled, rest = self._paths(k)
        index, part = _crossing(rest * rows, k)
        return np.asarray(labelled[index - 1] + part[:, None] * (labelled[index] - labelled[index - 1]))

    def _in_one_sample(self, k: float, rows: float) -> tuple[Floats, list[Floats]]:
        """Shares of labelled rows, and for each the labelled rates (levels by levels) where all rows reach k."""
        labelled, rest = self._paths(k)
        shares = jeffreys_quantiles(self._tally.totals.labelled, rows, _even(COMPOSITIONS))
        result = []
        for share in shares.tolist():
            reached = rows * (share * labelled[:, :, None] + (1 - share) * rest[:, None, :])
            index, part = _crossing(reached.reshape(reached.shape[0], -1), k)
            level = np.repeat(np.arange(LEVELS), LEVELS)
            before, after = labelled[index - 1, level], labelled[index, level]
            result.append(before + part * (after - before))
        return shares, result

    @cached_method()
    def _paths(self, k: float) -> tuple[Floats, Floats]:
        """Jeffreys quantiles of labelled and other rows at the thresholds around the k-th place, highest first."""
        tally, totals = self._tally, self._tally.totals
        other = np.asarray(tally.unlabelled, float)
        if not self._list_is_unlabelled:
            other = other + np.asarray(tally.negative, float)
        labelled = np.asarray(tally.labelled, float)
        reached = other if self._list_is_unlabelled else labelled + other
        spread = REACH * math.sqrt(max(k * (1 - k / reached[-1]), 1.0)) + 1.0
        first, last = np.searchsorted(reached, [k - spread, k + spread])
        first, last = max(int(first) - 1, 0), min(int(last) + 1, reached.size - 1)
        indices = np.unique(np.linspace(first, last, MOST_PLACES).astype(int))
        paths = []
        for hits, total in ((labelled, totals.labelled), (other, float(other[-1]))):
            path = _path(hits[indices], total)
            if first == 0:  # above the highest score stands nothing
                path = np.concatenate([np.zeros((1, LEVELS)), path])
            if last == reached.size - 1:  # and everything above the lowest
                path[-1] = 1.0
            paths.append(path)
        return paths[0], paths[1]


def _path(hits: Floats, total: float) -> Floats:
    from pulens.special import betaincinv

    return np.asarray(betaincinv(hits[:, None] + 0.5, np.maximum(total - hits, 0.0)[:, None] + 0.5, _even(LEVELS)))


def _crossing(reached: Floats, k: float) -> tuple[Any, Floats]:
    """The first place of each column at which it reaches k, and how far between there and the place before."""
    index = np.clip((reached < k).sum(axis=0), 1, reached.shape[0] - 1)
    columns = np.arange(reached.shape[1])
    before, after = reached[index - 1, columns], reached[index, columns]
    part = np.divide(k - before, after - before, out=np.ones(before.shape), where=after > before)
    return index, np.clip(part, 0.0, 1.0)


@dataclass(frozen=True)
class EnrichmentAtPlace(RecallAtPlace):
    """Recall at k over the share that k rows are of the list."""

    def scaled(self, recall: Floats, prior: float, rows: float, k: float) -> Floats:
        return recall * rows / k


@dataclass(frozen=True)
class PrecisionAtPlace(RecallAtPlace):
    """Recall at k times the positives of the list, over k; ends of other places are looked at, too.

    As the value, both ends times k rise with k, and by no more than the rows: at the round places of the list each is
    moved outwards until it does, and an end in between is cut to what those around it allow, rounder ones first.
    """

    def scaled(self, recall: Floats, prior: float, rows: float, k: float) -> Floats:
        return recall * prior * rows / k

    def ends(self, prior: float | None, tail: float) -> Limits:
        if self._needs_redraws:  # of which each has counts that fit together
            return super().ends(prior, tail)
        kept = self.shop.along_the_list.setdefault((prior, tail), {})
        return self.fitted(
            self.shop.evidence, self.target.parameters, lambda k: self._ends_at(k["k"], prior, tail), kept
        )

    @staticmethod
    def fitted(
        evidence: Evidence,
        parameters: Mapping[str, Any],
        ends_at: Callable[[dict[str, Any]], Limits],
        kept: dict[float, Any],
    ) -> Limits:
        """Ends that fit those of other places, which ``ends_at`` finds each by itself and ``kept`` remembers."""

        def counts(place: float) -> tuple[float, float]:
            low, high = ends_at({**parameters, "k": round(place)})  # 1.0 could be all rows
            return min(max(place * low, 0.0), place), min(max(place * high, 0.0), place)

        ranked = RankedList.of(evidence.tally, evidence.assumptions)
        k = rows_of(parameters.get("k", 0.1), ranked.rows, "an interval")
        ends, between = ranked.places_with(k)
        if not kept:
            each = np.array([(0.0, 0.0), *map(counts, ends[1:])])
            outwards = rising_with(np.array(ends), each[:, 0])[0], rising_with(np.array(ends), each[:, 1])[1]
            kept.update(zip(ends, zip(*outwards, strict=True), strict=True))
        for index, place in enumerate(between):
            if place not in kept:
                known = [*ends, *between[:index]]
                own, reach = counts(place), np.array(known)
                sides = np.array([kept[other] for other in known]).T
                kept[place] = tuple(
                    cut_between(end, place, *around(reach, place, side, reach))
                    for end, side in zip(own, sides, strict=True)
                )
        low, high = kept[k]
        return low / k, high / k


@dataclass(frozen=True)
class RPrecisionAtPlace(RecallAtPlace):
    """Recall at as many rows as there are positives."""

    def rows_looked_at(self, prior: float, rows: float) -> float:
        return prior * rows


class Influences(NamedTuple):
    """What each row adds to the mean weight of a positive, at each score; labelled rows and others of the list."""

    labelled: Floats
    others: Floats
    weight: float  # the mean weight of a positive


@dataclass(frozen=True)
class RankWeights(_OfTop):
    """A measure that is a straight line of the mean rank weight of a positive: first-order expansion.

    A labelled row adds its weight less the mean; a row of the list pushes the labelled rows below it down by one rank.
    Variances within kinds, Student with Welch's degrees of freedom, bent for the skewness of the labelled part: the
    construction of ROC AUC.
    """

    method = "first-order expansion, Student, skewness-corrected"

    def running(self, rows: float) -> Running:
        raise NotImplementedError

    def line(self, prior: float, rows: float) -> tuple[float, float]:
        """Constant and slope of the measure in the mean weight, at a class prior."""
        raise NotImplementedError

    def ends(self, prior: float | None, tail: float) -> Limits:
        if self.shop.evidence.label_noise and (self._tally.totals.negative or not self._list_is_unlabelled):
            return super().ends(prior, tail)
        totals = tuple(self._tally.totals)
        shares = self._shares(prior, totals)
        if prior is not None:
            value, error, skew, freedom = self._parts(float(shares[0]))
            bend = [float(studentised_quantile(level, skew, freedom)) for level in (1 - tail, tail)]
            low, high = value - error * bend[0], value - error * bend[1]
            return self._at_the_edge(float(shares[0]), low, high, tail)
        levels = _even(101)
        mixed = []
        for share in shares.tolist():
            value, error, skew, freedom = self._parts(share)
            mixed.append(value - error * studentised_quantile(levels, skew, freedom))
        low, high = percentiles(np.concatenate(mixed), tail, tail)
        return self._at_the_edge(self.shop.evidence.class_prior.unlabelled, low, high, tail)

    def _at_the_edge(self, share: float, low: float, high: float, tail: float) -> Limits:
        """Where no labelled row weighs anything, or all weigh the same, rows show no spread: as a rate of 0 or 1."""
        labelled = self._tally.totals.labelled
        ranked = self._ranked
        weights = self._weights
        here = ranked.kinds[0] > 0
        if labelled >= 2 and np.ptp(weights[here]) > 1e-15:
            return low, high
        _, (constant, slope) = self._line_at(share)
        running = self.running(ranked.rows)
        most = float(running(np.array(1.0)))
        shown = float(weights[here].mean()) if here.any() else 0.0
        if shown == 0.0:
            first = self._k(ranked.rows)
            most = float(running(np.array(first))) / first
            return constant, constant + slope * most * float(jeffreys_quantiles(0.0, labelled, np.array([1 - tail]))[0])
        least = shown * float(jeffreys_quantiles(labelled, labelled, np.array([tail]))[0])
        return constant + slope * least, constant + slope * most

    @cached_property
    def _ranked(self) -> RankedList:
        return RankedList.of(self._tally, self.shop.evidence.assumptions)

    @cached_property
    def _weights(self) -> Floats:
        return self._ranked.weights(self.running(self._ranked.rows))

    def _line_at(self, share: float) -> tuple[float, tuple[float, float]]:
        own = self.shop.draws.recoveries(tuple(self._tally.totals), np.array([share]))
        prior = float(own.positive[0] / (own.positive[0] + own.negative[0]))
        return prior, self.line(prior, self._ranked.rows)

    @cached_property
    def _influences(self) -> Influences:
        """Of the mean weight of labelled rows; every row of the list may push them down."""
        ranked, weights = self._ranked, self._weights
        running, n = self.running(ranked.rows), ranked.totals[0]
        labelled = ranked.kinds[0]
        tied = np.where(ranked.tied > 0, ranked.tied, 1.0)
        lower = (running(ranked.above + tied + 1.0) - running(ranked.above + 1.0)) / tied - weights
        pushed = labelled * lower / n
        below = np.cumsum(pushed[::-1])[::-1] - pushed / 2  # rows that score less, and half of the ties
        mean = float(labelled @ weights) / n
        centred = below - float(ranked.tied @ below) / ranked.rows
        return Influences((weights - mean) / n, centred, mean)

    def _parts(self, share: float) -> tuple[float, float, float, float]:
        """Value, standard error, skewness and degrees of freedom at a share of positives among the unlabelled rows."""
        ranked, result = self._ranked, self._influences
        labelled, *others = ranked.kinds
        totals = ranked.totals
        map_ = self.shop.draws.recoveries(totals, np.array([share]))
        prior, (constant, slope) = self._line_at(share)
        if self._list_is_unlabelled:
            coefficients = map_.true_positive_rate[0]
            everywhere = float(self.running(ranked.rows)(np.array(ranked.rows))) / ranked.rows
            value = constant + slope * (coefficients[0] * result.weight + coefficients[1] * everywhere)
            own, rest = slope * coefficients[0] * result.labelled, [slope * coefficients[0] * result.others]
            others = others[:1]
        else:
            value = constant + slope * result.weight
            moves = [0.0, 0.0, 0.0]
            if self.shop.evidence.prior_held != "population" and totals[1]:  # their numbers decide the class prior
                step = 1e-6 * prior
                up, down = (self.line(prior + sign * step, ranked.rows) for sign in (1, -1))
                steep = (up[0] - down[0] + result.weight * (up[1] - down[1])) / (2 * step)
                moves = [steep * (each - prior) / ranked.rows for each in (1.0, share, 0.0)]
            own = slope * (result.labelled + result.others) + moves[0]
            rest = [slope * result.others + move for move in moves[1:]]
        n = max(totals[0], 2.0)
        variances = [float(labelled @ own**2) * n / (n - 1)]
        variances += [float(kind @ each**2) for kind, each in zip(others, rest, strict=True)]
        error = math.sqrt(sum(variances))
        skew = float(labelled @ own**3) / error**3 if error else 0.0
        sizes = np.array([totals[0], *totals[1 : 1 + len(rest)]])
        freedom = float(effective_degrees_of_freedom(np.array(variances), sizes))
        return value, error, skew, freedom


@dataclass(frozen=True)
class EarlyEnhancement(RankWeights):
    """RIE."""

    def running(self, rows: float) -> Running:
        return decays(float(self.target.parameters.get("decay", 20.0)), rows)

    def line(self, prior: float, rows: float) -> tuple[float, float]:
        return 0.0, rows / float(self.running(rows)(np.array(rows)))


@dataclass(frozen=True)
class EarlyRecognition(EarlyEnhancement):
    """BEDROC, a straight line of RIE at each class prior."""

    def line(self, prior: float, rows: float) -> tuple[float, float]:
        constant, slope = bedroc_scale(prior, float(self.target.parameters.get("decay", 20.0)))
        return constant, slope * super().line(prior, rows)[1]


def bedroc_scale(prior: float, decay: float) -> tuple[float, float]:
    """Constant and slope of BEDROC as a straight line of RIE.

    >>> constant, slope = bedroc_scale(0.2, 20.0)
    >>> round(constant + slope * 4.9, 4)
    0.9983
    """
    most = math.expm1(-decay * prior) / (prior * math.expm1(-decay))
    least = math.exp(-decay * (1 - prior))
    return -least / (1 - least), 1 / (most * (1 - least))


@dataclass(frozen=True)
class DiscountedGain(RankWeights):
    """DCG of the first k rows."""

    def running(self, rows: float) -> Running:
        return discounts(self._k(rows))

    def line(self, prior: float, rows: float) -> tuple[float, float]:
        return 0.0, prior * rows


@dataclass(frozen=True)
class NormalisedGain(DiscountedGain):
    """NDCG of the first k rows."""

    def line(self, prior: float, rows: float) -> tuple[float, float]:
        return 0.0, prior * rows / max(float(self.running(rows)(np.array(prior * rows))), 1e-300)
