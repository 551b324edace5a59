"""What a page carries so that it can answer by itself: counts, class prior, metrics, histogram, error of thinning."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import value as metric_value
from pulens.priors import population_prior
from pulens.recovery import feasibility, pairwise_auc
from pulens.report.axis import plain
from pulens.report.summary import Row, Summary
from pulens.report.thinning import Thinned, thin
from pulens.report.words import title_of

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evidence import Evidence
    from pulens.strata import StratifiedEvidence

MOST_BINS = 48
PRIORS_CORRECTED = 17  # class priors at which the error of thinning is found


def page_data(evaluation: Evaluation, summary: Summary, weighted: Evidence | None = None) -> dict[str, Any]:
    """Plain values for the page's script; numbers as Python writes them, so that they come back to the bit.

    ``weighted`` is the evidence whose labelled rows are weighted, by their cells or by how labels favour easy
    positives: curves and sliders read it, and uncorrected numbers and the histogram the rows themselves. Intervals are
    those of the report and none elsewhere.
    """
    evidence = weighted or evaluation.evidence
    tally, totals = evidence.tally, evidence.tally.totals
    thinned = thin(tally, keep=(evaluation.threshold,))
    limit = largest_possible_prior(evidence, thinned.tally)
    top = track_end(evidence, limit)
    prior, reach = prior_data(evidence, limit, top), evaluation.class_prior.interval
    if weighted is not None and reach is not None:
        prior |= {"low": reach.low, "high": reach.high, "confidence": reach.confidence}
    return {
        "verdict": list(summary.verdict),
        "interval_name": summary.interval_name,
        "totals": totals._asdict(),
        "scenario": str(evidence.scenario),
        "label_noise": 0.0 if weighted else evidence.label_noise,
        **counted_data(tally, thinned),
        **({} if weighted is None else {"plain": _plain_counts(evaluation.tally, thinned.tally)}),
        "prior": prior,
        "labelling": None if weighted else _labelling(evaluation, summary),
        "threshold": plain(evaluation.threshold),
        "metrics": [metric_data(row, evaluation) for row in (*summary.ranking, *summary.at_threshold)],
        "histogram": histogram(evaluation.tally),
        "thinning": thinning_data(evidence, thinned, min(limit, top)),
        "weighted": weighted is not None,
        **({} if summary.cells is None else {"cells": summary.cells.to_dict()}),
    }


def _plain_counts(tally: Tally, kept: Tally) -> dict[str, Any]:
    """The rows themselves at the page's thresholds: uncorrected numbers weight none of them."""
    index = np.searchsorted(-np.asarray(tally.thresholds, float), -np.asarray(kept.thresholds, float), side="right") - 1
    return {
        "labelled": packed(np.ascontiguousarray(tally.labelled[index])),
        "unlabelled": packed(np.ascontiguousarray(tally.unlabelled[index])),
        "totals": tally.totals._asdict(),
    }


def as_rows(within: StratifiedEvidence) -> Evidence:
    """The weighted tally with as many labelled rows as its weights are worth, for honest standard errors."""
    evidence = within.weighted
    labelled = within.cells.totals[:, 0]
    weights = within.borrowed(within.weights())
    has_rows = labelled > 0
    worth = 1 / float((weights[has_rows] ** 2 / labelled[has_rows]).sum())
    tally = evidence.tally
    scaled = np.asarray(tally.labelled, float) * (worth / tally.totals.labelled)
    return replace(
        evidence, tally=Tally(tally.thresholds, scaled, tally.unlabelled, tally.negative, binning=tally.binning)
    )


def counted_data(tally: Tally, thinned: Thinned) -> dict[str, Any]:
    """The counts that curves and sliders are drawn from, and the areas between kinds of rows before thinning."""
    kept = thinned.tally
    return {
        "counts": {
            "thresholds": packed(kept.thresholds, whole=False),
            "labelled": packed(kept.labelled),
            "unlabelled": packed(kept.unlabelled),
            "negative": packed(kept.negative) if tally.totals.negative else None,
        },
        "pairs": {
            f"{above}_{below}": pairwise_auc(tally, above, below)
            for above, below in (("labelled", "unlabelled"), ("labelled", "negative"), ("unlabelled", "negative"))
        },
    }


def packed(values: NDArray[Any], *, whole: bool = True) -> dict[str, str]:
    """An array as base64, little-endian: whole numbers and single precision in four bytes, else eight-byte floats.

    >>> packed(np.array([1, 2]))
    {'type': 'u4', 'data': 'AQAAAAIAAAA='}
    """
    fits = whole and values.dtype.kind in "iu" and (values.size == 0 or int(values.max()) < 2**32)
    kind = "u4" if fits else "f4" if values.dtype == np.float32 else "f8"
    return {"type": kind, "data": base64.b64encode(np.ascontiguousarray(values, f"<{kind}").tobytes()).decode()}


def largest_possible_prior(evidence: Evidence, tally: Tally) -> float:
    """Largest share of positives among the unlabelled rows whose recovered rates chance can still explain."""
    return feasibility.largest_possible_prior(tally, evidence.label_noise, evidence.scenario)


def track_end(evidence: Evidence, limit: float) -> float:
    """Where the slider ends: beyond every class prior in question, short of the point where labels say nothing."""
    prior = evidence.class_prior
    high = prior.unlabelled if prior.unlabelled_interval is None else prior.unlabelled_interval.high
    feasible = getattr(prior, "unlabelled_feasible", None)
    asked = max(1.3 * limit, 1.3 * high, 1.6 * prior.unlabelled, 0.02, 0.0 if feasible is None else 1.2 * feasible.high)
    return float(min(asked, 0.98 * (1 - evidence.label_noise)))


def histogram(tally: Tally, bins: int | None = None) -> dict[str, Any]:
    """Rows of each kind per bin of the score; scores far out are counted in the outermost bins.

    The number of bins grows with the cube root of the number of labelled rows, the fewest there are.

    >>> histogram(Tally.from_arrays(np.array([1, 0, 0]), np.array([1.0, 1.0, 0.0])), bins=2)["unlabelled"]
    [1.0, 1.0]
    """
    bins = bins or int(np.clip(round(2.5 * tally.totals.labelled ** (1 / 3)), 10, MOST_BINS))
    scores = np.asarray(tally.thresholds, float)
    increments = tally.increments()
    rows = np.cumsum(np.sum([np.asarray(kind, float) for kind in increments], axis=0))
    tails = np.searchsorted(rows, np.array([0.002, 0.998]) * rows[-1]) if rows.size else np.zeros(2, int)
    high, low = (float(scores[min(place, scores.size - 1)]) for place in tails) if rows.size else (1.0, 0.0)
    if scores.size and scores[-1] >= 0 and scores[0] <= 1:
        low, high = min(low, 0.0) if low < 0.2 else low, max(high, 1.0) if high > 0.8 else high
    if not low < high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    places = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, bins - 1)
    labelled, unlabelled, negative = (
        np.bincount(places, weights=np.asarray(kind, float), minlength=bins).tolist() for kind in increments
    )
    return {
        "edges": edges.tolist(),
        "labelled": labelled,
        "unlabelled": unlabelled,
        "negative": negative if tally.has_negatives else None,
    }


def prior_data(evidence: Evidence, limit: float, top: float) -> dict[str, Any]:
    """What the slider needs: the value, its interval, the track's ends and where the data begin to contradict it."""
    prior, totals = evidence.class_prior, evidence.tally.totals

    def population(share: float) -> float:
        return population_prior(share, totals, evidence.scenario, evidence.label_noise)

    feasible = getattr(prior, "unlabelled_feasible", None)
    fixed = not totals.unlabelled  # every class is known: the slider stands still, on a track that still has a length
    return {
        "value": prior.value,
        "unlabelled": prior.unlabelled,
        "low": None if prior.interval is None else prior.interval.low,
        "high": None if prior.interval is None else prior.interval.high,
        "confidence": None if prior.interval is None else prior.interval.confidence,
        "method": prior.method,
        "held": evidence.prior_held,
        "track": [0.0, top] if fixed else [population(0.0), population(top)],
        "possible": 1.0 if fixed else population(limit if feasible is None else feasible.high),
        "limit": 1.0 if fixed else population(limit),
        "fixed": fixed,
    }


def _labelling(evaluation: Evaluation, summary: Summary) -> dict[str, Any] | None:
    """Where random labels are impossible: what the page leads with, and the table of the nearest possible world."""
    result = evaluation.contradiction
    if result is None:
        return None
    table = None if result.favours is None else evaluation.at(evaluation.threshold).table
    names = {"truePositive": "true_positive", "falsePositive": "false_positive"}
    names |= {"falseNegative": "false_negative", "trueNegative": "true_negative"}
    cells = None if table is None else {cell: float(getattr(table, name)[0]) for cell, name in names.items()}
    return {**result.to_dict(), "verdict": list(summary.verdict), "cells": cells}


def metric_data(row: Row, evaluation: Evaluation) -> dict[str, Any]:
    """A metric as the page's script has it: the report's numbers and the facts that decide when they still hold."""
    name = row.name
    facts = METRICS[name]
    recovered, uncorrected = evaluation.estimates[name], evaluation.uncorrected[name]
    interval = recovered.interval
    return {
        "name": name,
        "title": title_of(name),
        "tile": facts.shown.tiles,
        "reads": facts.reads,
        "needs_class_prior": facts.needs_class_prior,
        "rests_on": list(recovered.rests_on or ()),
        "only_interval": row.is_a_range,
        "higher_is_better": facts.higher_is_better,
        "value": plain(recovered.value),
        "low": None if interval is None else plain(interval.low),
        "high": None if interval is None else plain(interval.high),
        "confidence": None if interval is None else interval.confidence,
        "uncorrected": plain(uncorrected.value),
        "undefined": recovered.undefined_because or facts.undefined_because,
    }


def thinning_data(evidence: Evidence, thinned: Thinned, top: float) -> dict[str, Any]:
    """What was left out, and what that changes: bounds for curves, a correction for average precision.

    Average precision over fewer thresholds is a little off. By how much is found at priors up to the largest that the
    data allow; the page adds it, interpolated. Half-way between those priors the error that remains is measured.
    """
    answer: dict[str, Any] = {"kept": len(thinned.tally), "of": thinned.distinct_scores}
    if not thinned.is_thinned:
        return answer
    metric = METRICS["average_precision"]
    priors = np.linspace(top / 1000, top, 2 * PRIORS_CORRECTED - 1)
    missing = []
    for prior in priors.tolist():
        whole, part = (
            metric_value(metric, tally, evidence.assumptions_at(prior)) for tally in (evidence.tally, thinned.tally)
        )
        missing.append(0.0 if math.isnan(whole - part) else whole - part)
    known, between = np.array(missing[::2]), np.array(missing[1::2])
    return answer | {
        "labelled_gap": thinned.labelled_gap,
        "unlabelled_gap": thinned.unlabelled_gap,
        "average_precision": {
            "priors": priors[::2].tolist(),
            "missing": known.tolist(),
            "error": float(np.abs(between - (known[1:] + known[:-1]) / 2).max()),
        },
    }
