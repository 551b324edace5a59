r"""Intervals within cells where rows belong together: a bucket of clusters left out of every cell at once.

Without bucket b each cell has other rates and other positives, and cells are added up again from them; the spread of
the sums is the standard error (:mod:`pulens.inference.kernels.jackknife`), and ends are those of
:mod:`pulens.inference.clustered`. A patient seen in two clinics leaves both. Class priors of cells stay as they are
while buckets are left out; where they are in doubt, what their draws change is mixed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.estimate import Interval
from pulens.inference.clustered import METHOD, ends_around
from pulens.inference.kernels.jackknife import (
    FEWEST_BUCKETS,
    ClusterCounts,
    freedom_of,
    jackknife_error,
    student_quantile,
)
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.recovered_counts import recovered_counts
from pulens.inference.replicates import Replicates
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.rates import positives_of
from pulens.strata.redraws import StratumRedraws
from pulens.types import Floats

CHUNK = 4_000_000  # numbers that a chunk of redraws may hold


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


recovered_counts.register(StratifiedEvidence, added_up)


@dataclass(frozen=True)
class ClusterRedraws(StratumRedraws):
    """Whole buckets redrawn, out of every cell at once."""

    @cached_method(np.ndarray.tobytes)
    def _redraw(self, alpha: Any) -> Replicates:
        buckets = ClusterCounts(self.evidence.cells.buckets)
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
    buckets: ClusterCounts, cell: int, threshold: float, tail: float, confidence: float
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
