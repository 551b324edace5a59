"""Metrics of the first rows of a list: what they hold, and how early positives come."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pulens.catalogue import Declared
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.metrics.parts.top_intervals import (
    DiscountedGain,
    EarlyEnhancement,
    EarlyRecognition,
    EnrichmentAtPlace,
    NormalisedGain,
    PrecisionAtPlace,
    RecallAtPlace,
    RPrecisionAtPlace,
    bedroc_scale,
)
from pulens.metrics.parts.top_of_list import (
    RankedList,
    binned_share,
    check_decay,
    decays,
    discounts,
    refuse_weights,
    rows_of,
    short_list,
)
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions

METRIC = Declared(Metric, reads="ranking", listed=False)


def _binning_error_of_recall_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "recall_at_k")
    return binned_share(tally, assumptions, rows)


@METRIC(
    "Of all positives, how many are among the first k rows",
    needs_class_prior=False,
    parameters={"k": 0.1},
    binning_error=_binning_error_of_recall_at_k,
    construction=lambda **_: RecallAtPlace,
    order_is_fixed=True,  # the rows of the list weigh the same in every order, so labelled rows decide
    title="Recall at k",
    derivation="The share of labelled rows among the first k rows of the list, ties sharing their places.",
    shown=Shown(top=2),
)
def recall_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r"""The chance that a positive stands among the first k rows of the list; of clean labels, of a held-out one.

    k counts rows; below 1, or written ``"1%"``, it is a share of the list. Tied rows share their places.

    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(recall_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=3), 6)
    0.666667
    """
    ranked = RankedList.of(tally, assumptions)
    return ranked.of_positives(ranked.membership(rows_of(k, ranked.rows, "recall_at_k")))


def _binning_error_of_precision_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "precision_at_k")
    ends, between = ranked.places_with(rows)
    if any(binned_share(tally, assumptions, index) for index in (*ends[1:-1], *between) if index != rows):
        return math.nan  # counts at other places move this one, by how much is not known
    return binned_share(tally, assumptions, rows) * ranked.positives / rows


@METRIC(
    "Of the first k rows, how many are positive",
    parameters={"k": 0.1},
    binning_error=_binning_error_of_precision_at_k,
    construction=lambda **_: PrecisionAtPlace,
    order_is_fixed=True,
    title="Precision at k",
    derivation="Recall at k times the positives of the list, divided by k; made to fit together over k.",
    shown=Shown(top=1),
)
def precision_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`P\gamma_k/k`: the positives of the list, times recall at k, over k.

    Counts of other places are looked at, too: positives and negatives both rise with k
    (``RankedList.positives_among``).

    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(precision_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=4), 6)
    0.25
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "precision_at_k")
    return ranked.positives_among(rows) / rows


def _binning_error_of_enrichment_factor(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "enrichment_factor")
    return binned_share(tally, assumptions, rows) * ranked.rows / rows


@METRIC(
    "How many times richer in positives the first k rows are (lift at k)",
    highest=np.inf,
    needs_class_prior=False,
    parameters={"k": 0.1},
    binning_error=_binning_error_of_enrichment_factor,
    construction=lambda **_: EnrichmentAtPlace,
    order_is_fixed=True,
    derivation="Recall at k divided by the share of the list that k rows are.",
    shown=Shown(top=4),
)
def enrichment_factor(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`\gamma_k N/k`: recall at k over the share of the list that k rows are. It needs no class prior.

    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(enrichment_factor(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=4), 6)
    1.25
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "enrichment_factor")
    return ranked.of_positives(ranked.membership(rows)) * ranked.rows / rows


@METRIC(
    "Precision at as many rows as there are positives",
    construction=lambda **_: RPrecisionAtPlace,
    title="R-precision",
    derivation="The share of labelled rows among the first P rows of the list, P the number of positives in it.",
)
def r_precision(tally: Tally, assumptions: Assumptions) -> float:
    r""":math:`\gamma` at k = P, where precision and recall are equal; the class prior places k.

    >>> tally = Tally.from_arrays(np.array([1, -1, 1, -1, -1]), np.array([.9, .8, .7, .6, .1]))
    >>> r_precision(tally, Assumptions(0.0))
    0.5
    """
    ranked = RankedList.of(tally, assumptions)
    return ranked.of_positives(ranked.membership(ranked.positives))


@METRIC(
    "Positives among the first k rows, each discounted by its rank",
    reads_ranks=True,
    highest=np.inf,
    parameters={"k": 0.1},
    construction=lambda **_: DiscountedGain,
    order_is_fixed=True,
    title="DCG at k",
    derivation="The positives of the list times the mean of 1/log2(rank + 1) over labelled rows, 0 beyond k.",
    shown=Shown(top=5),
)
def dcg_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r""":math:`P \cdot E[1/\log_2(i+1)]` over the ranks i up to k of positives (Järvelin and Kekäläinen 2002).

    It grows with the length of the list, and is proportional to the class prior.

    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(dcg_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=3), 6)
    0.376977
    """
    refuse_weights(tally, "dcg_at_k")
    ranked = RankedList.of(tally, assumptions)
    running = discounts(rows_of(k, ranked.rows, "dcg_at_k"))
    return ranked.positives * ranked.of_positives(ranked.weights(running))


@METRIC(
    "DCG of the first k rows as a share of the best order's",
    reads_ranks=True,
    undefined_because="no row of the list is positive",
    parameters={"k": 0.1},
    construction=lambda **_: NormalisedGain,
    order_is_fixed=True,
    title="NDCG at k",
    derivation="DCG at k divided by that of a list with all positives first.",
    shown=Shown(top=3),
)
def ndcg_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r"""DCG over that of the best order, :math:`I(\min(k, P))` with I linear between whole numbers.

    >>> tally = Tally.from_arrays(np.array([1, -1, 1, -1, -1]), np.array([.9, .8, .7, .6, .1]))
    >>> round(ndcg_at_k(tally, Assumptions(0.0), k=2), 6)
    0.613147
    """
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "ndcg_at_k")
    best = discounts(rows)(np.array(ranked.positives))
    return float(divide(dcg_at_k(tally, assumptions, k=k), best))


@METRIC(
    "How early positives come, as a multiple of chance",
    reads_ranks=True,
    highest=np.inf,
    needs_class_prior=False,
    parameters={"decay": 20.0},
    construction=lambda **_: EarlyEnhancement,
    caution=short_list,
    order_is_fixed=True,
    title="RIE",
    derivation="Mean of exp(-a i/N) over the ranks of labelled rows, divided by its mean over all ranks.",
)
def rie(tally: Tally, assumptions: Assumptions, *, decay: float = 20.0) -> float:
    r"""Mean of :math:`e^{-a i/N}` over the ranks i of positives, as a multiple of its mean over all ranks.

    Sheridan and others (2001); Truchon and Bayly (2007). 1 is chance. It needs no class prior.

    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(rie(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), decay=5), 6)
    0.586559
    """
    refuse_weights(tally, "rie")
    ranked = RankedList.of(tally, assumptions)
    running = decays(check_decay(decay, "rie"), ranked.rows)
    return ranked.of_positives(ranked.weights(running)) * ranked.rows / float(running(np.array(ranked.rows)))


@METRIC(
    "How early positives come, from 0 for last to 1 for first",
    reads_ranks=True,
    undefined_because="without both positives and negatives in the list no order is early or late",
    parameters={"decay": 20.0},
    construction=lambda **_: EarlyRecognition,
    caution=short_list,
    order_is_fixed=True,
    title="BEDROC",
    derivation="RIE, scaled so that positives first give 1 and positives last give 0.",
)
def bedroc(tally: Tally, assumptions: Assumptions, *, decay: float = 20.0) -> float:
    r""":math:`(RIE/m - l)/(1 - l)` with :math:`m = (1-e^{-a\pi})/(\pi(1-e^{-a}))` and :math:`l = e^{-a(1-\pi)}`.

    Truchon and Bayly (2007); the class prior enters the scale only.

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
