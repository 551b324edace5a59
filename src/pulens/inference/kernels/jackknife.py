r"""Rows that belong together: counts without one bucket at a time, redraws of whole buckets, and ends from them.

Deleting a bucket deletes its labelled and its unlabelled rows, so whatever moves them together does so here too. With
:math:`x_b` the number without bucket b, the variance is that of the delete-a-group jackknife,
:math:`s^2 = \frac{B-1}{B} \sum_b (x_b - \bar x)^2` (Kott 2001; Shao and Tu 1995, section 6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.inference.kernels.redraws import CHUNK_CELLS, BootstrapCounts
from pulens.inference.kernels.resampling import Resampling
from pulens.types import Floats

Answer = TypeVar("Answer")
JACKKNIFE = "delete-a-bucket jackknife, Student"
FEWEST_BUCKETS = 5  # with labelled rows, for an interval to be made at all
FEW_BUCKETS = 20  # below, Student's quantiles alone were too narrow
UNIT = 0.0, 1.0
MOST_TRIES = 50  # of a redraw that lacks a kind of rows


class JackknifeCounts(NamedTuple):
    """Rows of each kind at or above thresholds without each bucket, of shape (buckets, thresholds, 3), and in all."""

    above: Floats
    totals: Floats

    @classmethod
    def of(cls, buckets: BucketTally, thresholds: Any) -> JackknifeCounts:
        """Of the buckets that hold rows."""
        own = buckets.totals
        held = own.sum(axis=1) > 0
        above = buckets.above(thresholds)[held]
        # weights that are no whole numbers leave a rounding error where nothing is left
        return cls(np.maximum(above.sum(axis=0) - above, 0.0), np.maximum(own.sum(axis=0) - own[held], 0.0))

    @property
    def kinds(self) -> tuple[Floats, Floats, Floats]:
        """Numbers of rows of each kind without each bucket."""
        return self.totals[:, 0], self.totals[:, 1], self.totals[:, 2]

    def rates(self) -> tuple[Floats, Floats, Floats]:
        """Shares of each kind at or above the thresholds, of shape (buckets, thresholds)."""
        size = np.where(self.totals > 0, self.totals, 1.0)[:, None, :]
        result = self.above / size
        return result[..., 0], result[..., 1], result[..., 2]

    def tallies(self, thresholds: Any) -> Iterator[Tally]:
        """The tallies without each bucket, for metrics that read nothing else."""
        for rows in self.above:
            yield Tally(thresholds, *(np.ascontiguousarray(kind) for kind in rows.T))


@dataclass(frozen=True)
class ClusterCounts:
    """The counts of every bucket that holds rows, stratum by stratum; one stratum is the ordinary case."""

    strata: tuple[BucketTally, ...]

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind, of shape (buckets, strata, 3)."""
        return np.asarray(self._spread([counted.totals for counted in self.strata])[self._held])

    @cached_property
    def _indices(self) -> dict[str, int]:
        names = (name for counted in self.strata for name in counted.names)
        return {name: index for index, name in enumerate(dict.fromkeys(names))}

    @cached_property
    def _held(self) -> Any:
        return self._spread([counted.totals for counted in self.strata]).sum(axis=(1, 2)) > 0

    def _spread(self, parts: list[Floats]) -> Floats:
        result = np.zeros((len(self._indices), len(parts), *parts[0].shape[1:]))
        for stratum, counted in enumerate(self.strata):
            result[[self._indices[name] for name in counted.names], stratum] = parts[stratum]
        return result

    def above(self, thresholds: Any) -> Floats:
        """Rows at or above falling thresholds, of shape (buckets, strata, thresholds, 3)."""
        return np.asarray(self._spread([counted.above(thresholds) for counted in self.strata])[self._held])

    def left_out(self, thresholds: Any) -> tuple[Floats, Floats]:
        """What :meth:`above` and ``totals`` are without each bucket; the last ones asked for are kept."""
        key = np.asarray(thresholds, float).tobytes()
        if key not in self._left_out:
            self._left_out.clear()
            # weights that are no whole numbers leave a rounding error where nothing is left
            above, totals = (np.maximum(each.sum(axis=0) - each, 0.0) for each in (self.above(thresholds), self.totals))
            self._left_out[key] = above, totals
        return self._left_out[key]

    @cached_property
    def _left_out(self) -> dict[bytes, tuple[Floats, Floats]]:
        return {}

    @property
    def fewest(self) -> int:
        """How many buckets hold labelled rows, or how many others, whichever are fewer."""
        kinds = self.totals.sum(axis=1)
        return min(int(np.count_nonzero(kinds[:, 0])), int(np.count_nonzero(kinds[:, 1] + kinds[:, 2])))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a standard error: of the buckets that hold labelled rows, or others if that is less."""
        return freedom_of_totals(self.totals.sum(axis=1))


def jackknife_error(replicates: Floats) -> Any:
    """The standard error that numbers without one bucket each stand for; undefined ones are left out.

    >>> recalls = np.array([4 / 7, 5 / 9, 6 / 8, 3 / 6])  # of 6 hits in 10, without (2, 3), (1, 1), (0, 2), (3, 4)
    >>> round(float(jackknife_error(recalls)), 7)
    0.1623866
    """
    known = ~np.isnan(replicates)
    many = known.sum(axis=0)
    mean = np.where(known, replicates, 0.0).sum(axis=0) / np.maximum(many, 1)
    squares = np.where(known, (replicates - mean) ** 2, 0.0).sum(axis=0)
    return np.where(many > 1, np.sqrt((many - 1) / np.maximum(many, 1) * squares), np.nan)


def jackknife_covariance(replicates: Floats) -> Floats:
    r"""The covariances that several numbers without one bucket each stand for, a column for each number.

    :math:`\frac{B-1}{B} \sum_b (x_b - \bar x)(y_b - \bar y)`; an undefined replicate counts as its column's mean.

    >>> both = np.array([[4 / 7, 0.5], [5 / 9, 0.4], [6 / 8, 0.6], [3 / 6, 0.5]])
    >>> jackknife_covariance(both).round(5).tolist()
    [[0.02637, 0.01458], [0.01458, 0.015]]
    """
    known = ~np.isnan(replicates)
    mean = np.where(known, replicates, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    away = np.where(known, replicates - mean, 0.0)
    many = max(len(replicates), 1)
    return np.asarray((many - 1) / many * (away.T @ away))


def effective_buckets(rows: Any) -> Any:
    r"""How many buckets of one size say as much as these, which hold this many rows: Kish (1965).

    :math:`(\sum_b m_b)^2 / \sum_b m_b^2`, along the first axis.

    >>> effective_buckets(np.array([[4, 9], [4, 1], [4, 0]])).round(2).tolist()
    [3.0, 1.22]
    """
    own = np.asarray(rows, float)
    squares = (own**2).sum(axis=0)
    return np.divide(own.sum(axis=0) ** 2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)


def freedom_of(*kinds: Any) -> Any:
    """Degrees of freedom of a standard error found without each bucket; each kind is its rows in every bucket.

    A few large clusters carry most of the variance, and what many small ones show of it is little: the effective number
    of buckets less one is Satterthwaite's for variances that rise with the rows. Of several kinds of rows the one with
    the fewest decides, as what it adds to the variance is seen in its own buckets alone.

    >>> freedom_of(np.array([4, 4, 4])), round(float(freedom_of(np.array([4, 4, 4]), np.array([9, 1, 0]))), 2)
    (np.float64(2.0), 0.22)
    """
    return np.min([effective_buckets(rows) for rows in kinds], axis=0) - 1.0


def freedom_of_totals(totals: Floats) -> float:
    """Of a recovered number: labelled rows, and all others, of every bucket, from totals of shape (buckets, 3).

    >>> freedom_of_totals(np.array([[4, 8, 1], [4, 9, 0], [4, 5, 4]]))
    2.0
    """
    labelled, unlabelled, negative = totals.T
    return float(freedom_of(labelled, unlabelled + negative))


def student_quantile(freedom: float, tail: float) -> float:
    """How many standard errors an end lies away, missed with the chance ``tail``.

    >>> round(student_quantile(3, 0.025), 4)
    3.1824
    """
    from pulens.special import stdtrit

    return -float(stdtrit(max(freedom, 1.0), tail))


def logit_ends(value: float, error: float, reach: float, within: tuple[float, float] = UNIT) -> tuple[float, float]:
    """The ends ``reach`` standard errors away on the scale of log odds within what the number can be.

    A number that can be anything has no such scale, and one at its edge no odds: they keep their own scale.

    >>> np.round(logit_ends(0.6, 0.1623866, 3.1824463), 6).tolist()
    [0.148323, 0.928159]
    """
    low, high = within
    share = (value - low) / (high - low) if np.isfinite(high - low) else np.nan
    if not 0 < share < 1:
        return value - reach * error, value + reach * error
    from pulens.special import expit, logit

    middle, step = logit(share), reach * error / (high - low) / (share * (1 - share))
    ends = expit(np.array([middle - step, middle + step]))
    return float(low + (high - low) * ends[0]), float(low + (high - low) * ends[1])


def redraw_buckets(above: Floats, resampling: Resampling, work: Callable[[BootstrapCounts], Answer]) -> list[Answer]:
    """Apply ``work`` to chunks of redraws of whole buckets with replacement; ``above`` as in ``JackknifeCounts``.

    >>> above = np.ones((4, 1, 3))
    >>> redraw_buckets(above, Resampling(redraws=100), lambda chunk: chunk.totals[0].mean())
    [np.float64(4.0)]
    """
    many, thresholds = above.shape[:2]
    size = max(1, min(resampling.redraws, 4 * CHUNK_CELLS // max(thresholds, 1)))
    sizes = [min(size, resampling.redraws - start) for start in range(0, resampling.redraws, size)]
    flat = above.reshape(many, -1)
    result = []
    for length, seed in zip(sizes, np.random.SeedSequence(resampling.seed).spawn(len(sizes)), strict=True):
        rng = np.random.Generator(np.random.PCG64(seed))
        normal = rng.standard_normal(length)
        drawn = _drawn_buckets(rng, length, flat[:, -3:])
        counts = (drawn @ flat).reshape(length, thresholds, 3)
        totals = counts[:, -1]
        rates = counts / np.where(totals > 0, totals, 1.0)[:, None, :]
        kinds = totals[:, 0], totals[:, 1], totals[:, 2]
        result.append(work(BootstrapCounts(rates[..., 0], rates[..., 1], rates[..., 2], kinds, normal)))
    return result


def _drawn_buckets(rng: np.random.Generator, length: int, totals: Floats) -> Floats:
    """How often each bucket is in each redraw; a redraw without the labelled or the unlabelled rows is made again.

    Few buckets may hold all labelled rows, and what a redraw without any would show is not defined.
    """
    many = len(totals)
    needed = totals.sum(axis=0) > 0
    drawn = rng.multinomial(many, np.full(many, 1 / many), length).astype(float)
    for _ in range(MOST_TRIES):
        lacking = ((drawn @ totals)[:, needed] <= 0).any(axis=1)
        if not lacking.any():
            return drawn
        drawn[lacking] = rng.multinomial(many, np.full(many, 1 / many), int(lacking.sum()))
    drawn[lacking] = 1.0  # as they were counted
    return drawn
