"""When a number is withheld: the one rule that every door, table, frame and page reads.

An estimated class prior may leave a number so open that any single value of it would say more than the rows do. Whether
it does is a matter of the number, not of the class prior: the rows may place ROC AUC within a few hundredths and
precision nowhere between 0.1 and 0.8. So each is judged by the width of its own interval, and where that is wide
because of the class prior only the interval is given: the value is nan, with its reason.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pulens.estimate import Estimate
from pulens.metrics.parts.metric import Metric

WIDE = 0.5  # of all values that the metric can have
BECAUSE = "no single value: it depends on the class prior, which this data barely constrains"


def withhold(result: Estimate, metric: Metric) -> Estimate:
    """The estimate as it is shown; without its value where the class prior leaves that open.

    >>> from pulens.estimate import Interval
    >>> from pulens.metrics import METRICS
    >>> reach, estimated = Interval(0.1, 0.8, 0.95, "range"), ("random labelling", "class prior (estimated)")
    >>> found = Estimate("precision", 0.4, reach, sources={"class prior": reach}, rests_on=estimated)
    >>> print(withhold(found, METRICS["precision"]))
    precision [0.100, 0.800]: no single value: it depends on the class prior, which this data barely constrains
    """
    reach = result.sources.get("class prior")
    if result.interval is None or reach is None or not result.rests_on_an_estimated_prior or math.isnan(result.value):
        return result
    span = metric.highest - metric.lowest
    if not math.isfinite(span):  # of what has no highest or lowest value, its own size
        span = max(abs(result.interval.low), abs(result.interval.high))
    if result.interval.width <= WIDE * span or reach.width < result.interval.width / 2:
        return result
    return replace(result, value=math.nan, withheld_because=BECAUSE, landmarks={})
