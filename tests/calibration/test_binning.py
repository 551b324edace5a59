"""Edges and the number of bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.calibration.binning import bin_starts, mass_edges, optimal_bins, proof_bins, width_edges
from pulens.errors import PulensError


@pytest.mark.parametrize(("score", "bins"), [(0.7, 10), (0.07, 100), (0.29, 100), (0.57, 100)])
def test_a_score_on_an_edge_belongs_to_the_bin_that_ends_there(score, bins):
    starts = bin_starts(np.array([score]), width_edges(bins))
    inside = [b for b in range(bins) if starts[b + 1] < starts[b]]
    assert inside == [round(score * bins) - 1]


def test_the_first_bin_holds_zero():
    assert bin_starts(np.array([1.0, 0.0]), width_edges(4)).tolist() == [2, 1, 1, 1, 0]


@given(st.lists(st.integers(0, 6), min_size=5, max_size=60), st.integers(1, 5))
def test_mass_edges_are_order_statistics(values, bins):
    scores = np.array(values) / 6
    distinct, counts = np.unique(scores, return_counts=True)
    result = mass_edges(distinct[::-1], np.cumsum(counts[::-1]), bins)
    ordered = np.sort(scores)
    wanted = [ordered[(len(values) * b) // bins - 1] for b in range(1, bins)]
    assert result.tolist() == [0.0, *wanted, 1.0]


@given(st.integers(1, 40), st.integers(1, 9))
def test_whole_cube_roots_are_decided_exactly(tens, tenth):
    bins = 10 * tens
    labelled = 2 * tenth**2 * bins**3 // 100  # prior^2 / n_P and 1 / n_U are both 1 / (2 bins^3), exactly
    assert optimal_bins(tenth / 10, labelled, 2 * bins**3) == bins
    assert optimal_bins(tenth / 10, labelled, 2 * bins**3 + 1) == bins + 1


def test_a_perfect_cube_is_not_pushed_to_the_next_number():
    assert optimal_bins(0.5, 108, 432) == 6
    assert optimal_bins(0.1, 2, 1 / (1 - 0.005)) == 1
    assert optimal_bins(0.3, float("inf"), 1000) == 10
    assert optimal_bins(0.3, float("inf"), 1001) == 11


def test_constants_of_the_proofs_on_request():
    assert optimal_bins(0.4, 200, 3000, constants="proof", lipschitz=1.5) == 5
    assert proof_bins(0.4, 200, 3000, binning="width", lipschitz=1.5) == pytest.approx(25.152179855700574)
    with pytest.raises(PulensError, match="'one' or 'proof'"):
        optimal_bins(0.4, 200, 3000, constants="best")
    with pytest.raises(PulensError, match="infinitely many"):
        optimal_bins(0.4, float("inf"), float("inf"))
