"""Replicates of counts, recovered: redraws of the rows, or the rows without each bucket of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.measured import Measured
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency
from pulens.recovery.many import ManyRecoveries, recover_many
from pulens.scenario import Scenario
from pulens.types import Floats, Places


@dataclass(frozen=True, eq=False)
class Replicates:
    """Rates of many counts at common thresholds, and what recovers them.

    Strata that were added up are one tally beside the list: recovered without noise, in case-control.
    """

    redrawn: BootstrapCounts
    shares: Any  # of positives among the unlabelled rows, one for each replicate or for all
    label_noise: float = 0.0
    scenario: Scenario = Scenario.CASE_CONTROL
    of_rows: bool = False  # whether counts are of whole rows

    def __len__(self) -> int:
        return len(self.redrawn)

    @cached_property
    def recoveries(self) -> ManyRecoveries:
        return recover_many(self.redrawn.totals, self.shares, self.label_noise, self.scenario)

    def at(self, columns: Any) -> Replicates:
        """At some of the thresholds."""
        first, second, third = (np.ascontiguousarray(rates[:, columns]) for rates in self.redrawn[:3])
        return replace(self, redrawn=BootstrapCounts(first, second, third, *self.redrawn[3:]))

    def take(self, which: Any) -> Replicates:
        """Some of the replicates."""
        labelled, unlabelled, negative, (first, second, third), normal = self.redrawn
        totals = first[which], second[which], third[which]
        redrawn = BootstrapCounts(labelled[which], unlabelled[which], negative[which], totals, normal[which])
        shares = self.shares[which] if np.ndim(self.shares) and len(self.shares) > 1 else self.shares
        return replace(self, redrawn=redrawn, shares=shares)

    def chosen(self, indices: Places) -> Replicates:
        """Each replicate at a threshold of its own, or the one there is at each of them; below 0 nothing is flagged."""
        rows = np.arange(indices.size) if len(self) > 1 else 0
        first, second, third = (np.where(indices < 0, 0.0, each[rows, indices])[:, None] for each in self.redrawn[:3])
        return replace(self, redrawn=BootstrapCounts(first, second, third, *self.redrawn[3:]))

    @cached_property
    def rates(self) -> tuple[Any, Any]:
        """True and false positive rate of each replicate at the thresholds."""
        return self.recoveries.rates(*self.redrawn[:3])

    def tables(self) -> Contingency:
        """What each replicate shows at the first of the thresholds."""
        return self._first

    @cached_property
    def _first(self) -> Contingency:
        """Several metrics are read there."""
        return self.recoveries.tables(*(rates[:, 0] for rates in self.redrawn[:3]))

    @property
    def all_tables(self) -> Contingency:
        """What each replicate shows at all thresholds."""
        return self.recoveries.as_tables(*self.rates)

    def values(self, metric: Measured, thresholds: Any, threshold: float | None = None, **parameters: Any) -> Floats:
        """Any metric of each replicate, not clipped: at once where it has such a form, or else tally by tally.

        A metric that reads a table reads that at the first threshold.
        """
        if metric.reads == "threshold":
            return np.asarray(metric.compute(self.tables(), **parameters), float)
        if metric.reads == "ranking" and metric.many is not None:
            result = metric.many(self.recoveries, *self.redrawn[:3], **parameters)
            if result is not None:
                return np.asarray(result)
        at = (threshold,) if metric.reads == "counts" else ()
        each = self.tallies(thresholds)
        return np.array([metric.compute(tally, *at, assumed, **parameters) for tally, assumed in each], float)

    def readings(self, metric: Measured, missing: tuple[Any, Any], *at: Any, **parameters: Any) -> list[Floats]:
        """:meth:`values`; of a metric that reads a table, of the tables that an interval reads.

        ``missing`` is what the recovered rates of all rows lack to be rates.
        """
        if metric.reads != "threshold":
            return [self.values(metric, *at, **parameters)]
        return [np.asarray(metric.compute(each, **parameters), float) for each in self.tables().plausible(missing)]

    def tallies(self, thresholds: Any) -> Iterator[tuple[Tally, Assumptions]]:
        """One by one, for metrics that read nothing else."""
        for row, share in enumerate(np.broadcast_to(self.shares, len(self)).tolist()):
            counts = [
                rates[row] * total[row] for rates, total in zip(self.redrawn[:3], self.redrawn.totals, strict=True)
            ]
            if self.of_rows:
                counts = [np.rint(kind).astype(np.int64) for kind in counts]
            yield Tally(thresholds, *counts), Assumptions(share, self.label_noise, self.scenario)
