"""Holm's correction of several p-values for one another."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Holm's step-down correction: :math:`\tilde p_{(j)} = \max_{i \le j} \min(1, (m - i + 1) p_{(i)})`.

    Rejecting where the corrected value is at most :math:`\alpha` rejects a true hypothesis with chance :math:`\alpha`
    at most, however the tests depend on one another: Holm (1979). Undefined values stay undefined and are not counted.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, float)
    result = np.full(values.size, nan)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = (order.size - np.arange(order.size)) * values[order]
    result[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if order.size else steps
    return result.tolist()
