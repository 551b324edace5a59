"""The class prior in redraws: held, or drawn, and the recoveries with it (the policy: :mod:`.prior_uncertainty`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import expanded_tail
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.recovery.many import ManyRecoveries, priors_in_redraws, recover_many
from pulens.scenario import Scenario
from pulens.types import Floats


@dataclass(frozen=True, eq=False)
class AssumedRows:
    """Numbers of rows of each kind and what is assumed of them: of one evidence, or in columns of many segments.

    ``held`` is the share that stays when these numbers are redrawn (:class:`pulens.evidence.Evidence`), ``elsewhere``
    counts labelled rows of other segments.
    """

    totals: tuple[Any, Any, Any]
    label_noise: float
    scenario: Scenario
    held: str
    elsewhere: Any = 0.0

    @property
    def random_totals(self) -> bool:
        return self.scenario is Scenario.SINGLE_SET

    def take(self, segments: Any) -> AssumedRows:
        """The columns of some segments."""
        first, second, third = (kind[segments] for kind in self.totals)
        return replace(self, totals=(first, second, third), elsewhere=self.elsewhere[segments])

    def moved(self, shares: Any, redrawn: Any) -> Floats:
        """Shares that hold for the data, carried over to redraws with other numbers of rows."""
        told: Any = {"held": self.held, "scenario": self.scenario, "elsewhere": self.elsewhere}
        return priors_in_redraws(shares, self.totals, redrawn, self.label_noise, **told)

    def recoveries(self, totals: Any, shares: Any) -> ManyRecoveries:
        return recover_many(totals, shares, self.label_noise, self.scenario)


@dataclass(frozen=True)
class PriorDraws:
    """Shares of positives among the unlabelled rows for redraws of one evidence, and the recoveries with them."""

    evidence: Evidence

    @cached_property
    def doubt(self) -> PriorUncertainty:
        return PriorUncertainty(self.evidence)

    @cached_property
    def rows(self) -> AssumedRows:
        evidence, implied = self.evidence, self.evidence.class_prior.implied
        elsewhere = 0.0 if implied is None else implied.elsewhere
        totals = tuple(evidence.tally.totals)
        return AssumedRows(
            totals,  # type: ignore[arg-type]
            evidence.label_noise,
            evidence.recovery_scenario,
            evidence.prior_held,
            elsewhere,
        )

    def priors(self, prior: float | None, normal: Floats, totals: Any, *, mirrored: bool = False) -> Floats:
        """Share of positives among the unlabelled rows in each redraw."""
        base: Any = prior
        if prior is None:
            base = self.doubt.drawn(normal)
            if mirrored:  # the estimate's own error, seen from the truth, is the other way round
                base = 2 * self.evidence.class_prior.unlabelled - base
        return self.moved(base, totals)

    def moved(self, base: Any, totals: Any) -> Floats:
        return self.rows.moved(base, totals)

    def recoveries(self, totals: Any, priors: Floats) -> ManyRecoveries:
        return self.rows.recoveries(totals, priors)

    @property
    def random_totals(self) -> bool:
        return self.rows.random_totals

    def tail(self, tail: float) -> float:
        """The tail of percentiles for this number of labelled rows."""
        return expanded_tail(tail, self.evidence.tally.totals.labelled)
