"""Means over some entries of the last axis: what makes a formula for one sample one for a stack of samples."""

from __future__ import annotations

from typing import Any


def masked_mean(values: Any, mask: Any) -> Any:
    """Mean of the values where the mask is 1; zero where it is 1 nowhere.

    >>> import numpy as np
    >>> masked_mean(np.array([[1.0, 3.0, 9.0], [1.0, 3.0, 9.0]]), np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    array([2., 0.])
    """
    return (values * mask).sum(-1) / mask.sum(-1).clip(1)
