"""Arrays, tensors and what can be made an array of, as plain numpy arrays: what is masked has no value."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, PulensError, cut, listed, shown


def plain_array(values: Any) -> NDArray[Any]:
    """A numpy array of one value per place; masked ones are None, and fields are refused.

    >>> plain_array(np.ma.array([3.0, 999.0], mask=[False, True]))
    array([3.0, None], dtype=object)
    """
    try:
        array = _tensor_values(values) if hasattr(values, "detach") else np.asanyarray(values)
    except PulensError:
        raise
    except Exception as error:  # containers refuse in words of their own, and with errors of every kind
        said = cut(" ".join(str(error).split()), 120)
        raise InputError(f"an object of type {type(values).__name__} has no values to give: {said}") from error
    if array.dtype.kind == "V" and array.dtype.names is None:
        raise InputError(f"an array of raw bytes ({array.dtype}) holds no values: say their type with array.view(...).")
    if array.dtype.names is not None:
        raise InputError(
            f"an array with fields ({listed(array.dtype.names)}) holds several values per row: take one of them, "
            f"array[{shown(array.dtype.names[0])}]."
        )
    plain = np.asarray(array)
    if "numpy.ma" in sys.modules and np.ma.is_masked(array):  # whoever masks has imported it; it takes long
        plain = plain.astype(object)
        plain[np.ma.getmaskarray(array)] = None
    return plain


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The different values in rising order, as ``numpy.unique`` has them, without :mod:`numpy.ma`, which it imports.

    >>> distinct(np.array([3, 1, 3, 2]))
    array([1, 2, 3])
    """
    ordered = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def numbers(values: Any) -> NDArray[np.float64] | None:
    """The numbers in whatever holds them, one alone or an array; ``None`` where something else is among them.

    >>> numbers([1, 2.5]), numbers("two")
    (array([1. , 2.5]), None)
    """
    array = plain_array(values)
    if array.dtype.kind in "cmM":  # what is complex or a time has no place on the line
        return None
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def numbers_for(name: str, values: Any, size: int) -> NDArray[np.float64]:
    """This many numbers, one for each of something, or lines of this many.

    >>> numbers_for("shares", ["a"], 1)
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: shares must be 1 numbers, got ['a'].
    """
    result = numbers(values)
    if result is None or result.shape[-1:] != (size,) or np.isnan(result).any():
        raise InputError(f"{name} must be {size:,} numbers, got {shown(values)}.")
    return result


def _tensor_values(tensor: Any) -> NDArray[Any]:
    """A tensor's numbers, on whatever device and perhaps on their way through a gradient."""
    known = tensor.detach().cpu()
    try:
        return np.asarray(known.numpy())
    except TypeError:  # of a type that numpy has not, such as bfloat16
        return np.asarray(known.float().numpy())
