"""What the page of weighted labelled rows carries: the weighted tally, whose curves and sliders are then right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.report.page_data import (
    counted_data,
    histogram,
    largest_possible_prior,
    metric_data,
    packed,
    prior_data,
    thinning_data,
    track_end,
)
from pulens.report.summary import Summary
from pulens.report.thinning import thin

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.strata import StratifiedEvidence


def weighted_data(evaluation: Evaluation, evidence: Evidence, summary: Summary) -> dict[str, Any]:
    """As :func:`pulens.report.page_data.page_data`, without what is known for labels random among all rows only.

    Labelled rows are weighted, by their cells or by how labels favour easy positives; moving a slider keeps the
    weights. Intervals are those of the report and none elsewhere: weights are not rows.
    """
    tally, totals = evidence.tally, evidence.tally.totals
    thinned = thin(tally, keep=(evaluation.threshold,))
    limit = largest_possible_prior(evidence, thinned.tally)
    top = track_end(evidence, limit)
    thinning = thinning_data(evidence, thinned, min(limit, top))
    reach = evaluation.class_prior.interval
    prior = prior_data(evidence, limit, top)
    if reach is not None:
        prior |= {"low": reach.low, "high": reach.high, "confidence": reach.confidence}
    return {
        "verdict": list(summary.verdict),
        "interval_name": summary.interval_name,
        "totals": totals._asdict(),
        "scenario": str(evidence.scenario),
        "label_noise": 0.0,
        **counted_data(tally, thinned),
        "plain": _plain(evaluation.tally, thinned.tally),
        "prior": prior,
        "labelling": None,
        "threshold": evaluation.threshold if np.isfinite(evaluation.threshold) else None,
        "metrics": [metric_data(row, evaluation) for row in (*summary.ranking, *summary.at_threshold)],
        "histogram": histogram(evaluation.tally),
        "confidence": None,
        "scenarios": {
            str(evidence.scenario): {
                "track": prior["track"],
                "possible": prior["possible"],
                "limit": prior["limit"],
                "population": evaluation.target_population,
                "area_offsets": None,
                "missing": thinning.get("average_precision"),
            }
        },
        "sensitivity": None,
        "bounds": False,
        "thinning": thinning,
        "weighted": True,
        **({} if summary.cells is None else {"cells": summary.cells.to_dict()}),
    }


def _plain(tally: Tally, kept: Tally) -> dict[str, Any]:
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
