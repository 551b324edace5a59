r"""Plausible rates of every cell at a threshold, and the contingency tables that they make together.

The recall of a cell is drawn from Beta(h + m, n - h + 1 - m), with h of n labelled rows found and m the share over all
labelled rows: **one borrowed row**. Jeffreys' half rows in every cell would pull many small cells towards one half
together. m is kept 1/(2G) away from 0 and 1, so that the G cells always hold half a row of each kind between them, and
one cell alone has Jeffreys' posterior. Unlabelled rows likewise; the cells' shares of the list are Dirichlet with half
a row added to each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pulens.cached import cached_method
from pulens.inference.kernels.quantiles import effective_degrees_of_freedom, even_levels
from pulens.inference.kernels.resampling import Resampling
from pulens.recovery.contingency import Contingency, missing_of
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import PriorSetting
from pulens.types import Floats

LEAST_SHARE = 1e-9  # of positives: drawn class priors of 0 in every cell would leave nothing to add up
EVEN_CELLS = 12  # up to this many cells draws are spread evenly; with more their own noise averages out


class DrawnRates(NamedTuple):
    """Rates of the three kinds of row (draws, cells, 3) and shares of all counted rows of each (draws, cells, 3)."""

    rates: Floats
    shares: Floats


@dataclass(frozen=True)
class StratumRates:
    """Draws at thresholds, computed once for all metrics."""

    evidence: StratifiedEvidence
    resampling: Resampling

    @cached_method()
    def drawn(self, threshold: float) -> DrawnRates:
        from pulens.special import betaincinv

        totals, above = self.evidence.cells.totals, self.evidence.cells.above(threshold)[:, :, 0]
        many, size = totals.shape[0], self.resampling.redraws
        rng = np.random.Generator(np.random.PCG64([self.resampling.seed, 37]))
        rates = np.zeros((size, many, 3))
        for kind in range(3):
            if not totals[:, kind].any():
                continue
            own = pseudo_count(above[:, kind], totals[:, kind])
            hits, misses = above[:, kind] + own, totals[:, kind] - above[:, kind] + 1 - own
            if many <= EVEN_CELLS:
                levels = np.column_stack(even_levels(size, max(many, 2), rng)[:many])
                rates[:, :, kind] = betaincinv(hits, misses, levels)
            else:
                rates[:, :, kind] = rng.beta(hits, misses, (size, many))
        weight = rng.standard_gamma(np.where(totals > 0, totals + 0.5, 0.0), (size, many, 3))
        if not self.evidence.is_single:
            weight[:, :, 0] = 0.0  # labelled rows are no part of the list
            weight[:, :, 2] = 0.0
        return DrawnRates(rates, weight / weight.sum(axis=(1, 2), keepdims=True))

    def tables(self, threshold: float, setting: PriorSetting) -> list[Contingency]:
        """Tables of all draws, as an interval reads them."""
        here = self.table_at(threshold, setting.shares)
        hits, alarms = missing_of(here.true_positive_rate, here.false_positive_rate)
        return self._table(threshold, setting).plausible((hits, alarms))

    @cached_method(lambda threshold, setting: (threshold, setting.shares.tobytes(), setting.draws is None))
    def _table(self, threshold: float, setting: PriorSetting) -> Contingency:
        alpha = setting.shares[None] if setting.draws is None else setting.draws
        return table_of(self.evidence, *self.drawn(threshold), alpha)

    def tail(self, threshold: float, shares: Floats, tail: float) -> float:
        """The tail at which draws are as wide as Student's, with the degrees of freedom of a sum over unequal cells.

        A cell that holds many positives and few labels decides the width, and its own few rows say how wide
        (Satterthwaite 1946). One cell has Jeffreys' interval as it is.
        """
        from pulens.special import ndtr, stdtrit

        totals = self.evidence.cells.totals[:, 0]
        if totals.size == 1:
            return tail
        hits = self.evidence.cells.above(threshold)[:, 0, 0]
        own = (hits + pseudo_count(hits, totals)) / (totals + 1)
        variances = self.evidence.weights(shares) ** 2 * own * (1 - own) / (totals + 1)
        return float(ndtr(stdtrit(effective_degrees_of_freedom(variances, totals + 1), tail)))

    def table_at(self, threshold: float, shares: Floats) -> Contingency:
        """What the rows themselves show at a threshold, at class priors of shape (cells,) or (settings, cells)."""
        totals, above = self.evidence.cells.totals, self.evidence.cells.above(threshold)[:, :, 0]
        rates = np.divide(above, totals, out=np.zeros(above.shape), where=totals > 0)
        rates[totals[:, 0] == 0, 0] = np.nan
        listed = totals if self.evidence.is_single else totals * np.array([0.0, 1.0, 0.0])
        return table_of(self.evidence, rates[None], listed[None] / listed.sum(), np.atleast_2d(shares))


def pseudo_count(hits: Floats, totals: Floats) -> float:
    """The share of the one row that every cell borrows.

    >>> pseudo_count(np.array([8.0]), np.array([10.0])), pseudo_count(np.array([8.0, 5.0]), np.array([10.0, 10.0]))
    (0.5, 0.65)
    """
    least = 1 / (2 * hits.size)
    return float(np.clip(hits.sum() / totals.sum(), least, 1 - least))


def positives_of(evidence: StratifiedEvidence, shares: Floats, alpha: Any) -> Floats:
    """Each cell's positives over all rows of the list, from drawn shares of the list (draws, cells, 3)."""
    totals = evidence.cells.totals
    alpha = np.maximum(alpha, LEAST_SHARE)
    if not evidence.is_single:
        held = alpha * shares[:, :, 1]
        whole = alpha @ totals[:, 1] / totals[:, 1].sum()
    else:
        purity = 1 - evidence.label_noise
        if evidence.priors.held == "population":
            rows = np.maximum(totals.sum(axis=1), 1e-300)
            held = (purity * totals[:, 0] + alpha * totals[:, 1]) / rows * shares.sum(axis=2)
        else:
            held = purity * shares[:, :, 0] + alpha * shares[:, :, 1]
        whole = (purity * totals[:, 0].sum() + alpha @ totals[:, 1]) / totals.sum()
    if evidence.priors.total_held:
        drawn = held.sum(axis=1)  # none where a draw has no unlabelled row
        held = held * np.divide(whole, drawn, out=np.zeros(drawn.shape), where=drawn > 0)[:, None]
    return np.asarray(held)


def table_of(evidence: StratifiedEvidence, rates: Floats, shares: Floats, alpha: Any) -> Contingency:
    """Cells added up: recall by their positives, the flagged share over the list, the rest follows."""
    held = positives_of(evidence, shares, alpha)
    prior = np.clip(held.sum(axis=1), 1e-12, 1 - 1e-9)
    first, second = evidence.coefficients(alpha)
    recalls = first * rates[:, :, 0] + (second * rates[:, :, 1] if evidence.label_noise else 0.0)
    seen = np.where(np.isnan(recalls), 0.0, held)  # a cell without labelled rows takes the mean of the others
    recall = (seen * np.nan_to_num(recalls)).sum(axis=1) / np.maximum(seen.sum(axis=1), 1e-300)
    flagged = (shares * np.nan_to_num(rates)).sum(axis=(1, 2))
    alarms = (flagged - prior * recall) / (1 - prior)
    totals = evidence.cells.totals
    rows = float(evidence.list_rows.sum())
    known = float(totals[:, 2].sum())
    if known and not evidence.is_single:  # a second sample of negatives, averaged as without cells
        part = known / (rows * (1 - prior) + known)
        alarms = (1 - part) * alarms + part * (totals[:, 2] / known * rates[:, :, 2]).sum(axis=1)
    return Contingency(np.zeros(recall.shape), recall, alarms, prior * rows, (1 - prior) * rows)
