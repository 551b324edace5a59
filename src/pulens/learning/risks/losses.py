"""Losses of a score z against a sign, +1 or -1. They use operators and array methods only, so any array may come."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Loss = Callable[[Any, int], Any]


def _library(z: Any) -> ModuleType:
    """The module that owns the array: torch for tensors, numpy otherwise."""
    if type(z).__module__.partition(".")[0] == "torch":
        import sys

        return sys.modules["torch"]  # whoever holds a tensor has loaded it
    import numpy

    return numpy


def zero_one(z: Any, sign: int) -> Any:
    """1 for a wrong call; a score of exactly 0 is a call of positive.

    >>> import numpy as np
    >>> zero_one(np.array([0.0, -0.1]), 1)
    array([0., 1.])
    """
    wrong = z < 0 if sign > 0 else z >= 0
    return wrong * 1.0


def sigmoid(z: Any, sign: int) -> Any:
    r""":math:`1 / (1 + e^{\pm z})`, between 0 and 1 and symmetric: the two signs add up to 1.

    >>> import numpy as np
    >>> sigmoid(np.array([0.0]), 1), (sigmoid(np.array([3.0]), 1) + sigmoid(np.array([3.0]), -1)).item()
    (array([0.5]), 1.0)
    """
    library = _library(z)
    if hasattr(library, "sigmoid"):  # torch knows it and its slope: a quarter of the operations
        return library.sigmoid(z if sign < 0 else -z)
    return 0.5 - 0.5 * library.tanh(0.5 * sign * z)  # the logistic function, without overflow


def logistic(z: Any, sign: int) -> Any:
    r""":math:`\log(1 + e^{\mp z})`.

    >>> import numpy as np
    >>> logistic(np.array([0.0, 1000.0, -1000.0]), 1).round(6)
    array([6.93147e-01, 0.00000e+00, 1.00000e+03])
    """
    library = _library(z)
    if hasattr(library, "sigmoid"):
        return -library.nn.functional.logsigmoid(z if sign > 0 else -z)
    margin = sign * z
    return library.log1p(library.exp(-abs(margin))) + 0.5 * (abs(margin) - margin)


LOSSES: dict[str, Loss] = {"zero-one": zero_one, "sigmoid": sigmoid, "logistic": logistic}
