"""Exact limits of a binomial share (Clopper and Pearson 1934): never missed more often than they say."""

from __future__ import annotations

import numpy as np

from pulens.types import Floats


def binomial_upper(successes: Floats, trials: float, miss: float) -> Floats:
    """Clopper-Pearson upper limit: a true share above it would give so few successes less often than ``miss``.

    >>> float(binomial_upper(np.array([0.0]), 100, 0.05)[0].round(4))
    0.0295
    """
    from pulens.special import betaincinv

    inner = betaincinv(successes + 1, np.maximum(trials - successes, 1e-300), 1 - miss)
    return np.where(successes >= trials, 1.0, inner)


def binomial_lower(successes: Floats, trials: float, miss: float) -> Floats:
    """Clopper-Pearson lower limit.

    >>> float(binomial_lower(np.array([100.0]), 100, 0.05)[0].round(4))
    0.9705
    """
    from pulens.special import betaincinv

    inner = betaincinv(np.maximum(successes, 1e-300), trials - successes + 1, miss)
    return np.where(successes <= 0, 0.0, inner)


def binomial_ends(successes: float, trials: float, miss: float) -> tuple[float, float]:
    """Both limits of one share, missed on either side with the chance ``miss``.

    >>> [round(end, 4) for end in binomial_ends(13, 200, 0.025)]
    [0.0351, 0.1086]
    """
    seen = np.asarray(successes, float)
    return float(binomial_lower(seen, trials, miss)), float(binomial_upper(seen, trials, miss))
