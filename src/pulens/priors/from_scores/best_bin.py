r"""Best-bin estimation: the purest region at the top, chosen with a penalty for small ones.

In a region {score >= t} without negatives the ratio of unlabelled to labelled share is the class prior. The region
is the one that minimises :math:`(q_U(t) + \epsilon) / q_L(t)` with
:math:`\epsilon = (1+\gamma)[\sqrt{\log(4/\delta)/2m} + \sqrt{\log(4/\delta)/2n}]`: Garg et al. (2021). Rank-based.
Too high unless a nearly pure region at the top holds many labelled rows: the penalty pushes the region into the body.
"""

from __future__ import annotations

import math

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding, Trace


def best_bin(
    tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, delta: float = 0.1, gamma: float = 0.01
) -> Finding:
    """Ratio of unlabelled to labelled share in the best region.

    >>> labelled, unlabelled = [0.9, 0.8, 0.7, 0.6], [0.95, 0.85, 0.75, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [4, 10]), np.array(labelled + unlabelled))
    >>> best_bin(tally).value, round(best_bin(tally).details["penalty"], 6)
    (0.4, 1.119605)
    """
    n, m, _ = tally.totals
    # the region's rim may only be a labelled score: further down only unlabelled rows join
    rims = np.flatnonzero(np.diff(tally.labelled, prepend=tally.labelled.dtype.type(0)) > 0)
    share_labelled, share_unlabelled = tally.labelled[rims] / n, tally.unlabelled[rims] / m
    spread = math.log(4 / delta) / 2
    penalty = (1 + gamma) * (math.sqrt(spread / m) + math.sqrt(spread / n))
    best = int(np.argmin((share_unlabelled + penalty) / share_labelled))
    ratio = float(share_unlabelled[best] / share_labelled[best])
    shown = np.unique(np.linspace(0, rims.size - 1, 400).astype(int))
    return Finding(
        min(ratio, 1.0) * (1 - label_noise),
        trace=Trace(
            share_labelled[shown],
            share_unlabelled[shown] / share_labelled[shown],
            "labelled rows in the region",
            "unlabelled over labelled share",
        ),
        details={
            "penalty": penalty,
            "threshold": float(tally.thresholds[rims[best]]),
            "labelled share": float(share_labelled[best]),
        },
    )


ESTIMATOR = Estimator(
    best_bin,
    "Ratio of unlabelled to labelled share in the best top region",
    "Some region of highest scores holds almost no negatives.",
    "Garg et al. 2021",
    rank_based=True,
    parameters={"delta": 0.1, "gamma": 0.01},
)
