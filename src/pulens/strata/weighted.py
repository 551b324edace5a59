"""Cells that stand where one tally stands: the weighted tally for values, and replicates of it for their errors.

Calibration and decisions read their numbers off recovered masses: how much of the population, and of its positives,
lies at or above each score. Within cells both come from the weighted tally (:mod:`pulens.strata.evidence`); how far
chance moves them comes from replicates of the cells: redrawn counts, each cell by itself, or where rows belong together
the counts without each bucket of clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import ClusterCounts
from pulens.inference.kernels.redraws import compress
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.mass_replicates import REDRAWS, MassReplicates, mass_replicates
from pulens.notice import Notice
from pulens.recovery.assumptions import Assumptions
from pulens.strata.clustered import added_up
from pulens.strata.counts import LabellingCells
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import PriorSetting, shifted
from pulens.strata.redraws import StratumRedraws
from pulens.types import Floats

BLOCKS = 128  # thresholds of replicates, beside those asked for
LEAST_SHARE = 1e-6  # of positives in a stratum, as log odds end there


@dataclass(frozen=True)
class WeightedEvidence(Evidence):
    """The weighted tally beside the list, as evidence; ``within`` holds the cells that it was made of.

    Its scenario is case-control whatever that of the rows is: the list, all rows in the single set, is its unlabelled
    sample. Uncertainty of the strata's class priors is in ``within`` and not in ``class_prior``. ``alone`` is the
    evidence of rows that belong together, where these were taken for one stratum.
    """

    within: StratifiedEvidence | None = None
    alone: Evidence | None = None

    @classmethod
    def of(cls, within: StratifiedEvidence, alone: Evidence | None = None) -> WeightedEvidence:
        own = within.weighted
        prior = replace(own.class_prior, notices=within.priors.notices)
        labelling = own.labelling if alone is None else alone.labelling
        given = (own.tally, prior, own.label_noise, own.scenario, own.prior_held, None, within, alone)
        return cls(*given, labelling=labelling)

    def of_other_rows(self, rows: Evidence) -> WeightedEvidence:
        """Other rows that belong together, with the class prior that they have, where these are one stratum."""
        cells, own = self.cells.cells, self.cells.priors
        share = np.array([rows.class_prior.unlabelled])
        priors = replace(own, shares=share, draws=None, along=(), low=None, high=None)
        held = () if rows.buckets is None else (rows.buckets,)
        counts = LabellingCells(cells.columns, cells.names, (rows.tally,), held)
        return WeightedEvidence.of(replace(self.cells, cells=counts, priors=priors), rows)

    @property
    def facets(self) -> frozenset[str]:
        if self.alone is not None:
            return self.alone.facets
        return self.cells.evidence.facets | {"cells"}

    @property
    def cells(self) -> StratifiedEvidence:
        assert self.within is not None
        return self.within

    @property
    def counted(self) -> Evidence:
        if self.alone is not None and self.alone.counted is not self.alone:
            return self.alone.counted
        return self.cells.evidence

    @property
    def can_be_ruled_out(self) -> bool:
        """Labels differ between strata: what contradicts labels random among all rows is no news."""
        return False

    @property
    def labelling_words(self) -> str:
        return "random within cells"

    @property
    def notices(self) -> list[Notice]:
        from pulens.strata.answer import cell_notices

        return cell_notices(self.cells)

    def annotated(self, result: Estimate, intervals: Any = None, **parameters: Any) -> Estimate:
        """An estimate that says what it rests on, and what the strata's class priors alone leave open of it.

        ``parameters`` are those of the metric.
        """
        from pulens.strata.answer import within_cells

        return within_cells(result, self.cells, intervals, **parameters)

    @property
    def by_itself(self) -> Evidence:
        return self if self.alone is None else self.alone

    @property
    def is_clustered(self) -> bool:
        return bool(self.cells.cells.buckets)

    @cached_property
    def by_bucket(self) -> ClusterCounts | None:
        return ClusterCounts(self.cells.cells.buckets) if self.is_clustered else None

    @property
    def target_population(self) -> str:
        return self.cells.evidence.target_population

    def mapped(self, change: Callable[[Any], Any]) -> WeightedEvidence:
        """The same rows under other scores, which rise with the old ones."""
        cells = self.cells.cells
        tallies = tuple(tally.mapped(change) for tally in cells.tallies)
        buckets = tuple(held.mapped(tally, change) for held, tally in zip(cells.buckets, tallies, strict=False))
        return self.with_cells(LabellingCells(cells.columns, cells.names, tallies, buckets))

    def with_cells(self, cells: LabellingCells) -> WeightedEvidence:
        """Other counts of the same cells, such as a fold of their rows."""
        return WeightedEvidence.of(replace(self.cells, cells=cells))

    def with_rows_of(self, other: Any) -> WeightedEvidence:
        return self.with_cells(other.cells.cells)

    def settings(self, order: Floats | None = None) -> list[WeightedEvidence]:
        """The evidence at each way that a range of class priors allows; itself alone where there is none."""
        priors = self.cells.priors
        if priors.treatment != "range":
            return [self]
        rows = self.cells.cells.totals[:, 1]
        result = priors.settings(np.zeros(len(self.cells.cells)) if order is None else order, rows)
        return [self.at(each) for each in result]

    @cached_method(attrgetter("key"))
    def at(self, setting: PriorSetting) -> WeightedEvidence:
        """At one setting of the class priors, which is no range any more."""
        own = self.cells.priors
        if own.treatment != "range" and setting.key == PriorSetting(own.shares, own.draws).key:
            return self
        priors = replace(own, shares=setting.shares, draws=setting.draws, along=(), low=None, high=None)
        return WeightedEvidence.of(replace(self.cells, priors=priors), self.alone)

    def at_prior(self, setting: Any) -> tuple[WeightedEvidence, float]:
        priors = self.cells.priors
        own = self.at(PriorSetting(priors.shares, priors.draws) if setting is None else setting)
        return own, own.class_prior.unlabelled

    def rows_at(self, setting: PriorSetting | None) -> tuple[Tally, Assumptions]:
        """Without keeping them: there may be a setting for each draw."""
        own = self.cells.weighted if setting is None else self.cells.combined(setting.shares)
        return own.tally, own.assumptions

    def setting_of(self, share: float) -> PriorSetting:
        """Where this share of all unlabelled rows is positive: the log odds of all strata moved together."""
        own, rows = self.cells.priors.shares, self.cells.cells.totals[:, 1]
        inside = np.clip(own, LEAST_SHARE, 1 - LEAST_SHARE)
        logits = np.log(inside / (1 - inside))[None]
        return PriorSetting(shifted(logits, rows, np.ones(own.size), np.array([share]))[0])

    @cached_method(
        lambda thresholds=(), *, seed=0, redraws=REDRAWS: (np.asarray(thresholds, float).tobytes(), seed, redraws)
    )
    def replicates(
        self,
        thresholds: Sequence[float] | Floats = (),
        *,
        seed: int = 0,
        redraws: int = REDRAWS,
    ) -> MassReplicates:
        """Masses at or above some thresholds, those given among them, in replicates of the cells."""
        whole = self.cells.cells.whole
        own = np.asarray(compress(whole, BLOCKS).thresholds, float)
        at = np.unique(np.concatenate([own, np.asarray(thresholds, float), [float(whole.thresholds[-1])]]))[::-1]
        priors = self.cells.priors
        if self.by_bucket is not None:
            left = added_up(self.cells, *self.by_bucket.left_out(at), priors.shares[None])
            result = MassReplicates.of(at, left, jackknife=self.by_bucket)
            return result.beside_priors(self._of_priors(at)) if priors.draws is not None else result
        asked = StratumRedraws(self.cells, Resampling(seed=seed, redraws=max(redraws, 2)), at)
        drawn = asked.of(PriorSetting(priors.shares, priors.draws))
        return MassReplicates.of(at, drawn)

    def _of_priors(self, at: Floats) -> MassReplicates:
        """The rows as they are at draws of the class priors."""
        draws = self.cells.priors.draws
        assert draws is not None
        counts, totals = self.cells.cells.above(at).transpose(0, 2, 1)[None], self.cells.cells.totals[None]
        some = draws[:400]
        above, rows = (np.broadcast_to(each, (len(some), *each.shape[1:])) for each in (counts, totals))
        return MassReplicates.of(at, added_up(self.cells, above, rows, some))


@mass_replicates.register
def _(
    evidence: WeightedEvidence, share: float, thresholds: Any = (), *, redraws: int = REDRAWS
) -> MassReplicates | None:
    return evidence.replicates(thresholds, redraws=redraws)  # their class priors are in the evidence
