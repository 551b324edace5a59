"""ROC AUC from an audit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pulens.audits import AuditCounts, AuditResult, CheckedRows
from pulens.audits.area import area_estimate
from pulens.counts.tally import Tally


def _drawn(scores, positive, edges, checked, flagged, random, **more):
    """An audit of a table whose truth is known: strata end below the edges, so many rows of each are checked."""
    stratum = (scores[:, None] < np.asarray(edges)).sum(axis=1)
    rows = np.bincount(stratum, minlength=len(edges) + 1)
    took = np.concatenate(
        [random.choice(np.flatnonzero(stratum == k), n, replace=False) for k, n in enumerate(checked)]
    )
    result = np.bincount(stratum[took][positive[took]], minlength=rows.size)
    counts = AuditCounts(rows=rows, checked=checked, found=result, flagged=flagged, **more)
    return counts, CheckedRows(stratum=stratum[took], score=scores[took], answer=positive[took].astype(int))


def _area(scores, positive) -> float:
    pairs = scores[positive][:, None] - scores[~positive][None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def test_with_every_row_checked_the_area_is_that_of_the_table():
    scores = np.arange(8.0, 0.0, -1.0)
    positive = np.isin(scores, [8, 7, 4])
    counts, rows = _drawn(scores, positive, [6.0], [3, 5], 1, np.random.default_rng(0))
    result = area_estimate(counts, rows, Tally.from_arrays(np.zeros(8, int), scores))
    assert result.value == pytest.approx(13 / 15, abs=1e-12)
    assert (result.interval.low, result.interval.high) == pytest.approx((13 / 15, 13 / 15), abs=1e-12)


def test_tied_scores_count_one_half():
    scores = np.array([3.0, 3.0, 2.0, 2.0, 2.0, 1.0])
    positive = np.array([True, False, True, False, False, False])
    counts, rows = _drawn(scores, positive, [3.0], [2, 4], 1, np.random.default_rng(0))
    result = area_estimate(counts, rows, Tally.from_arrays(np.zeros(6, int), scores))
    assert result.value == pytest.approx(_area(scores, positive), abs=1e-12)


def test_in_the_single_set_labelled_positives_and_known_negatives_belong_to_the_ranking():
    scores = np.arange(10.0)
    labels = np.array([0, -1, 0, 0, 1, 0, 0, 1, 0, 0])
    hidden = np.isin(scores, [9, 5])
    open_ = labels == 0
    counts, rows = _drawn(
        scores[open_], hidden[open_], [6.0], [3, 4], 1, np.random.default_rng(0), labelled=[1, 1], known_negative=[0, 1]
    )
    result = area_estimate(counts, rows, Tally.from_arrays(labels, scores))
    assert result.value == pytest.approx(_area(scores, hidden | (labels == 1)), abs=1e-12)


def test_nothing_found_leaves_the_area_undefined_and_rows_never_checked_leave_it_open():
    scores = np.arange(20.0)
    tally = Tally.from_arrays(np.zeros(20, int), scores)
    counts, rows = _drawn(scores, np.zeros(20, bool), [10.0], [5, 5], 1, np.random.default_rng(0))
    result = area_estimate(counts, rows, tally, draws=400)
    assert math.isnan(result.value)
    assert "no positive was found" in result.undefined_because
    assert (result.interval.low, result.interval.high) == (0, 1)
    counts, rows = _drawn(scores, scores > 12, [10.0], [5, 0], 1, np.random.default_rng(0))
    assert area_estimate(counts, rows, tally).basis == "bounds"


def test_undecided_rows_widen_the_area():
    random = np.random.default_rng(3)
    scores = random.normal(size=300)
    positive = random.random(300) < 1 / (1 + np.exp(-2 * scores))
    counts, rows = _drawn(scores, positive, [0.5], [30, 40], 1, random)
    tally = Tally.from_arrays(np.zeros(300, int), scores)
    sure = area_estimate(counts, rows, tally, draws=2000).interval
    answer = rows.answer.copy()
    doubted = np.flatnonzero(answer == 1)[:3]
    answer[doubted] = -1
    lost = np.bincount(rows.stratum[doubted], minlength=2)
    unsure = AuditCounts(rows=counts.rows, checked=counts.checked, found=counts.found - lost, undecided=lost, flagged=1)
    open_ = CheckedRows(stratum=rows.stratum, score=rows.score, answer=answer)
    wider = area_estimate(unsure, open_, tally, draws=2000).interval
    assert wider.low <= sure.low + 1e-12
    assert sure.high - 1e-12 <= wider.high


def test_the_area_holds_the_truth_about_as_often_as_it_says():
    random, held = np.random.default_rng(8), []
    for _ in range(80):
        scores = random.normal(size=700)
        positive = random.random(700) < 1 / (1 + np.exp(1 - 2 * scores))
        counts, rows = _drawn(scores, positive, [1.0, 0.0], [40, 40, 40], 1, random)
        tally = Tally.from_arrays(np.zeros(700, int), scores)
        result = area_estimate(counts, rows, tally, draws=500)
        held.append(_area(scores, positive) in result.interval)
    assert 0.9 <= np.mean(held) <= 1.0
    assert result.interval.width < 0.25


def test_a_result_with_its_rows_and_tally_has_the_area_among_its_estimates():
    random = np.random.default_rng(5)
    scores = random.normal(size=200)
    counts, rows = _drawn(scores, scores > 0.3, [0.0], [20, 20], 1, random)
    tally = Tally.from_arrays(np.zeros(200, int), scores)
    result = AuditResult(counts=counts, checked_rows=rows, tally=tally)
    assert result.estimates["roc_auc"].interval.low > 0.5
    assert "roc_auc" not in AuditResult(counts=counts).estimates


def test_where_every_checked_row_is_positive_the_area_is_undefined_rather_than_zero():
    """Weights of 51/10 and the like add up to the number of rows but for the last bits."""
    scores = np.arange(400.0)[::-1]
    stratum = (scores < 349).astype(np.int64)
    places = np.concatenate([np.arange(10), 51 + np.arange(41)])
    rows = CheckedRows(stratum=stratum[places], score=scores[places], answer=np.ones(51, np.int64))
    counts = AuditCounts(rows=[51, 349], checked=[10, 41], found=[10, 41], flagged=1)
    result = area_estimate(counts, rows, Tally.from_arrays(np.zeros(400, int), scores), draws=200)
    assert np.isnan(result.value)
    assert result.undefined_because == "no negative was found"
