"""Calibrated, out-of-fold probabilities of being labelled, cell by cell: what Elkan and Noto's estimators read."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from pulens.counts.tally import Tally
from pulens.priors._cells import Cells, cut, scales
from pulens.special import expit
from pulens.types import Floats

CELLS, FOLDS = 1000, 5


def label_probabilities(tally: Tally, calibration: str, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Probabilities, labelled and unlabelled counts: one entry per cell and fold.

    Rows of a cell are dealt to the folds at random; the probability in a fold is fitted on the others.
    """
    cells = cut(tally, CELLS)
    rng = np.random.default_rng(seed)
    labelled, unlabelled = _dealt(cells.labelled, rng), _dealt(cells.unlabelled, rng)
    fit = {"isotonic": _isotonic, "platt": _platt}[calibration]
    probabilities = [
        fit(cells, cells.labelled - own, cells.unlabelled - other)
        for own, other in zip(labelled, unlabelled, strict=True)
    ]
    return np.concatenate(probabilities), labelled.ravel(), unlabelled.ravel()


def prior_from_label_frequency(frequency: float, n: float, m: float) -> float:
    r"""Share among the unlabelled, :math:`\alpha = \frac{1-c}{c}\frac nm`, from the label frequency c.

    >>> round(prior_from_label_frequency(0.4, 4, 10), 6), round(prior_from_label_frequency(4 / 7, 4, 10), 6)
    (0.6, 0.3)
    """
    return float(np.clip((1 - frequency) / max(frequency, 1e-12) * n / m, 0.0, 1.0))


def _dealt(counts: Floats, rng: np.random.Generator) -> Floats:
    whole = np.floor(counts).astype(np.int64)
    return rng.multinomial(whole, np.full(FOLDS, 1 / FOLDS)).T + (counts - whole) / FOLDS


def _isotonic(cells: Cells, labelled: Floats, unlabelled: Floats) -> Floats:
    rows = labelled + unlabelled
    # a cell without training rows gets the value of its neighbours through a weight next to nothing
    share = np.divide(labelled, rows, out=np.full(rows.size, labelled.sum() / rows.sum()), where=rows > 0)
    return np.asarray(isotonic_regression(share, weights=np.maximum(rows, 1e-9)).x)


def _platt(cells: Cells, labelled: Floats, unlabelled: Floats) -> Floats:
    result = scales(cells)
    scale = result.get("logit", result["score"])
    rows = labelled + unlabelled

    def misfit(line: Floats) -> tuple[float, Floats]:
        logits = line[0] + line[1] * scale
        slope = expit(logits) * rows - labelled
        value = rows @ np.logaddexp(0, logits) - labelled @ logits
        return float(value) / rows.sum(), np.array([slope.sum(), slope @ scale]) / rows.sum()

    start = [np.log(labelled.sum() / unlabelled.sum()), 1.0]
    line = minimize(misfit, start, jac=True, method="L-BFGS-B").x
    return np.asarray(expit(line[0] + line[1] * scale))
