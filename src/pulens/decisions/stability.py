"""Class priors between which a choice stays the cheapest: closed formulas where the rates do not move with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.actions import Actions, cheapest
from pulens.decisions.costs import Costs
from pulens.evidence import Evidence
from pulens.priors.class_prior import population_prior
from pulens.recovery.many import HIGHEST_SHARE
from pulens.scenario import Scenario
from pulens.types import Floats

GRID, HALVINGS = 33, 40  # shares tried where no formula is known, and how often the step between two is halved


def standing_priors(
    evidence: Evidence, points: Actions, place: int, allowed: NDArray[np.bool_], costs: Costs
) -> tuple[float, float]:
    """The lowest and the highest class prior at which this threshold is the cheapest allowed one."""
    moves = evidence.label_noise or (
        evidence.recovery_scenario is Scenario.CASE_CONTROL and evidence.tally.has_negatives
    )
    if moves:
        return _searched(evidence, points, place, allowed, costs)
    return _solved(points, place, allowed, costs)


def _solved(points: Actions, place: int, allowed: NDArray[np.bool_], costs: Costs) -> tuple[float, float]:
    r"""At fixed recall and flagged share the cost is :math:`c_M\pi + \kappa q - V\min(\pi\gamma, q)`.

    The difference of two thresholds is linear in the class prior between the places where hits are cut at q: each
    piece has one root, and the nearest roots on either side at which another threshold becomes cheaper are the ends.
    """
    price, worth, own = costs.price_of_flag, costs.worth_of_hit, float(points.class_prior)
    q, gamma = float(points.flagged[place]), float(points.recall[place])
    others = allowed & ((points.flagged != q) | (points.recall != gamma))
    others_q, others_gamma = points.flagged[others], points.recall[others]
    gap = price * (others_q - q) / worth
    with np.errstate(divide="ignore", invalid="ignore"):
        cut_here = np.full(others_q.shape, q / gamma if gamma > 0 else np.inf)
        cut_there = np.where(others_gamma > 0, others_q / others_gamma, np.inf)
        roots = np.stack([gap / (others_gamma - gamma), (gap + q) / others_gamma, (others_q - gap) / gamma])
    # which of the two has its hits cut, piece by piece, and how steeply the other's cost less this one's then moves
    is_cut = np.array([[False, False], [True, False], [False, True]])
    low, high = 0.0, 1.0
    slack = 1e-12
    for root, (here, there) in zip(roots, is_cut, strict=True):
        inside = np.isfinite(root) & (root > -slack) & (root < 1 + slack)
        # the piece must reach beyond its root, upwards or downwards, or the root is none
        up, down = inside.copy(), inside.copy()
        for is_cut_there, place_of_cut in ((here, cut_here), (there, cut_there)):
            up &= (root >= place_of_cut - slack) if is_cut_there else (root < place_of_cut - slack)
            down &= (root > place_of_cut + slack) if is_cut_there else (root <= place_of_cut + slack)
        slope = -(0.0 if there else 1.0) * others_gamma + (0.0 if here else gamma)
        falls, rises = root[up & (slope < 0)], root[down & (slope > 0)]
        high = min([high, *falls[falls >= own - slack].tolist()])
        low = max([low, *rises[rises <= own + slack].tolist()])
    return max(low, 0.0), min(high, 1.0)


def _searched(
    evidence: Evidence, points: Actions, place: int, allowed: NDArray[np.bool_], costs: Costs
) -> tuple[float, float]:
    """Where rates move with the class prior: the first share on either side at which another is cheaper, halved."""
    own = evidence.class_prior.unlabelled
    most = (1 - evidence.label_noise) * HIGHEST_SHARE

    def stands(share: float) -> bool:
        return cheapest(Actions.of(evidence, share).costs(costs), allowed) == place

    def edge(shares: Floats) -> float:
        kept = own
        for share in shares.tolist():
            if stands(share):
                kept = share
                continue
            good, bad = kept, share
            for _ in range(HALVINGS):
                middle = (good + bad) / 2
                good, bad = (middle, bad) if stands(middle) else (good, middle)
            return good
        return kept

    ends = (edge(np.linspace(own, 0.0, GRID)[1:]), edge(np.linspace(own, most * (1 - 1e-6), GRID)[1:]))
    totals, scenario, noise = evidence.tally.totals, evidence.recovery_scenario, evidence.label_noise
    low, high = (population_prior(share, totals, scenario, noise) for share in ends)
    return low, high
