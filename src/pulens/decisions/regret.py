"""A class prior in doubt: what the chosen threshold may cost too much, and which threshold would risk least."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.actions import Actions, cheapest
from pulens.decisions.costs import Costs
from pulens.evidence import Evidence
from pulens.keywords import typed

PRIORS = 17  # looked at over a range; regret is convex between them unless hits are cut at the flagged share


class RegretOverRange(NamedTuple):
    """The largest regret of a choice over a range of class priors, per row, and where; and the choice with the least.

    ``cheapest`` are the cheapest thresholds at the ends of the range; ``safest`` is the one whose largest regret,
    ``safest_regret``, is smallest.
    """

    largest: float
    at: float
    cheapest: tuple[float, float]
    safest: float
    safest_regret: float

    @typed
    def to_dict(self, per: float = 1.0) -> dict[str, Any]:
        """Regrets for this many rows; thresholds that flag no row are ``None``."""
        low, high, safest = (each if math.isfinite(each) else None for each in (*self.cheapest, self.safest))
        return {
            "largest": per * self.largest,
            "class_prior": self.at,
            "cheapest": [low, high],
            "safest": safest,
            "safest_largest": per * self.safest_regret,
        }


def regret_over_range(
    evidence: Evidence, shares: tuple[float, float], index: int, allowed: NDArray[np.bool_], costs: Costs
) -> RegretOverRange:
    """How much more than the cheapest allowed threshold the chosen one may cost, over shares of positives.

    >>> from pulens.evidence import gather
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2]
    >>> evidence = gather(labels, scores, unlabelled_prior=(0.01, 0.2), scenario="case-control")
    >>> found = regret_over_range(evidence, (0.01, 0.2), 6, np.ones(9, bool), Costs(500, 20))
    >>> round(found.largest, 4), found.at, found.cheapest
    (6.8, 0.01, (inf, 0.45))
    """
    worst: Any = None
    mine, result, best = -1.0, 0.0, []
    for share in np.linspace(*shares, PRIORS).tolist():
        points = Actions.of(evidence, share)
        cost = points.costs(costs)
        lowest = cheapest(cost, allowed)
        best.append(float(points.thresholds[lowest]))
        regret = cost - cost[lowest]
        worst = regret if worst is None else np.maximum(worst, regret)
        if regret[index] > mine:
            mine, result = float(regret[index]), float(points.class_prior)
    safest = cheapest(worst, allowed)
    ends = best[0], best[-1]
    return RegretOverRange(max(mine, 0.0), result, ends, float(points.thresholds[safest]), float(worst[safest]))
