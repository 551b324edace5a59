"""The cumulative gain: share of positives found against share of the population looked at."""

from __future__ import annotations

import numpy as np

from pulens.curves._ties import level
from pulens.estimate import Curve
from pulens.recovery.contingency import Contingency


def gain_curve(table: Contingency) -> Curve:
    """Recall against the predicted positive rate, for people who can inspect the top this many rows.

    >>> import numpy as np
    >>> curve = gain_curve(Contingency(np.array([np.inf, .9, .5]), np.array([0, .5, 1]), np.array([0, 0, 1]), 1, 3))
    >>> curve.x, curve.y
    (array([0.   , 0.125, 1.   ]), array([0. , 0.5, 1. ]))
    """
    possible = table[table.is_possible]
    share = level(possible.predicted_positive / possible.total)
    order = np.lexsort((possible.true_positive_rate, share))
    return Curve(
        "gain",
        share[order],
        np.maximum.accumulate(possible.hit_rate[order]),
        possible.thresholds[order],
        "predicted positive rate",
        "recall",
    )
