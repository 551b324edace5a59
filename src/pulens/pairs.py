"""How often a row of one group outscores a row of another: the area under the ROC curve of two groups of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["chance_to_outscore"]


def chance_to_outscore(upper: NDArray[Any], lower: NDArray[Any]) -> float:
    """Share of the pairs in which the score of ``upper`` is the higher one; ties count half.

    Counts in a tally have :func:`pulens.recovery.pairwise_auc`, which gives the same number without the rows.

    >>> chance_to_outscore(np.array([3.0, 1.0]), np.array([2.0, 1.0]))
    0.625
    """
    ordered = np.sort(lower)
    twice_below = np.searchsorted(ordered, upper, "left") + np.searchsorted(ordered, upper, "right")
    return float(twice_below.mean() / 2 / lower.size)
