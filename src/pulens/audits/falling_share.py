r"""A third line for very rare positives: if the share of positives falls with the score.

Let strata j..K lie below the threshold, with shares :math:`p_j \ge ... \ge p_K` and sampling fractions
:math:`f_j \ge ... \ge f_K`, :math:`f_k = n_k/M_k`. By Chebyshev's sum inequality

.. math:: \frac{\sum M_k f_k p_k}{\sum M_k f_k} \ge \frac{\sum M_k p_k}{\sum M_k},

so the checked rows of these strata together hold positives at least as densely as the strata do, and an upper limit from
them, taken as one stratum, holds for the total. That is used for upper limits of the missed positives only, and for
strata from the second below the threshold on: where most of the finds are, nothing is joined.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pulens.audits.counts import AuditCounts, Counts
from pulens.audits.estimates import design_estimates
from pulens.audits.formulas import FORMULAS
from pulens.counts.hypergeometric import tails
from pulens.estimate import Estimate

FALLING_SHARE = "falling share"
SPARED = 1  # strata below the threshold that are never joined with others
ASSUMED = "the share of positives falls with the score"


def falling_share_estimates(
    counts: AuditCounts, *, confidence: float = 0.95, interval: str = "balanced", seed: int = 0
) -> dict[str, Estimate]:
    """Column one with sharper limits for what was missed, if the share of positives falls with the score.

    The values, and the limits that few missed positives would give, are those of column one.

    >>> counts = AuditCounts(rows=[50, 200, 1500, 8000, 40250], checked=[40, 12, 13, 15, 20], found=[38, 2, 0, 0, 0],
    ...                      flagged=1, scenario="case-control")
    >>> alone, sharper = (of(counts)["recall"].interval for of in (design_estimates, falling_share_estimates))
    >>> bool(sharper.low > alone.low), sharper.high == alone.high
    (True, True)
    """
    plain = design_estimates(counts, confidence=confidence, interval=interval, seed=seed)
    joined = design_estimates(joined_below(counts), confidence=confidence, interval=interval, seed=seed)
    answer = {}
    for name, estimate in plain.items():
        formula, ours, theirs = FORMULAS[name], estimate.interval, joined[name].interval
        if formula.reads != "above" and ours is not None and theirs is not None:
            if formula.reads == "everywhere" or not formula.rises:  # many missed positives make it high
                ours = replace(ours, high=max(min(ours.high, theirs.high), estimate.value), method=_method(ours.method))
            else:
                ours = replace(ours, low=min(max(ours.low, theirs.low), estimate.value), method=_method(ours.method))
        answer[name] = replace(estimate, interval=ours, rests_on=(*(estimate.rests_on or ()), ASSUMED))
    return answer


def _method(name: str) -> str:
    return f"{name}, {FALLING_SHARE}"


def joined_below(counts: AuditCounts) -> AuditCounts:
    """The strata from the second below the threshold on made one, as far down as they were checked ever more thinly.

    >>> counts = AuditCounts(rows=[50, 200, 1500, 8000], checked=[40, 12, 13, 15], found=[38, 2, 0, 0], flagged=1)
    >>> joined_below(counts).rows.tolist(), joined_below(counts).checked.tolist()
    ([50, 200, 9500], [40, 12, 28])
    """
    start = counts.flagged + SPARED
    if counts.strata - start < 2:
        return counts
    fraction = counts.checked / np.maximum(counts.rows, 1)
    first = np.arange(counts.strata)  # where each stratum goes
    for stratum in range(start + 1, counts.strata):
        if fraction[stratum] <= fraction[stratum - 1]:
            first[stratum] = first[stratum - 1]
    place = np.unique(first, return_inverse=True)[1]

    def together(of: Counts) -> Counts:
        return np.bincount(place, of, minlength=int(place[-1]) + 1).astype(np.int64)

    names = ("rows", "checked", "found", "labelled", "known_negative", "undecided")
    return replace(counts, **{name: together(getattr(counts, name)) for name in names})


def falling_share_p_value(counts: AuditCounts) -> float:
    """Whether the finds contradict a falling share: the least of the exact tests, one at each edge between strata.

    At an edge, positives should be found at least as often above it as below it (Fisher's exact test, one-sided, of
    checked rows above and below); the least p-value times the number of edges (Bonferroni). With few finds it can see
    little: zero finds below say nothing against it, and nothing for it.

    >>> falling_share_p_value(AuditCounts(rows=[100, 900], checked=[50, 50], found=[1, 12], flagged=1)) < 0.05
    True
    >>> falling_share_p_value(AuditCounts(rows=[100, 900], checked=[50, 50], found=[12, 0], flagged=1))
    1.0
    """
    checked, found = counts.checked.sum(), counts.found.sum()
    edges = [edge for edge in range(1, counts.strata) if counts.checked[:edge].sum() and counts.checked[edge:].sum()]
    chances = [
        float(tails(counts.found[edge:].sum(), checked, counts.checked[edge:].sum(), found).at_least.item())
        for edge in edges
    ]
    return min(1.0, len(edges) * min(chances)) if chances else 1.0
