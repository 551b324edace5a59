"""The class prior that all models of a comparison share: its settings, and redraws of the rows recovered at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from pulens.comparison.order import largest_credible_prior
from pulens.evidence import Evidence
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Measured, depends_on_class_prior
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, KnownOfPrior, PriorUncertainty
from pulens.inference.recovered_counts import recovered_counts
from pulens.inference.replicates import Replicates
from pulens.strata import WeightedEvidence
from pulens.strata.intervals import StratumPriorUncertainty
from pulens.strata.priors import PriorSetting
from pulens.types import Floats, Places

LEAST_SHARE = 1e-3  # of the largest prior that may be true: at 0 there are no positives to find
LOWEST = 0.001  # class prior at which the order is looked at where nothing is known of it
PRIORS_TRACED, PRIORS_TRACED_IN_STRATA = 65, 33  # when the order is traced


@dataclass(frozen=True, eq=False)
class SharedPrior:
    """What is known of one class prior of all rows, and what that allows.

    A setting is a share of positives among the unlabelled rows; ``None`` one for each redraw.
    """

    evidences: Mapping[str, Any]  # of each model
    resampling: Resampling

    @property
    def evidence(self) -> Any:
        """Of the first model: counts differ between models, but not the numbers of rows."""
        return next(iter(self.evidences.values()))

    def known(self, metric: Measured) -> KnownOfPrior:
        return PriorUncertainty(self.evidence, depends_on_class_prior(metric, self.evidence.label_noise))

    def settings(self, metric: Measured) -> Sequence[Any]:
        """Where the metric has to be known: the class prior's own value first, then others of a range."""
        treatment, own = self.known(metric).treatment, self.evidence.class_prior.unlabelled
        if treatment == "range" and self.reach is not None:
            return [own, *(share for share in np.linspace(*self.reach, PRIORS_IN_RANGE).tolist() if share != own)]
        return [None if treatment == "drawn" else own]

    @property
    def reach(self) -> tuple[float, float] | None:
        """The range of unlabelled priors, kept off 0, where a population without positives has few metrics."""
        interval = self.evidence.counted.class_prior.unlabelled_interval
        if interval is None or interval.width == 0:
            return None
        return max(interval.low, LEAST_SHARE * interval.high), interval.high

    def traced(self) -> Floats:
        """Shares over which the order is traced: the range that was given, or all that the data allow."""
        # the prior belongs to the rows, not to a model: what one model rules out is out for all
        purity = 1 - self.evidence.label_noise
        most = min(largest_credible_prior(each.tally, purity) for each in self.evidences.values())
        most = max(most, self.evidence.class_prior.unlabelled, 2 * LOWEST)
        low, high = self.reach or (LOWEST, most)
        return np.linspace(low, high, PRIORS_TRACED)

    def at(self, share: float) -> Any:
        """The setting at which this share of all unlabelled rows is positive."""
        return share

    def recovered(self, above: Floats, setting: Any, numbers: Places | None) -> Replicates:
        """Rows at or above thresholds, of shape (redraws, strata, thresholds, kinds), at one of the settings."""
        evidence, share = self.evidence, setting
        if setting is None:
            share = evidence.class_prior.unlabelled if numbers is None else self._drawn[numbers]
        return recovered_counts(evidence, above, above[:, :, -2], share, of_rows=True)

    @cached_property
    def _drawn(self) -> Floats:
        """A prior for each redraw, common to all models: it belongs to the rows, so its error cancels where theirs do.

        Spread evenly over its distribution, in random order, so that the draws add no noise of their own.
        """
        from pulens.special import ndtri

        known, size = PriorUncertainty(self.evidence), self.resampling.redraws
        order = np.random.default_rng([self.resampling.seed, size]).permutation(size)
        shares = known.possible(known.drawn(ndtri((order + 0.5) / size)))
        least = 0.0 if self.reach is None else LEAST_SHARE * self.reach[1]
        return np.maximum(np.broadcast_to(shares, (size,)), least)


@dataclass(frozen=True, eq=False)
class PriorsOfStrata(SharedPrior):
    """One class prior for each stratum; the draws of all of them belong to a setting."""

    def known(self, metric: Measured) -> KnownOfPrior:
        return StratumPriorUncertainty(self.evidence.cells, lambda: self._order, not metric.ignores_class_prior)

    @property
    def _order(self) -> Floats:
        cells = self.evidence.cells
        return np.asarray(np.nan_to_num(cells.recalls(float(np.median(cells.cells.whole.thresholds))), nan=0.5))

    def settings(self, metric: Measured) -> Sequence[Any]:
        return self._settings if self.known(metric).treatment == "range" else self._settings[:1]

    @cached_property
    def _settings(self) -> list[PriorSetting]:
        priors, rows = self.evidence.cells.priors, self.evidence.cells.cells.totals[:, 1]
        others = priors.settings(self._order, rows) if priors.treatment == "range" else []
        return [PriorSetting(priors.shares, priors.draws), *others]

    def traced(self) -> Floats:
        rows = self.evidence.cells.cells.totals[:, 1]
        low, high = self.reach or (LOWEST, float(self.evidence.cells.priors.caps @ rows / rows.sum()))
        return np.linspace(low, max(high, low + 1e-6), PRIORS_TRACED_IN_STRATA)

    def at(self, share: float) -> PriorSetting:
        result: PriorSetting = self.evidence.setting_of(share)
        return result

    def recovered(self, above: Floats, setting: Any, numbers: Places | None) -> Replicates:
        alpha = setting.shares[None]
        if numbers is not None and setting.draws is not None:
            alpha = setting.draws[numbers % setting.draws.shape[0]]
        return recovered_counts(self.evidence.cells, above, above[:, :, -2], alpha)


@singledispatch
def shared_prior(evidence: Evidence, evidences: Mapping[str, Evidence], resampling: Resampling) -> SharedPrior:
    """What is known of the class prior of models whose first one this is, by their design."""
    return SharedPrior(evidences, resampling)


@shared_prior.register
def _(evidence: WeightedEvidence, evidences: Mapping[str, Evidence], resampling: Resampling) -> SharedPrior:
    return PriorsOfStrata(evidences, resampling)
