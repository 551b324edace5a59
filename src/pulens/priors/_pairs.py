"""The likelihood of class prior and label noise together, over shapes and scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.priors._cells import Cells, scales
from pulens.priors._density_ratio import fit_ratio
from pulens.priors._shapes import Shape, coefficient_prior, columns
from pulens.types import Floats

PRIORS: Floats = np.array([0.003, 0.02, 0.05, 0.1, 0.16, 0.23, 0.31, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
NOISES: Floats = np.array([0.0, 0.01, 0.03, 0.07, 0.13, 0.2, 0.28, 0.38, 0.5])
FINE = 15
NEGLIGIBLE = 9.0


@dataclass(frozen=True, slots=True, eq=False)
class PairProfile:
    """Log likelihood over a grid: class priors down, label noises across; -inf where labels would say nothing."""

    priors: Floats
    noises: Floats
    fitted: Floats
    integrated: Floats


def profile_pairs(cells: Cells, shapes: tuple[Shape, ...]) -> PairProfile:
    """A coarse grid for every shape and scale, then a fine one for those that survive, where they survive."""
    models = [(shape, scale) for shape in shapes for scale in scales(cells).values()]
    coarse = [_on_grid(cells, model, PRIORS, NOISES, len(models)) for model in models]
    tops = np.array([integrated.max() for _, integrated in coarse])
    alive = [model for model, top in zip(models, tops, strict=True) if top > tops.max() - NEGLIGIBLE]
    best = np.logaddexp.reduce([integrated for _, integrated in coarse])
    rows, columns = np.nonzero(best > best.max() - NEGLIGIBLE)
    priors, noises = _between(PRIORS, rows), _between(NOISES, columns)
    fine = [_on_grid(cells, model, priors, noises, len(models)) for model in alive]
    return PairProfile(
        priors,
        noises,
        np.max([fitted for fitted, _ in fine], axis=0),
        np.logaddexp.reduce([integrated for _, integrated in fine]),
    )


def _between(values: Floats, indices: NDArray[np.intp]) -> Floats:
    low = values[max(indices.min() - 1, 0)]
    high = values[min(indices.max() + 1, values.size - 1)]
    return np.linspace(np.sqrt(low), np.sqrt(high), FINE) ** 2


def _on_grid(
    cells: Cells, model: tuple[Shape, Floats], priors: Floats, noises: Floats, models: int
) -> tuple[Floats, Floats]:
    shape, scale = model
    pairs = np.stack(np.meshgrid(priors, noises, indexing="ij"), axis=-1).reshape(-1, 2)
    possible = pairs.sum(axis=1) < 0.97
    centre, precision = coefficient_prior(shape)
    fit = fit_ratio(
        columns(scale, shape),
        cells,
        pairs[possible, 0],
        pairs[possible, 1],
        centre,
        precision,
        most_steps=20,
    )
    tables = np.full((2, len(pairs)), -np.inf)
    tables[0, possible] = fit.log_likelihood
    tables[1, possible] = (
        fit.log_likelihood + 0.5 * (np.log(precision).sum() - fit.log_determinant) + np.log(shape.weight / models)
    )
    table = tables.reshape(2, priors.size, noises.size)
    return table[0], table[1]
