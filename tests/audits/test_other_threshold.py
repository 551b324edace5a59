"""The same answers at another threshold."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.audits import AuditCounts, AuditResult, CheckedRows, from_counts
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError


def _result(checked=(2, 3), scenario="single-set") -> AuditResult:
    """Twelve unlabelled rows scoring 12..1, those from 9 on flagged; 11, 9, 8, 5 are positive."""
    scores = np.arange(12.0, 0.0, -1.0)
    stratum = (scores < 9).astype(int)
    took = np.concatenate([np.flatnonzero(stratum == k)[-n:] for k, n in enumerate(checked)])
    answer = np.isin(scores[took], [11, 9, 8, 5]).astype(int)
    labels = np.concatenate([np.zeros(12, int), [1, 1, -1]])
    tally = Tally.from_arrays(labels, np.concatenate([scores, [10.5, 6.5, 2.5]]))
    counts = AuditCounts(
        rows=[4, 8],
        checked=checked,
        found=np.bincount(stratum[took], answer, 2).astype(int),
        labelled=[1, 1],
        known_negative=[0, 1],
        flagged=1,
        scenario=scenario,
    )
    rows = CheckedRows(stratum=stratum[took], score=scores[took], answer=answer)
    return AuditResult(counts=counts, checked_rows=rows, tally=tally, threshold=9.0)


def test_the_threshold_of_the_audit_gives_the_same_numbers():
    result = _result()
    again = result.at(9.0)
    assert {name: found.value for name, found in again.estimates.items()} == pytest.approx(
        {name: found.value for name, found in result.estimates.items()}, nan_ok=True
    )


@pytest.mark.parametrize("threshold", [12.5, 11.0, 10.0, 8.0, 4.5, 2.0, 0.5])
def test_with_every_row_checked_another_threshold_gives_the_truth_there(threshold):
    result = _result(checked=(4, 8)).at(threshold)
    scores = np.append(np.arange(12.0, 0.0, -1.0), [10.5, 6.5, 2.5])
    positive = np.append(np.isin(scores[:12], [11, 9, 8, 5]), [True, True, False])
    flagged = scores >= threshold
    assert result.threshold == threshold
    recall = result.estimates["recall"]
    assert recall.value == pytest.approx((flagged & positive).sum() / positive.sum())
    assert recall.interval.width == 0
    if flagged.any():
        assert result.estimates["precision"].value == pytest.approx((flagged & positive).sum() / flagged.sum())
    assert result.estimates["class_prior"].value == pytest.approx(positive.mean())


def test_a_part_without_a_checked_row_has_its_siblings_share_and_open_limits():
    result = _result(checked=(2, 3)).at(8.0)  # rows checked below 9 score 1, 2, 3: none in the part from 8 on
    assert result.counts.rows.tolist() == [4, 1, 7]
    assert result.counts.checked.tolist() == [2, 0, 3]
    assert result.unchecked_share[1] == 0.0
    precision = result.estimates["precision"]
    assert precision.basis == "bounds"
    assert not np.isnan(precision.value)
    assert result.class_prior.value > 0


def test_another_threshold_is_refused_without_scores_for_overlapping_cells_and_when_chosen_by_the_answers():
    alone = from_counts(rows=[10, 20], checked=[5, 5], found=[3, 0], flagged=1)
    with pytest.raises(AssumptionError, match="counts alone"):
        alone.at(0.5)
    result = _result()
    with pytest.raises(AssumptionError, match="must be a number, got 'best'"):
        result.at("best")
    cells = AuditResult(counts=result.counts, checked_rows=result.checked_rows, tally=result.tally, score_ranges=False)
    with pytest.raises(AssumptionError, match="not ranges of scores"):
        cells.at(8.0)
    other = Tally.from_arrays(np.zeros(5, int), np.arange(5.0))
    with pytest.raises(InputError, match="holds 5 unlabelled rows and the audit 12"):
        AuditResult(counts=result.counts, checked_rows=result.checked_rows, tally=other).at(2.0)
