"""Equation 4 of Jain et al. 2017 as a map: what wrong values of alpha and beta do to a recovered AUC."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.types import Floats


def observed_area(auc: Any, alpha: Any, beta: Any) -> Any:
    r"""The area that labelled against unlabelled rows show.

    .. math:: AUC_{pu} = \tfrac{1}{2}(1 - (\beta-\alpha)) + (\beta-\alpha)\,AUC

    >>> round(observed_area(0.9, 0.25, 0.75), 12), round(observed_area(0.9, 0.25, 1.0), 12)
    (0.7, 0.8)
    """
    contrast = beta - alpha
    return (1 - contrast) / 2 + contrast * auc


def recovered_area(auc_pu: Any, alpha: Any, beta: Any) -> Any:
    """The same solved for AUC, for any alpha and beta, not clipped; nan where they are equal.

    >>> round(float(recovered_area(0.7, 0.25, 0.75)), 12)
    0.9
    """
    contrast = np.asarray(beta - alpha, float)
    safe = np.where(contrast == 0, np.nan, contrast)
    return (auc_pu - (1 - safe) / 2) / safe


class AreaMap(NamedTuple):
    """Recovered areas over a grid of estimates: alpha across, beta upwards."""

    estimates: Floats
    recovered: Floats
    auc: float
    auc_pu: float

    @property
    def error(self) -> Floats:
        return np.abs(self.recovered - self.auc)

    @property
    def infeasible(self) -> NDArray[np.bool_]:
        """Estimates whose recovered area leaves [0, 1]; those that allow none count too."""
        slack = 1e-12
        return ~((self.recovered >= -slack) & (self.recovered <= 1 + slack))


def area_map(auc: float, alpha: float, beta: float, points: int = 201) -> AreaMap:
    grid = np.linspace(0, 1, points)
    seen = float(observed_area(auc, alpha, beta))
    return AreaMap(grid, recovered_area(seen, grid[None, :], grid[:, None]), auc, seen)


def infeasible_share(auc: float, alpha: float, beta: float) -> float:
    r"""Share of the unit square without a feasible area: a band of half-width :math:`w = 2|AUC_{pu} - 1/2|`.

    A recovered area lies in [0, 1] if and only if :math:`|\hat\beta - \hat\alpha| \ge w`, so the share is
    :math:`1 - (1-w)^2`.

    >>> round(infeasible_share(0.9, 0.25, 0.75), 12)
    0.64
    """
    width = 2 * abs(observed_area(auc, alpha, beta) - 0.5)
    return float(1 - (1 - width) ** 2)
