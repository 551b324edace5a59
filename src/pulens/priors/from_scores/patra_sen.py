r"""Patra and Sen: the smallest share of negatives for which what is left of the unlabelled rows is a distribution.

If a share :math:`q = 1 - \alpha` is negative, their distribution function is
:math:`(F_U - (1 - q) F_L)/q`, which must rise from 0 to 1. The estimate is the smallest q for which the distance to
the nearest distribution function (isotonic, clipped), times q, is below :math:`0.1 \log\log m / \sqrt{m_e}`, with
:math:`1/m_e = 1/m + \alpha^2/n` because the labelled sample is finite too: Patra and Sen (2016). Rank-based. High as
a point estimate.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import isotonic_regression

from pulens.counts.tally import Tally
from pulens.priors._cells import cut
from pulens.priors._estimator import Estimator, Finding, Trace

CELLS = 400
BISECTIONS = 18


def patra_sen(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, constant: float = 0.1) -> Finding:
    """Largest share of positives that still leaves a distribution for the negatives.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(3, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> 0.15 < patra_sen(tally).value < 0.3
    True
    """
    cells = cut(tally, CELLS)
    n, m = cells.n_labelled, cells.n_unlabelled
    rows_labelled, rows_unlabelled = np.cumsum(cells.labelled) / n, np.cumsum(cells.unlabelled) / m
    weights = cells.unlabelled / m
    counted = weights > 0
    labelled, unlabelled, weights = rows_labelled[counted], rows_unlabelled[counted], weights[counted]
    tolerated = constant * math.log(math.log(m))

    def excess(negative: float) -> float:
        """Distance above what chance explains, for a share of negatives."""
        rest = (unlabelled - (1 - negative) * labelled) / negative
        nearest = np.clip(isotonic_regression(rest, weights=weights).x, 0, 1)
        distance = negative * math.sqrt(float(weights @ (rest - nearest) ** 2))
        return distance - tolerated * math.sqrt(1 / m + (1 - negative) ** 2 / n)

    low, high = 1e-6, 1.0
    tried = []
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = excess(middle)
        tried.append((1 - middle, above))
        low, high = (middle, high) if above > 0 else (low, middle)
    curve = np.array(sorted(tried))
    return Finding(
        float(1 - high) * (1 - label_noise),
        trace=Trace(
            curve[:, 0],
            curve[:, 1],
            "share of positives among the unlabelled",
            "distance from a distribution beyond chance",
        ),
    )


ESTIMATOR = Estimator(
    patra_sen,
    "Largest share of positives that leaves a distribution for the negatives",
    "Some region of scores holds positives and almost no negatives.",
    "Patra and Sen 2016",
    rank_based=True,
    parameters={"constant": 0.1},
)
