r"""Intervals within cells where rows belong together: a bucket of clusters left out of every cell at once.

Without bucket b each cell has other rates and other positives, and cells are added up again from them; the spread of
the sums is the standard error (:mod:`pulens.inference.kernels.jackknife`), and ends are those of
:mod:`pulens.inference.clustered`. A patient seen in two clinics leaves both. Class priors of cells stay as they are
while buckets are left out; where they are in doubt, what their draws change is mixed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.estimate import Interval
from pulens.inference.clustered import METHOD, ends_around
from pulens.inference.kernels.jackknife import (
    FEWEST_BUCKETS,
    freedom_of,
    freedom_of_totals,
    jackknife_error,
    student_quantile,
)
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.replicates import Replicates
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.rates import positives_of
from pulens.strata.redraws import StratumRedraws
from pulens.types import Floats

CHUNK = 4_000_000  # numbers that a chunk of redraws may hold


@dataclass(frozen=True)
class StratifiedBuckets:
    """The counts of every bucket that holds rows, cell by cell."""

    evidence: StratifiedEvidence

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind, of shape (buckets, cells, 3)."""
        return np.asarray(self._spread([counted.totals for counted in self.evidence.cells.buckets])[self._held])

    @cached_property
    def _places(self) -> dict[str, int]:
        names = (name for counted in self.evidence.cells.buckets for name in counted.names)
        return {name: index for index, name in enumerate(dict.fromkeys(names))}

    @cached_property
    def _held(self) -> Any:
        return self._spread([counted.totals for counted in self.evidence.cells.buckets]).sum(axis=(1, 2)) > 0

    def _spread(self, parts: list[Floats]) -> Floats:
        result = np.zeros((len(self._places), len(parts), *parts[0].shape[1:]))
        for cell, counted in enumerate(self.evidence.cells.buckets):
            result[[self._places[name] for name in counted.names], cell] = parts[cell]
        return result

    def above(self, thresholds: Any) -> Floats:
        """Rows at or above falling thresholds, of shape (buckets, cells, thresholds, 3)."""
        result = self._spread([counted.above(thresholds) for counted in self.evidence.cells.buckets])
        return np.asarray(result[self._held])

    @property
    def fewest(self) -> int:
        """How many buckets hold labelled rows, or how many others, whichever are fewer."""
        kinds = self.totals.sum(axis=1)
        return min(int(np.count_nonzero(kinds[:, 0])), int(np.count_nonzero(kinds[:, 1] + kinds[:, 2])))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a standard error found without each bucket."""
        return freedom_of_totals(self.totals.sum(axis=1))


def added_up(evidence: StratifiedEvidence, above: Floats, totals: Floats, alpha: Any) -> Replicates:
    """Cells of many counts, of shapes (counts, cells, thresholds, 3) and (counts, cells, 3), as though of one tally."""
    kinds = [0, 1, 2] if evidence.is_single else [1]
    listed = np.zeros(totals.shape)
    listed[:, :, kinds] = totals[:, :, kinds]
    rows = np.maximum(listed.sum(axis=(1, 2)), 1e-300)
    held = positives_of(evidence, listed / rows[:, None, None], alpha)
    first, second = (np.broadcast_to(each, held.shape) for each in evidence.coefficients(alpha))
    size = np.where(totals > 0, totals, 1.0)
    recalls = first[:, :, None] * above[..., 0] / size[:, :, None, 0]
    if evidence.label_noise:
        recalls = recalls + second[:, :, None] * above[..., 1] / size[:, :, None, 1]
    seen = np.where(totals[:, :, 0] > 0, held, 0.0)  # a cell without labelled rows takes the mean of the others
    recall = np.einsum("nc,nct->nt", seen, recalls) / np.maximum(seen.sum(axis=1), 1e-300)[:, None]
    flagged = above[..., kinds].sum(axis=(1, 3)) / rows[:, None]
    known = np.zeros(len(rows)) if evidence.is_single else totals[:, :, 2].sum(axis=1)
    spurned = above[..., 2].sum(axis=1) / np.maximum(known, 1.0)[:, None] if known.any() else np.zeros(recall.shape)
    prior = np.clip(held.sum(axis=1), 1e-12, 1 - 1e-9)
    sizes = totals[:, :, 0].sum(axis=1), rows, known
    redrawn = BootstrapCounts(recall, flagged, spurned, sizes, np.zeros(len(rows)))
    return Replicates(redrawn, prior)


@dataclass(frozen=True)
class ClusterRedraws(StratumRedraws):
    """Whole buckets redrawn, out of every cell at once."""

    def _redraw(self, alpha: Any) -> Replicates:
        buckets = StratifiedBuckets(self.evidence)
        above, totals = buckets.above(self.thresholds), buckets.totals
        many = len(totals)
        rng = np.random.Generator(np.random.PCG64([self.resampling.seed, 47]))
        drawn = rng.multinomial(many, np.full(many, 1 / many), self.size).astype(float)
        step = max(1, CHUNK // max(above[0].size, 1))
        parts = []
        for start in range(0, self.size, step):
            some = drawn[start : start + step]
            share = alpha if len(alpha) == 1 else alpha[start : start + step]
            counts = (some @ above.reshape(many, -1)).reshape(len(some), *above.shape[1:])
            kinds = (some @ totals.reshape(many, -1)).reshape(len(some), *totals.shape[1:])
            parts.append(added_up(self.evidence, counts, kinds, share))
        recall, flagged, spurned = (np.concatenate([part.redrawn[index] for part in parts]) for index in range(3))
        sizes = tuple(np.concatenate([part.redrawn.totals[kind] for part in parts]) for kind in range(3))
        redrawn = BootstrapCounts(recall, flagged, spurned, sizes, np.zeros(self.size))  # type: ignore[arg-type]
        return Replicates(redrawn, np.concatenate([part.shares for part in parts]))


def recall_interval(
    buckets: StratifiedBuckets, cell: int, threshold: float, tail: float, confidence: float
) -> Interval | None:
    """Of one cell's recall, from the buckets that hold its labelled rows."""
    counts, rows = buckets.above(np.array([threshold]))[:, cell, 0, 0], buckets.totals[:, cell, 0]
    many = int(np.count_nonzero(rows))
    if many < FEWEST_BUCKETS:
        return None
    left = rows.sum() - rows
    error = float(jackknife_error((counts.sum() - counts) / np.where(left > 0, left, np.nan)))
    reach = student_quantile(float(freedom_of(rows)), tail), normal_quantile(1 - 2 * tail)
    low, high = ends_around(float(counts.sum() / rows.sum()), error, tail, reach, many, float(rows.sum()))
    return Interval(low, high, confidence, METHOD)
