"""Rates of rows at a threshold fixed beforehand: binomial, spread over their Jeffreys posteriors.

Rows are those of one evidence, or of many segments: all arrays have a leading axis over segments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.inference.kernels.quantiles import even_jeffreys_quantiles, seeded_levels
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.prior_draws import AssumedRows
from pulens.recovery.contingency import ROUNDING, Tables, missing_of
from pulens.types import Floats

REMEMBERED = 1024  # arrays of draws that are kept for the next segments: 16 MB


class RateDraws(NamedTuple):
    """A normal number for each draw, plausible rates of the three kinds of row, and numbers of rows."""

    normal: Floats
    rates: tuple[Any, Any, Any]
    totals: tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class PlausibleRates:
    """Plausible rates at a threshold, and the contingency tables that the recovery makes of them.

    ``above`` counts rows of each kind at or above the threshold, of shape (segments, 3), and so do ``totals``.
    """

    above: Floats
    totals: Floats
    rows: AssumedRows  # with columns of shape (segments, 1)
    known: DrawsByCount

    @cached_property
    def drawn(self) -> RateDraws:
        resampling = self.known.resampling
        *ranks, normal = ranks_and_normal(resampling.redraws, resampling.seed)
        first, second, third = (
            self.known.rates(self.above[:, kind], self.totals[:, kind], ranks[kind]) for kind in range(3)
        )
        totals = self.known.totals(self.totals) if self.rows.random_totals else columns_of(self.totals)
        return RateDraws(normal, (first, second, third), totals)

    @cached_property
    def observed(self) -> tuple[Any, Any, Any]:
        """Rates that the rows themselves show."""
        return columns_of(np.divide(self.above, self.totals, out=np.zeros(self.above.shape), where=self.totals > 0))

    def tables(self, shares: Floats, own: Floats) -> list[tuple[Tables, NDArray[np.bool_]]]:
        """Tables of all plausible rates as an interval reads them, and the segments of which each is.

        ``shares`` are those of positives among the unlabelled rows in each draw, ``own`` those around which they lie.
        """
        many = len(self.above)
        maps = self.rows.recoveries(self.drawn.totals, shares)
        hits, alarms = maps.rates(*self.drawn.rates)
        table = Tables(np.zeros(1), hits, alarms, maps.positive, maps.negative)
        here = self.rows.recoveries(columns_of(self.totals), own).rates(*self.observed)
        missing = [np.broadcast_to(each, (many, 1)) for each in missing_of(*here)]
        outside = np.maximum(np.abs(missing[0]), np.abs(missing[1]))[:, 0] > ROUNDING
        (cut,) = table.plausible()
        result = [(cut, np.ones(many, bool))]
        if outside.any():
            wide = np.broadcast_arrays(hits, alarms, maps.positive, maps.negative, self.drawn.normal)[:4]
            some = Tables(np.zeros(1), *(each[outside] for each in wide))
            _, *others = some.plausible((missing[0][outside], missing[1][outside]))
            result += [(each, outside) for each in others]
        return result


@dataclass(frozen=True, eq=False)
class DrawsByCount:
    """Draws that segments share: plausible rates by rows seen, numbers of rows by those in all."""

    resampling: Resampling
    _rates: dict[tuple[float, float], Floats] = field(default_factory=dict)
    _totals: dict[tuple[float, ...], Floats] = field(default_factory=dict)

    def rates(self, hits: Floats, totals: Floats, rank: NDArray[np.intp]) -> Floats:
        if not totals.any():
            return np.zeros((1, self.resampling.redraws))
        return np.stack([self._rate(pair)[rank] for pair in zip(hits.tolist(), totals.tolist(), strict=True)])

    def _rate(self, pair: tuple[float, float]) -> Floats:
        if not pair[1]:
            return np.zeros(self.resampling.redraws)
        if pair not in self._rates:
            if len(self._rates) >= REMEMBERED:
                self._rates.clear()
            self._rates[pair] = even_jeffreys_quantiles(*pair, self.resampling.redraws)
        return self._rates[pair]

    def totals(self, totals: Floats) -> tuple[Any, Any, Any]:
        drawn = np.stack([self._drawn(tuple(row)) for row in totals.tolist()])
        return drawn[:, 0], drawn[:, 1], drawn[:, 2]

    def _drawn(self, totals: tuple[float, ...]) -> Floats:
        if totals not in self._totals:
            if len(self._totals) >= REMEMBERED // 4:
                self._totals.clear()
            _, state = seeded_levels(self.resampling.redraws, 4, self.resampling.seed)
            rng = np.random.Generator(np.random.PCG64())
            rng.bit_generator.state = state
            rows, own = sum(totals), np.array(totals)
            counts = rng.multinomial(max(round(rows), 1), own / rows, self.resampling.redraws)
            self._totals[totals] = np.where(own > 0, np.maximum(counts, 1), 0).T.astype(float)
        return self._totals[totals]


def columns_of(values: Floats) -> tuple[Any, Any, Any]:
    """One column for each kind of row."""
    return values[:, :1], values[:, 1:2], values[:, 2:]


@lru_cache(maxsize=4)
def ranks_and_normal(size: int, seed: int) -> tuple[Any, ...]:
    """Where the shared levels stand in rising order, for the three kinds of row, and normal numbers for the last."""
    from pulens.special import ndtri

    (*levels, last), _ = seeded_levels(size, 4, seed)
    return (*((column * size).astype(np.intp) for column in levels), ndtri(last))
