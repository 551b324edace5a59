"""Second scenario of the PULP paper: the least typical positives are labelled, the most typical stay unlabelled."""

from __future__ import annotations

import numpy as np

from pulens.learning.labelling._mechanism import Mechanism, highest
from pulens.types import Floats, Places


def least_representative(representativeness: Floats, count: int, rng: np.random.Generator | None = None) -> Places:
    """The positives of lowest density among the positives, ties by position: the PULP paper, figure 1(d).

    >>> least_representative(np.array([0.9, 0.4, 0.6, 0.6]), 2)
    array([1, 2])
    """
    return highest(-representativeness, count)


MECHANISM = Mechanism(
    choose=least_representative,
    summary="the least typical positives are labelled (Gaussian mixture density)",
    reads="representativeness",
    source="the PULP paper, section 3",
    alias="scenario-2",
    in_words="the least typical positives labelled",
    deterministic=True,
)
