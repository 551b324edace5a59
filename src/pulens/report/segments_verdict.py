"""Segments in a sentence: which is worst by which metric, or that none clearly differs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pulens.errors import spoken
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.metrics import METRICS
from pulens.report.segments_shown import extremes
from pulens.report.words import title_of as metric_title
from pulens.special import ndtr

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.groups.segments import Evaluations


def segments_verdict(result: Evaluations, metrics: tuple[str, ...], name_of: Any) -> str:
    """The clearest difference between two segments, or that there is none.

    Lowest and highest segment of a metric are compared by the distance of their values, in units of the interval's ends
    between them; p is multiplied by the number of pairs of segments and of metrics (Bonferroni). An exact test of all
    pairs is that of ``gaps_by``.
    """
    ends = {name: pair for name in metrics if (pair := extremes(result, name)) is not None and pair[0] is not pair[1]}
    if not ends:
        return "There is one segment to show." if len(result) == 1 else "No metric is defined in two segments."
    told = {name: tuple(result.segments[one].estimates[name] for one in pair) for name, pair in ends.items()}
    many = len(result) * (len(result) - 1) // 2 * len(told)
    chances = {name: p for name, (low, high) in told.items() if (p := many * _chance(low, high)) < 0.05}
    if not chances:
        reach = [
            f"{_within(name)} {low.value:.3f} to {high.value:.3f}"
            for name, (low, high) in told.items()
            if not (low.withheld_because or high.withheld_because)
        ]
        seen = f" ({', '.join(reach)})" if reach else ""
        return f"No clear difference between the segments of {result.group_by}{seen}."
    name = min(chances, key=lambda one: chances[one])
    worst, best = told[name] if METRICS[name].higher_is_better else told[name][::-1]
    where = ends[name] if METRICS[name].higher_is_better else ends[name][::-1]
    others = [_within(one) for one in told if one not in chances]
    rest = f"; no clear difference in {spoken(others)}" if others else ""
    return (
        f"Worst: {name_of(where[0])}, with {_within(name)} {_shown(worst)} against {_shown(best)} in "
        f"{name_of(where[1])}{rest}."
    )


def _chance(low: Estimate, high: Estimate) -> float:
    """Of two segments that are equal, how often values lie as far apart; 1 where an interval has no confidence."""
    if low.interval is None or high.interval is None or low.interval.confidence is None:
        return 1.0
    if low.withheld_because or high.withheld_because:
        return 1.0
    below, above = low.interval.high - low.value, high.value - high.interval.low
    # segments have different labelled rows; class priors that one label frequency implies move against each other
    reach = math.hypot(below, above) if METRICS[low.metric].of_labelled else below + above
    if not reach > 0:
        return 1.0
    return float(2 * ndtr(-normal_quantile(low.interval.confidence) * (high.value - low.value) / reach))


def _shown(result: Estimate) -> str:
    ends = "" if result.interval is None else f" ({result.interval.low:.3f} to {result.interval.high:.3f})"
    return f"{result.value:.3f}{ends}"


def _within(name: str) -> str:
    """A metric within a sentence: ROC AUC stays, Recall begins small."""
    title = metric_title(name)
    return title if title[1:2].isupper() or title[1:2].isdigit() else f"{title[:1].lower()}{title[1:]}"
