"""Every cell redrawn by itself, and added up again: for thresholds that were chosen, and rankings without a formula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.inference.kernels.redraws import BootstrapCounts, compress
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.replicates import Replicates
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import PriorSetting
from pulens.strata.rates import positives_of
from pulens.types import Floats

MOST_REDRAWS = 1000
BLOCKS, BLOCKS_OF_MANY = 256, 128  # thresholds kept for redraws: of a few cells, and of more
FEW_CELLS = 4


@dataclass(frozen=True)
class StratumRedraws:
    """Counts of every cell on common thresholds, redrawn."""

    evidence: StratifiedEvidence
    resampling: Resampling
    at: Any = None  # thresholds, where they are not those that stand for all

    @property
    def size(self) -> int:
        return min(self.resampling.redraws, MOST_REDRAWS)

    @cached_property
    def thresholds(self) -> Any:
        cells = self.evidence.cells
        if self.at is not None:
            return self.at
        return compress(cells.whole, BLOCKS if len(cells) <= FEW_CELLS else BLOCKS_OF_MANY).thresholds

    @cached_property
    def _at(self) -> Floats:
        return np.maximum(np.diff(self.evidence.cells.above(self.thresholds), axis=2, prepend=0.0), 0.0)

    def of(self, setting: PriorSetting) -> Replicates:
        alpha = setting.shares[None]
        if setting.draws is not None:
            alpha = setting.draws[np.arange(self.size) % setting.draws.shape[0]]
        return self._redraw(alpha)

    @cached_method(np.ndarray.tobytes)
    def _redraw(self, alpha: Any) -> Replicates:
        evidence, at, size = self.evidence, self._at, self.size
        totals = evidence.cells.totals
        many, _, width = at.shape
        rng = np.random.Generator(np.random.PCG64([self.resampling.seed, 43]))
        counts = np.zeros((size, many, 3))
        shapes, flagged, negative = [], np.zeros((size, width)), np.zeros((size, width))
        for cell in range(many):
            unlabelled = np.cumsum(rng.poisson(at[cell, 1], (size, width)), axis=1, dtype=float)
            counts[:, cell, 1] = unlabelled[:, -1]
            labelled = self._labelled(rng, cell)
            shapes.append((labelled, unlabelled))
            flagged += unlabelled
            if evidence.is_single:
                counts[:, cell, 0] = rng.poisson(totals[cell, 0], size)
                flagged += counts[:, cell, :1] * labelled
            if totals[cell, 2]:
                rejected = np.cumsum(rng.poisson(at[cell, 2], (size, width)), axis=1, dtype=float)
                counts[:, cell, 2] = rejected[:, -1] if evidence.is_single else 0.0
                negative += rejected
        if evidence.is_single:
            flagged += negative
            negative = np.zeros((size, width))
        rows = np.maximum(counts.sum(axis=(1, 2)), 1.0)
        held = positives_of(evidence, counts / rows[:, None, None], alpha)
        first, second = (np.broadcast_to(each, held.shape) for each in evidence.coefficients(alpha))
        recall = np.zeros((size, width))
        for cell, (labelled, unlabelled) in enumerate(shapes):
            share = first[:, cell, None] * labelled
            if evidence.label_noise:
                share = share + second[:, cell, None] * unlabelled / np.maximum(unlabelled[:, -1:], 1.0)
            recall += held[:, cell, None] * share
        total = np.maximum(held.sum(axis=1), 1e-12)
        recall /= total[:, None]
        prior = np.clip(total, 1e-12, 1 - 1e-9)
        known = float(totals[:, 2].sum()) if not evidence.is_single else 0.0
        sizes = tuple(np.full(size, float(n)) for n in (totals[:, 0].sum(), evidence.list_rows.sum(), known))
        spurned = negative / np.maximum(negative[:, -1:], 1.0)
        redrawn = BootstrapCounts(recall, flagged / np.maximum(flagged[:, -1:], 1e-300), spurned, sizes, np.zeros(size))  # type: ignore[arg-type]
        return Replicates(redrawn, prior)

    def _labelled(self, rng: np.random.Generator, cell: int) -> Floats:
        """Shares of a cell's labelled rows at or above each threshold; every cell borrows a row of all of them."""
        at, size = self._at[:, 0], self.size
        rows = round(float(at[cell].sum()))
        counts = np.zeros((size, at.shape[1]))
        if rows:
            counts += rng.multinomial(rows, at[cell] / at[cell].sum(), size)
        if at.shape[0] > 1 or not rows:
            everywhere = at.sum(axis=0)
            counts += rng.multinomial(1, everywhere / everywhere.sum(), size)
        shares = np.cumsum(counts, axis=1)
        return np.asarray(shares / shares[:, -1:])

    def data(self, shares: Floats) -> Replicates:
        """What the rows themselves show at the thresholds kept, in the same form."""
        weighted = self.coarse(shares)
        totals = weighted.totals
        rates = [
            np.asarray(kind, float)[None] / total if total else np.zeros((1, len(weighted)))
            for kind, total in zip((weighted.labelled, weighted.unlabelled, weighted.negative), totals, strict=True)
        ]
        sizes = tuple(np.array([total]) for total in totals)
        prior = self.evidence.positives(shares).sum() / self.evidence.list_rows.sum()
        return Replicates(BootstrapCounts(rates[0], rates[1], rates[2], sizes, np.zeros(1)), np.array([prior]))  # type: ignore[arg-type]

    def coarse(self, shares: Floats) -> Tally:
        """The weighted tally at the thresholds kept."""
        tally = self.evidence.combined(shares).tally
        indices = np.searchsorted(-tally.thresholds, -self.thresholds, side="left")
        kinds = (np.asarray(kind)[indices].copy() for kind in (tally.labelled, tally.unlabelled, tally.negative))
        return Tally(np.asarray(self.thresholds).copy(), *kinds)
