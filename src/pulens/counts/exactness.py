"""How exactly numbers are kept: whole numbers that a double cannot tell apart, thresholds in the scores' precision."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, shown
from pulens.scalars import real

#: Up to here, either way, every whole number is a double of its own.
LARGEST_WHOLE = 2**53


def is_too_long(value: Any) -> bool:
    """Whether a whole or decimal number is beyond what a double keeps apart from its neighbours.

    Floating point numbers are what they are, whatever their size.

    >>> is_too_long(2**53), is_too_long(2**53 + 1), is_too_long(1e300), is_too_long("9007199254740993")
    (False, True, False, True)
    """
    if isinstance(value, str | bytes):
        try:
            value = int(value)
        except ValueError:
            return False
    exact = isinstance(value, Integral | Decimal) and not isinstance(value, bool)
    return exact and value == value and abs(value) > LARGEST_WHOLE  # a decimal may be nan


def first_too_long(values: NDArray[Any]) -> int | None:
    """Place of the first number that :func:`is_too_long`, in an array of any type.

    >>> first_too_long(np.array([1, 2**53, -(2**53) - 1])), first_too_long(np.array([1e300]))
    (2, None)
    """
    if values.dtype.kind in "iu":
        if not values.size or (int(values.min()) >= -LARGEST_WHOLE and int(values.max()) <= LARGEST_WHOLE):
            return None
        beyond = values > LARGEST_WHOLE
        if values.dtype.kind == "i":
            beyond |= values < -LARGEST_WHOLE
        return int(np.flatnonzero(beyond)[0])
    if values.dtype.kind in "OUS":
        return next((index for index, value in enumerate(values.tolist()) if is_too_long(value)), None)
    return None


def too_long(name: str, value: Any, where: str = "") -> str:
    """Words for a score that cannot be kept apart from its neighbours."""
    return (
        f"{name} are kept as double precision numbers, which are exact for whole numbers up to 2^53 = {LARGEST_WHOLE}, "
        f"got {value}{where}: rows of different scores would be counted as ties. Subtract a common offset or rank the "
        "rows first; if such ties do not matter, convert the column to floating point yourself."
    )


def in_precision(threshold: float, scores: np.dtype[Any]) -> float:
    """A threshold as the scores would hold it: 0.7 is the single precision number nearest to 0.7 among such scores.

    Scores kept as float32 are compared in float32, as NumPy, pandas, Polars and DuckDB do with a number that is typed:
    a row stored as 0.7 is at or above 0.7. A number that single precision can only hold as 0 or infinity is left as it
    is: it does not mean either.

    >>> in_precision(0.7, np.dtype(np.float32)) == float(np.float32(0.7)), in_precision(0.7, np.dtype(np.float64))
    (True, 0.7)
    >>> in_precision(5e-324, np.dtype(np.float32)), in_precision(1e300, np.dtype(np.float32))
    (5e-324, 1e+300)
    """
    number = real(threshold)
    if math.isnan(number):
        raise InputError(f"a threshold must be a number, got {shown(threshold)}.")
    if scores != np.float32 or not np.isfinite(number):
        return number
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.float32(number))
    return rounded if abs(rounded - number) <= 2.0**-24 * abs(number) else number
