"""Between both columns: if labels favour one side of the threshold, but not by more than a given factor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pulens.audits.counts import AuditCounts
from pulens.audits.formulas import FORMULAS
from pulens.audits.if_random import drawn_metrics, estimate_from, not_defined_because
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, shown
from pulens.estimate import Estimate, Interval
from pulens.scalars import real

LARGEST_FACTOR = 1_000_000
METHOD = "audit and labelled positives, labels favour either side of the threshold at most {factor:g}:1"


def check_factor(factor: object) -> float:
    """How many to one labels may favour a side.

    >>> check_factor(3)
    3.0
    """
    number = real(factor)
    if not 1 <= number <= LARGEST_FACTOR:
        raise AssumptionError(
            f"factor must lie between 1 (random labels) and {LARGEST_FACTOR:,}, got {shown(factor)}: write 3:1 as 3."
        )
    return number


def nearly_random_estimates(
    counts: AuditCounts, *, factor: float = 3.0, confidence: float = 0.95, seed: int = 0
) -> dict[str, Estimate]:
    r"""What audit and labels say together, if a flagged positive is at most ``factor`` times as likely to be labelled.

    As in the sharper column, but with :math:`L_k \sim \mathrm{Poisson}(\lambda e_k M_k p_k)`, where :math:`e_k` is the
    factor for flagged strata and 1 below, 1 everywhere, or 1 and the factor: of each metric the lowest and the highest
    limit of the three. Values are those of random labels. Where positives are very rare it is what labels can do: from
    answers alone recall has hardly any lower limit there.

    >>> counts = AuditCounts(rows=[40, 49_960], checked=[40, 160], found=[36, 0], labelled=[40, 10], flagged=1,
    ...                      scenario="case-control")
    >>> found = nearly_random_estimates(counts)["recall"].interval
    >>> bool(0.35 < found.low < 0.5), bool(found.high > 0.9)
    (True, True)
    """
    confidence, factor = check_confidence(confidence), check_factor(factor)
    reason = not_defined_because(counts)
    if reason:
        return {name: Estimate(name, math.nan, undefined_because=reason, basis="bounds") for name in FORMULAS}
    flagged = np.arange(counts.strata) < counts.flagged
    result = [
        {
            name: estimate_from(name, drawn, confidence)
            for name, drawn in drawn_metrics(counts, FORMULAS, seed, favour=np.where(flagged, above, below)).items()
        }
        for above, below in ((1.0, 1.0), (factor, 1.0), (1.0, factor))
    ]
    rests = (f"labels favour positives on either side of the threshold at most {factor:g}:1",)
    answer = {}
    for name, middle in result[0].items():
        ends = [one[name].interval for one in result]
        interval = Interval(
            min(one.low for one in ends if one),
            max(one.high for one in ends if one),
            confidence,
            METHOD.format(factor=factor),
        )
        answer[name] = replace(middle, interval=interval, basis="bounds", rests_on=rests)
    return answer
