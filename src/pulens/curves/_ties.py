"""Recovered rates that are equal in exact arithmetic: rounding must not decide their order."""

from __future__ import annotations

import numpy as np

from pulens.recovery.contingency import ROUNDING
from pulens.types import Floats


def level(rates: Floats) -> Floats:
    """The rates, each run of neighbours within rounding of each other given the smallest value among them.

    A recovered rate is a difference of two observed ones. Thresholds at which it is the same number come out a few
    units of the last place apart, in either order, and a curve that is sorted by them would be sorted by luck.

    >>> level(np.array([0.5, 0.3, 0.1 + 0.2]))
    array([0.5, 0.3, 0.3])
    """
    order = np.argsort(rates, kind="stable")
    ordered = rates[order]
    begins = np.concatenate([[True], np.diff(ordered) > ROUNDING])[: ordered.size]
    result = np.empty(rates.size)
    result[order] = ordered[begins][np.cumsum(begins) - 1]
    return result
