"""Net benefit: hits less false alarms at their exchange rate, per row of the population."""

from __future__ import annotations

import math

import numpy as np

from pulens.errors import PulensError, shown
from pulens.metrics.parts.metric import Metric
from pulens.recovery.contingency import Contingency
from pulens.scalars import real
from pulens.types import Floats


def check_cost_ratio(cost_ratio: object) -> float:
    """The price of a flag over the worth of a hit, as a number."""
    price = real(cost_ratio)
    if not 0 < price < 1:
        raise PulensError(
            f"cost_ratio of net_benefit must lie strictly between 0 and 1, got {shown(cost_ratio)}. It is the price of "
            "a flag over the worth of a hit: 20 for a false alarm and 500 for a miss make 20/520."
        )
    return price


def net_benefit(table: Contingency, *, cost_ratio: float = 0.5) -> Floats:
    r""":math:`TP/n - \frac{p}{1-p} FP/n`, with p the cost ratio (Vickers and Elkin 2006).

    The cost ratio, or threshold probability, is the price of a flag over the worth of a hit: at .04 a hit is worth 24
    false alarms. Flag none has net benefit 0, flag all :math:`\pi - \frac{p}{1-p}(1-\pi)`.

    >>> round(net_benefit(Contingency.from_cells(0.5, 30, 15, 10, 45), cost_ratio=0.2).item(), 6)
    0.2625
    """
    price = check_cost_ratio(cost_ratio)
    return np.asarray((table.true_positive - price / (1 - price) * table.false_positive) / table.total)


METRIC = Metric(
    net_benefit,
    "Hits per row, less false alarms at their price",
    lowest=-math.inf,
    listed=False,
    parameters={"cost_ratio": 0.5},
    derivation="TP / n − p / (1 − p) · FP / n, with p the cost ratio.",
)
