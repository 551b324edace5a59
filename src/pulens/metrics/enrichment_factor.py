"""Enrichment factor, or lift at k: how many times richer in positives the first k rows are than the list."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric, Shown
from pulens.metrics.parts.top_intervals import EnrichmentAtPlace
from pulens.metrics.parts.top_of_list import RankedList, binned_share, rows_of
from pulens.recovery.assumptions import Assumptions


def enrichment_factor(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`\gamma_k N/k`: recall at k over the share of the list that k rows are. It needs no class prior.

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(enrichment_factor(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=4), 6)
    1.25
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "enrichment_factor")
    return ranked.recall_among(rows) * ranked.rows / rows


def _binning_error(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "enrichment_factor")
    return binned_share(tally, assumptions, rows) * ranked.rows / rows


METRIC = Metric(
    enrichment_factor,
    "How many times richer in positives the first k rows are (lift at k)",
    reads="ranking",
    highest=np.inf,
    needs_class_prior=False,
    listed=False,
    parameters={"k": 0.1},
    binning_error=_binning_error,
    construction=lambda **_: EnrichmentAtPlace,
    order_is_fixed=True,
    derivation="Recall at k divided by the share of the list that k rows are.",
    shown=Shown(top=4),
)
