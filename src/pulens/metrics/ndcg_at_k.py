"""Normalised discounted cumulative gain of the first k rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.dcg_at_k import dcg_at_k
from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.metrics.parts.top_intervals import NormalisedGain
from pulens.metrics.parts.top_of_list import RankedList, discounts, rows_of
from pulens.recovery.assumptions import Assumptions


def ndcg_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r"""DCG over that of the best order, :math:`I(\min(k, P))` with I linear between whole numbers.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, -1, 1, -1, -1]), np.array([.9, .8, .7, .6, .1]))
    >>> round(ndcg_at_k(tally, Assumptions(0.0), k=2), 6)
    0.613147
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "ndcg_at_k")
    best = discounts(rows)(np.array(ranked.positives))
    return float(divide(dcg_at_k(tally, assumptions, k=k), best))


METRIC = Metric(
    ndcg_at_k,
    "DCG of the first k rows as a share of the best order's",
    reads="ranking",
    reads_ranks=True,
    listed=False,
    undefined_because="no row of the list is positive",
    parameters={"k": 0.1},
    construction=lambda **_: NormalisedGain,
    order_is_fixed=True,
    title="NDCG at k",
    derivation="DCG at k divided by that of a list with all positives first.",
    shown=Shown(top=3),
)
