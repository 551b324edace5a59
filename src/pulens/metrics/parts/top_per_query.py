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
from pulens.intervals.clustered import Jackknife, ends_around
from pulens.intervals.construction import Ends
from pulens.intervals.kernels.jackknife import FEWEST_BUCKETS, student_quantile
from pulens.intervals.kernels.quantiles import normal_quantile
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.policy import ends_in_doubt
from pulens.intervals.prior_doubt import PriorDoubt, holding
from pulens.intervals.prior_draws import PriorDraws
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.rests_on import RANDOM_LABELLING, rests_on
from pulens.metrics.parts.top_of_list import discounts, is_unlabelled_list, rows_of
from pulens.types import Booleans, Floats

MACRO = "recall_at_k_macro"
METHOD = "delete-a-query jackknife, Student"


class _Measured(NamedTuple):
    """A number from the weights of each kind in each query: how it scales with positives, and its highest value."""

    sums: Floats  # of shape (queries, 3)
    per_query: bool  # positives over queries times the mean weight, or the mean weight itself
    highest: float
    most: float = 1.0  # what a rank can weigh


@dataclass(frozen=True, eq=False)
class FirstRowsOfQueries:
    """The first k rows of every query of one evidence; k counts rows, or is a share of each query's list."""

    evidence: Evidence
    tallies: Tallies
    k: Any
    metrics: Any  # the catalogue, by name

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
        """Queries with rows in the list: labelled rows collected apart have no rank where there is none."""
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

    def _measured(self) -> dict[str, _Measured]:
        looked_at = np.minimum(self.first, self.lengths)
        best = float(discounts(float(self.first.max(initial=1.0)))(looked_at).mean())
        return {
            "recall_at_k": _Measured(self._hits, False, 1.0),
            "precision_at_k": _Measured(
                self._hits / self.first[:, None],
                True,
                float((looked_at / self.first).mean()),
                1.0 / float(self.first.min(initial=np.inf)),
            ),
            "dcg_at_k": _Measured(self._gains, True, best),
        }

    def estimates(self, resampling: Resampling | None, ruled_out: str = "") -> dict[str, Estimate]:
        """By name; ``ruled_out`` says why numbers that need the class prior mean nothing, where they do not."""
        found = {name: self._estimate(name, each, resampling, ruled_out) for name, each in self._measured().items()}
        macro = self._mean_of_queries(
            MACRO, self.metrics["recall_at_k"], self._hits[:, 0], self.totals[:, 0], resampling, "label noise moves "
            "single queries apart: only means over all positives are recovered"
        )  # fmt: skip
        if not self.totals[:, 1].any():  # every row is known, and so is the best order of each query
            ideal = discounts(float(self.first.max(initial=1.0)))(np.minimum(self.first, self.totals[:, 0]))
            with_noise = "label noise hides how many positives a query has"
            ndcg = self._mean_of_queries(
                "ndcg_at_k", self.metrics["ndcg_at_k"], self._gains[:, 0], ideal, resampling, with_noise
            )
        else:
            reason = "the best order of a query needs the number of its own positives, which labels of all do not tell"
            ndcg = Estimate("ndcg_at_k", math.nan, undefined_because=reason)
        order = ("recall_at_k", MACRO, "precision_at_k", "dcg_at_k", "ndcg_at_k")
        found |= {MACRO: macro, "ndcg_at_k": ndcg}
        return {name: found[name] for name in order}

    def _value(self, each: _Measured, share: float) -> float:
        totals = tuple(self.totals.sum(axis=0))
        return float(self._at(each, share, each.sums.sum(axis=0)[None], totals, float(self.queries))[0])

    def _at(self, each: _Measured, share: Any, sums: Floats, totals: Any, queries: float) -> Floats:
        """The number for rows of sums and totals: mean weights through the recovery, and what they are scaled by."""
        draws = PriorDraws(self.evidence)
        rows = len(sums)
        priors = np.broadcast_to(draws.priors(share, np.zeros(rows), totals), rows)
        maps = draws.recoveries(totals, priors)
        size = np.stack([np.broadcast_to(np.asarray(total, float), rows) for total in totals], axis=1)
        means = np.divide(sums, size, out=np.zeros(sums.shape), where=size > 0)
        weight = (maps.true_positive_rate * means).sum(axis=1)
        weight = np.where(size[:, 0] > 0, weight, np.nan)
        return np.asarray(weight * maps.positive / queries if each.per_query else weight)

    def _estimate(self, name: str, each: _Measured, resampling: Resampling | None, ruled_out: str) -> Estimate:
        metric: Metric = self.metrics[name]
        taken = rests_on(metric, self.evidence)
        if ruled_out and metric.needs_class_prior:
            return Estimate(name, math.nan, undefined_because=ruled_out, rests_on=taken)
        raw = self._value(each, self.evidence.class_prior.unlabelled)
        value = min(max(raw, 0.0), each.highest)
        everything = each.sums.sum(axis=0)
        whole = self.totals.sum(axis=0)

        def replicates(share: float) -> Floats:
            left = np.maximum(whole - self.totals, 0.0)
            return self._at(each, share, everything - each.sums, tuple(left.T), self.queries - 1.0)

        def at(share: float) -> float:
            return min(max(self._value(each, share), 0.0), each.highest)

        def ceiling(share: float) -> float:
            maps = PriorDraws(self.evidence).recoveries(tuple(whole), np.array([share]))
            return each.most * float(maps.positive[0]) / self.queries if each.per_query else each.most

        interval = self._interval(at, replicates, value, each.highest, resampling, ceiling, is_share=name != "dcg_at_k")
        return Estimate(name, value, interval, rests_on=taken)

    def _mean_of_queries(
        self, name: str, metric: Metric, above: Floats, below: Floats, resampling: Resampling | None, with_noise: str
    ) -> Estimate:
        """The mean of a ratio over the queries where there is one."""
        taken = (f"{RANDOM_LABELLING} within each query",) if self.evidence.tally.totals.unlabelled else ()
        some = below > 0
        if self.evidence.label_noise:
            return Estimate(name, math.nan, undefined_because=with_noise, rests_on=taken)
        ratios = above[some] / below[some]
        value = float(min(ratios.mean(), 1.0))
        many = ratios.size

        def replicates(_: float) -> Floats:
            return np.asarray((ratios.sum() - ratios) / max(many - 1, 1))

        interval = self._interval(lambda _: value, replicates, value, 1.0, resampling, lambda _: 1.0)
        return Estimate(name, value, interval, rests_on=taken)

    def _interval(
        self,
        at: Callable[[float], float],
        replicates: Callable[[float], Floats],
        value: float,
        highest: float,
        resampling: Resampling | None,
        ceiling: Callable[[float], float],
        *,
        is_share: bool = True,  # of labelled rows: no surer than so many rows are
    ) -> Interval | None:
        if resampling is None:
            return None
        many = self.with_labels
        rows = self.evidence.tally.totals.labelled if is_share else math.inf
        doubt = PriorDoubt(self.evidence)
        widest = 1.0 if highest == ceiling(self.evidence.class_prior.unlabelled) == 1.0 else math.inf
        construction = _DeleteAQuery(at, replicates, doubt, many, rows, many - 1.0, (0.0, widest), ceiling=ceiling)
        low, high, method = ends_in_doubt(construction, doubt, resampling.confidence, resampling.tail)
        low, high = holding(value, float(low), float(high))
        if math.isnan(low) or math.isnan(high):
            return None
        return Interval(max(low, 0.0), min(high, highest), resampling.confidence, method)


@dataclass(frozen=True, eq=False)
class _DeleteAQuery(Jackknife):
    """A number whose replicates without each query are known; it cannot exceed what positives in first places give."""

    ceiling: Callable[[float], float] = lambda _: 1.0

    method = METHOD

    def ends(self, prior: float | None, tail: float) -> Ends:
        if prior is None or self.buckets < FEWEST_BUCKETS:
            return super().ends(prior, tail)
        reach = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        within = 0.0, self.ceiling(prior)
        return ends_around(self.value(prior), self.error(prior), tail, reach, self.buckets, self.rows, within)
