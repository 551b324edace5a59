r"""What is made of rows known to be negative, said in words: they are seldom a random draw of the negatives.

A random draw of negatives scores no higher than the unlabelled rows, which hold positives besides: where it does, by
:math:`z = (A - \frac12)/\sqrt{(m+k+1)/(12mk)}` standard errors of the Wilcoxon statistic, the negatives come from
somewhere else, most often from a review of the top rows.
"""

from __future__ import annotations

import math

import numpy as np

from pulens.counts.tally import Tally
from pulens.notice import Notice, Severity
from pulens.scenario import Scenario

TOO_HIGH = 3.0  # standard errors: a chance finding in one table of 700
WAY_OUT = (
    "If they come from a review, say so: reviews= with the chance of each row, or reviewed_above= (--reviews, "
    "--reviewed-above); they then count as unlabelled rows that were looked at."
)


def notice_of_estimate(tally: Tally, *, reads_negatives: bool, method: str) -> list[Notice]:
    """What an estimator of the class prior does with them.

    >>> tally = Tally.from_arrays(np.repeat([1, 0, -1], [20, 80, 30]), np.r_[np.arange(100), np.arange(30) + 50])
    >>> [notice.severity.name for notice in notice_of_estimate(tally, reads_negatives=False, method="best_bin")]
    ['NOTE']
    """
    many = tally.totals.negative
    if not many or not tally.totals.unlabelled:
        return []
    if not reads_negatives:
        words = f"The class prior's estimate ({method}) does not look at the {many:,.10g} known negatives."
        return [Notice(Severity.NOTE, "known-negatives-unread", words)]
    words = (
        f"The class prior's estimate ({method}) takes the {many:,.10g} known negatives for a random draw of the "
        f"negatives{_too_high(tally)}. {WAY_OUT}"
    )
    return [Notice(_severity(tally), "known-negatives-drawn", words)]


def notice_of_recovery(tally: Tally, scenario: Scenario) -> list[Notice]:
    """What the recovered numbers make of them."""
    totals = tally.totals
    if not totals.negative or not totals.unlabelled:
        return []
    many = f"{totals.negative:,.10g} known negatives"
    if scenario is Scenario.CASE_CONTROL:
        words = f"The {many} are taken for a random draw of the negatives{_too_high(tally)}. {WAY_OUT}"
        return [Notice(_severity(tally), "known-negatives", words)]
    words = (
        f"The {many} count as rows of the population whose class is known, and labelled positives as a random draw of "
        f"all positives. Were both found in one review, neither is: the review's cutoff would decide recall. {WAY_OUT}"
    )
    return [Notice(_severity(tally), "known-negatives", words)]


def _severity(tally: Tally) -> Severity:
    return Severity.WARNING if _standard_errors(tally) > TOO_HIGH else Severity.NOTE


def _too_high(tally: Tally) -> str:
    if _standard_errors(tally) <= TOO_HIGH:
        return ""
    return ", which they cannot be: they score higher than the unlabelled rows do, as rows from the top of a list do"


def _standard_errors(tally: Tally) -> float:
    """How far the known negatives score above the unlabelled rows."""
    _, unlabelled, negative = (np.asarray(kind, float) for kind in tally.increments())
    m, k = unlabelled.sum(), negative.sum()
    below = m - np.cumsum(unlabelled) + unlabelled / 2
    area = float(negative / k @ below) / m  # shares first: a weight may be so small that its products are none
    return float((area - 0.5) * math.sqrt(k) / math.sqrt((m + k + 1) / (12 * m)))
