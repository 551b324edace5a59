"""Rates of rows at a threshold fixed beforehand: binomial, spread over their Jeffreys posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.intervals.kernels.quantiles import even_jeffreys_quantiles, seeded_levels
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.prior_draws import PriorDraws
from pulens.recovery.contingency import Contingency, missing_of
from pulens.types import Floats


@dataclass(frozen=True)
class PlausibleRates:
    """Plausible rates at thresholds, and the contingency tables that the recovery makes of them."""

    draws: PriorDraws
    resampling: Resampling

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, tuple[Floats, ...], Any]]:
        return {}

    @cached_property
    def _tables(self) -> dict[tuple[float, float | None], Contingency]:
        return {}

    def at(self, threshold: float) -> tuple[Floats, tuple[Floats, ...], Any]:
        """Plausible rates of the three kinds of row at a threshold, with a normal number and totals for each."""
        if threshold in self._known:
            return self._known[threshold]
        totals, size = self.draws.evidence.tally.totals, self.resampling.redraws
        _, state = seeded_levels(size, 4, self.resampling.seed)
        *ranks, normal = ranks_and_normal(size, self.resampling.seed)

        def spread(hits: float, total: float, rank: NDArray[np.intp]) -> Floats:
            return even_jeffreys_quantiles(hits, total, size)[rank] if total else np.zeros(size)

        above = self.draws.evidence.tally.at(threshold)
        rates = tuple(spread(*parts) for parts in zip(above, totals, ranks, strict=True))
        drawn: Any = tuple(totals)
        if self.draws.random_totals:
            rng = np.random.Generator(np.random.PCG64())
            rng.bit_generator.state = state
            counts = rng.multinomial(max(round(totals.rows), 1), np.array(totals) / totals.rows, size)
            drawn = tuple(np.where(np.array(totals) > 0, np.maximum(counts, 1), 0).T.astype(float))
        self._known[threshold] = normal, rates, drawn
        return normal, rates, drawn

    def tables(self, threshold: float, prior: float | None) -> list[Contingency]:
        """Tables of all plausible rates, as an interval reads them."""
        table = self._tables.get((threshold, prior))  # metrics at one threshold share it
        if table is None:
            normal, rates, drawn = self.at(threshold)
            priors = np.broadcast_to(self.draws.priors(prior, normal, drawn), normal.shape)
            table = self.draws.recoveries(drawn, priors).tables(*rates)
            self._tables[threshold, prior] = table
        return table.plausible(self._missing(threshold, prior))

    def _missing(self, threshold: float, prior: float | None) -> tuple[Any, Any]:
        """What the recovered rates of all rows lack to be rates."""
        evidence = self.draws.evidence
        own = evidence.tally.totals
        share = evidence.class_prior.unlabelled if prior is None else prior
        here = [
            np.array([hits / total if total else 0.0])
            for hits, total in zip(evidence.tally.at(threshold), own, strict=True)
        ]
        hits, alarms = missing_of(*self.draws.recoveries(tuple(own), np.array([share])).rates(*here))
        return hits, alarms


@lru_cache(maxsize=4)
def ranks_and_normal(size: int, seed: int) -> tuple[Any, ...]:
    """Where the shared levels stand in rising order, for the three kinds of row, and normal numbers for the last."""
    from scipy.special import ndtri

    (*levels, last), _ = seeded_levels(size, 4, seed)
    return (*((column * size).astype(np.intp) for column in levels), ndtri(last))
