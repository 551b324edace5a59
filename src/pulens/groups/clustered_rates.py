r"""Shares of rows that belong together, group by group: groups may share clusters, and then go together by chance.

A patient with visits in two groups moves both. Every group's share is found without one bucket of clusters at a time,
in all groups at once; the spread of these numbers is the covariance of the groups' shares
(:func:`pulens.inference.kernels.jackknife.jackknife_covariance`). Limits of one share are those of
:mod:`pulens.inference.clustered`: Student's on the scale of log odds. Degrees of freedom are Kish's (1965) effective
number of buckets less one, :math:`(\sum_b m_b)^2 / \sum_b m_b^2 - 1` with :math:`m_b` rows of the group in bucket b: a
few large clusters carry most of the variance, and many small ones show little of it. In a difference the correlation of
both enters (Zou 2008), and the reach of intervals that hold at once is that of normal numbers with all these
correlations, as a chance of a miss at Student's tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pulens.inference.clustered import METHOD, ends_around
from pulens.inference.kernels.jackknife import (
    FEWEST_BUCKETS,
    freedom_of,
    jackknife_covariance,
    student_quantile,
)
from pulens.inference.kernels.simultaneous import tail_of
from pulens.types import Floats


@dataclass(frozen=True, eq=False)
class ClusteredRates:
    """Shares of counted rows with the covariance that buckets show; ``buckets`` hold ``rows`` of each group.

    >>> hits, rows = np.array([[2, 1], [1, 0], [0, 1], [3, 1]]), np.array([[3, 2], [1, 1], [2, 1], [4, 2]])
    >>> found = ClusteredRates.counted(hits.sum(axis=0), rows.sum(axis=0), hits, rows)
    >>> found.values.tolist(), found.errors.round(7).tolist(), found.correlations.round(2).tolist()
    ([0.6, 0.5], [0.1623866, 0.1224745], [[1.0, -0.73], [-0.73, 1.0]])
    """

    values: Floats
    rows: Floats
    buckets: NDArray[np.int64]
    covariance: Floats
    freedom: Floats  # degrees of freedom of each share's error
    method: str = METHOD

    @classmethod
    def counted(cls, hits: Floats, rows: Floats, hits_in: Floats, rows_in: Floats) -> ClusteredRates:
        """From hits and rows of each group, and the same by bucket, of shape (buckets, groups)."""
        left = np.maximum(rows_in.sum(axis=0) - rows_in, 0.0)
        result = np.maximum(hits_in.sum(axis=0) - hits_in, 0.0)
        replicates = np.divide(result, left, out=np.full(left.shape, np.nan), where=left > 0)
        values = np.divide(hits, rows, out=np.full(len(rows), np.nan), where=rows > 0)
        many = np.count_nonzero(rows_in, axis=0)
        covariance = jackknife_covariance(replicates)
        return cls(values, np.asarray(rows, float), many, covariance, freedom_of(rows_in))

    def of(self, kept: NDArray[np.bool_]) -> ClusteredRates:
        """Some of the groups."""
        among = self.covariance[np.ix_(kept, kept)]
        return ClusteredRates(self.values[kept], self.rows[kept], self.buckets[kept], among, self.freedom[kept])

    def too_few(self, index: int, of: str) -> str:
        """Why a group is not tested, if clusters are the reason."""
        if 0 < self.buckets[index] < FEWEST_BUCKETS:
            return f"fewer than {FEWEST_BUCKETS} clusters with {of}s"
        return ""

    @property
    def is_range(self) -> NDArray[np.bool_]:
        return np.zeros(self.values.shape, bool)

    @cached_property
    def errors(self) -> Floats:
        """Standard errors; a share of 0 or 1 is not certain, and counts every bucket as a row."""
        own = np.sqrt(np.diag(self.covariance))
        many = np.maximum(self.buckets, 1)
        smoothed = (np.nan_to_num(self.values) * many + 0.5) / (many + 1)
        return np.where(self._at_edge, np.sqrt(smoothed * (1 - smoothed) / many), own)

    @property
    def _at_edge(self) -> NDArray[np.bool_]:
        return (self.values <= 0) | (self.values >= 1)

    @cached_property
    def correlations(self) -> Floats:
        spread = np.where(self._at_edge, 0.0, np.sqrt(np.diag(self.covariance)))
        scale = np.outer(spread, spread)
        result = np.divide(self.covariance, scale, out=np.zeros(scale.shape), where=scale > 0)
        result = np.clip(result, -1.0, 1.0)
        np.fill_diagonal(result, 1.0)
        return np.asarray(result)

    @cached_property
    def root(self) -> Floats:
        lengths, axes = np.linalg.eigh(self.correlations)
        return np.asarray(axes * np.sqrt(np.maximum(lengths, 0.0)))

    def design_effect(self, first: int, second: int) -> float:
        """How many rows that belong together say as much of a difference as one that is alone; at least one."""
        pair = [first, second]
        smoothed = (self.values[pair] * self.rows[pair] + 0.5) / (self.rows[pair] + 1)
        alone = float((smoothed * (1 - smoothed) / self.rows[pair]).sum())
        one, two = self.errors[pair].tolist()
        result: float = one**2 + two**2 - 2 * one * two * self.correlations[first, second]
        return max(result / alone, 1.0)

    def ends(self, quantile: float) -> tuple[Floats, Floats]:
        if quantile <= 0:
            return self.values, self.values
        tail, ends = tail_of(quantile), np.full((self.values.size, 2), np.nan)
        for index in np.flatnonzero(self.buckets >= FEWEST_BUCKETS).tolist():
            many = int(self.buckets[index])
            reach = student_quantile(float(self.freedom[index]), tail), quantile
            error = float(np.sqrt(self.covariance[index, index]))
            ends[index] = ends_around(float(self.values[index]), error, tail, reach, many, float(self.rows[index]))
        lows, highs = ends.T
        return np.minimum(lows, self.values), np.maximum(highs, self.values)
