"""What labelled rows prove of the rows at hand: in one sample they are positives, whatever the class prior is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.metrics.parts.metric import Metric
from pulens.scenario import Scenario


def confirmed_share(metric: Metric, evidence: Evidence, threshold: float | None) -> float:
    """The least that the metric can be on these rows: of precision, the share of the flagged rows that are labelled.

    In case-control labelled rows are no rows of the population, and noisy labels prove nothing.

    >>> from pulens.evidence import gather
    >>> from pulens.metrics import METRICS
    >>> evidence = gather([1, 0, 0, 1], [4, 3, 2, 1], class_prior=0.5)
    >>> confirmed_share(METRICS["precision"], evidence, 3.0), confirmed_share(METRICS["recall"], evidence, 3.0)
    (0.5, 0.0)
    """
    if not metric.confirmed or evidence.scenario is not Scenario.SINGLE_SET or evidence.label_noise:
        return 0.0
    if threshold is None:
        return 0.0
    labelled, unlabelled, negative = evidence.tally.at(threshold)
    flagged = labelled + unlabelled + negative
    return float(labelled / flagged) if flagged else 0.0


def not_below(interval: Interval | None, least: float) -> Interval | None:
    """The interval without what the rows at hand rule out.

    >>> print(not_below(Interval(0.1, 0.5, 0.95, "Jeffreys"), 0.2))
    [0.200, 0.500]
    """
    if interval is None or interval.low >= least:
        return interval
    return replace(interval, low=min(least, interval.high))


def as_confirmed(result: Estimate, metric: Metric, evidence: Evidence) -> Estimate:
    """The estimate with an interval that does not reach below what is confirmed."""
    least = confirmed_share(metric, evidence, result.threshold)
    return replace(result, interval=not_below(result.interval, least)) if least else result


def confirmed_shares(metric: Metric, hits: Any, *, is_single: bool, label_noise: float) -> Any:
    """:func:`confirmed_share` of many tables; ``hits`` are rows at or above the threshold, a column for each kind."""
    if not metric.confirmed or not is_single or label_noise:
        return np.full(len(hits), -np.inf)
    flagged = hits.sum(axis=1)
    return np.divide(hits[:, 0], flagged, out=np.zeros(len(hits)), where=flagged > 0)
