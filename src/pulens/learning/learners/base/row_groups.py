"""Rows that belong together, as learners are told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.inputs.clusters import cluster_codes


def checked_groups(groups: Any, count: int) -> NDArray[np.int64]:
    """The group of every row as a number.

    >>> checked_groups(["a", "b", "a"], 3).tolist()
    [0, 1, 0]
    """
    return cluster_codes(groups, "groups", count)[1]
