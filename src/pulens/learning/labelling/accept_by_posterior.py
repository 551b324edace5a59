"""A mild relative of S4, as the later program of PU-Bench has it: each positive is accepted by its posterior."""

from __future__ import annotations

import numpy as np

from pulens.learning.labelling._mechanism import Mechanism, log_posterior
from pulens.types import Floats, Places


def accept_by_posterior(log_odds: Floats, count: int, rng: np.random.Generator) -> Places:
    """Accept positive x with probability p(x) / max p, then keep ``count`` of the accepted at random.

    Fewer than ``count`` come back when fewer were accepted: the expected share accepted is mean p / max p.

    >>> accept_by_posterior(np.array([0.0, 0.0, -800.0]), 3, np.random.default_rng(0))
    array([0, 1])
    """
    log_share = log_posterior(log_odds)
    accepted = np.flatnonzero(log_share - log_share.max() > np.log(rng.random(log_odds.size)))
    return np.sort(rng.permutation(accepted)[:count])


MECHANISM = Mechanism(
    choose=accept_by_posterior,
    summary="each positive is accepted with probability posterior / highest posterior",
    reads="log_odds",
    source="later program of PU-Bench (its S4)",
    alias="S4-accept",
    in_words="the clearer a positive, the likelier its label",
    may_fall_short=True,
)
