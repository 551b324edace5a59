"""Day-to-day noise: how much more windows scatter than their rows explain, and how long a bad day lasts.

Nobody knows it. So there is a grid of levels, each a variance beyond the rows' own with an autocorrelation, and a
weight for each before any window is seen; every window, of the reference or watched, then says which levels are likely.
Three ways. ``default`` takes noise for alike in neighbouring windows (autocorrelation one half), ``independent`` for
noise of each window alone, ``slow`` for larger and lasting longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

import numpy as np

from pulens.special import chdtri
from pulens.types import Floats

#: What each way takes for granted: the chance that there is no noise while nothing changes, the same where something
#: does, and autocorrelations of noise with their chances. The second is larger: a step is looked for harder beside
#: little noise than in much of it, where days that are alike pass for a step most easily.
NOISES: Final = {
    "default": (0.8, 0.95, {0.5: 1.0}),
    "independent": (0.8, 0.95, {0.0: 1.0}),
    "slow": (0.2, 0.2, {0.5: 0.3, 0.8: 0.4, 0.9: 0.3}),
}
FEWEST_WINDOWS = 10  # of a reference that says something about noise
SMALLEST = 0.5  # the least level that is looked at, in variances of a typical window
DOUBLINGS = 6
RARER = 0.8  # each doubling of the noise is so much as likely as the one before
UNKNOWN = 2.0  # the factor of the fit where nothing is known
LIMIT = 0.25  # the scatter's upper 75% limit
MOST = 4.0  # the largest level is so many times what the reference shows, at least


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLevels:
    """Levels of noise: variance beyond the rows' own, autocorrelation, and the log of their weights beforehand.

    ``log_changed`` is the log of how much larger the weight of a level is where something changed.
    """

    variances: Floats
    correlations: Floats
    log_weights: Floats
    typical: float  # the rows' own variance of a typical window
    log_changed: Floats = field(default_factory=lambda: np.zeros(1))

    @classmethod
    def of(cls, noise: str, typical: float, scatter: float = 1.0, days: float = 1.0) -> NoiseLevels:
        """Levels for windows of a typical variance; ``scatter`` is how far the reference exceeds it.

        Levels and autocorrelations are those of days: the mean of this many ``days`` has lost less of its noise than of
        its rows' error, and shares less of it with its neighbours.

        >>> found = NoiseLevels.of("independent", 1.0)
        >>> [float(one) for one in found.variances]
        [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
        >>> float(round(np.exp(found.log_weights).sum(), 12))
        1.0
        """
        none, none_changed, chances_of = NOISES[noise]
        r, shares = np.array(list(chances_of)), np.array(list(chances_of.values()))
        more = int(np.ceil(np.log2(max(MOST * scatter / SMALLEST, 1.0)))) + 1
        levels = SMALLEST * 2.0 ** np.arange(max(DOUBLINGS, more))
        chances = RARER ** np.arange(levels.size)
        chances = (1 - none) * chances / chances.sum()
        variances = np.concatenate([[0.0], np.outer(levels, kept_by_means(days, r)).ravel()])
        correlations = np.concatenate([[0.0], np.tile(r**days, levels.size)])
        weights = np.concatenate([[none], np.outer(chances, shares).ravel()])
        more_likely = np.where(variances > 0, (1 - none_changed) / (1 - none), none_changed / none)
        return cls(variances * typical, correlations, np.log(weights), typical, np.log(more_likely))

    @classmethod
    def seen(cls, noise: str, typical: float, scatter: float, degrees: int, days: float = 1.0) -> NoiseLevels:
        """One level, as large as the reference's scatter may well be: its upper 75% limit; a guess where few saw it.

        Several coordinates that move together look like noise that lasts, and would drown in it if every window were
        asked; together they tell the reference's own noise well enough.

        >>> found = NoiseLevels.seen("default", 0.0001, 30 / 9, 9)
        >>> round(found.factor(found.log_weights), 6)
        5.085758
        """
        factor = UNKNOWN if degrees < FEWEST_WINDOWS - 1 else scatter * degrees / float(chdtri(degrees, 1 - LIMIT))
        correlation = max(NOISES[noise][2]) ** days
        return cls(np.array([max(factor - 1, 0.0) * typical]), np.array([correlation]), np.zeros(1), typical)

    def factor(self, log_weights: Floats) -> float:
        """The expected variance of a window in units of what its rows explain."""
        return 1 + float(np.exp(log_weights) @ self.variances) / self.typical


def kept_by_means(days: float, correlation: Floats) -> Floats:
    r"""How much larger the variance of a mean of L days is than of independent ones, if neighbours are alike.

    .. math:: c(L) = \frac{1+r}{1-r} - \frac{2 r (1 - r^L)}{L (1-r)^2}

    for a first-order autoregression: 1 for a single day, (1+r)/(1-r) for many.

    >>> [round(float(kept_by_means(days, np.array([0.5]))[0]), 3) for days in (1, 2, 7, 1000)]
    [1.0, 1.5, 2.433, 2.996]
    """
    r = correlation
    result: Floats = (1 + r) / (1 - r) - 2 * r * (1 - r**days) / (days * (1 - r) ** 2)
    return result


@dataclass(frozen=True, slots=True)
class DayNoise:
    """What the reference says: the expected factor by which windows scatter, how alike neighbours are, and how many
    windows said it (0: too few to say anything)."""

    factor: float
    correlation: float
    windows: int

    @property
    def is_known(self) -> bool:
        return self.windows >= FEWEST_WINDOWS


def scatter_of(values: Floats, variances: Floats) -> tuple[float, float]:
    """How far windows scatter, in units of what their rows explain, and the autocorrelation of neighbours.

    >>> x = np.array([[0.01, -0.02, 0.03, 0, -0.01, 0.02, -0.03, 0.01, 0, -0.01]]).T
    >>> [round(one, 3) for one in scatter_of(x, np.full(10, 0.0001))]
    [3.333, -0.633]
    """
    m, k = values.shape
    if m < 2:
        return 1.0, 0.0
    precision = 1 / variances
    mean = precision @ values / precision.sum()
    standard = (values - mean) * np.sqrt(precision)[:, None]
    total = float(np.sum(standard**2))
    alike = 0.0 if total == 0 else float(np.sum(standard[1:] * standard[:-1])) / total
    return total / (k * (m - 1)), alike


def day_of(name: str) -> date | None:
    """The day that a window's name tells, if it begins with one.

    >>> day_of("2026-05-04"), day_of("week-3")
    (datetime.date(2026, 5, 4), None)
    """
    for length in (10, 7):
        text = name[:length] if length == 10 else f"{name[:7]}-01"
        try:
            return datetime.strptime(text, "%Y-%m-%d").date()
        except ValueError:
            continue
    return None


def days_apart(names: Iterable[str]) -> float:
    """How many days lie between neighbouring windows, as their names tell; 1 where these tell no day, or less than one.

    >>> days_apart(["2026-05-04", "2026-05-11", "2026-05-18"]), days_apart(["a", "b"])
    (7.0, 1.0)
    """
    days = [day_of(name) for name in names]
    if len(days) < 2 or any(day is None for day in days):
        return 1.0
    steps = np.diff(sorted(day.toordinal() for day in days if day is not None))
    return max(float(np.median(steps)), 1.0)
