"""The nonnegative PU risk (nnPU) of scores that are logits."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.learning.risks import nonnegative
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.risk import observed_risk
from pulens.recovery.assumptions import Assumptions


def nnpu_risk(tally: Tally, assumptions: Assumptions, *, loss: str = "zero-one") -> float:
    r""":math:`\pi E_p[\ell(z,+1)] + \max(0, E[\ell(z,-1)] - \pi E_p[\ell(z,-1)])`, cut over the whole set.

    Scores are logits: 0 is the border between the calls. ``loss`` is "zero-one", "sigmoid" or "logistic".

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([2.0, -1.0, 1.0, -1.0, -2.0]))
    >>> round(nnpu_risk(tally, Assumptions(0.4)), 6)
    0.4
    """
    return float(nonnegative(observed_risk(tally, assumptions, loss, "nnpu_risk")))


METRIC = Metric(
    nnpu_risk,
    "PU risk whose negative part is cut at zero",
    reads="ranking",
    higher_is_better=False,
    lowest=0.0,
    highest=np.inf,
    listed=False,
    parameters={"loss": "zero-one"},
)
