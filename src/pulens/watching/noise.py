"""Day-to-day noise: how much more reference windows scatter than their rows explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import chdtri

from pulens.types import Floats

NOISES: Final = ("default", "slow")
FEWEST_WINDOWS = 10
UNKNOWN = 2.0  # the factor where nothing is known
LIMIT = 0.25  # the scatter's upper 75% limit
LARGEST_CORRELATION = 0.9


@dataclass(frozen=True, slots=True)
class DayNoise:
    """The factor by which windows scatter, how alike neighbours are, and how many windows told it (0: nobody did)."""

    factor: float
    correlation: float
    windows: int

    @property
    def is_known(self) -> bool:
        return self.windows >= FEWEST_WINDOWS


def scatter_factor(values: Floats, variances: Floats, noise: str = "default") -> DayNoise:
    """An upper limit of the scatter of reference windows in units of what their rows explain, at least 1.

    Q/(chi-square quantile .25 with k(m-1) degrees), times (1+r)/(1-r) where neighbours are alike (r > 2/sqrt(mk)), or
    with ``noise="slow"`` always, r raised by 1/sqrt(m): thirty windows rarely show that neighbours are alike.

    >>> x = np.array([[0.01, -0.02, 0.03, 0, -0.01, 0.02, -0.03, 0.01, 0, -0.01]]).T
    >>> round(scatter_factor(x, np.full(10, 0.0001)).factor, 6)
    5.085758
    """
    m, k = values.shape
    if m < FEWEST_WINDOWS:
        return DayNoise(UNKNOWN, 0.0, 0)
    precision = 1 / variances
    mean = precision @ values / precision.sum()
    standard = (values - mean) * np.sqrt(precision)[:, None]
    total = float(np.sum(standard**2))
    factor = total / float(chdtri(k * (m - 1), 1 - LIMIT))
    r = 0.0 if total == 0 else float(np.sum(standard[1:] * standard[:-1])) / total
    if noise == "slow":
        slow = min(max(r, 0.0) + 1 / np.sqrt(m), LARGEST_CORRELATION)
        factor *= (1 + slow) / (1 - slow)
    elif r > 2 / np.sqrt(m * k):
        alike = min(r, LARGEST_CORRELATION)
        factor *= (1 + alike) / (1 - alike)
    return DayNoise(max(factor, 1.0), r, m)
