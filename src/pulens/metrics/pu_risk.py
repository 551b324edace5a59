"""The PU risks of scores that are logits: unbiased (uPU) and nonnegative (nnPU)."""

from __future__ import annotations

import numpy as np

from pulens.catalogue import Declared
from pulens.counts.tally import Tally
from pulens.learning.risks import nonnegative, unbiased
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.risk import observed_risk
from pulens.recovery.assumptions import Assumptions

METRIC = Declared(
    Metric, reads="ranking", higher_is_better=False, highest=np.inf, listed=False, parameters={"loss": "zero-one"}
)


@METRIC("PU risk without bias; may fall below zero", lowest=-np.inf)
def upu_risk(tally: Tally, assumptions: Assumptions, *, loss: str = "zero-one") -> float:
    r""":math:`\pi E_p[\ell(z,+1)] + E[\ell(z,-1)] - \pi E_p[\ell(z,-1)]`: error rate by another name, for the 0-1 loss.

    Scores are logits: 0 is the border between the calls. ``loss`` is "zero-one", "sigmoid" or "logistic".

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([2.0, -1.0, 1.0, -1.0, -2.0]))
    >>> round(upu_risk(tally, Assumptions(0.4)), 6)
    0.4
    """
    return float(unbiased(observed_risk(tally, assumptions, loss, "upu_risk")))


@METRIC("PU risk whose negative part is cut at zero", lowest=0.0)
def nnpu_risk(tally: Tally, assumptions: Assumptions, *, loss: str = "zero-one") -> float:
    r""":math:`\pi E_p[\ell(z,+1)] + \max(0, E[\ell(z,-1)] - \pi E_p[\ell(z,-1)])`, cut over the whole set.

    Scores are logits: 0 is the border between the calls. ``loss`` is "zero-one", "sigmoid" or "logistic".

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([2.0, -1.0, 1.0, -1.0, -2.0]))
    >>> round(nnpu_risk(tally, Assumptions(0.4)), 6)
    0.4
    """
    return float(nonnegative(observed_risk(tally, assumptions, loss, "nnpu_risk")))
