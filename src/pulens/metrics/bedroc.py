"""BEDROC: early recognition on a scale from 0 (positives last) to 1 (positives first)."""

from __future__ import annotations

import math

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.top_intervals import EarlyRecognition, bedroc_scale
from pulens.metrics.parts.top_of_list import check_decay, short_list
from pulens.metrics.rie import rie
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions


def bedroc(tally: Tally, assumptions: Assumptions, *, decay: float = 20.0) -> float:
    r""":math:`(RIE/m - l)/(1 - l)` with :math:`m = (1-e^{-a\pi})/(\pi(1-e^{-a}))` and :math:`l = e^{-a(1-\pi)}`.

    Truchon and Bayly (2007); the class prior enters the scale only.

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(bedroc(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), decay=5), 6)
    0.169116
    """
    prior = Recovery.of(tally.totals, assumptions).class_prior
    if not 0 < prior < 1:
        return math.nan
    constant, slope = bedroc_scale(prior, check_decay(decay, "bedroc"))
    return constant + slope * rie(tally, assumptions, decay=decay)


METRIC = Metric(
    bedroc,
    "How early positives come, from 0 for last to 1 for first",
    reads="ranking",
    reads_ranks=True,
    listed=False,
    undefined_because="without both positives and negatives in the list no order is early or late",
    parameters={"decay": 20.0},
    construction=lambda **_: EarlyRecognition,
    caution=short_list,
    order_is_fixed=True,
    title="BEDROC",
    derivation="RIE, scaled so that positives first give 1 and positives last give 0.",
)
