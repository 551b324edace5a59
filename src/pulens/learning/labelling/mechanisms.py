"""The mechanisms of PU-Bench (S1 to S4) and of the PULP paper (scenario-1 and scenario-2)."""

from __future__ import annotations

import numpy as np

from pulens.catalogue import Declared
from pulens.errors import PulensError
from pulens.learning.labelling._mechanism import Mechanism, draw_in_succession, highest, log_posterior
from pulens.types import Floats, Places

MECHANISM = Declared(Mechanism, reads="log_odds", source="PU-Bench, appendix C.3")


@MECHANISM(
    "every positive is equally likely to be labelled (SCAR)",
    reads="nothing",
    alias="S1",
    in_words="labelled at random",
)
def completely_at_random(evidence: Floats, count: int, rng: np.random.Generator) -> Places:
    """Draw uniformly without replacement: PU-Bench, appendix C.3, S1; labelling propensity e(x) = c.

    >>> completely_at_random(np.zeros(5), 5, np.random.default_rng(0))
    array([0, 1, 2, 3, 4])
    """
    return draw_in_succession(np.zeros(evidence.size), count, rng)


def obvious_log_weights(log_odds: Floats, *, power: float = 10.0, uniform_share: float = 0.0) -> Floats:
    r"""Logarithms of the normalised weights :math:`p(x)^k / \sum p(x')^k`, mixed with a uniform share.

    >>> np.exp(obvious_log_weights(np.log([9.0, 2 / 3, 1.5, 1.5]))).round(3)
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


@MECHANISM(
    "positives that look positive are labelled more often, weights posterior^10",
    alias="S2",
    in_words="clear positives labelled more often",
    parameters={"power": 10.0, "uniform_share": 0.0},
)
def favour_obvious(
    log_odds: Floats, count: int, rng: np.random.Generator, *, power: float = 10.0, uniform_share: float = 0.0
) -> Places:
    """Weighted draw without replacement, weights p(x)^power: PU-Bench, appendix C.3, S2.

    The published program mixes 10% of uniform weights in, which the paper does not say: ``uniform_share=0.1``.

    >>> favour_obvious(np.array([9.0, -9.0, -9.0]), 1, np.random.default_rng(0))
    array([0])
    """
    return draw_in_succession(obvious_log_weights(log_odds, power=power, uniform_share=uniform_share), count, rng)


def ambiguous_log_weights(log_odds: Floats, *, power: float = 10.0, offset: float = 0.0) -> Floats:
    r"""Logarithms of the normalised weights :math:`(a + 1 - p(x))^k / \sum (a + 1 - p(x'))^k`.

    >>> np.exp(ambiguous_log_weights(np.log([9.0, 2 / 3, 1.5, 1.5]))).round(4)
    array([0.    , 0.9665, 0.0168, 0.0168])
    """
    if not power > 0 or not offset >= 0:
        raise PulensError(
            f"favour_ambiguous needs power above 0 and offset of at least 0, got power={power!r}, offset={offset!r}."
        )
    complement = log_posterior(-log_odds)
    if offset:
        complement = np.log(offset + np.exp(complement))
    weights = power * complement
    normalised: Floats = weights - np.logaddexp.reduce(weights)
    return normalised


@MECHANISM(
    "positives that look negative are labelled more often, weights (1 - posterior)^10",
    alias="S3",
    in_words="doubtful positives labelled more often",
    parameters={"power": 10.0, "offset": 0.0},
)
def favour_ambiguous(
    log_odds: Floats, count: int, rng: np.random.Generator, *, power: float = 10.0, offset: float = 0.0
) -> Places:
    """Weighted draw without replacement, weights (1 - p(x))^power: PU-Bench, appendix C.3, S3.

    The published program uses (2.5 - p(x))^10, a far milder rule than the paper's: ``offset=1.5``.

    >>> favour_ambiguous(np.array([-9.0, 9.0, 9.0]), 1, np.random.default_rng(0))
    array([0])
    """
    return draw_in_succession(ambiguous_log_weights(log_odds, power=power, offset=offset), count, rng)


@MECHANISM(
    "exactly the positives of highest posterior are labelled",
    alias="S4",
    in_words="only the clearest positives labelled",
    deterministic=True,
)
def most_obvious(log_odds: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of highest posterior, ties by position: PU-Bench, appendix C.3, S4.

    The paper ranks by the posterior to the power 20; the power changes nothing in the order.

    >>> most_obvious(np.array([2.0, -1.0, 0.5, 0.5]), 2)
    array([0, 2])
    """
    return highest(log_odds, count)


@MECHANISM(
    "each positive is accepted with probability posterior / highest posterior",
    source="later program of PU-Bench (its S4)",
    alias="S4-accept",
    in_words="the clearer a positive, the likelier its label",
    may_fall_short=True,
)
def accept_by_posterior(log_odds: Floats, count: int, rng: np.random.Generator) -> Places:
    """Accept positive x with probability p(x) / max p, then keep ``count`` of the accepted at random.

    Fewer than ``count`` come back when fewer were accepted: the expected share accepted is mean p / max p.

    >>> accept_by_posterior(np.array([0.0, 0.0, -800.0]), 3, np.random.default_rng(0))
    array([0, 1])
    """
    log_share = log_posterior(log_odds)
    accepted = np.flatnonzero(log_share - log_share.max() > np.log(rng.random(log_odds.size)))
    return np.sort(rng.permutation(accepted)[:count])


@MECHANISM(
    "the most typical positives are labelled (Gaussian mixture density)",
    reads="representativeness",
    source="the PULP paper, section 3",
    alias="scenario-1",
    in_words="the most typical positives labelled",
    deterministic=True,
)
def most_representative(representativeness: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of highest density among the positives, ties by position: the PULP paper, figure 1(c).

    >>> most_representative(np.array([0.9, 0.4, 0.6, 0.6]), 2)
    array([0, 2])
    """
    return highest(representativeness, count)


@MECHANISM(
    "the least typical positives are labelled (Gaussian mixture density)",
    reads="representativeness",
    source="the PULP paper, section 3",
    alias="scenario-2",
    in_words="the least typical positives labelled",
    deterministic=True,
)
def least_representative(representativeness: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of lowest density among the positives, ties by position: the PULP paper, figure 1(d).

    >>> least_representative(np.array([0.9, 0.4, 0.6, 0.6]), 2)
    array([1, 2])
    """
    return highest(-representativeness, count)
