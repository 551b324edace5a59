"""One policy for a class prior in doubt, for every construction: evaluate, calibrate and compare all come here.

:mod:`pulens.inference.prior_uncertainty` says what may be done with what is known of the class prior, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pulens.inference.kernels.quantiles import one_tail
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.prior_uncertainty import PRIOR_IN_METHOD, KnownOfPrior, half_of_the_error, range_tail


class InDoubt(NamedTuple):
    """Ends that carry the doubt about the class prior, and the interval's method in words."""

    low: Any
    high: Any
    method: str


def ends_in_doubt(
    construction: IntervalMethod, doubt: KnownOfPrior, confidence: float, tail: float | None = None
) -> InDoubt:
    """The ends of a construction at this confidence, with all the doubt about the class prior.

    ``tail`` is the chance of a miss on either side, if it is at hand in another rounding.
    """
    each = one_tail(confidence) if tail is None else tail
    if doubt.treatment == "exact":
        return InDoubt(*construction.ends(construction.own_setting(doubt), each), construction.method)
    method = f"{construction.method}{PRIOR_IN_METHOD[doubt.treatment]}"
    if doubt.treatment == "drawn":
        if construction.is_smooth:
            return InDoubt(*construction.ends(None, each), method)
        half = half_of_the_error(confidence)
        shares = doubt.over(construction.shares_tried, half)
        method = f"hull over the class prior's {100 * half:.4g}% interval, each at {100 * half:.4g}%: "
        return InDoubt(*_hull(construction, shares, one_tail(half)), f"{method}{construction.method}")
    shares = list(construction.over(doubt))
    values = [construction.value(share) for share in shares]
    each = range_tail(confidence, values, construction.spread(shares, confidence))
    return InDoubt(*_hull(construction, shares, each), method)


def _hull(construction: IntervalMethod, shares: Sequence[Any], tail: Any) -> Limits:
    """From the lowest to the highest end over these shares; where a number is undefined it has no say."""
    result = np.array([construction.ends(share, tail) for share in shares], float)
    low, high = np.fmin.reduce(result[:, 0]), np.fmax.reduce(result[:, 1])  # nan where every one is
    return (float(low), float(high)) if np.ndim(low) == 0 else (low, high)
