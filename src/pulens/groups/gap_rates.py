"""A number in each of several groups, and how far it may be off at any quantile: what gaps are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pulens.inference.kernels.mover import jeffreys_ends, mover
from pulens.inference.kernels.simultaneous import LargestOf, tail_of
from pulens.types import Floats


class GroupRates(Protocol):
    """One number per group; groups have different rows, so what chance does to these is independent, unless linked."""

    @property
    def values(self) -> Floats: ...

    @property
    def errors(self) -> Floats:
        """Standard errors: they decide how far out intervals that hold at once must reach."""

    @property
    def method(self) -> str: ...

    @property
    def is_range(self) -> NDArray[np.bool_]:
        """Where the ends are those of possibilities, not of chance: nothing cancels in a difference then."""

    @property
    def correlations(self) -> Floats | None:
        """What links the groups, where something does; ``None`` where they are independent."""

    @property
    def root(self) -> Floats | None:
        """A root of the correlations, where the reach of intervals that hold at once heeds them."""

    def ends(self, quantile: float) -> tuple[Floats, Floats]:
        """What chance puts around each value, out to a normal quantile."""


@dataclass(frozen=True, eq=False)
class CountedRates:
    """Shares of rows that were counted: binomial."""

    hits: Floats
    rows: Floats
    method: str = "Jeffreys"

    @property
    def values(self) -> Floats:
        return np.asarray(self.hits / self.rows)

    @property
    def errors(self) -> Floats:
        smoothed = (self.hits + 0.5) / (self.rows + 1)  # a share of 0 or 1 is not certain
        return np.asarray(np.sqrt(smoothed * (1 - smoothed) / self.rows))

    @property
    def is_range(self) -> NDArray[np.bool_]:
        return np.zeros(self.rows.shape, bool)

    @property
    def correlations(self) -> None:
        return None

    @property
    def root(self) -> None:
        return None

    def ends(self, quantile: float) -> tuple[Floats, Floats]:
        return jeffreys_ends(self.hits, self.rows, tail_of(quantile))


@dataclass(frozen=True, eq=False)
class IntervalRates:
    """Numbers with an interval of their own at one quantile, which is stretched to others.

    A number between two limits is stretched on the scale of the arcsine of its root, on which a share has the same
    spread everywhere and an end stays within the limits; one without limits on its own scale.
    """

    values: Floats
    lows: Floats
    highs: Floats
    quantile: float  # out to which the intervals reach
    lowest: float
    highest: float
    is_range: NDArray[np.bool_]
    correlations: Floats | None = None
    method: str = "each group's own interval, stretched"

    @property
    def errors(self) -> Floats:
        return np.asarray((self.highs - self.lows) / (2 * self.quantile))

    @property
    def root(self) -> None:
        return None

    def ends(self, quantile: float) -> tuple[Floats, Floats]:
        factor = quantile / self.quantile
        if not np.isfinite(self.highest - self.lowest):
            return self.values - factor * (self.values - self.lows), self.values + factor * (self.highs - self.values)
        low, middle, high = (self._angle(numbers) for numbers in (self.lows, self.values, self.highs))
        ends = middle - factor * (middle - low), middle + factor * (high - middle)
        below, above = (self._number(np.clip(end, 0.0, np.pi / 2)) for end in ends)
        return np.minimum(below, self.values), np.maximum(above, self.values)

    def _angle(self, numbers: Floats) -> Floats:
        share = (numbers - self.lowest) / (self.highest - self.lowest)
        return np.asarray(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))))

    def _number(self, angles: Floats) -> Floats:
        return np.asarray(self.lowest + (self.highest - self.lowest) * np.sin(angles) ** 2)


def difference_ends(rates: GroupRates, first: NDArray[np.intp], second: NDArray[np.intp], quantile: float) -> Floats:
    """Low and high ends of the differences of pairs of groups, of shape (2, pairs)."""
    lows, highs = rates.ends(quantile)
    pairs = np.stack([first, second], axis=-1)
    linked = rates.correlations
    between = None if linked is None else linked[pairs[:, :, None], pairs[:, None, :]]
    low, high = mover(np.array([1.0, -1.0]), rates.values[pairs], lows[pairs], highs[pairs], correlations=between)
    wide = rates.is_range[pairs].any(axis=-1)
    low = np.where(wide, lows[first] - highs[second], low)
    high = np.where(wide, highs[first] - lows[second], high)
    return np.stack([low, high])


FURTHEST = 20.0  # a quantile beyond which no p-value is distinguished from 0


def quantile_of_equality(rates: GroupRates, first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
    """How far out intervals may reach before the last of them takes in 0: the largest standardised difference.

    So the test agrees with the intervals: it says that groups differ where one of these leaves out 0.
    """
    from scipy.optimize import brentq

    def last_low_end(quantile: float) -> float:
        low, high = difference_ends(rates, first, second, quantile)
        ends = np.maximum(low, -high)
        known = ends[~np.isnan(ends)]  # a group whose rate is undefined differs from none
        return float(known.max()) if known.size else 0.0

    if last_low_end(0.0) <= 0:
        return 0.0
    if last_low_end(FURTHEST) > 0:
        return FURTHEST
    return float(brentq(last_low_end, 0.0, FURTHEST, xtol=1e-9))


def shares_correlation(rows: Floats, among: float) -> Floats:
    r"""How shares of one total go together: :math:`-\sqrt{p_g p_k / ((1 - p_g)(1 - p_k))}` between two of them.

    Class priors implied by one label frequency are such shares: one more labelled row in a group makes the class priors
    of all others smaller. ``rows`` are labelled rows of groups, ``among`` those of all.

    >>> shares_correlation(np.array([50.0, 50.0]), 100.0)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    odds = np.sqrt(rows / np.maximum(among - rows, 1e-9))
    result = -np.minimum(np.outer(odds, odds), 1.0)
    np.fill_diagonal(result, 1.0)
    return np.asarray(result)


def rest_ends(rates: GroupRates, weights: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Each group less all others together, which count by their weights: values, low and high ends, all at once."""
    others = weights[None, :] * (1 - np.eye(weights.size))
    rows = np.eye(weights.size) - others / others.sum(axis=1, keepdims=True)
    errors, root = rates.errors, rates.root
    spread = rows * errors if root is None else (rows * errors) @ root
    largest = LargestOf.pairs(errors) if weights.size == 2 else LargestOf.contrasts(spread)
    lows, highs = rates.ends(largest.quantile(confidence))
    low, high = mover(rows, rates.values, lows, highs, correlations=rates.correlations)
    if rates.is_range.any():
        low = np.where(rows > 0, rows * lows, rows * highs).sum(axis=1)
        high = np.where(rows > 0, rows * highs, rows * lows).sum(axis=1)
    return rows @ rates.values, low, high
