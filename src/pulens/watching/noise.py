"""Day-to-day noise: how much more reference windows scatter than their rows explain, and how long a bad day lasts.

Three ways. ``default`` takes what the scatter exceeds the rows' own for noise whose neighbouring days are alike
(autocorrelation one half, or more where the reference shows more): it costs a single window nothing, and averages of
many windows what such noise does to them. ``independent`` takes days for independent unless their autocorrelation
shows, which in thirty windows it rarely does. ``slow`` inflates every window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import chdtri

from pulens.types import Floats

NOISES: Final = ("default", "independent", "slow")
FEWEST_WINDOWS = 10
UNKNOWN = 2.0  # the factor where nothing is known
LIMIT = 0.25  # the scatter's upper 75% limit
LARGEST_CORRELATION = 0.9
ASSUMED_CORRELATION = 0.5  # of the days' noise, unless the reference shows more


@dataclass(frozen=True, slots=True)
class DayNoise:
    """The factor by which windows scatter, how alike neighbours are, and how many windows told it (0: nobody did).

    ``assumed`` is the autocorrelation of the noise beyond the rows' own that averages of windows are judged with.
    """

    factor: float
    correlation: float
    windows: int
    assumed: float = 0.0

    @property
    def is_known(self) -> bool:
        return self.windows >= FEWEST_WINDOWS


def scatter_factor(values: Floats, variances: Floats, noise: str = "default") -> DayNoise:
    """An upper limit of the scatter of reference windows in units of what their rows explain, at least 1.

    Q/(chi-square quantile .25 with k(m-1) degrees). With ``noise="independent"`` it is multiplied by (1+r)/(1-r) where
    neighbours are alike (r > 2/sqrt(mk)), with ``"slow"`` always, r raised by 1/sqrt(m).

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
    elif noise == "independent" and r > 2 / np.sqrt(m * k):
        alike = min(r, LARGEST_CORRELATION)
        factor *= (1 + alike) / (1 - alike)
    assumed = 0.0
    if noise == "default":
        # rows' own scatter, which no neighbours share, hides how alike the days' noise is
        seen = r / (1 - 1 / factor) if factor > 1 and r > 1 / np.sqrt(m * k) else r
        assumed = min(max(seen, ASSUMED_CORRELATION), LARGEST_CORRELATION)
    return DayNoise(max(factor, 1.0), r, m, assumed)


def lasting(windows: Floats, correlation: float) -> Floats:
    r"""How much the variance of a mean of L values is larger than of independent ones, if neighbours are alike.

    .. math:: c(L) = \frac{1+r}{1-r} - \frac{2 r (1 - r^L)}{L (1-r)^2}

    for a first-order autoregression: 1 for a single value, (1+r)/(1-r) for many.

    >>> [round(float(value), 3) for value in lasting(np.array([1.0, 2, 1000]), 0.5)]
    [1.0, 1.5, 2.996]
    """
    r = correlation
    found: Floats = (1 + r) / (1 - r) - 2 * r * (1 - r**windows) / (windows * (1 - r) ** 2)
    return found
