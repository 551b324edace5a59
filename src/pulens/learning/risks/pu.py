r"""The unbiased and the non-negative PU risk.

With :math:`\pi` the class prior and :math:`\ell(z, \pm 1)` a loss, the risk of a classifier is
:math:`\pi E_p[\ell(z, +1)] + (1 - \pi) E_n[\ell(z, -1)]`, and since the population is a mixture,
:math:`(1 - \pi) E_n[\ell(z, -1)] = E[\ell(z, -1)] - \pi E_p[\ell(z, -1)]`: no negative is needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class RiskParts(NamedTuple):
    """What positives and what negatives contribute to the risk; in a sample the second may fall below zero."""

    positive: Any
    negative: Any


def risk_parts(
    positive_as_positive: Any, positive_as_negative: Any, all_as_negative: Any, class_prior: Any
) -> RiskParts:
    """The two parts from three mean losses: labelled as positive, labelled as negative, population as negative.

    >>> risk_parts(0.0, 1.0, 5 / 9, 0.45)
    RiskParts(positive=0.0, negative=0.10555555555555557)
    """
    return RiskParts(class_prior * positive_as_positive, all_as_negative - class_prior * positive_as_negative)


def unbiased(parts: RiskParts) -> Any:
    """uPU: the sum of both parts (du Plessis et al. 2014)."""
    return parts.positive + parts.negative


def nonnegative(parts: RiskParts) -> Any:
    """nnPU: a negative part below zero counts as zero (Kiryo et al. 2017).

    >>> nonnegative(RiskParts(0.1, -0.05)), nonnegative(RiskParts(0.1, 0.2))
    (0.1, 0.30000000000000004)
    """
    return parts.positive + (parts.negative + abs(parts.negative)) / 2
