"""How many rows can be looked at, as a share of the list, and how sure one may be not to have more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import LONGEST_VALUE, InputError, cut, shown
from pulens.scalars import real
from pulens.types import Floats

WANTED = "capacity must be a whole number of rows, a share between 0 and 1 or a percentage such as '5%'"
ONE_BY_ONE = 200_000  # volumes up to which chances are summed exactly
LARGEST_POWER = 300
LEVELS = 2001  # quantiles that stand for the flagged share beyond


@dataclass(frozen=True, slots=True)
class Capacity:
    """A share of the list, and the rows of one volume that it is."""

    share: float
    rows: float
    volume: float

    @classmethod
    def given(cls, capacity: Any, volume: Any, rows: float) -> Capacity | None:
        """A capacity as it was given: rows of the volume (or else of the list), a share, or a percentage.

        >>> Capacity.given(50, 12000, 3000.0)
        Capacity(share=0.004166666666666667, rows=50.0, volume=12000.0)
        >>> Capacity.given("5%", None, 3000.0).rows
        150.0
        """
        of = rows if volume is None else check_volume(volume)
        if capacity is None:
            return None
        text = str(capacity).strip()
        number, is_share = _number(capacity, text), text.endswith("%")
        if number == 1 and "." in text and not is_share:
            raise InputError(f"{WANTED}, got {text}: one row is 1, all rows are '100%'.")
        share = number / 100 if is_share else number
        if not is_share and number >= 1:
            if number != number.to_integral_value():
                raise InputError(f"{WANTED}, got {shown(capacity)}.")
            share = number / Decimal(repr(of))
        if share > 1:
            there = f"the list has {rows:,.10g} rows" if volume is None else f"the volume is {of:,.10g} rows"
            raise InputError(f"capacity is {cut(text, LONGEST_VALUE)}, and {there}: at most that many can be flagged.")
        return cls(float(share), float(share * Decimal(repr(of))), of)


def _number(capacity: Any, text: str) -> Decimal:
    try:
        number = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        raise InputError(f"{WANTED}, got {shown(capacity)}.") from None
    # beyond such exponents a number is no count and no share of rows, and decimal numbers end
    if isinstance(capacity, bool) or not number.is_finite() or number <= 0 or abs(number.adjusted()) > LARGEST_POWER:
        raise InputError(f"{WANTED}, got {shown(capacity)}.")
    return number


def check_volume(volume: Any) -> float:
    """Rows that come in together, such as those of a day."""
    number = real(volume)
    if not 1 <= number <= LARGEST_WHOLE or number % 1:
        raise InputError(f"volume must be a whole number of rows, 1 to {LARGEST_WHOLE:,}, got {shown(volume)}.")
    return number


def chance_above(most: float, volume: float, flagged: Any, rows: float) -> Any:
    r"""The chance that a volume has more than this many alarms, where ``flagged`` of ``rows`` were seen flagged.

    Beta-binomial with the Jeffreys posterior of the flagged share, :math:`(m + \frac12, N - m + \frac12)`.

    >>> round(float(chance_above(50, 12000, 12.5, 3000)), 2)
    0.5
    """
    from pulens.special import bdtrc, betaincinv, betaln, gammaln

    a, b = np.asarray(flagged, float) + 0.5, rows - np.asarray(flagged, float) + 0.5
    most = math.floor(most + 1e-9)
    if most >= volume:
        return np.zeros(a.shape)
    if volume > ONE_BY_ONE or a.ndim:
        shares = betaincinv(a[..., None], b[..., None], (np.arange(LEVELS) + 0.5) / LEVELS)
        return bdtrc(float(most), volume, shares).mean(axis=-1)
    counts: Floats = np.arange(most + 1.0)
    choose = gammaln(volume + 1) - gammaln(counts + 1) - gammaln(volume - counts + 1)
    up_to = np.exp(choose + betaln(counts + a, volume - counts + b) - betaln(a, b)).sum()
    return np.asarray(max(0.0, 1.0 - float(up_to)))


def lowest_with_certainty(points_flagged: Floats, capacity: Capacity, rows: float, certainty: float) -> float:
    """The largest flagged share at which more alarms than the capacity are at most as likely as asked."""
    low, high = -1, points_flagged.size - 1  # flagged shares rise from place to place
    while low < high:
        middle = (low + high + 1) // 2
        chance = float(chance_above(capacity.rows, capacity.volume, points_flagged[middle] * rows, rows))
        low, high = (middle, high) if chance <= 1 - certainty else (low, middle - 1)
    return float(points_flagged[low]) if low >= 0 else -1.0
