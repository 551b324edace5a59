"""Class priors between which a choice stays the cheapest: closed formulas where the rates do not move with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.actions import Actions, cheapest
from pulens.decisions.costs import Costs
from pulens.evidence import Evidence
from pulens.priors.class_prior import population_prior
from pulens.recovery.contingency import possible_hits
from pulens.recovery.many import HIGHEST_SHARE
from pulens.scenario import Scenario
from pulens.types import Floats

GRID, HALVINGS = 33, 40  # shares tried where no formula is known, and how often the step between two is halved


def standing_priors(
    evidence: Evidence, points: Actions, index: int, allowed: NDArray[np.bool_], costs: Costs
) -> tuple[float, float]:
    """The lowest and the highest class prior at which this threshold is the cheapest allowed one."""
    moves = evidence.label_noise or (
        evidence.recovery_scenario is Scenario.CASE_CONTROL and evidence.tally.has_negatives
    )
    if moves:
        return _searched(evidence, points, index, allowed, costs)
    return _solved(points, index, allowed, costs)


def _solved(points: Actions, index: int, allowed: NDArray[np.bool_], costs: Costs) -> tuple[float, float]:
    r"""At fixed recall and flagged share the cost is :math:`c_M\pi + \kappa q - Vh` with the hits :math:`\pi\gamma` cut
    to what the flagged share q allows.

    The difference of two thresholds is linear in the class prior between the places where hits are cut; the nearest
    places on either side at which another threshold becomes cheaper are the ends.
    """
    price, worth, own = costs.price_of_flag, costs.worth_of_hit, float(points.class_prior)
    q, gamma = float(points.flagged[index]), float(points.recall[index])
    others = allowed & ((points.flagged != q) | (points.recall != gamma))
    others_q, others_gamma = points.flagged[others], points.recall[others]
    if not others_q.size:
        return 0.0, 1.0

    def cost(prior: Any, flagged: Any, recall: Any) -> Any:
        return price * flagged - worth * possible_hits(prior * recall, flagged, prior, 1.0 - prior)

    fixed = [np.full(others_q.shape, each) for each in (0.0, own, 1.0, *_bends(q, gamma))]
    at = np.sort(np.stack([*fixed, *_bends(others_q, others_gamma)]), axis=0)
    gap = cost(at, others_q, others_gamma) - cost(at, q, gamma)
    slack = 1e-12 * max(abs(price), abs(worth))
    return -_first_below(-at[::-1], gap[::-1], -own, slack), _first_below(at, gap, own, slack)


def _bends(flagged: Any, recall: Any) -> tuple[Any, Any]:
    """Class priors from which on hits are cut: at the rows flagged, and at what the negatives cannot hold."""
    flagged, recall = np.asarray(flagged, float), np.asarray(recall, float)
    ones = np.ones(flagged.shape)
    none = np.divide(flagged, recall, out=ones.copy(), where=recall > 0)
    everybody = np.divide(1 - flagged, 1 - recall, out=ones.copy(), where=recall < 1)
    return np.clip(none, 0.0, 1.0), np.clip(everybody, 0.0, 1.0)


def _first_below(at: Floats, gap: Floats, own: float, slack: float) -> float:
    """The first place from ``own`` on where a gap, linear between places in rising order, falls below 0."""
    lower, upper, before, after = at[:-1], at[1:], gap[:-1], gap[1:]
    falls = (lower >= own) & (after < -slack)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(before > 0, lower + (upper - lower) * before / (before - after), lower)
    return float(min([at[-1, 0], *root[falls]]))


def _searched(
    evidence: Evidence, points: Actions, index: int, allowed: NDArray[np.bool_], costs: Costs
) -> tuple[float, float]:
    """Where rates move with the class prior: the first share on either side at which another is cheaper, halved."""
    own = evidence.class_prior.unlabelled
    most = (1 - evidence.label_noise) * HIGHEST_SHARE

    def stands(share: float) -> bool:
        return cheapest(Actions.of(evidence, share).costs(costs), allowed) == index

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
