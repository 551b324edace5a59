"""What a page carries so that it can answer by itself: counts, class prior, metrics, histogram, error of thinning."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, PulensError
from pulens.evaluation.other_scenario import under_scenario
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.redraws import compress
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.measure import value as metric_value
from pulens.priors import ClassPrior, population_prior
from pulens.recovery import feasibility, pairwise_auc
from pulens.report.summary import Row, Summary
from pulens.report.thinning import Thinned, thin
from pulens.report.words import title_of
from pulens.scenario import Scenario
from pulens.selection.favouring import ranges_under_other_labelling, sensitivity_curve

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evidence import Evidence

MOST_BINS = 48
PRIORS_WITH_INTERVALS = 17
MOST_FAVOURED = 5.0  # labelling may favour high scores by up to this factor in the chart
FACTORS_TRIED = 17
PRIORS_CORRECTED = 17  # class priors at which the error of thinning is found


def page_data(evaluation: Evaluation, summary: Summary, thinned: Thinned | None = None) -> dict[str, Any]:
    """Plain values for the page's script; numbers as Python writes them, so that they come back to the bit."""
    evidence = evaluation.evidence
    tally, totals = evidence.tally, evidence.tally.totals
    thinned = thinned or thin(tally, keep=(evaluation.threshold,))
    limit = largest_possible_prior(evidence, thinned.tally)
    top = track_end(evidence, limit)
    thinning = thinning_data(evidence, thinned, min(limit, top))
    return {
        "verdict": list(summary.verdict),
        "interval_name": summary.interval_name,
        "totals": totals._asdict(),
        "scenario": str(evidence.scenario),
        "label_noise": evidence.label_noise,
        **counted_data(tally, thinned),
        "prior": prior_data(evidence, limit, top),
        "labelling": _labelling(evaluation, summary),
        "threshold": evaluation.threshold if math.isfinite(evaluation.threshold) else None,
        "metrics": [metric_data(row, evaluation) for row in (*summary.ranking, *summary.at_threshold)],
        "histogram": histogram(tally),
        # the page redraws rows as if they were independent: where they are not it shows no intervals of its own
        "confidence": None
        if evaluation.resampling is None or evidence.buckets is not None
        else evaluation.resampling.confidence,
        **_factor(evaluation),
        "scenarios": {str(scenario): scenario_data(evaluation, scenario, thinned) for scenario in Scenario},
        "sensitivity": _sensitivity(evaluation, thinned),
        # bounds are known for clean labels only
        "bounds": bool(
            evaluation.resampling
            and totals.unlabelled
            and totals.labelled
            and not evidence.label_noise
            and evidence.buckets is None
        ),
        "thinning": thinning,
    }


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


def scenario_data(evaluation: Evaluation, scenario: Scenario, thinned: Thinned) -> dict[str, Any]:
    """What the switch needs: the slider's ends and the sample's doubt if rows had got their labels in another way."""
    evidence = in_scenario(evaluation.evidence, scenario)
    limit = largest_possible_prior(evidence, thinned.tally)
    top = track_end(evidence, limit)
    prior = prior_data(evidence, limit, top)
    return {
        "track": prior["track"],
        "possible": prior["possible"],
        "limit": prior["limit"],
        "population": evidence.target_population,
        "area_offsets": _area_offsets(evaluation, evidence, top),
        "missing": thinning_data(evidence, thinned, min(limit, top)).get("average_precision"),
    }


def in_scenario(evidence: Evidence, scenario: Scenario) -> Evidence:
    """The same rows in another scenario: the same class prior if it was given, or the nearest that is possible there.

    An estimate or an audit found the share among the unlabelled rows, and so it is that which stays.
    """
    if scenario is evidence.scenario:
        return evidence
    prior, totals = evidence.class_prior, evidence.tally.totals
    try:
        share = under_scenario(evidence, scenario).class_prior.unlabelled
    except AssumptionError:
        share = 0.0 if prior.value < 0.5 else 1.0
    share = min(share, 0.9999 * (1 - evidence.label_noise))
    value = population_prior(share, totals, scenario, evidence.label_noise)
    moved = ClassPrior(value, share, prior.method, unlabelled_feasible=prior.unlabelled_feasible)
    return replace(evidence, class_prior=moved, scenario=scenario)


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


def _factor(evaluation: Evaluation) -> dict[str, float]:
    """How many times as wide as redraws say the page's own intervals are; nothing where that is once."""
    resampling = evaluation.resampling
    return {} if resampling is None or resampling.factor == 1 else {"factor": resampling.factor}


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
        "value": _plain(recovered.value),
        "low": None if interval is None else _plain(interval.low),
        "high": None if interval is None else _plain(interval.high),
        "confidence": None if interval is None else interval.confidence,
        "uncorrected": _plain(uncorrected.value),
        "undefined": recovered.undefined_because or facts.undefined_because,
    }


def _area_offsets(evaluation: Evaluation, given: Evidence, top: float) -> dict[str, list[float]] | None:
    """How far the ends of the ROC AUC's interval lie from its value, at class priors over the slider's range.

    The page adds them to the value it computes. They come from the sample alone: the prior is taken as known, as
    it is by a person who moves the slider. Found on fewer thresholds: what that changes in a width is nothing to see.
    """
    if evaluation.resampling is None:
        return None
    evidence = given.with_tally(compress(given.tally))
    # not cut at 0 and 1: between a prior at which an end is cut and one at which it is not nothing is linear
    metric, totals = replace(METRICS["roc_auc"], lowest=-math.inf, highest=math.inf), evidence.tally.totals
    result: dict[str, list[float]] = {"priors": [], "low": [], "high": []}
    for prior in np.linspace(0.0, top, PRIORS_WITH_INTERVALS).tolist():
        population = population_prior(prior, totals, evidence.scenario, evidence.label_noise)
        exact = replace(evidence, class_prior=ClassPrior(population, prior, "tried"), prior_held="population")
        area = estimate("roc_auc", metric, exact, doubts=IntervalEstimator(exact, evaluation.resampling))
        if area.interval is None:
            return None
        result["priors"].append(prior)
        result["low"].append(area.interval.low - area.value)
        result["high"].append(area.interval.high - area.value)
    return result


def _sensitivity(evaluation: Evaluation, thinned: Thinned) -> dict[str, Any] | None:
    """Ranges of the areas when labelling favoured high scores; the page finds those at a threshold by itself."""
    evidence = evaluation.evidence.with_tally(thinned.tally)  # a chart needs no more thresholds than the curves
    factors = np.geomspace(1.0, MOST_FAVOURED, FACTORS_TRIED)
    areas = {}
    for name in ranges_under_other_labelling():
        try:
            low, high = sensitivity_curve(evidence, name, factors=factors)
        except PulensError:  # noisy labels, or nothing to be sensitive: then there is no such chart
            return None
        areas[name] = {"low": low.y.tolist(), "high": high.y.tolist()}
    return {"factors": factors.tolist(), "areas": areas}


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


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
