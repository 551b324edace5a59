r"""ROC slope read off a fitted curve instead of raw counts.

The share of unlabelled rows above a threshold as a function of the labelled share q is fitted by
:math:`\alpha q + (1 - \alpha)\,\Phi(b\,\Phi^{-1}(q) - a)` with :math:`b \ge 1`, a line of slope :math:`\alpha` plus a
binormal curve that is flat at the top: the smooth version of the slope, after Sanderson and Scott (2014).
Rank-based. Takes the labelled shares as exact, so it needs a few hundred labelled rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.special import expit, ndtr, ndtri

REGIONS = 100
STARTS = ((0.1, 1.5, 1.1), (0.4, 1.0, 1.1), (0.05, 0.7, 1.3))


def roc_slope_fitted(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95) -> Finding:
    """Slope at the top of the best fitting curve.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2, 1, 3000), rng.normal(0, 1, 8000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [1000, 10000]), scores)  # 2000 of 10000 are positive
    >>> abs(roc_slope_fitted(tally).value - 0.2) < 0.06
    True
    """
    n, m, _ = tally.totals
    shares = np.arange(1, REGIONS) / REGIONS
    rims = np.unique(np.minimum(np.searchsorted(tally.labelled, shares * n), len(tally) - 1))
    # half a row is added at the rim, so that neither share is ever 0 or 1
    above = np.clip(tally.labelled[rims] / (n + 1), 0.5 / (n + 1), n / (n + 1))
    counts = np.diff(np.concatenate([[0.0], tally.unlabelled[rims], [m]]))
    index = ndtri(above)

    def curve(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        alpha, shift, steepness = expit(parameters[0]), parameters[1], 1 + np.exp(parameters[2])
        return np.asarray(alpha * above + (1 - alpha) * ndtr(steepness * index - shift))

    def misfit(parameters: NDArray[np.float64]) -> float:
        shares = np.diff(np.concatenate([[0.0], curve(parameters), [1.0]]))
        return float(-counts @ np.log(np.maximum(shares, 1e-12)) / m)

    fits = [
        minimize(
            misfit,
            [np.log(alpha / (1 - alpha)), shift, np.log(steepness - 1)],
            method="L-BFGS-B",
            bounds=[(-9, 9), (-5, 8), (-9, 3)],
        )
        for alpha, shift, steepness in STARTS
    ]
    best = min(fits, key=lambda fit: fit.fun)
    return Finding(
        float(expit(best.x[0])) * (1 - label_noise),
        trace=Trace(above, curve(best.x) / above, "labelled rows in the region", "fitted ratio of shares"),
        details={"shift": float(best.x[1]), "steepness": float(1 + np.exp(best.x[2]))},
    )


ESTIMATOR = Estimator(
    roc_slope_fitted,
    "Slope at the top of a fitted binormal curve",
    "The ROC curve of positives against negatives is binormal, and flat at the top.",
    "Sanderson and Scott 2014",
    rank_based=True,
)
