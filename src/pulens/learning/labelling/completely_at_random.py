"""S1 of PU-Bench: every positive is equally likely to be labelled (SCAR)."""

from __future__ import annotations

import numpy as np

from pulens.learning.labelling._mechanism import Mechanism, draw_in_succession
from pulens.types import Floats, Places


def completely_at_random(evidence: Floats, count: int, rng: np.random.Generator) -> Places:
    """Draw uniformly without replacement: PU-Bench, appendix C.3, S1; labelling propensity e(x) = c.

    >>> completely_at_random(np.zeros(5), 5, np.random.default_rng(0))
    array([0, 1, 2, 3, 4])
    """
    return draw_in_succession(np.zeros(evidence.size), count, rng)


MECHANISM = Mechanism(
    choose=completely_at_random,
    summary="every positive is equally likely to be labelled (SCAR)",
    reads="nothing",
    source="PU-Bench, appendix C.3",
    alias="S1",
    in_words="labelled at random",
)
