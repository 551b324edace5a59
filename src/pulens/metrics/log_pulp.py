"""PULP without a ceiling: minus the log p-value of the rows called positive, averaged over operating points."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.hypergeometric import log_p_values_upwards, tails
from pulens.counts.operating_points import Ties
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import average_over_points
from pulens.recovery.assumptions import Assumptions
from pulens.types import Floats


def log_pulp(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r"""Mean over the N + 1 operating points of :math:`-\log P(X_i \ge k_i)`, in nats.

    The probabilities are those of PULP (the PULP paper, equation 2). PULP takes one minus them and piles up at its
    maximum for any decent ranking; their logarithm goes on. The value grows with the number of labelled rows: compare
    models on the same rows only. One tail sum for each rank, so slower than ``pulp``: seconds for a million rows.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(log_pulp(tally, Assumptions(0.0)), 6)
    0.351976
    """
    return average_over_points(tally, ties, "log_pulp", _surprise)


def _surprise(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    if np.ndim(hits) == 2:  # inside a tie: one tail for each rank, the others by recurrence
        return -log_p_values_upwards(called, hits, rows, labelled)
    result: Floats = -tails(hits, rows, labelled, called).log_at_least
    return result


METRIC = Metric(
    log_pulp,
    "Minus the log p-value against chance, averaged over operating points",
    reads="ranking",
    highest=np.inf,
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
)
