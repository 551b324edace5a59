r"""ROC slope: the smallest ratio of unlabelled to labelled share of any top region, with binomial limits for both.

:math:`\hat\alpha = \min_t \overline{U}(t)/\underline{P}(t)`, with Clopper-Pearson limits (miss 0.1 each) in place of
raw shares, which would be pure noise at the very top: Blanchard, Lee and Scott (2010), Scott (2015). Rank-based. Too
high for weak scores, and slightly so with few labelled rows. Its confidence limit is the feasible range.
"""

from __future__ import annotations

import numpy as np

from pulens.containers import distinct
from pulens.counts.tally import Tally
from pulens.inference.kernels.exact import binomial_lower, binomial_upper
from pulens.priors._estimator import Estimator, Finding, Trace

MOST_REGIONS = 400


def roc_slope(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, delta: float = 0.1) -> Finding:
    """Smallest ratio of limits over regions cut at quantiles of the labelled scores.

    >>> labelled, unlabelled = [0.9, 0.8, 0.7, 0.6], [0.95, 0.85, 0.75, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [4, 10]), np.array(labelled + unlabelled))
    >>> roc_slope(tally).value, roc_slope(tally).trace.y.round(3)  # four labelled rows are too few to say anything
    (1.0, array([12.958,  3.154,  1.722,  1.148]))
    """
    n, m, _ = tally.totals
    shares = np.arange(1, min(int(n), MOST_REGIONS) + 1) / min(int(n), MOST_REGIONS)
    rims = distinct(np.minimum(np.searchsorted(tally.labelled, shares * n * (1 - 1e-12)), len(tally) - 1))
    above = binomial_upper(tally.unlabelled[rims].astype(float), m, delta)
    below = binomial_lower(tally.labelled[rims].astype(float), n, delta)
    ratios = np.divide(above, below, out=np.full(rims.size, np.inf), where=below > 0)
    return Finding(
        float(min(ratios.min(), 1.0)) * (1 - label_noise),
        trace=Trace(tally.labelled[rims] / n, ratios, "labelled rows in the region", "ratio of binomial limits"),
        details={"threshold": float(tally.thresholds[rims[int(np.argmin(ratios))]])},
    )


ESTIMATOR = Estimator(
    roc_slope,
    "Smallest slope of the labelled-against-unlabelled ROC curve, with binomial limits",
    "Some region of highest scores holds almost no negatives.",
    "Blanchard, Lee and Scott 2010; Scott 2015",
    rank_based=True,
    parameters={"delta": 0.1},
)
