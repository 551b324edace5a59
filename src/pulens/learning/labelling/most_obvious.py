"""S4 of PU-Bench: exactly the positives that look most positive are labelled."""

from __future__ import annotations

import numpy as np

from pulens.learning.labelling._mechanism import Mechanism, highest
from pulens.types import Floats, Places


def most_obvious(log_odds: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of highest posterior, ties by position: PU-Bench, appendix C.3, S4.

    The paper ranks by the posterior to the power 20; the power changes nothing in the order.

    >>> most_obvious(np.array([2.0, -1.0, 0.5, 0.5]), 2)
    array([0, 2])
    """
    return highest(log_odds, count)


MECHANISM = Mechanism(
    choose=most_obvious,
    summary="exactly the positives of highest posterior are labelled",
    reads="log_odds",
    source="PU-Bench, appendix C.3",
    alias="S4",
    in_words="only the clearest positives labelled",
    deterministic=True,
)
