"""Recall at k: the share of all positives that stand among the first k rows."""

from __future__ import annotations

from typing import Any

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric, Shown
from pulens.metrics.parts.top_intervals import RecallAtPlace
from pulens.metrics.parts.top_of_list import RankedList, binned_share, rows_of
from pulens.recovery.assumptions import Assumptions


def recall_at_k(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    r"""The chance that a positive stands among the first k rows of the list; of clean labels, of a held-out one.

    k counts rows; below 1, or written ``"1%"``, it is a share of the list. Tied rows share their places.

    >>> import numpy as np
    >>> from pulens.scenario import Scenario
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(recall_at_k(tally, Assumptions(0.2, scenario=Scenario.CASE_CONTROL), k=3), 6)
    0.666667
    """
    ranked = RankedList.of(tally, assumptions)
    return ranked.of_positives(ranked.membership(rows_of(k, ranked.rows, "recall_at_k")))


def _binning_error(tally: Tally, assumptions: Assumptions, *, k: Any = 0.1) -> float:
    ranked = RankedList.of(tally, assumptions)
    rows = rows_of(k, ranked.rows, "recall_at_k")
    return binned_share(tally, assumptions, rows)


METRIC = Metric(
    recall_at_k,
    "Of all positives, how many are among the first k rows",
    reads="ranking",
    needs_class_prior=False,
    listed=False,
    parameters={"k": 0.1},
    binning_error=_binning_error,
    construction=lambda **_: RecallAtPlace,
    order_is_fixed=True,  # the rows of the list weigh the same in every order, so labelled rows decide
    title="Recall at k",
    derivation="The share of labelled rows among the first k rows of the list, ties sharing their places.",
    shown=Shown(top=2),
)
