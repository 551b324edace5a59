"""Where a score is cut so that a wanted share of rows lies at or above."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def break_even_threshold(scores: Any, class_prior: float) -> float:
    r"""The score :math:`a_{(k)}` with :math:`k = \lfloor n(1-\pi) \rfloor`: a share pi of scores is at or above it.

    >>> break_even_threshold([0.9, -1.2, 0.3, 2.1, -0.4, 0.0, 1.5, -2.0, -0.1, 0.6], 0.4)
    0.6
    """
    ascending = np.sort(np.asarray(scores))
    # 10 * (1 - 0.4) must be 6, whatever binary fractions make of it
    k = min(math.floor(ascending.size * (1 - class_prior) + 1e-9), ascending.size - 1)
    return float(ascending[k])


def cut_below(scores: Any, threshold: float) -> float:
    """A number between the threshold and the next score below, so that "above the cut" means "at or above it"."""
    below = np.asarray(scores)[np.asarray(scores) < threshold]
    return threshold - 1.0 if below.size == 0 else (threshold + float(below.max())) / 2
