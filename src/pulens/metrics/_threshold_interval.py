"""Intervals of metrics at a threshold fixed beforehand: binomial rates spread over their Jeffreys posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.metrics._metric import Metric
from pulens.metrics._prior_draws import Ends, EndsAt, PriorDraws
from pulens.metrics._redrawn import values_at_threshold
from pulens.uncertainty.quantiles import even_levels, jeffreys_quantiles, percentiles
from pulens.uncertainty.resampling import Resampling

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ThresholdInterval:
    """Every plausible pair of rates goes through the recovery and the metric."""

    draws: PriorDraws
    resampling: Resampling

    @cached_property
    def _plausible_rates(self) -> dict[float, tuple[Floats, tuple[Floats, ...], Any]]:
        return {}

    def _rates_at(self, threshold: float) -> tuple[Floats, tuple[Floats, ...], Any]:
        """Plausible rates of the three kinds of row at a threshold, with a normal number and totals for each."""
        if threshold in self._plausible_rates:
            return self._plausible_rates[threshold]
        from scipy.special import ndtri

        totals, size = self.draws.evidence.tally.totals, self.resampling.redraws
        rng = np.random.Generator(np.random.PCG64(self.resampling.seed))
        *levels, last = even_levels(size, 4, rng)
        normal = ndtri(last)
        rates = tuple(
            jeffreys_quantiles(hits, total, each) if total else np.zeros(size)
            for hits, total, each in zip(self.draws.evidence.tally.at(threshold), totals, levels, strict=True)
        )
        drawn: Any = tuple(totals)
        if self.draws.random_totals:
            counts = rng.multinomial(max(round(totals.rows), 1), np.array(totals) / totals.rows, size)
            drawn = tuple(np.where(np.array(totals) > 0, np.maximum(counts, 1), 0).T.astype(float))
        self._plausible_rates[threshold] = normal, rates, drawn
        return normal, rates, drawn

    def fixed(self, metric: Metric, threshold: float, parameters: dict[str, Any]) -> EndsAt:
        normal, rates, drawn = self._rates_at(threshold)
        size = normal.size

        def at(prior: float | None) -> Ends:
            priors = np.broadcast_to(self.draws.priors(prior, normal, drawn), (size,))
            table = self.draws.recoveries(drawn, priors).tables(*rates)
            values = values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **parameters)
            return lambda tail: percentiles(np.broadcast_to(values, (size,)), tail, tail)

        return at
