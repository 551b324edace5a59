"""Intervals of metrics at a threshold: fixed beforehand, or chosen on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.intervals.construction import Ends
from pulens.intervals.kernels.quantiles import percentiles
from pulens.intervals.of_metric import MetricConstruction
from pulens.intervals.redrawn import values_at_threshold
from pulens.types import Floats


@dataclass(frozen=True)
class FixedThreshold(MetricConstruction):
    """Every plausible pair of rates goes through the recovery and the metric."""

    method = "Jeffreys"

    def ends(self, prior: float | None, tail: float) -> Ends:
        metric, threshold = self.target.metric, float(self.target.threshold or 0.0)
        both = []
        for table in self.shop.rates.tables(threshold, prior):
            found = values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **self.target.parameters)
            both.append(percentiles(np.broadcast_to(found, (self.shop.resampling.redraws,)), tail, tail))
        return min(low for low, _ in both), max(high for _, high in both)


@dataclass(frozen=True)
class ChosenThreshold(MetricConstruction):
    """What a redraw shows at the threshold it chose, less what the data show there: the optimism of choosing."""

    method = "redraws with the threshold chosen anew"

    @cached_property
    def _beforehand(self) -> FixedThreshold:
        return FixedThreshold(self.shop, self.target)

    def ends(self, prior: float | None, tail: float) -> Ends:
        shop, evidence = self.shop, self.shop.evidence
        chosen, own = shop.chosen_anew, evidence.tally.totals
        fixed = evidence.class_prior.unlabelled if prior is None else prior
        redrawn = self._values(
            chosen.rates, chosen.totals, shop.draws.priors(prior, chosen.normal, chosen.totals, mirrored=True)
        )
        known = self._values(self._observed(chosen.places), tuple(own), np.full(chosen.places.size, fixed))
        above = evidence.tally.at(float(self.target.threshold or 0.0))
        here = [np.array([hits / total if total else 0.0]) for hits, total in zip(above, own, strict=True)]
        value = self._values(here, tuple(own), np.array([fixed]))[0]
        errors = redrawn - known
        optimism = float(np.nanmean(errors)) if not np.isnan(errors).all() else 0.0
        each = self._tail(tail)
        low, high = percentiles(errors, each, each)
        as_given = self._beforehand.ends(prior, tail)
        return min(value - high, as_given[0] - optimism), max(value - low, as_given[1] - optimism)

    def _tail(self, tail: float) -> float:
        return self.shop.draws.tail(tail)

    def _observed(self, places: NDArray[np.intp]) -> list[Floats]:
        """Rates that the data show at the thresholds which redraws chose."""
        tally = self.shop.compressed
        kinds = (tally.labelled, tally.unlabelled, tally.negative)
        return [
            np.asarray(kind, float)[places] / total if total else np.zeros(places.size)
            for kind, total in zip(kinds, self.shop.evidence.tally.totals, strict=True)
        ]

    def _values(self, rates: Any, totals: Any, priors: Floats) -> Floats:
        metric, table = self.target.metric, self.shop.draws.recoveries(totals, priors).tables(*rates)
        return values_at_threshold(metric.compute, table, metric.lowest, metric.highest, **self.target.parameters)
