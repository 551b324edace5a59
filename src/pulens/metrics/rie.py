"""Robust initial enhancement: how early positives come, by weights that fall exponentially with the rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.top_intervals import EarlyEnhancement
from pulens.metrics.parts.top_of_list import RankedList, check_decay, decays, refuse_weights, short_list
from pulens.recovery.assumptions import Assumptions


def rie(tally: Tally, assumptions: Assumptions, *, decay: float = 20.0) -> float:
    r"""Mean of :math:`e^{-a i/N}` over the ranks i of positives, as a multiple of its mean over all ranks.

    Sheridan and others (2001); Truchon and Bayly (2007). 1 is chance. It needs no class prior.

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(rie(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), decay=5), 6)
    0.586559
    """
    refuse_weights(tally, "rie")
    ranked = RankedList.of(tally, assumptions)
    running = decays(check_decay(decay, "rie"), ranked.rows)
    return ranked.of_positives(ranked.weights(running)) * ranked.rows / float(running(np.array(ranked.rows)))


def _construction(**_: Any) -> type[EarlyEnhancement]:
    return EarlyEnhancement


METRIC = Metric(
    rie,
    "How early positives come, as a multiple of chance",
    reads="ranking",
    reads_ranks=True,
    highest=np.inf,
    needs_class_prior=False,
    listed=False,
    parameters={"decay": 20.0},
    construction=_construction,
    caution=short_list,
    order_is_fixed=True,
    title="RIE",
    derivation="Mean of exp(-a i/N) over the ranks of labelled rows, divided by its mean over all ranks.",
)
