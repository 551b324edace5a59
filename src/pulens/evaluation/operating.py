"""Operating points that people name: a threshold by cost, capacity, floor or the first k rows, and what it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.decisions.actions import Actions
from pulens.decisions.costs import NAMES, Costs
from pulens.decisions.linear import Form, LinearAtThresholds
from pulens.errors import InputError, PulensError
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import PriorUncertainty, holding
from pulens.metrics.parts.top_of_list import RankedList, rows_of

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation

#: what says a threshold without being one
FLOORS = ("recall_at_least", "precision_at_least")
DEMANDS = (*NAMES, "capacity", "volume", "capacity_certainty", *FLOORS, "choose", "top")


def demanded_threshold(evaluation: Evaluation, demands: dict[str, Any]) -> float:
    """The threshold that demands make: those of :func:`pulens.decide`, or ``top=k``, the score of the k-th row."""
    unknown = sorted(set(demands) - set(DEMANDS))
    if unknown:
        raise InputError(f"{unknown[0]!r} does not say a threshold; one of {', '.join(DEMANDS)} does.")
    if "top" in demands:
        if len(demands) > 1:
            raise InputError("top= names the k-th row by itself: leave the other demands out, or give capacity=.")
        return kth_score(evaluation.evidence, demands["top"])
    sure = {} if any(name in demands for name in FLOORS) else {"confidence": None}
    decision = evaluation.decide(**{**sure, **demands})
    if decision.threshold is None:
        raise PulensError(f"no threshold is left: {decision.collision}")
    return decision.threshold


def kth_score(evidence: Evidence, k: Any) -> float:
    """The score of the k-th row of the list: rows that share it are flagged together.

    >>> from pulens.evidence import gather
    >>> evidence = gather([1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2], class_prior=0.5)
    >>> kth_score(evidence, 2), kth_score(evidence, "50%")
    (0.85, 0.65)
    """
    ranked = RankedList.of(evidence.tally, evidence.assumptions)
    rows = rows_of(k, ranked.rows, "the top of the list")
    index = int(np.searchsorted(ranked.above + ranked.tied, rows - 1e-9))
    return float(evidence.tally.thresholds[min(index, len(evidence.tally) - 1)])


def cost_at(evidence: Evidence, costs: Costs, threshold: float, resampling: Resampling | None) -> Estimate:
    """Expected cost per 1,000 rows at a threshold that was fixed beforehand.

    >>> from pulens.evidence import gather
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2]
    >>> evidence = gather(labels, scores, unlabelled_prior=0.2, scenario="case-control")
    >>> round(cost_at(evidence, Costs(miss=500.0, alarm=20.0), 0.45, None).value, 6)
    8000.0
    """
    form = Form(-costs.worth_of_hit, costs.price_of_flag, costs.miss)
    points = Actions.at(evidence, threshold, evidence.class_prior.unlabelled)
    value, interval = float(form.of(points)[0]), None
    if resampling is not None:
        rows = np.array(tuple(evidence.tally.at(threshold)), float)
        construction = LinearAtThresholds(evidence, form, (rows[0], rows[1], rows[2]))
        low, high, method = ends_in_doubt(
            construction, PriorUncertainty(evidence), resampling.confidence, resampling.tail
        )
        low, high = holding(value, float(low), float(high))
        if math.isfinite(low) and math.isfinite(high):
            interval = Interval(1000 * low, 1000 * high, resampling.confidence, method)
    return Estimate("cost per 1,000 rows", 1000 * value, interval, threshold=threshold)
