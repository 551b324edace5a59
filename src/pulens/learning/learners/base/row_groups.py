"""Rows that belong together, as learners are told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError
from pulens.inputs.clusters import cluster_codes


def checked_groups(groups: Any, count: int) -> NDArray[np.int64]:
    """The group of every row as a number.

    >>> checked_groups(["a", "b", "a"], 3).tolist()
    [0, 1, 0]
    """
    codes = cluster_codes(groups, "groups")[1]
    if codes.size != count:
        raise InputError(f"groups must hold one id per row, got {codes.size:,} ids for {count:,} rows.")
    return codes
