"""First scenario of the PULP paper: the most typical positives are labelled, the least typical stay unlabelled."""

from __future__ import annotations

import numpy as np

from pulens.learning.labelling._mechanism import Mechanism, highest
from pulens.types import Floats, Places


def most_representative(representativeness: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of highest density among the positives, ties by position: the PULP paper, figure 1(c).

    >>> most_representative(np.array([0.9, 0.4, 0.6, 0.6]), 2)
    array([0, 2])
    """
    return highest(representativeness, count)


MECHANISM = Mechanism(
    choose=most_representative,
    summary="the most typical positives are labelled (Gaussian mixture density)",
    reads="representativeness",
    source="the PULP paper, section 3",
    alias="scenario-1",
    in_words="the most typical positives labelled",
    deterministic=True,
)
