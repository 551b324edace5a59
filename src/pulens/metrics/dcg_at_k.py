"""Discounted cumulative gain of the first k rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric, Shown
from pulens.metrics.parts.top_intervals import DiscountedGain
from pulens.metrics.parts.top_of_list import RankedList, discounts, refuse_weights, rows_of
from pulens.recovery.assumptions import Assumptions


def dcg_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`P \cdot E[1/\log_2(i+1)]` over the ranks i up to k of positives (Järvelin and Kekäläinen 2002).

    It grows with the length of the list, and is proportional to the class prior.

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(dcg_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=3), 6)
    0.376977
    """
    refuse_weights(tally, "dcg_at_k")
    ranked = RankedList.of(tally, assumptions)
    running = discounts(rows_of(k, ranked.rows, "dcg_at_k"))
    return ranked.positives * ranked.of_positives(ranked.weights(running))


METRIC = Metric(
    dcg_at_k,
    "Positives among the first k rows, each discounted by its rank",
    reads="ranking",
    reads_ranks=True,
    highest=np.inf,
    listed=False,
    parameters={"k": 0.1},
    construction=lambda **_: DiscountedGain,
    order_is_fixed=True,
    title="DCG at k",
    derivation="The positives of the list times the mean of 1/log2(rank + 1) over labelled rows, 0 beyond k.",
    shown=Shown(top=5),
)
