"""The unbiased PU risk (uPU) of scores that are logits."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.learning.risks import unbiased
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.risk import observed_risk
from pulens.recovery.assumptions import Assumptions


def upu_risk(tally: Tally, assumptions: Assumptions, *, loss: str = "zero-one") -> float:
    r""":math:`\pi E_p[\ell(z,+1)] + E[\ell(z,-1)] - \pi E_p[\ell(z,-1)]`: error rate by another name, for the 0-1 loss.

    Scores are logits: 0 is the border between the calls. ``loss`` is "zero-one", "sigmoid" or "logistic".

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([2.0, -1.0, 1.0, -1.0, -2.0]))
    >>> round(upu_risk(tally, Assumptions(0.4)), 6)
    0.4
    """
    return float(unbiased(observed_risk(tally, assumptions, loss, "upu_risk")))


METRIC = Metric(
    upu_risk,
    "PU risk without bias; may fall below zero",
    reads="ranking",
    higher_is_better=False,
    lowest=-np.inf,
    highest=np.inf,
    listed=False,
    parameters={"loss": "zero-one"},
)
