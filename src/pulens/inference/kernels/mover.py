"""The interval of a sum or difference from the intervals of its parts, without draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.types import Floats


def jeffreys_ends(hits: Any, rows: Any, tail: Any) -> tuple[Floats, Floats]:
    """Ends of Jeffreys intervals of rates, missed on either side with the chance ``tail``; they hold the rates.

    With no hit the low end is 0, with nothing but hits the high end 1 (Brown, Cai and DasGupta 2001).

    >>> low, high = jeffreys_ends([81, 10], [100, 10], 0.025)
    >>> low.round(4), high.round(4)
    (array([0.7249, 0.7828]), array([0.8775, 1.    ]))
    """
    from pulens.special import betaincinv

    hits, rows = np.asarray(hits, float), np.asarray(rows, float)
    misses = np.maximum(rows - hits, 0.0)
    low = np.where(hits <= 0, 0.0, betaincinv(hits + 0.5, misses + 0.5, tail))
    # of the misses the low end: near one that keeps digits which one minus a tail would lose
    high = np.where(misses <= 0, 1.0, 1.0 - betaincinv(misses + 0.5, hits + 0.5, tail))
    value = np.divide(hits, rows, out=np.full(np.broadcast(hits, rows).shape, np.nan), where=rows > 0)
    return np.minimum(low, value), np.maximum(high, value)


def mover(
    coefficients: Any, values: Any, lows: Any, highs: Any, extra: Any = 0.0, correlations: Any = None
) -> tuple[Floats, Floats]:
    r"""Ends of :math:`\sum_i c_i x_i` from the ends :math:`l_i \le x_i \le u_i` of independent parts.

    .. math::

        \sum_i c_i x_i - \sqrt{\textstyle\sum_i (c_i d_i)^2 + e}, \qquad
        d_i = x_i - l_i \text{ where } c_i > 0, \; u_i - x_i \text{ where } c_i < 0,

    and mirrored for the high end: the method of variance estimates recovery (MOVER) of Zou and Donner (2008). Each part
    gives the spread on the side on which it pulls, so that skewed parts make a skewed interval. The ends of the parts
    decide how sure it is. ``extra`` is a variance, times the square of the quantile, that no part has. Parts that
    are not independent have ``correlations``, a matrix :math:`r` with ones on its diagonal: the sum under the root is
    then :math:`\sum_{ij} c_i d_i\, r_{ij}\, c_j d_j` (Zou 2008). Parts stand along the last axis.

    >>> low, high = mover([1, -1], [0.81, 0.64], [0.7249, 0.5021], [0.8775, 0.7622])
    >>> float(low.round(4)), float(high.round(4))
    (0.0211, 0.3235)
    """
    weights, values = np.asarray(coefficients, float), np.asarray(values, float)
    below, above = values - np.asarray(lows, float), np.asarray(highs, float) - values
    middle = np.sum(weights * values, axis=-1)
    down = _variance(weights * np.where(weights > 0, below, above), correlations)
    up = _variance(weights * np.where(weights > 0, above, below), correlations)
    return np.asarray(middle - np.sqrt(down + extra)), np.asarray(middle + np.sqrt(up + extra))


def _variance(spreads: Floats, correlations: Any) -> Floats:
    if correlations is None:
        return np.asarray(np.sum(spreads**2, axis=-1))
    together = np.einsum("...i,...ij,...j->...", spreads, np.asarray(correlations, float), spreads)
    return np.asarray(np.maximum(together, 0.0))
