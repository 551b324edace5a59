r"""The first k rows of every query: averages over positives and over queries, recovered from PU labels.

Ranks are taken within each query. With :math:`W` the weight of a rank, tied rows sharing theirs, the mean weight of a
positive is :math:`M = \sum_i a_i \bar W_i` with the recovery's coefficients, as for one list. A mean over *all* Q
queries of what stands in their first rows then is :math:`P M / Q`, P the positives of all lists: every positive is
counted once, in its own query, so no class prior per query is needed, and queries without labelled rows count as 0.
Queries differ, and rows of one query are alike: intervals leave out one query at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.counts.tallies import Tallies
from pulens.errors import PulensError
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.inference.clustered import Jackknife, ends_around
from pulens.inference.kernels.jackknife import student_quantile
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.method import Limits
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.prior_uncertainty import PriorUncertainty, holding
from pulens.metrics.parts.rests_on import RANDOM_LABELLING, rests_on
from pulens.metrics.parts.top_of_list import discounts, is_unlabelled_list, rows_of
from pulens.types import Booleans, Floats

#: what is told of the first rows of queries; a number is called as that of one list is, where it answers the same
RECALL = "recall_at_k"
MACRO = "recall_at_k_macro"
PRECISION = "precision_at_k"
GAIN = "dcg_at_k"
SHARE_OF_BEST = "ndcg_at_k"
METHOD = "delete-a-query jackknife, Student"


def _unknown(_: float) -> Any:
    return math.nan


class _Number(NamedTuple):
    """A number at a share of positives among the unlabelled rows, without each query, and what it can be.

    ``ceiling`` is what it would be if all positives stood first, ``highest`` what it is cut at. ``is_share`` of
    labelled rows: it is no surer than this many rows are.
    """

    at: Callable[[float], float] = _unknown
    replicates: Callable[[float], Floats] = _unknown
    ceiling: Callable[[float], float] = _unknown
    highest: float = 1.0
    is_share: bool = True
    rests_on: tuple[str, ...] = ()
    needs_class_prior: bool = False
    undefined_because: str = ""


@dataclass(frozen=True, eq=False)
class FirstRowsOfQueries:
    """The first k rows of every query of one evidence; k counts rows, or is a share of each query's list."""

    evidence: Evidence
    tallies: Tallies
    k: Any

    def __getstate__(self) -> dict[str, Any]:
        """What travels in a copy or a pickle: what was given, not what was derived from it."""
        return {name: self.__dict__[name] for name in ("evidence", "tallies", "k")}

    @cached_property
    def _kinds(self) -> Floats:
        """Rows of each kind at each score, of shape (3, scores)."""
        labelled, unlabelled, negative = self.tallies.increments()
        none = np.zeros(labelled.shape)
        return np.stack([labelled.astype(float), unlabelled.astype(float), none if negative is None else negative])

    @cached_property
    def _tied(self) -> Floats:
        """Rows of the list at each score of each query."""
        apart = is_unlabelled_list(self.evidence.tally, self.evidence.assumptions)
        return np.asarray(self._kinds[1] if apart else self._kinds.sum(axis=0))

    @cached_property
    def _query(self) -> Any:
        """The place of each score's query."""
        return np.repeat(np.arange(len(self.tallies)), np.diff(self.tallies.bounds))

    @cached_property
    def _all_lengths(self) -> Floats:
        return np.asarray(np.bincount(self._query, self._tied, len(self.tallies)), float)

    @cached_property
    def kept(self) -> Booleans:
        """Queries with rows in the list: labelled rows collected separately have no rank where there is none."""
        return np.asarray(self._all_lengths > 0)

    @property
    def queries(self) -> int:
        return int(self.kept.sum())

    @cached_property
    def lengths(self) -> Floats:
        """Rows of the list of each query."""
        return np.asarray(self._all_lengths[self.kept])

    @cached_property
    def first(self) -> Floats:
        """How many rows of each query are looked at; more than there are where a query is short."""
        longest = float(self.lengths.max(initial=0.0))
        try:
            rows = rows_of(self.k, longest, "the top")
        except PulensError as error:
            raise PulensError(
                str(error)
                .replace("k of the top", "the top of the list (--top)")
                .replace("list has", "longest list has")
            ) from None
        text = str(self.k).strip()
        if not (text.endswith("%") or float(text) < 1):
            return np.full(self.queries, rows)
        each = {length: rows_of(self.k, length, "the top") for length in np.unique(self.lengths).tolist()}
        return np.array([each[length] for length in self.lengths.tolist()])

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind of each query, of shape (queries, 3)."""
        return np.asarray(self.tallies.totals[self.kept])

    @property
    def with_labels(self) -> int:
        return int(np.count_nonzero(self.totals[:, 0]))

    def _sums(self, running: Callable[[Floats], Floats]) -> Floats:
        """Sums over the rows of each kind in each query of the mean weight of their ranks, of shape (queries, 3)."""
        reached = np.cumsum(self._tied)
        before = np.concatenate([[0.0], np.cumsum(self._all_lengths)])[self._query]
        above = reached - self._tied - before
        tied = np.where(self._tied > 0, self._tied, 1.0)
        most = np.zeros(len(self.tallies))
        most[self.kept] = self.first
        limit = most[self._query]
        weights = (running(np.minimum(above + tied, limit)) - running(np.minimum(above, limit))) / tied
        sums = [np.bincount(self._query, kind * weights, len(self.tallies)) for kind in self._kinds]
        return np.asarray(np.stack(sums, axis=1)[self.kept], float)

    @cached_property
    def _hits(self) -> Floats:
        """Rows of each kind among the first ones, of shape (queries, 3)."""
        return self._sums(lambda ranks: ranks)

    @property
    def labelled_hits(self) -> float:
        return float(self._hits[:, 0].sum())

    @cached_property
    def _gains(self) -> Floats:
        return self._sums(discounts(float(self.first.max(initial=1.0))))

    @cached_property
    def numbers(self) -> dict[str, _Number]:
        """All that is told of the first rows of queries, by name."""
        looked_at = np.minimum(self.first, self.lengths)
        running = discounts(float(self.first.max(initial=1.0)))
        shares, longest = self._hits / self.first[:, None], 1.0 / float(self.first.min(initial=np.inf))
        best = float(running(looked_at).mean())
        result = {
            RECALL: self._of_positives(RECALL, self._hits, 1.0),
            MACRO: self._of_queries(
                self._hits[:, 0], self.totals[:, 0], "label noise parts single queries from theirs"
            ),
            PRECISION: self._of_lists(
                PRECISION, shares, float((looked_at / self.first).mean()), longest, is_share=True
            ),
            GAIN: self._of_lists(GAIN, self._gains, best, 1.0, is_share=False),
        }
        if self.totals[:, 1].any():
            reason = "the best order of a query needs the number of its own positives, which these labels do not show"
            return {**result, SHARE_OF_BEST: _Number(undefined_because=reason)}
        ideal = running(np.minimum(self.first, self.totals[:, 0]))  # every row is known, so is each query's best order
        hidden = "label noise hides how many positives a query has"
        return {**result, SHARE_OF_BEST: self._of_queries(self._gains[:, 0], ideal, hidden)}

    def _of_positives(self, name: str, sums: Floats, most: float) -> _Number:
        """The mean weight of a positive."""
        return self._scaled(name, sums, False, 1.0, lambda _: most, is_share=True)

    def _of_lists(self, name: str, sums: Floats, highest: float, most: float, *, is_share: bool) -> _Number:
        """The mean over all queries of what their first rows weigh; ``most`` is what a rank can weigh."""
        whole = tuple(self.totals.sum(axis=0))

        def ceiling(share: float) -> float:
            maps = PriorDraws(self.evidence).recoveries(whole, np.array([share]))
            return most * float(maps.positive[0]) / self.queries

        return self._scaled(name, sums, True, highest, ceiling, is_share=is_share)

    def _scaled(
        self, name: str, sums: Floats, per_query: bool, highest: float, ceiling: Any, *, is_share: bool
    ) -> _Number:
        everything, whole = sums.sum(axis=0), self.totals.sum(axis=0)

        def at(share: float) -> float:
            raw = self.weighed(share, everything[None], tuple(whole), float(self.queries), per_query=per_query)
            return min(max(float(raw[0]), 0.0), highest)

        def replicates(share: float) -> Floats:
            left = np.maximum(whole - self.totals, 0.0)
            return self.weighed(share, everything - sums, tuple(left.T), self.queries - 1.0, per_query=per_query)

        from pulens.metrics import METRICS  # not earlier: the catalogue imports its parts

        metric = METRICS[name]
        taken = rests_on(metric, self.evidence)
        return _Number(at, replicates, ceiling, highest, is_share, taken, metric.needs_class_prior)

    def _of_queries(self, above: Floats, below: Floats, with_noise: str) -> _Number:
        """The mean of a ratio over the queries where there is one."""
        some = below > 0
        ratios = above[some] / below[some]
        taken = (f"{RANDOM_LABELLING} within each query",) if self.evidence.tally.totals.unlabelled else ()
        if self.evidence.label_noise:
            return _Number(rests_on=taken, undefined_because=with_noise)

        def at(_: float) -> float:
            return min(float(ratios.mean()), 1.0)

        def replicates(_: float) -> Floats:
            return np.asarray((ratios.sum() - ratios) / max(ratios.size - 1, 1))

        return _Number(at, replicates, lambda _: 1.0, 1.0, True, taken)

    def weighed(self, share: Any, sums: Floats, totals: Any, queries: float, *, per_query: bool) -> Floats:
        """For rows of sums and totals: mean weights through the recovery, times positives over queries if asked."""
        draws = PriorDraws(self.evidence)
        rows = len(sums)
        priors = np.broadcast_to(draws.priors(share, np.zeros(rows), totals), rows)
        maps = draws.recoveries(totals, priors)
        size = np.stack([np.broadcast_to(np.asarray(total, float), rows) for total in totals], axis=1)
        means = np.divide(sums, size, out=np.zeros(sums.shape), where=size > 0)
        weight = np.where(size[:, 0] > 0, (maps.true_positive_rate * means).sum(axis=1), np.nan)
        return np.asarray(weight * maps.positive / queries if per_query else weight)

    def estimates(self, resampling: Resampling | None, ruled_out: str = "") -> dict[str, Estimate]:
        """By name; ``ruled_out`` says why numbers that need the class prior mean nothing, where they do not."""
        return {name: self._estimate(name, number, resampling, ruled_out) for name, number in self.numbers.items()}

    def _estimate(self, name: str, number: _Number, resampling: Resampling | None, ruled_out: str) -> Estimate:
        reason = number.undefined_because or (ruled_out if number.needs_class_prior else "")
        if reason:
            return Estimate(name, math.nan, undefined_because=reason, rests_on=number.rests_on)
        value = number.at(self.evidence.class_prior.unlabelled)
        rows = self.evidence.tally.totals.labelled if number.is_share else math.inf
        interval = self._interval(number, value, rows, (0.0, number.highest), resampling)
        return Estimate(name, value, interval, rests_on=number.rests_on)

    def less(
        self, other: FirstRowsOfQueries, resampling: Resampling | None, ruled_out: str = ""
    ) -> dict[str, Estimate]:
        """What these numbers are more than those of another score on the same rows; queries are left out of both."""
        if self.tallies.segments != other.tallies.segments or not np.array_equal(self.totals, other.totals):
            raise PulensError(
                "the two were not counted on the same rows: their queries, or the rows in them, differ. Read both "
                "scores from the same table."
            )
        result = {}
        for name, mine in self.numbers.items():
            number = _difference(mine, other.numbers[name])
            reason = number.undefined_because or (ruled_out if number.needs_class_prior else "")
            if reason:
                result[name] = Estimate(name, math.nan, undefined_because=reason, rests_on=number.rests_on)
                continue
            value = number.at(self.evidence.class_prior.unlabelled)
            interval = self._interval(number, value, math.inf, (-number.highest, number.highest), resampling)
            result[name] = Estimate(name, value, interval, rests_on=number.rests_on)
        return result

    def _interval(
        self,
        number: _Number,
        value: float,
        rows: float,
        within: tuple[float, float],
        resampling: Resampling | None,
    ) -> Interval | None:
        if resampling is None:
            return None
        many, doubt = self.with_labels, PriorUncertainty(self.evidence)
        bounds = (0.0, 1.0) if number.highest == 1.0 and not number.needs_class_prior else (0.0, math.inf)
        if within[0] < 0:
            bounds = -math.inf, math.inf
        construction = _DeleteAQuery(
            number.at, number.replicates, doubt, many, rows, many - 1.0, bounds, ceiling=number.ceiling
        )
        low, high, method = ends_in_doubt(construction, doubt, resampling.confidence, resampling.tail)
        low, high = holding(value, float(low), float(high))
        if math.isnan(low) or math.isnan(high):
            return None
        return Interval(max(low, within[0]), min(high, within[1]), resampling.confidence, method)


def _difference(one: _Number, two: _Number) -> _Number:
    if one.undefined_because:
        return one

    def at(share: float) -> float:
        return one.at(share) - two.at(share)

    def replicates(share: float) -> Floats:
        return one.replicates(share) - two.replicates(share)

    highest = max(one.highest, two.highest)
    return _Number(at, replicates, lambda _: math.inf, highest, False, one.rests_on, one.needs_class_prior)


@dataclass(frozen=True, eq=False)
class _DeleteAQuery(Jackknife):
    """A number whose replicates without each query are known; it cannot exceed what positives in first places give."""

    ceiling: Callable[[float], float] = lambda _: 1.0

    method = METHOD

    def _held(self, prior: float | None, tail: float) -> Limits:
        reach = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        most = self.ceiling(self.doubt.setting(prior))
        within = (0.0, most) if math.isfinite(most) else self.within
        return ends_around(self.value(prior), self.error(prior), tail, reach, self.buckets, self.rows, within)
