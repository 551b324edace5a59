"""Is it only more positives? What the shift does not explain, in directions that more positives cannot move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander

from pulens.monitoring.shift import CellReference
from pulens.monitoring.weights import placements
from pulens.special import fdtrc
from pulens.types import Floats

HIGHEST_DEGREE = 5
SMALLEST = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """One window's test: its p-value, and the whitened means that enter the fit line."""

    p_value: float
    whitened: Floats


def features(reference: CellReference) -> Floats:
    """Columns with mean 0 over the population and over the labelled positives: more positives cannot move them.

    Legendre polynomials of the two placements' sum, of unit covariance over the population, less the direction in
    which the labelled positives lie. Fewer than three distinct scores leave no column.

    >>> four = CellReference.of(np.array([1.0, 2, 5, 12]), np.array([40.0, 30, 20, 10]))
    >>> g = features(four)
    >>> g.shape, bool(np.allclose(four.q @ g, 0)), bool(np.allclose(four.p @ g, 0))
    ((4, 2), True, True)
    """
    p, q = reference.p, reference.q
    white = polynomials(placements(q) + placements(p) - 1, HIGHEST_DEGREE, q)
    towards = p @ white
    if white.shape[1] < 2:
        return np.zeros((p.size, 0))
    basis = np.linalg.qr(towards[:, None], mode="complete")[0][:, 1:]
    result: Floats = white @ basis
    return result


def polynomials(x: Floats, degree: int, shares: Floats) -> Floats:
    """Legendre polynomials of x, from -1 to 1, as columns of mean 0 and unit covariance over these shares.

    >>> p = np.array([0.1, 0.2, 0.3, 0.4])
    >>> g = polynomials(2 * placements(p) - 1, 3, p)
    >>> bool(np.allclose(p @ g, 0)), bool(np.allclose((p[:, None] * g).T @ g, np.eye(3)))
    (True, True)
    """
    raw = legvander(x, degree)[:, 1:]
    centred = raw - shares @ raw
    sizes, turns = np.linalg.eigh((shares[:, None] * centred).T @ centred)
    kept = sizes > SMALLEST * max(float(sizes[-1]), SMALLEST)
    return np.asarray(centred @ (turns[:, kept] / np.sqrt(sizes[kept])))


def held(shift: float, class_prior: float | None) -> float:
    """A shift held in the range that more or fewer positives can give: -a0/(1-a0) to 1; no lower end without a prior.

    >>> held(-0.5, 0.2), held(1.5, None)
    (-0.25, 1.0)
    """
    low = -np.inf if class_prior is None else -class_prior / (1 - class_prior)
    return float(min(max(shift, low), 1.0))


def fit_of(
    reference: CellReference, g: Floats, window: Floats, shift: float, class_prior: float | None = None
) -> Fit | None:
    """Test that a window is the population with more or fewer positives; None where scores are too few to tell.

    T = e' C^-1 e with e the means of the columns, C their covariance under the mixture (1-d) U0 + d P plus the
    reference's own; T/k is compared with F(k, min(n_P, n_1) - k). A shift outside its range adds the weight as a
    column.
    """
    if not g.shape[1]:
        return None
    rows, d = float(window.sum()), held(shift, class_prior)
    excess = shift - d
    columns = np.column_stack([g, reference.weights]) if excess else g
    means = window @ columns / rows
    if excess:
        means[-1] -= d
    mixture = np.maximum((1 - d) * reference.q + d * reference.p, 0)
    mixture = mixture / mixture.sum()
    centred = columns - mixture @ columns
    per_row = (mixture[:, None] * centred).T @ centred
    k = columns.shape[1]
    statistic = float(means @ np.linalg.lstsq(per_row / rows + reference.covariance(columns, d), means, rcond=None)[0])
    freedom = max(min(reference.n_labelled, rows) - k, 1.0)
    return Fit(float(fdtrc(k, freedom, statistic / k)), _whitened(per_row, means, g.shape[1]))


def _whitened(per_row: Floats, means: Floats, k: int) -> Floats:
    """Means of unit variance per row: a symmetric root, which no turn of the columns changes, then the excess."""
    sizes, turns = np.linalg.eigh(per_row[:k, :k])
    safe = np.maximum(sizes, SMALLEST * max(float(sizes[-1]), SMALLEST))
    result = np.append(turns @ ((turns.T @ means[:k]) / np.sqrt(safe)), 0.0)
    if means.size > k:
        slope = turns @ ((turns.T @ per_row[:k, k]) / safe)
        left = max(float(per_row[k, k] - slope @ per_row[:k, k]), SMALLEST)
        result[k] = (means[k] - slope @ means[:k]) / np.sqrt(left)
    return result
