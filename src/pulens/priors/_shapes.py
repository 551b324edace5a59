"""The likelihood of the class prior under several shapes of the density ratio, on several scales of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.priors._cells import Cells, scales
from pulens.priors._density_ratio import fit_ratio

Floats = NDArray[np.float64]

# finer near 0, where a hundredth is a large difference
COARSE: Floats = np.unique(np.concatenate([np.linspace(0, 1, 15)[1:] ** 2 * 0.1, np.linspace(0.1, 0.99, 30)]))
FINE = 40  # points added where the likelihood lives
NEGLIGIBLE = 12.0  # log likelihood below the best at which a class prior is out of the question
INTERCEPT_SPREAD, SLOPE_SPREAD, USUAL_SLOPE = 3.0, 4.0, -1.5


class Shape(NamedTuple):
    """A polynomial for the log of negatives' over positives' density; ``spread`` tells how large terms beyond the
    first usually are, ``weight`` how much the shape is believed before seeing data."""

    degree: int
    spread: float = 0.0
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Log likelihood over class priors: one row per model, a model being a shape on a scale.

    ``fitted`` is maximised over the coefficients, ``integrated`` averaged over them (Laplace's approximation), so
    that models with different numbers of coefficients can be compared.
    """

    values: Floats
    fitted: Floats
    integrated: Floats
    models: tuple[tuple[Shape, str], ...]
    coefficients: tuple[Floats, ...]


def profile(cells: Cells, shapes: tuple[Shape, ...], label_noise: float = 0.0) -> Profile:
    """Try a coarse grid of class priors, then a fine one where the likelihood is not negligible."""
    coarse = _on_grid(cells, shapes, label_noise, COARSE[label_noise + COARSE < 1])
    best = np.logaddexp.reduce(coarse.integrated, axis=0)
    alive = np.flatnonzero(best > best.max() - NEGLIGIBLE)
    low = coarse.values[max(alive[0] - 1, 0)]
    high = coarse.values[min(alive[-1] + 1, coarse.values.size - 1)]
    fine = np.linspace(low, high, FINE + 2)[1:-1]
    return _merged(coarse, _on_grid(cells, shapes, label_noise, fine, coarse))


def _on_grid(
    cells: Cells, shapes: tuple[Shape, ...], label_noise: float, values: Floats, warm: Profile | None = None
) -> Profile:
    fitted, integrated, coefficients = [], [], []
    models: list[tuple[Shape, str]] = []
    noises = np.full(values.size, label_noise)
    found = scales(cells)
    hopeless = np.zeros(len(shapes) * len(found), bool)
    if warm is not None:
        best = warm.integrated.max(axis=1)
        hopeless = best < best.max() - NEGLIGIBLE - 8  # a finer grid would not change what they contribute: nothing
    for shape in shapes:
        for name, scale in found.items():
            if warm is not None and hopeless[len(models)]:
                place = len(models)
                fitted.append(np.interp(values, warm.values, warm.fitted[place]))
                integrated.append(np.interp(values, warm.values, warm.integrated[place]))
                coefficients.append(_between(values, warm, place))
                models.append((shape, name))
                continue
            basis = polynomial(scale, shape.degree)
            centre, precision = coefficient_prior(shape)
            start = None if warm is None else _between(values, warm, len(models))
            fit = fit_ratio(basis, cells, values, noises, centre, precision, start=start)
            fitted.append(fit.log_likelihood)
            integrated.append(
                fit.log_likelihood
                + 0.5 * (np.log(precision).sum() - fit.log_determinant)
                + np.log(shape.weight / len(found))
            )
            coefficients.append(fit.coefficients)
            models.append((shape, name))
    return Profile(values, np.array(fitted), np.array(integrated), tuple(models), tuple(coefficients))


def _between(values: Floats, warm: Profile, model: int) -> Floats:
    """Coefficients at new class priors, between those already fitted."""
    return np.stack([np.interp(values, warm.values, column) for column in warm.coefficients[model].T], axis=1)


def polynomial(scale: Floats, degree: int) -> Floats:
    """Columns 1, z, z² - 1, ...: nearly uncorrelated when z is standardised."""
    columns = [np.ones(scale.size), scale, scale**2 - 1.0, scale**3 - 3.0 * scale]
    return np.stack(columns[: degree + 1], axis=1)


def coefficient_prior(shape: Shape) -> tuple[Floats, Floats]:
    """Centre and precision of a normal prior on the coefficients."""
    spreads = [INTERCEPT_SPREAD, SLOPE_SPREAD, shape.spread, shape.spread / 2][: shape.degree + 1]
    centre = np.array([0.0, USUAL_SLOPE, 0.0, 0.0])[: shape.degree + 1]
    return centre, 1.0 / np.array(spreads) ** 2


def _merged(first: Profile, second: Profile) -> Profile:
    values = np.concatenate([first.values, second.values])
    order = np.unique(values, return_index=True)[1]
    return Profile(
        values[order],
        np.concatenate([first.fitted, second.fitted], axis=1)[:, order],
        np.concatenate([first.integrated, second.integrated], axis=1)[:, order],
        first.models,
        tuple(np.concatenate(pair)[order] for pair in zip(first.coefficients, second.coefficients, strict=True)),
    )
