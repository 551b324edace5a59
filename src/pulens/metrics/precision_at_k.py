"""Precision at k: the share of positives among the first k rows."""

from __future__ import annotations

import math
from typing import Any

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric, Shown
from pulens.metrics.parts.top_intervals import PrecisionAtPlace
from pulens.metrics.parts.top_of_list import RankedList, binned_share, rows_of
from pulens.recovery.assumptions import Assumptions


def precision_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`P\gamma_k/k`: the positives of the list, times recall at k, over k.

    Counts of other places are looked at, too: positives and negatives both rise with k
    (``RankedList.positives_among``).

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(precision_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=4), 6)
    0.25
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "precision_at_k")
    return ranked.positives_among(rows) / rows


def _binning_error(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "precision_at_k")
    ends, between = ranked.places_with(rows)
    if any(binned_share(tally, assumptions, index) for index in (*ends[1:-1], *between) if index != rows):
        return math.nan  # counts at other places move this one, by how much is not known
    return binned_share(tally, assumptions, rows) * ranked.positives / rows


METRIC = Metric(
    precision_at_k,
    "Of the first k rows, how many are positive",
    reads="ranking",
    listed=False,
    parameters={"k": 0.1},
    binning_error=_binning_error,
    construction=lambda **_: PrecisionAtPlace,
    order_is_fixed=True,
    title="Precision at k",
    derivation="Recall at k times the positives of the list, divided by k; made to fit together over k.",
    shown=Shown(top=1),
)
