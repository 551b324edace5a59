"""The shift d = (a1 - a0)/(1 - a0) of a window against its reference: no class prior, only three sets of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.monitoring.weights import weights as weights_of
from pulens.types import Floats

SYMMETRIC = 1e-4  # a skewness below which a distribution is taken for symmetric


@dataclass(frozen=True, slots=True, eq=False)
class CellReference:
    """Labelled positives and population of a reference per cell, and the weight that is fixed for life.

    ``together`` says that the labelled rows are rows of the population too (single set).

    >>> two = CellReference.of(np.array([3.0, 27]), np.array([90.0, 10]))
    >>> two.weights
    array([-0.125,  1.125])
    """

    labelled: Floats
    population: Floats
    weights: Floats
    together: bool = False

    @classmethod
    def of(cls, labelled: Floats, population: Floats, *, together: bool = False) -> CellReference:
        n, rows = float(labelled.sum()), float(population.sum())
        return cls(labelled, population, weights_of(labelled / n, population / rows, n, rows), together)

    @property
    def n_labelled(self) -> float:
        return float(self.labelled.sum())

    @property
    def rows(self) -> float:
        return float(self.population.sum())

    @property
    def p(self) -> Floats:
        return np.asarray(self.labelled / self.labelled.sum())

    @property
    def q(self) -> Floats:
        return np.asarray(self.population / self.population.sum())

    @property
    def null_variance(self) -> float:
        """S: variance of the weight of one row when nothing changed, with half a labelled row added.

        Where no row of the population comes near the positives the spread seen is 0, and one row would be an alarm.
        """
        return float((self.population + self.p / 2) @ self.weights**2 / (self.rows - 0.5))

    @property
    def skewness(self) -> float:
        """Of the weight of one row when nothing changed, with the same half a row added."""
        third = float((self.population + self.p / 2) @ self.weights**3 / (self.rows - 0.5))
        return float(third / self.null_variance**1.5)

    def covariance(self, columns: Floats, shift: float, other: float | None = None) -> Floats:
        """What the reference's own error adds to the covariance of two windows' means of columns.

        Windows share the reference: (1 - d_s)(1 - d_t) S_0/n_0 + d_s d_t S_P/n_P, and where labelled rows are in the
        population too each of them counts with both parts at once.
        """
        other = shift if other is None else other
        about_population = columns - self.q @ columns
        about_labelled = columns - self.p @ columns
        ours = (1 - shift) * about_population / self.rows, shift * about_labelled / self.n_labelled
        theirs = (1 - other) * about_population / self.rows, other * about_labelled / self.n_labelled
        if not self.together:
            result = _outer(self.population, ours[0], theirs[0]) + _outer(self.labelled, ours[1], theirs[1])
        else:
            alone = self.population - self.labelled
            both = _outer(self.labelled, ours[0] + ours[1], theirs[0] + theirs[1])
            result = both + _outer(alone, ours[0], theirs[0])
        return result


def _outer(counts: Floats, one: Floats, other: Floats) -> Floats:
    result: Floats = (counts[:, None] * one).T @ other
    return result


@dataclass(frozen=True, slots=True)
class Shift:
    """d with its standard error."""

    value: float
    error: float


def shift_of(reference: CellReference, window: Floats) -> Shift:
    r"""Mean weight of a window's rows, with the standard error of everything that is random in it.

    .. math:: se^2 = \sum_k (u_k + p_k/2)(w_k - d)^2 / (n_1 (n_1 - 1)) + (1-d)^2 S_0/n_0 + d^2 S_P/n_P

    >>> two = CellReference.of(np.array([3.0, 27]), np.array([90.0, 10]))
    >>> found = shift_of(two, np.array([80.0, 20]))
    >>> round(found.value, 6), round(found.error, 6)
    (0.125, 0.060999)
    """
    rows, w = float(window.sum()), reference.weights
    d = float(window @ w) / rows
    own = float((window + reference.p / 2) @ (w - d) ** 2) / (rows * max(rows - 1, 0.5))
    return Shift(d, float(np.sqrt(own + reference.covariance(w[:, None], d)[0, 0])))


def straightened(shifts: Floats, variances: Floats, skewness: Floats) -> Floats:
    r"""Shifts whose chance is as good as normal while nothing changes, of the same mean and variance.

    A few rows that score high raise a window's shift further than as many that score low reduce it, so that large
    values are more frequent than a normal distribution says. With z the shift in standard errors and g its skewness,

    .. math:: z' = \frac 6g \left(\left(1 + \frac{g z}2\right)^{1/3} - 1\right) + \frac g6

    which makes a gamma distribution normal (Wilson and Hilferty, 1931).

    >>> shifts = np.array([-0.1, 0.0, 0.1, 0.2])
    >>> straightened(shifts, np.full(4, 0.0025), np.full(4, 0.2)).round(4)
    array([-0.1059,  0.0017,  0.0957,  0.1797])
    """
    errors = np.sqrt(variances)
    g = np.where(np.abs(skewness) < SYMMETRIC, SYMMETRIC, skewness)
    root = np.cbrt(np.maximum(1 + g * shifts / errors / 2, 0.0))
    return np.asarray(errors * (6 / g * (root - 1) + g / 6))
