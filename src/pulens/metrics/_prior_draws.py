"""The class prior in redraws: held, moved over its range, or drawn from its own distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.recovery.many import ManyRecoveries, priors_in_redraws, recover_many
from pulens.scenario import Scenario
from pulens.uncertainty.quantiles import expanded_tail, spread_of_interval

Floats = NDArray[np.float64]
Ends: TypeAlias = Callable[[float], tuple[float, float]]  # from the chance of a miss on either side to both ends
EndsAt: TypeAlias = Callable[[float | None], Ends]  # at a class prior; None: drawn from its own distribution
PRIORS_IN_RANGE = 5  # points of a bare range of class priors at which an interval is found
GRID = 201  # quantiles of the class prior


def priors_over(reach: Interval) -> list[float]:
    """Class priors over a bare range at which an interval is found."""
    return [float(prior) for prior in np.linspace(reach.low, reach.high, PRIORS_IN_RANGE)]


@dataclass(frozen=True)
class PriorDraws:
    """Shares of positives among the unlabelled rows for redraws of one evidence, and the recoveries with them."""

    evidence: Evidence
    among_many: bool = False

    def priors(self, prior: float | None, normal: Floats, totals: Any, *, mirrored: bool = False) -> Floats:
        """Share of positives among the unlabelled rows in each redraw."""
        from scipy.special import ndtr

        known = self.evidence.class_prior
        base: Any = prior
        reach = known.drawn_interval
        if prior is None and reach is not None and reach.confidence is not None:
            if known.distribution is not None:
                levels, quantiles = self._quantiles
                base = np.interp(ndtr(normal), levels, quantiles)
            else:
                base = spread_of_interval(known.unlabelled, reach.low, reach.high, reach.confidence, normal)
            if mirrored:  # the estimate's own error, seen from the truth, is the other way round
                base = 2 * known.unlabelled - base
        elif prior is None:
            base = known.unlabelled
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

    @cached_property
    def _quantiles(self) -> tuple[Floats, Floats]:
        """Quantiles of the estimated class prior's own distribution."""
        distribution = self.evidence.class_prior.distribution
        assert distribution is not None
        levels = np.concatenate([[0.0], (np.arange(GRID) + 0.5) / GRID, [1.0]])
        return levels, np.array([distribution.quantile(level) for level in levels.tolist()])

    def recoveries(self, totals: Any, priors: Floats) -> ManyRecoveries:
        return recover_many(totals, priors, self.evidence.label_noise, self.evidence.recovery_scenario)

    @property
    def random_totals(self) -> bool:
        return self.evidence.recovery_scenario is Scenario.SINGLE_SET

    def tail(self, tail: float) -> float:
        """The tail of percentiles for this number of labelled rows."""
        return expanded_tail(tail, self.evidence.tally.totals.labelled)
