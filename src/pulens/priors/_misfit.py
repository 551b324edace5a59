r"""How badly the best of the assumed shapes fits the scores, seen in the labelled share of neighbouring cells.

Under a fitted ratio :math:`r = f_0/f_1` a row of a cell is labelled with chance :math:`p = nA/(nA + mW)`, where
:math:`A` and :math:`W` are the densities of labelled and unlabelled rows relative to that of the positives. Cells are
joined into groups that carry about equal information, and Pearson's :math:`X^2` over the groups is brought to mean
zero and variance one. Near zero where the shape is right, it grows in proportion to the rows where it is wrong.
"""

from __future__ import annotations

import numpy as np

from pulens.priors._cells import Cells, scales
from pulens.priors._density_ratio import STEEPEST
from pulens.priors._shapes import Profile, columns
from pulens.types import Floats

FEWEST_GROUPS, MOST_GROUPS, PER_GROUP = 4, 20, 5.0  # groups of rows; variance that a group should hold
FITTED = 3  # degrees of freedom that the fitted shape took


def misfit(cells: Cells, result: Profile, label_noise: float = 0.0) -> float:
    """Standardised misfit of the most likely model at its most likely class prior."""
    model, index = np.unravel_index(int(np.argmax(result.fitted)), result.fitted.shape)
    shape, scale = result.models[model]
    basis = columns(scales(cells)[scale], shape)
    ratio = np.exp(np.clip(basis @ result.coefficients[model][index], -STEEPEST, STEEPEST))
    share = result.values[index]
    among_labelled = cells.n_labelled * (1 + label_noise * (ratio - 1))
    among_unlabelled = cells.n_unlabelled * (share + (1 - share) * ratio)
    chance = among_labelled / (among_labelled + among_unlabelled)
    return standardised_misfit(cells.labelled, cells.labelled + cells.unlabelled, chance)


def standardised_misfit(labelled: Floats, rows: Floats, chance: Floats) -> float:
    """:math:`(X^2 - df)/\\sqrt{2 df}` over groups of neighbouring cells.

    >>> round(standardised_misfit(np.array([2.0, 8.0] * 4), np.full(8, 10.0), np.full(8, 0.5)), 3)
    2.687
    """
    variance = chance * (1 - chance) * rows
    whole = variance.sum()
    if whole <= 0:
        return 0.0
    groups = min(MOST_GROUPS, max(FEWEST_GROUPS, whole / PER_GROUP))
    group = np.minimum((groups * np.cumsum(variance) / whole).astype(int), int(groups) - 1)
    excess = np.bincount(group, labelled - chance * rows)
    spread = np.bincount(group, variance)
    kept = spread > 0
    freedom = max(int(kept.sum()) - FITTED, 1)
    return float(((excess[kept] ** 2 / spread[kept]).sum() - freedom) / np.sqrt(2 * freedom))
