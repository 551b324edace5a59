"""PULP at one operating point: how often as many rows drawn at random hold fewer labelled ones."""

from __future__ import annotations

from pulens.counts.hypergeometric import Tails, tails
from pulens.counts.operating_points import Ranking
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.recovery.assumptions import Assumptions


def pulp_at_threshold(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`P(X < k)`, X the labelled rows among as many rows drawn at random as are called positive.

    The PULP paper, equation 2. One minus this is the p-value of Fisher's exact test against "no better than chance":
    see ``chance_p_value``, and ``log_chance_p_value`` for what rounds to 0.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(pulp_at_threshold(tally, 0.6, Assumptions(0.2)), 12)
    0.5
    """
    return float(tails_at(tally, threshold, "pulp_at_threshold").fewer)


def tails_at(tally: Tally, threshold: float, measure: str) -> Tails:
    """Chances of fewer and of at least as many labelled rows among those called positive."""
    ranking, called = Ranking.of(tally, measure), tally.at(threshold)
    return tails(int(called.labelled), ranking.rows, ranking.hits, int(called.rows))


METRIC = Metric(
    pulp_at_threshold,
    "Chance that as many random rows hold fewer labelled ones",
    reads="counts",
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
)
