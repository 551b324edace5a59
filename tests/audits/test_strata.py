"""Rows are parted into ranges of scores that grow by a constant factor, and no score is parted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.audits.strata import cut_strata
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError


def tally(scores, labels=None) -> Tally:
    scores = np.asarray(scores, float)
    return Tally.from_arrays(np.zeros(scores.size, np.int8) if labels is None else np.asarray(labels, np.int8), scores)


def test_the_worked_example_of_ten_thousand_even_scores():
    strata = cut_strata(tally(np.arange(1, 10_001) / 10_000), 0.9801)
    assert strata.edges == (0.9801, 0.9469, 0.8587, 0.624)
    assert strata.rows.tolist() == [200, 332, 882, 2347, 6239]
    assert strata.flagged == 1


@given(
    scores=st.lists(st.integers(0, 40), min_size=1, max_size=300),
    threshold=st.integers(-2, 42),
    seed=st.integers(0, 5),
    ranges=st.integers(1, 4),
)
def test_every_row_lies_in_one_stratum_and_equal_scores_in_the_same(scores, threshold, seed, ranges):
    labels = np.random.default_rng(seed).choice([0, 0, 0, 1, -1], len(scores))
    labels[0] = 0
    counted = tally(scores, labels)
    strata = cut_strata(counted, threshold, ranges)
    place = strata.of(np.array(scores, float))
    for code, counts in ((0, strata.rows), (1, strata.labelled), (-1, strata.known_negative)):
        assert np.bincount(place[labels == code], minlength=len(strata)).tolist() == counts.tolist()
    assert list(strata.edges) == sorted(set(strata.edges), reverse=True)
    assert len(strata.edges) == len(strata) - 1
    assert ((place < strata.flagged) == (np.array(scores) >= threshold)).all()
    assert (strata.rows[strata.flagged :] > 0).all() or len(strata) - strata.flagged == 1


def test_a_threshold_that_flags_nothing_or_everything_leaves_one_group():
    scores = np.arange(1000.0)
    nothing, everything = cut_strata(tally(scores), 5000.0), cut_strata(tally(scores), -1.0)
    assert nothing.flagged == 0
    assert nothing.rows.sum() == 1000
    assert (everything.flagged, everything.rows.tolist(), everything.edges) == (1, [1000], ())


def test_labelled_rows_above_the_threshold_keep_their_stratum_where_no_unlabelled_row_is():
    strata = cut_strata(tally([9.0, 1.0, 2.0], [1, 0, 0]), 5.0)
    assert (strata.flagged, strata.rows.tolist(), strata.labelled.tolist()) == (1, [0, 2], [1, 0])


def test_single_precision_scores_are_cut_where_they_are_kept():
    scores = np.array([0.7, 0.7, 0.3, 0.1], np.float32)
    counted = Tally.from_arrays(np.zeros(4, np.int8), scores)
    strata = cut_strata(counted, 0.7)
    assert strata.rows[0] == 2
    assert strata.of(scores)[:2].tolist() == [0, 0]


def test_counts_at_the_threshold_may_come_from_elsewhere():
    strata = cut_strata(tally(np.arange(100.0)), 49.5, 1, Totals(0.0, 47.0, 0.0))
    assert strata.rows.tolist() == [47, 53]


def test_a_table_without_unlabelled_rows_is_refused():
    with pytest.raises(InputError, match="no unlabelled row"):
        cut_strata(tally([1.0, 2.0], [1, -1]), 1.5)
