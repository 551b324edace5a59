"""Single numbers as people hand them over: Python's, numpy's, a tensor's, a fraction, a decimal."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

__all__ = ["is_among", "is_missing", "plain_scalar", "real", "whole"]


def plain_scalar(value: Any) -> Any:
    """An array or a tensor without dimensions as the value it holds; anything else as it came.

    >>> import numpy as np
    >>> plain_scalar(np.array(0.3)), plain_scalar("a")
    (0.3, 'a')
    """
    # numpy.ma takes a while to import: who has a masked array has imported it
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray) and value.shape == () and value.mask:
        return None
    if getattr(value, "shape", None) == () and hasattr(value, "item") and not hasattr(value, "to_pylist"):
        with suppress(Exception):  # a container of some library that has no value to give is what it is
            return value.item()
    return value


def is_among(value: object, choices: Iterable[object]) -> bool:
    """Whether a value equals one of several, whatever comparing it does: arrays and tables answer with arrays.

    >>> is_among("a", ("a", "b")), is_among(np.array(["a", "b"]), ("a", "b"))
    (True, False)
    """
    try:
        return any(bool(value == one) for one in choices)
    except Exception:  # nothing that cannot be compared is one of them
        return False


def is_missing(value: Any) -> bool:
    """None, nan and the nulls of frame libraries.

    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    if value is None:
        return True
    try:
        return bool(value != value)  # nan is the one value that differs from itself
    except (TypeError, ArithmeticError):  # pandas.NA and the signalling nan of decimals refuse to be compared
        return True
    except ValueError:  # an array in a cell: not a value, but not nothing either
        return False


def real(value: object) -> float:
    """A number as a float: nan where it is none, infinity where it is too large, so that every comparison is safe.

    True and False are no numbers, nor is text.

    >>> real(2), real("2"), real(True), real(None), real(10**400), real(-(10**400))
    (2.0, nan, nan, nan, inf, -inf)
    """
    value = plain_scalar(value)
    if isinstance(value, bool | str | bytes | bytearray | complex) or not hasattr(value, "__float__"):
        return math.nan
    if getattr(value, "shape", ()) != () or hasattr(value, "__len__"):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except (TypeError, ValueError):
        return math.nan


def whole(value: object) -> int | None:
    """A whole number as an int; ``None`` where it is none: text, True, a float, even 2.0.

    >>> whole(3), whole(3.0), whole(True), whole("3")
    (3, None, None, None)
    """
    value = plain_scalar(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
