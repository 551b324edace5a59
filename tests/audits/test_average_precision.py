"""Average precision from an audit."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from pulens.audits import AuditCounts, AuditResult, CheckedRows, average_precision
from pulens.audits.average_precision import ScoreCells, _average, average_precision_estimate, cells_of
from pulens.counts.tally import Tally


def _truth(scores, positive) -> float:
    """Precision at the score of each positive, ties sharing a threshold."""
    met = [positive[scores >= score].sum() / (scores >= score).sum() for score in scores[positive]]
    return float(np.mean(met))


def _drawn(scores, positive, edges, checked, flagged, random, **more):
    stratum = (scores[:, None] < np.asarray(edges)).sum(axis=1)
    took = np.concatenate(
        [random.choice(np.flatnonzero(stratum == k), n, replace=False) for k, n in enumerate(checked)]
    )
    counts = AuditCounts(
        rows=np.bincount(stratum, minlength=len(edges) + 1),
        checked=checked,
        found=np.bincount(stratum[took][positive[took]], minlength=len(edges) + 1),
        flagged=flagged,
        **more,
    )
    return counts, CheckedRows(stratum=stratum[took], score=scores[took], answer=positive[took].astype(int))


@pytest.mark.parametrize("tied", [False, True])
def test_with_every_row_checked_it_is_that_of_the_table(tied):
    random = np.random.default_rng(2)
    scores = np.round(random.normal(size=60), 1 if tied else 9)
    positive = random.random(60) < 1 / (1 + np.exp(-2 * scores))
    sizes = [int((scores >= 0.5).sum()), int((scores < 0.5).sum())]
    counts, rows = _drawn(scores, positive, [0.5], sizes, 1, random)
    result = average_precision_estimate(counts, rows, Tally.from_arrays(np.zeros(60, int), scores))
    assert result.value == pytest.approx(_truth(scores, positive), abs=1e-12)
    assert result.interval.width == 0


def test_in_the_single_set_labelled_positives_and_known_negatives_belong_to_the_ranking():
    scores = np.arange(10.0)
    labels = np.array([0, -1, 0, 0, 1, 0, 0, 1, 0, 0])
    hidden, open_ = np.isin(scores, [9, 5]), labels == 0
    counts, rows = _drawn(
        scores[open_], hidden[open_], [6.0], [3, 4], 1, np.random.default_rng(0), labelled=[1, 1], known_negative=[0, 1]
    )
    result = average_precision_estimate(counts, rows, Tally.from_arrays(labels, scores))
    assert result.value == pytest.approx(_truth(scores, hidden | (labels == 1)), abs=1e-12)


def test_labelled_rows_above_every_other_row_do_not_matter_in_case_control():
    scores = np.arange(20.0)
    counts, rows = _drawn(
        scores, scores > 14, [10.0], [10, 10], 1, np.random.default_rng(0), labelled=[1, 0], scenario="case-control"
    )
    tally = Tally.from_arrays(np.append(np.zeros(20, int), 1), np.append(scores, 50.0))
    assert average_precision_estimate(counts, rows, tally).value == 1


def test_no_arrangement_within_cells_is_beyond_the_ends_of_the_cells():
    sizes, positives = [3, 4], [2, 2]
    for tie in (False, True):
        cells = ScoreCells(
            np.array([0, 1]), np.array([3.0, 4.0]), np.array(sizes), np.zeros(2), np.array([tie, tie]), np.zeros(0, int)
        )
        low, high = (_average(np.array([positives], float), cells, at_top=top)[0] for top in (False, True))
        scores = np.array([2.0] * 3 + [1.0] * 4) if tie else np.arange(7.0, 0.0, -1.0)
        seen = []
        for first in set(permutations([1, 1, 0])):
            for second in set(permutations([1, 1, 0, 0])):
                seen.append(_truth(scores, np.array(first + second, bool)))
        assert low <= min(seen) + 1e-12
        assert max(seen) <= high + 1e-12
        if not tie:
            assert (low, high) == pytest.approx((min(seen), max(seen)))


def test_cells_end_at_scores_and_hold_all_rows():
    random = np.random.default_rng(4)
    scores = np.round(random.normal(size=400), 1)
    counts, rows = _drawn(scores, scores > 1, [0.5], [60, 60], 1, random)
    cells = cells_of(counts, rows, Tally.from_arrays(np.zeros(400, int), scores))
    assert cells.unlabelled.sum() == 400
    assert [int(cells.unlabelled[cells.stratum == k].sum()) for k in (0, 1)] == counts.rows.tolist()
    assert np.bincount(cells.of_row).min() >= 4
    for score in np.unique(rows.score):
        assert len(set(cells.of_row[rows.score == score])) == 1


def test_nothing_found_leaves_it_undefined_and_rows_never_checked_leave_it_open():
    scores = np.arange(40.0)
    tally = Tally.from_arrays(np.zeros(40, int), scores)
    counts, rows = _drawn(scores, np.zeros(40, bool), [20.0], [8, 8], 1, np.random.default_rng(0))
    result = average_precision_estimate(counts, rows, tally)
    assert math.isnan(result.value)
    assert result.interval.low == 0
    counts, rows = _drawn(scores, scores > 30, [20.0], [8, 0], 1, np.random.default_rng(0))
    assert average_precision_estimate(counts, rows, tally).basis == "bounds"


@pytest.mark.parametrize("kind", ["balanced", "strict"])
def test_it_holds_the_truth_at_least_as_often_as_it_says(kind):
    random, held, widths = np.random.default_rng(10), [], []
    for _ in range(80):
        scores = random.normal(size=1500)
        positive = random.random(1500) < 1 / (1 + np.exp(1 - 2 * scores))
        counts, rows = _drawn(scores, positive, [1.0, 0.0], [50, 40, 40], 1, random)
        order = np.argsort(-scores)
        ranked = positive[order]
        truth = float((np.cumsum(ranked) / np.arange(1, 1501))[ranked].mean())
        tally = Tally.from_arrays(np.zeros(1500, int), scores)
        result = average_precision_estimate(counts, rows, tally, interval=kind, draws=500)
        held.append(truth in result.interval)
        widths.append(result.interval.width)
    assert np.mean(held) >= 0.93
    assert np.mean(widths) < 0.35


def test_a_result_with_its_rows_and_tally_has_it_among_its_estimates():
    random = np.random.default_rng(5)
    scores = random.normal(size=200)
    counts, rows = _drawn(scores, scores > 0.3, [0.0], [20, 20], 1, random)
    tally = Tally.from_arrays(np.zeros(200, int), scores)
    result = AuditResult(counts=counts, checked_rows=rows, tally=tally).estimates["average_precision"]
    assert result.value in result.interval
    cells = AuditResult(counts=counts, checked_rows=rows, tally=tally, score_ranges=False)
    assert "average_precision" not in cells.estimates


def test_limits_lie_halfway_between_positives_at_the_ends_of_cells_and_spread_evenly(monkeypatch):
    """Those at the ends held the truth in every audit of real data sets, a third wider than needed."""
    rng = np.random.default_rng(3)
    scores = np.sort(rng.normal(size=2000))[::-1]
    truth = rng.random(2000) < 1 / (1 + np.exp(1 - 2 * scores))
    stratum = np.repeat([0, 1], [500, 1500])
    places = np.concatenate([rng.choice(500, 50, replace=False), 500 + rng.choice(1500, 50, replace=False)])
    answer = truth[places].astype(int)
    checked = CheckedRows(stratum=stratum[places], score=scores[places], answer=answer)
    found = [int(answer[:50].sum()), int(answer[50:].sum())]
    counts = AuditCounts(rows=[500, 1500], checked=[50, 50], found=found, flagged=1)
    given = counts, checked, Tally.from_arrays(np.zeros(2000, int), scores)
    halfway = average_precision_estimate(*given).interval
    monkeypatch.setattr(average_precision, "_halfway", average_precision._average)
    ends = average_precision_estimate(*given).interval
    assert ends.low < halfway.low < halfway.high < ends.high
    assert halfway.width < 0.9 * ends.width
