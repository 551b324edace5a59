"""Checked rows beside cells, and beside rows that belong together.

What checked rows prove by themselves is about the rows at hand: chance lies in which rows were drawn, and neither
cells nor clusters change how they were. What is recovered from labels is about more, and there both matter: rows are
counted by cell and by bucket with the checked ones put back among the unlabelled ones, and the checked rows of every
cell tell its class prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pulens.audits import Reviews
from pulens.audits.answers import POSITIVE, UNDECIDED
from pulens.counts.buckets import bucket_names
from pulens.errors import InputError
from pulens.estimate import Interval
from pulens.evaluation.reviews import Reviewed, column_of, row_reviews
from pulens.evidence import IntervalOptions
from pulens.evidence.design import Gathered
from pulens.evidence.review_options import ReviewOptions
from pulens.inference.kernels.jackknife import (
    FEWEST_BUCKETS,
    freedom_of,
    jackknife_error,
    logit_ends,
    student_quantile,
)
from pulens.inputs import ReadOptions
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.columns import crossed, is_null
from pulens.priors import ClassPrior, population_prior
from pulens.scenario import Scenario
from pulens.strata import LabellingCells, read_cells
from pulens.strata.gathering import gathered, settled
from pulens.strata.priors import CellShare, CellShares

HALF = 0.5  # a row that nobody could decide


class _ClusterError(NamedTuple):
    """A standard error from buckets, and its degrees of freedom."""

    of_share: float
    freedom: float


@dataclass(frozen=True, eq=False)
class GroupedReviews:
    """Rows with their answers, and the cell and the cluster of each where they were named."""

    rows: Reviews
    within: Any = None  # a cell for each row
    columns: tuple[str, ...] = ()
    cluster: Any = None  # an id for each row

    @classmethod
    def read(
        cls,
        labels: Any,
        scores: Any,
        reading: ReadOptions,
        asked: ReviewOptions,
        within: Any,
        *,
        scenario: str,
        rows: Reviews | None = None,
    ) -> GroupedReviews:
        """Join the answers, unless that was done, and read the cell and the cluster of every row, or take arrays'."""
        plain = replace(reading, cluster=None)
        rows = row_reviews(labels, scores, plain, asked, scenario=scenario) if rows is None else rows
        columns: tuple[str, ...] = ("cell",)
        cluster, values = reading.cluster, within
        if scores is None:
            if isinstance(cluster, str):
                cluster = column_of(labels, scores, cluster, plain)
            if within is not None:
                columns = crossed(within if isinstance(within, str) else tuple(within))
                each = [column_of(labels, scores, name, plain) for name in columns]
                known = [[None if is_null(value) else value for value in values] for values in each]
                values = known[0] if len(known) == 1 else list(zip(*known, strict=True))
        return cls(rows, values, () if within is None else columns, cluster)

    @property
    def reading(self) -> ReadOptions:
        return ReadOptions(cluster=self.cluster)

    def cells(self) -> LabellingCells:
        """Rows of every cell, checked ones among the unlabelled."""
        result = read_cells(self.rows.labels, self.rows.scores, self.within, self.reading)
        return replace(result, columns=self.columns)

    def question(self, question: IntervalOptions, cells: LabellingCells | None = None) -> IntervalOptions:
        """With the class prior that checked rows tell, of all rows or of every cell, where nothing else was said."""
        if not question.is_silent_on_prior:
            return question
        if cells is None:
            prior = self.class_prior(question)
            return question if prior is None else replace(question, class_prior=prior)
        shares = self.shares(cells)
        if not shares:
            return question
        shares.whole = self.class_prior(question)
        return replace(question, audit=shares)

    def class_prior(self, question: IntervalOptions) -> ClassPrior | None:
        """That of all rows by the checked ones; with clusters its interval also holds what other clusters would tell.

        What checked rows prove is about the rows at hand. A class prior goes on into numbers about more than these, so
        where rows belong together it is found again without each bucket of clusters.
        """
        silent = replace(question, unlabelled_prior=0.0)
        tally = silent.evidence(self.rows.labels, self.rows.scores).tally
        prior = Reviewed(tally=tally, confidence=0.95, seed=question.seed, rows=self.rows).prior_of_audit
        error = None if prior is None or self.cluster is None else self._error_of_clusters()
        if prior is None or error is None or prior.unlabelled_interval is None:
            return prior
        reach = student_quantile(error.freedom, 0.025)
        ends = logit_ends(prior.unlabelled, error.of_share, reach)
        own = prior.unlabelled_interval
        low, high = min(own.low, ends[0]), max(own.high, ends[1])
        method = f"{own.method}, and without each bucket of clusters"
        scenario = Scenario(question.scenario)
        first, last = (population_prior(end, tally.totals, scenario, question.label_noise) for end in (low, high))
        return replace(
            prior,
            interval=Interval(first, last, 0.95, method),
            unlabelled_interval=Interval(low, high, 0.95, method),
            distribution=None,
        )

    def _error_of_clusters(self) -> _ClusterError | None:
        """The standard error of the share of positives among unlabelled rows, found without each bucket."""
        texts, codes = cluster_codes(self.cluster, "cluster")
        names, index = np.unique(np.array(bucket_names(texts)), return_inverse=True)
        bucket, rows, many = index[codes], self.rows, len(self.rows.probability)
        free = rows.cell >= 0
        kinds = (free, free & rows.is_checked, free & rows.is_checked & (rows.answer == POSITIVE))
        size, seen, result = (np.zeros((names.size, many)) for _ in kinds)
        for counts, which in zip((size, seen, result), kinds, strict=True):
            np.add.at(counts, (bucket[which], rows.cell[which]), 1.0)
        freedom = float(freedom_of(seen.sum(axis=1), size.sum(axis=1)))
        size, seen, result = (each.sum(axis=0) - each for each in (size, seen, result))
        if (seen <= 0).any() or names.size < FEWEST_BUCKETS:
            return None
        left = (size * result / seen).sum(axis=1) / np.maximum(size.sum(axis=1), 1.0)
        return _ClusterError(float(jackknife_error(left)), freedom)

    def shares(self, cells: LabellingCells) -> CellShares:
        r"""Of every cell: the share of positives among its unlabelled rows, and how many rows that is worth.

        With :math:`M_{kg}` unlabelled rows of cell g at the k-th chance of being checked, of which :math:`n_{kg}` were
        and :math:`a_{kg}` positive, :math:`\hat\alpha_g = \sum_k \frac{M_{kg}}{M_g} \frac{a_{kg}}{n_{kg}}`, with the
        usual variance of strata; the share over all cells stands in where none of a cell was checked. None where some
        rows could not have been checked: nothing is known of their share.
        """
        rows = self.rows
        if (rows.probability <= 0).any():
            return CellShares()
        index = self._cell_of_rows(cells)
        many = len(rows.probability)
        free = rows.cell >= 0
        size = np.zeros((len(cells), many))
        np.add.at(size, (index[free], rows.cell[free]), 1.0)
        seen, result = np.zeros(size.shape), np.zeros(size.shape)
        looked = free & rows.is_checked
        np.add.at(seen, (index[looked], rows.cell[looked]), 1.0)
        worth = np.where(rows.answer == POSITIVE, 1.0, np.where(rows.answer == UNDECIDED, HALF, 0.0))
        np.add.at(result, (index[looked], rows.cell[looked]), worth[looked])
        common = (result.sum(axis=0) + HALF) / (seen.sum(axis=0) + 1)
        share = np.divide(result, seen, out=np.broadcast_to(common, size.shape).copy(), where=seen > 0)
        smooth = (result + common) / (seen + 1)
        left = 1 - np.divide(seen, size, out=np.zeros(size.shape), where=size > 0)
        spread = smooth * (1 - smooth) / np.maximum(seen, 1.0) * left
        weight = np.divide(size, size.sum(axis=1, keepdims=True), out=np.zeros(size.shape), where=size > 0)
        value, variance = (weight * share).sum(axis=1), (weight**2 * spread).sum(axis=1)
        middle_of = (weight * smooth).sum(axis=1)  # a share of 0 would be worth no row at all
        told = CellShares()
        for number, name in enumerate(cells.names):
            if seen[number].any():
                middle = min(max(float(value[number]), 1e-6), 1 - 1e-6)
                spread_of_one = float(middle_of[number] * (1 - middle_of[number]))
                rows_worth = spread_of_one / max(float(variance[number]), 1e-12)
                checked = int(seen[number].sum())
                told[name] = CellShare(middle, float(np.clip(rows_worth, 1.0, 1e9)), checked)
        return told

    def _cell_of_rows(self, cells: LabellingCells) -> Any:
        from pulens.strata.counts import cell_title

        indices = {name: number for number, name in enumerate(cells.names)}
        values = self.within.tolist() if hasattr(self.within, "tolist") else list(self.within)
        named = [cell_title(None if not isinstance(value, tuple) and value != value else value) for value in values]
        unknown = [name for name in named if name not in indices]
        if unknown:
            raise InputError(f"a row lies in the cell {unknown[0]!r}, which was not counted.")
        return np.array([indices[name] for name in named], np.int64)

    def gathered(self, question: IntervalOptions, split: str | None) -> Gathered:
        """All rows, by cell where cells were named, with the class priors that were said or that checked rows tell."""
        if self.within is None:
            question = self.question(question)
            return Gathered(question.evidence(self.rows.labels, self.rows.scores, self.reading))
        cells = self.cells()
        result = settled(cells, self.question(question, cells), split or "estimated")
        return gathered(result, replace(question, audit={}) if question.is_silent_on_prior else question)
