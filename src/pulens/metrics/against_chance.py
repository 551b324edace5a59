"""Rows called positive against as many rows drawn at random: how often those hold fewer labelled ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.catalogue import Declared
from pulens.counts.hypergeometric import Tails, log_p_values_upwards, tails
from pulens.counts.operating_points import Ranking, Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points
from pulens.recovery.assumptions import Assumptions
from pulens.types import Floats

METRIC = Declared(Metric, needs_class_prior=False, ignores_class_prior=True, listed=False)


def tails_at(tally: Tally, threshold: float, measure: str) -> Tails:
    """Chances of fewer and of at least as many labelled rows among those called positive."""
    ranking, called = Ranking.of(tally, measure), tally.at(threshold)
    return tails(int(called.labelled), ranking.rows, ranking.hits, int(called.rows))


@METRIC("Chance that as many random rows hold fewer labelled ones", reads="counts")
def pulp_at_threshold(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`P(X < k)`, X the labelled rows among as many rows drawn at random as are called positive.

    The PULP paper, equation 2. One minus this is the p-value of Fisher's exact test against "no better than chance":
    see ``chance_p_value``, and ``log_chance_p_value`` for what rounds to 0.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(pulp_at_threshold(tally, 0.6, Assumptions(0.2)), 12)
    0.5
    """
    return float(tails_at(tally, threshold, "pulp_at_threshold").fewer)


@METRIC("Chance that as many random rows hold at least as many labelled ones", reads="counts", higher_is_better=False)
def chance_p_value(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`P(X \ge k)`: Fisher's exact test, one-sided (the PULP paper, equation 2).

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(chance_p_value(tally, 0.6, Assumptions(0.2)), 12)
    0.5
    """
    return float(tails_at(tally, threshold, "chance_p_value").at_least)


@METRIC(
    "Log of the chance that as many random rows hold at least as many labelled ones",
    reads="counts",
    higher_is_better=False,
    lowest=-np.inf,
    highest=0.0,
)
def log_chance_p_value(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`\log P(X \ge k)`, natural; summed as it stands, never as one minus something near one.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(log_chance_p_value(tally, 0.6, Assumptions(0.2)), 6)
    -0.693147
    """
    return float(tails_at(tally, threshold, "log_chance_p_value").log_at_least)


def _surprise(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    if np.ndim(hits) == 2:  # inside a tie: one tail for each rank, the others by recurrence
        return -log_p_values_upwards(called, hits, rows, labelled)
    result: Floats = -tails(hits, rows, labelled, called).log_at_least
    return result


@METRIC(
    "Minus the log p-value against chance, averaged over operating points",
    reads="ranking",
    highest=np.inf,
    parameters={"ties": "expected"},
)
def log_pulp(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`-\log P(X_i \ge k_i)`, in nats.

    The probabilities are those of PULP (the PULP paper, equation 2). PULP takes one minus them and piles up at its
    maximum for any decent ranking; their logarithm goes on. The value grows with the number of labelled rows: compare
    models on the same rows only. One tail sum for each rank, so slower than ``pulp``: seconds for a million rows.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(log_pulp(tally, Assumptions(0.0)), 6)
    0.351976
    """
    return average_over_points(tally, ties, "log_pulp", _surprise)
