"""S2 of PU-Bench: positives that look positive are labelled more often."""

from __future__ import annotations

import numpy as np

from pulens.errors import PulensError
from pulens.learning.labelling._mechanism import Mechanism, draw_in_succession, log_posterior
from pulens.types import Floats, Places


def log_weights(log_odds: Floats, *, power: float = 10.0, uniform_share: float = 0.0) -> Floats:
    r"""Logarithms of the normalised weights :math:`p(x)^k / \sum p(x')^k`, mixed with a uniform share.

    >>> np.exp(log_weights(np.log([9.0, 2 / 3, 1.5, 1.5]))).round(3)
    array([0.966, 0.   , 0.017, 0.017])
    """
    if not power > 0 or not 0 <= uniform_share < 1:
        raise PulensError(
            f"favour_obvious needs power above 0 and uniform_share of at least 0 and below 1, "
            f"got power={power!r}, uniform_share={uniform_share!r}."
        )
    weights = power * log_posterior(log_odds)
    weights -= np.logaddexp.reduce(weights)
    if uniform_share:
        weights = np.logaddexp(weights + np.log1p(-uniform_share), np.log(uniform_share / weights.size))
    return weights


def favour_obvious(
    log_odds: Floats, count: int, rng: np.random.Generator, *, power: float = 10.0, uniform_share: float = 0.0
) -> Places:
    """Weighted draw without replacement, weights p(x)^power: PU-Bench, appendix C.3, S2.

    The published program mixes 10% of uniform weights in, which the paper does not say: ``uniform_share=0.1``.

    >>> favour_obvious(np.array([9.0, -9.0, -9.0]), 1, np.random.default_rng(0))
    array([0])
    """
    return draw_in_succession(log_weights(log_odds, power=power, uniform_share=uniform_share), count, rng)


MECHANISM = Mechanism(
    choose=favour_obvious,
    summary="positives that look positive are labelled more often, weights posterior^10",
    reads="log_odds",
    source="PU-Bench, appendix C.3",
    alias="S2",
    in_words="clear positives labelled more often",
    parameters={"power": 10.0, "uniform_share": 0.0},
)
