"""S3 of PU-Bench: positives near the boundary or beyond it are labelled more often."""

from __future__ import annotations

import numpy as np

from pulens.errors import PulensError
from pulens.learning.labelling._mechanism import Mechanism, draw_in_succession, log_posterior
from pulens.types import Floats, Places


def log_weights(log_odds: Floats, *, power: float = 10.0, offset: float = 0.0) -> Floats:
    r"""Logarithms of the normalised weights :math:`(a + 1 - p(x))^k / \sum (a + 1 - p(x'))^k`.

    >>> np.exp(log_weights(np.log([9.0, 2 / 3, 1.5, 1.5]))).round(4)
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


def favour_ambiguous(
    log_odds: Floats, count: int, rng: np.random.Generator, *, power: float = 10.0, offset: float = 0.0
) -> Places:
    """Weighted draw without replacement, weights (1 - p(x))^power: PU-Bench, appendix C.3, S3.

    The published program uses (2.5 - p(x))^10, a far milder rule than the paper's: ``offset=1.5``.

    >>> favour_ambiguous(np.array([-9.0, 9.0, 9.0]), 1, np.random.default_rng(0))
    array([0])
    """
    return draw_in_succession(log_weights(log_odds, power=power, offset=offset), count, rng)


MECHANISM = Mechanism(
    choose=favour_ambiguous,
    summary="positives that look negative are labelled more often, weights (1 - posterior)^10",
    reads="log_odds",
    source="PU-Bench, appendix C.3",
    alias="S3",
    in_words="doubtful positives labelled more often",
    parameters={"power": 10.0, "offset": 0.0},
)
