"""The likelihood of the class prior under several shapes of the density ratio, on several scales of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from pulens.containers import distinct
from pulens.errors import AssumptionError
from pulens.priors._cells import Cells, scales
from pulens.priors._density_ratio import fit_ratio
from pulens.types import Floats

# finer near 0, where a hundredth is a large difference
COARSE: Floats = distinct(np.concatenate([np.linspace(0, 1, 12)[1:] ** 2 * 0.1, np.linspace(0.1, 0.99, 22)]))
FINE = 40  # points added where the likelihood lives
STEPS = 20  # class priors that are nowhere near the truth never settle, and do not matter
NEGLIGIBLE = 12.0  # log likelihood below the best at which a class prior is out of the question
INTERCEPT_SPREAD, SLOPE_SPREAD, USUAL_SLOPE = 3.0, 4.0, -1.5


class Shape(NamedTuple):
    """How the log of negatives' over positives' density may run along the score.

    A ``"line"``; a ``"parabola"``, whose curvature usually is of size ``spread``; or a ``"step"`` that levels off at
    both ends, as it does for densities with heavy tails. ``weight`` is how much the shape is believed beforehand.
    """

    kind: Literal["line", "parabola", "step"]
    spread: float = 1.0
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
    possible = COARSE[label_noise + COARSE < 1]
    if possible.size < 2:
        raise AssumptionError(
            f"label_noise={label_noise:g} leaves almost no labelled positive, so the class prior cannot be estimated "
            "from the scores. Give class_prior= as a number or a range."
        )
    coarse = _on_grid(cells, shapes, label_noise, possible)
    best = np.logaddexp.reduce(coarse.integrated, axis=0)
    alive = np.flatnonzero(best > best.max() - NEGLIGIBLE)
    if not alive.size:  # likelihoods that no double holds
        raise AssumptionError(
            "no share of positives explains these scores in numbers that a computer holds: rows or weights are too "
            "many or too uneven for an estimate. Give class_prior= as a number or a range."
        )
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
    result = scales(cells)
    hopeless = np.zeros(len(shapes) * len(result), bool)
    if warm is not None:
        best = warm.integrated.max(axis=1)
        hopeless = best < best.max() - NEGLIGIBLE - 8  # a finer grid would not change what they contribute: nothing
    for shape in shapes:
        for name, scale in result.items():
            if warm is not None and hopeless[len(models)]:
                index = len(models)
                fitted.append(np.interp(values, warm.values, warm.fitted[index]))
                integrated.append(np.interp(values, warm.values, warm.integrated[index]))
                coefficients.append(_between(values, warm, index))
                models.append((shape, name))
                continue
            basis = columns(scale, shape)
            centre, precision = coefficient_prior(shape)
            start = None if warm is None else _between(values, warm, len(models))
            fit = fit_ratio(basis, cells, values, noises, centre, precision, start=start, most_steps=STEPS)
            fitted.append(fit.log_likelihood)
            integrated.append(
                fit.log_likelihood
                + 0.5 * (np.log(precision).sum() - fit.log_determinant)
                + np.log(shape.weight / len(result))
            )
            coefficients.append(fit.coefficients)
            models.append((shape, name))
    return Profile(values, np.array(fitted), np.array(integrated), tuple(models), tuple(coefficients))


def _between(values: Floats, warm: Profile, model: int) -> Floats:
    """Coefficients at new class priors, between those already fitted."""
    return np.stack([np.interp(values, warm.values, column) for column in warm.coefficients[model].T], axis=1)


def columns(scale: Floats, shape: Shape) -> Floats:
    """The basis of a shape on a standardised scale: columns are nearly uncorrelated."""
    ones = np.ones(scale.size)
    if shape.kind == "step":
        return np.stack([ones, np.tanh(scale)], axis=1)
    if shape.kind == "parabola":
        return np.stack([ones, scale, scale**2 - 1.0], axis=1)
    return np.stack([ones, scale], axis=1)


def coefficient_prior(shape: Shape) -> tuple[Floats, Floats]:
    """Centre and precision of a normal prior on the coefficients."""
    spreads, centre = [INTERCEPT_SPREAD, SLOPE_SPREAD], [0.0, USUAL_SLOPE]
    if shape.kind == "parabola":
        spreads.append(shape.spread)
        centre.append(0.0)
    return np.array(centre), 1.0 / np.array(spreads) ** 2


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
