"""Ranges of metrics when labelling may favour some scores: the polytope's extremes, put through the recovery."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.intervals.kernels.redraws import compress
from pulens.recovery import Recovery
from pulens.recovery.contingency import Contingency
from pulens.recovery.labelling import Favours, mean_range, precision_sum, precision_sum_range, rate_range
from pulens.scenario import Scenario
from pulens.types import Floats

RATES_TRIED = 257  # true positive rates between the extremes, for metrics that need not be monotone


def negative_rate(
    evidence: Evidence, recovery: Recovery, hits: Any, labelled: Any, unlabelled: Any, refuted: Any
) -> Any:
    r"""False positive rate when the true positive rate is ``hits`` instead of the labelled one.

    Case-control: :math:`\eta_{pu} = \alpha\gamma + (1-\alpha)\eta`. Single set: what is predicted positive less the
    positives among it. Known negatives are averaged in as the recovery does.
    """
    totals = evidence.tally.totals
    if evidence.recovery_scenario is Scenario.SINGLE_SET:
        called = totals.labelled * labelled + totals.unlabelled * unlabelled + totals.negative * refuted
        return (called - recovery.positive * hits) / recovery.negative
    on_labelled, on_unlabelled, on_negative = recovery.false_positive_rate
    return on_labelled * hits + on_unlabelled * unlabelled + on_negative * refuted


def range_at_threshold(
    evidence: Evidence, compute: Any, threshold: float, factor: float, favours: Favours, parameters: dict[str, Any]
) -> tuple[float, float]:
    """Any metric of the contingency table: with the true positive rate the whole table is given."""
    recovery, totals = evidence.recovery, evidence.tally.totals
    labelled, unlabelled, refuted = (
        hits / total if total else 0.0 for hits, total in zip(evidence.tally.at(threshold), totals, strict=True)
    )
    low, high = rate_range(np.array(labelled), factor, favours)
    # positives that do not fit among the rows predicted positive, or among the others, are no possibility;
    # the false positive rate falls with the true one, in a straight line
    none, all_ = (negative_rate(evidence, recovery, rate, labelled, unlabelled, refuted) for rate in (0.0, 1.0))
    ends = [float(low), float(high)]
    if none > all_:
        fits = ((none - 1.0) / (none - all_), none / (none - all_))
        inside = max(ends[0], fits[0]), min(ends[1], fits[1])
        ends = list(inside) if inside[0] <= inside[1] else ends
    hits = np.linspace(ends[0], ends[1], RATES_TRIED)
    alarms = negative_rate(evidence, recovery, hits, labelled, unlabelled, refuted)
    table = Contingency(np.full(hits.size, threshold), hits, alarms, recovery.positive, recovery.negative)
    values = compute(table, **parameters)
    return float(np.nanmin(values)), float(np.nanmax(values))


def _population(evidence: Evidence, tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Shares of labelled, unlabelled and known negative rows at or above each score."""
    return tuple(  # type: ignore[return-value]
        np.asarray(kind, float) / total if total else np.zeros(len(tally))
        for kind, total in zip((tally.labelled, tally.unlabelled, tally.negative), evidence.tally.totals, strict=True)
    )


def range_of_area(evidence: Evidence, factor: float, favours: Favours, known: float) -> tuple[float, float]:
    r"""ROC AUC is linear in the positives' density: :math:`\sum_s f_1(s) B(s) + c`, whatever is ``known`` of it.

    Negatives are the population less the positives in it, and positives against themselves give one half.
    """
    values, constant, _ = outscored_by(evidence)
    labelled = _population(evidence, evidence.tally)[0]
    low, high = mean_range(np.diff(labelled, prepend=0.0), values, factor, favours)
    return low + constant, high + constant


def outscored_by(evidence: Evidence) -> tuple[Floats, float, tuple[float, float]]:
    """What a positive at each score adds to the ROC AUC, what positives against themselves take away, and how much
    of it comes from unlabelled and known negative rows."""
    recovery, tally, totals = evidence.recovery, evidence.tally, evidence.tally.totals
    labelled, unlabelled, refuted = _population(evidence, tally)
    outscored = [1.0 - (rate - np.diff(rate, prepend=0.0) / 2) for rate in (labelled, unlabelled, refuted)]
    if evidence.recovery_scenario is Scenario.SINGLE_SET:
        parts = zip((totals.labelled, totals.unlabelled, totals.negative), outscored, strict=True)
        values = sum(total * part for total, part in parts) / recovery.negative
        constant = -0.5 * recovery.positive / recovery.negative
        weights = (totals.unlabelled / recovery.negative, totals.negative / recovery.negative)
    else:
        on_labelled, on_unlabelled, on_negative = recovery.false_positive_rate
        values = on_unlabelled * outscored[1] + on_negative * outscored[2]
        constant = 0.5 * on_labelled
        weights = (on_unlabelled, on_negative)
    return np.asarray(values), constant, weights


def range_of_average_precision(
    evidence: Evidence, factor: float, favours: Favours, known: float
) -> tuple[float, float]:
    """Change of average precision from labelling at random, added to its value (which cuts precisions at 1)."""
    tally = compress(evidence.tally)
    recovery = evidence.recovery
    labelled, unlabelled, refuted = _population(evidence, tally)
    totals = evidence.tally.totals
    if evidence.recovery_scenario is Scenario.SINGLE_SET:
        called = (totals.labelled * labelled + totals.unlabelled * unlabelled + totals.negative * refuted) / totals.rows
    else:
        called = unlabelled
    shares = np.diff(labelled, prepend=0.0)
    prior = recovery.class_prior
    if prior == 0:  # no positive to find in any world, and perhaps no row at the scores of the labelled ones
        return known, known
    # a precision cannot pass 1: where fewer rows are called than positives would be found, those rows count
    called = np.maximum(called, prior * labelled)
    kept = shares > 0
    shares, called = shares[kept], np.maximum.accumulate(called[kept])
    low, high = precision_sum_range(shares, called, factor, favours)
    now = precision_sum(shares, called)
    return known + prior * (low - now), known + prior * (high - now)
