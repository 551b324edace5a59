"""What the data and the shape assumption leave open about the share of positives among the unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.confidence import check_confidence
from pulens.containers import numbers, numbers_for
from pulens.errors import InputError, PulensError, shown
from pulens.keywords import typed
from pulens.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class PriorDistribution:
    """Density of the share over a grid; its quantiles are the answer's intervals.

    >>> flat = PriorDistribution(np.array([0.25, 0.5, 0.75]), np.ones(3))
    >>> round(flat.quantile(0.5), 3), round(flat.mean, 3)
    (0.5, 0.5)
    """

    values: Floats
    density: Floats

    def __post_init__(self) -> None:
        for array in (self.values, self.density):
            array.flags.writeable = False

    @classmethod
    def from_masses(cls, values: Floats, masses: Floats) -> PriorDistribution:
        """The distribution that gives each grid value a probability: mixtures add probabilities, not densities.

        >>> PriorDistribution.from_masses(np.array([0.1, 0.2, 0.4]), np.array([0.2, 0.5, 0.3])).masses.round(3)
        array([0.2, 0.5, 0.3])
        """
        return cls(values, masses / np.diff(cell_borders(values)))

    @property
    def masses(self) -> Floats:
        """Probability of each grid value: the density times half the way to either neighbour."""
        masses = self.density * np.diff(cell_borders(self.values))
        return np.asarray(masses / masses.sum())

    @property
    def mean(self) -> float:
        return float(self.masses @ self.values)

    @property
    def standard_deviation(self) -> float:
        return float(np.sqrt(self.masses @ (self.values - self.mean) ** 2))

    @typed
    def quantile(self, share: float) -> float:
        """Inverse of the cumulative distribution, linear between the borders of grid cells."""
        return float(self.quantiles(np.array([share]))[0])

    def quantiles(self, shares: Floats) -> Floats:
        """:meth:`quantile` of many shares."""
        asked = numbers(shares)
        if asked is None or not np.all((asked >= 0) & (asked <= 1)):
            raise InputError(f"shares must be numbers from 0 to 1, got {shown(shares)}.")
        return np.interp(asked, np.concatenate([[0.0], np.cumsum(self.masses)]), cell_borders(self.values))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Equal tails; one tail only where the lowest values are more likely than those at the upper end.

        An interval that leaves out zero says "not zero": it may do so only if zero is unlikely.
        """
        confidence = check_confidence(confidence)
        low, high = self.quantile((1 - confidence) / 2), self.quantile((1 + confidence) / 2)
        at_high = np.interp(high, self.values, self.density) / (self.density @ np.diff(cell_borders(self.values)))
        if (1 - confidence) / 2 >= at_high * low:  # as dense, on average, below the lower end as at the upper end
            return 0.0, self.quantile(confidence)
        return low, high

    @typed
    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Random shares, for carrying the doubt about the class prior into something else."""
        if size < 0:
            raise PulensError(f"size must be at least 0, got {size}.")
        borders = cell_borders(self.values)
        return np.interp(rng.random(size), np.concatenate([[0.0], np.cumsum(self.masses)]), borders)

    @typed
    def below(self, limit: float) -> PriorDistribution:
        """The same distribution given that the share is at most ``limit``."""
        density = np.where(self.values <= limit, self.density, 0.0)
        if not density.any():
            density = np.zeros(self.values.size)
            density[max(int(np.searchsorted(self.values, limit, side="right")) - 1, 0)] = 1.0
        return PriorDistribution(self.values, density)

    def refined(self, values: Floats) -> PriorDistribution:
        """The same distribution on a grid that also holds these values."""
        finer = np.union1d(self.values, values[(values > self.values[0]) & (values < self.values[-1])])
        return PriorDistribution(finer, np.interp(finer, self.values, self.density))

    def times(self, log_likelihood: Floats) -> PriorDistribution:
        """Combined with independent evidence about the same share."""
        with np.errstate(divide="ignore"):
            height = np.log(self.density) + numbers_for("log_likelihood", log_likelihood, self.values.size)
        return PriorDistribution(self.values, np.exp(height - height.max()))


def cell_borders(values: Floats) -> Floats:
    """Half way between neighbours; the first and last cell reach as far outwards as inwards, within [0, 1]."""
    first = max(values[0] - (values[1] - values[0]) / 2, 0.0)
    last = min(values[-1] + (values[-1] - values[-2]) / 2, 1.0)
    return np.concatenate([[first], (values[1:] + values[:-1]) / 2, [last]])
