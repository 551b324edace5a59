"""The class prior in redraws: held, or drawn, and the recoveries with it (the policy: :mod:`.prior_doubt`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pulens.evidence import Evidence
from pulens.intervals.kernels.quantiles import expanded_tail
from pulens.intervals.prior_doubt import PriorDoubt
from pulens.recovery.many import ManyRecoveries, priors_in_redraws, recover_many
from pulens.scenario import Scenario
from pulens.types import Floats


@dataclass(frozen=True)
class PriorDraws:
    """Shares of positives among the unlabelled rows for redraws of one evidence, and the recoveries with them."""

    evidence: Evidence

    @cached_property
    def doubt(self) -> PriorDoubt:
        return PriorDoubt(self.evidence)

    def priors(self, prior: float | None, normal: Floats, totals: Any, *, mirrored: bool = False) -> Floats:
        """Share of positives among the unlabelled rows in each redraw."""
        base: Any = prior
        if prior is None:
            base = self.doubt.drawn(normal)
            if mirrored:  # the estimate's own error, seen from the truth, is the other way round
                base = 2 * self.evidence.class_prior.unlabelled - base
        return self.moved(base, totals)

    def moved(self, base: Any, totals: Any) -> Floats:
        """Shares that hold for the data, carried over to redraws with other numbers of rows."""
        implied = self.evidence.class_prior.implied
        return priors_in_redraws(
            base,
            tuple(self.evidence.tally.totals),  # type: ignore[arg-type]
            totals,
            self.evidence.label_noise,
            held=self.evidence.prior_held,
            scenario=self.evidence.recovery_scenario,
            elsewhere=0.0 if implied is None else implied.elsewhere,
        )

    def recoveries(self, totals: Any, priors: Floats) -> ManyRecoveries:
        return recover_many(totals, priors, self.evidence.label_noise, self.evidence.recovery_scenario)

    @property
    def random_totals(self) -> bool:
        return self.evidence.recovery_scenario is Scenario.SINGLE_SET

    def tail(self, tail: float) -> float:
        """The tail of percentiles for this number of labelled rows."""
        return expanded_tail(tail, self.evidence.tally.totals.labelled)
