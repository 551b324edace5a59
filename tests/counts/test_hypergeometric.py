"""The hypergeometric kernels against exact rational arithmetic and against scipy."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy.stats import hypergeom

from pulens.counts.hypergeometric import (
    chances_along,
    chances_upwards,
    log_p_values_upwards,
    log_pmf,
    masses_upwards,
    sum_of_chances,
    tails,
)


def exact_fewer(hits: int, rows: int, labelled: int, called: int) -> Fraction:
    below = sum(comb(labelled, m) * comb(rows - labelled, called - m) for m in range(min(hits, called + 1)))
    return Fraction(below, comb(rows, called))


def test_both_tails_equal_exact_fractions_for_every_small_table():
    for rows in range(1, 13):
        for labelled in range(rows + 1):
            for called in range(rows + 1):
                hits = np.arange(rows + 2)
                result = tails(hits, rows, labelled, np.full(hits.size, called))
                exact = [exact_fewer(int(k), rows, labelled, called) for k in hits]
                np.testing.assert_allclose(result.fewer, np.array(exact, float), rtol=1e-12, atol=0)
                np.testing.assert_allclose(result.at_least, np.array([1 - e for e in exact], float), rtol=1e-12, atol=0)
                for value, truth in zip(result.log_at_least, exact, strict=True):
                    expected = log(1 - truth) if truth < 1 else -np.inf
                    assert value == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("rows", "labelled"), [(300, 40), (2000, 1000), (6000, 60)])
def test_tails_far_out_keep_their_digits(rows, labelled):
    rng = np.random.default_rng(rows)
    for called in rng.integers(1, rows, 6).tolist():
        for hits in {1, min(labelled, called), int(called * labelled / rows), int(1.7 * called * labelled / rows)}:
            fewer = exact_fewer(hits, rows, labelled, called)
            result = tails(hits, rows, labelled, called)
            assert result.fewer == pytest.approx(float(fewer), rel=2e-11, abs=1e-300)
            if fewer < 1:
                # logs of fractions too small for a double: take the logs of their whole numbers
                least = 1 - fewer
                truth = log(least.numerator) - log(least.denominator)
                assert result.log_at_least == pytest.approx(truth, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(("rows", "labelled"), [(1_000_000, 10_000), (10_000_000, 3_000_000), (10_000_000, 5)])
def test_millions_of_rows_agree_with_scipy(rows, labelled):
    rng = np.random.default_rng(1)
    called = rng.integers(0, rows + 1, 60)
    hits = np.minimum(rng.binomial(labelled, called / rows) + rng.integers(-2, 3, 60), labelled)
    np.testing.assert_allclose(
        tails(hits, rows, labelled, called).fewer, hypergeom.cdf(hits - 1, rows, labelled, called), atol=2e-9
    )


@pytest.mark.parametrize(("called", "hits"), [(100, 3), (1000, 10), (3000, 28), (3000, 60)])
def test_a_million_rows_agree_with_whole_numbers_to_the_last_digits(called, hits):
    rows, labelled = 1_000_000, 10_000
    term, below = comb(rows - labelled, called), 0
    for m in range(hits):
        below += term
        term = term * (labelled - m) * (called - m) // ((m + 1) * (rows - labelled - called + m + 1))
    exact = Fraction(below, comb(rows, called))
    result = tails(hits, rows, labelled, called)
    assert result.fewer == pytest.approx(float(exact), rel=1e-14)
    assert result.at_least == pytest.approx(float(1 - exact), rel=2e-14)


def test_the_mass_adds_up_to_one():
    for rows, labelled, called in ((40, 12, 20), (9000, 300, 4000), (10_000_000, 800, 3_000_000)):
        total = np.exp(log_pmf(np.arange(labelled + 1), rows, labelled, called)).sum()
        assert total == pytest.approx(1, abs=1e-12)


def test_populations_may_differ_from_entry_to_entry():
    one_by_one = [log_pmf(2, rows, labelled, 5).item() for rows, labelled in ((9, 4), (50, 3))]
    np.testing.assert_array_equal(log_pmf([2, 2], [9, 50], [4, 3], [5, 5]), one_by_one)


def test_the_closed_form_of_a_stretch_is_its_sum():
    rows, labelled = 60, 11
    for hits in range(labelled + 1):
        for first in range(0, rows, 13):
            for last in range(first, rows + 1, 9):
                slow = tails(hits, rows, labelled, np.arange(first, last)).fewer.sum()
                assert sum_of_chances([first], [last], [hits], rows, labelled)[0] == pytest.approx(slow, abs=1e-12)


def test_neighbours_that_count_upwards_share_their_sums():
    called = np.array([[5], [9]]) + np.zeros(8, np.int64)
    hits = np.array([[0], [2]]) + np.arange(8)  # beyond what can be there is nothing, and no nan
    result = tails(hits, 20, 7, called)
    np.testing.assert_allclose(chances_upwards(called, hits, 20, 7), result.fewer, atol=1e-15)
    np.testing.assert_allclose(np.exp(log_p_values_upwards(called, hits, 20, 7)), result.at_least, atol=1e-15)


@pytest.mark.parametrize(("rows", "labelled", "called"), [(5, 2, 3), (40, 12, 20), (4000, 1200, 3999), (4000, 1, 7)])
def test_masses_by_ratios_are_the_masses(rows, labelled, called):
    first = max(0, labelled + called - rows)
    hits = np.arange(first, min(labelled, called) + 3)[None, :]
    exact = [
        Fraction(comb(labelled, m) * comb(rows - labelled, called - m), comb(rows, called))
        for m in hits[0]
        if m <= called
    ]
    exact += [Fraction(0)] * (hits.size - len(exact))
    np.testing.assert_allclose(
        masses_upwards(hits, rows, labelled, called)[0], np.array(exact, float), rtol=1e-10, atol=1e-17
    )


@pytest.mark.parametrize(("rows", "labelled"), [(2, 1), (13, 12), (60, 7), (5000, 4900), (300_000, 20_000)])
@pytest.mark.parametrize("shift", [-1.0, 0.0, 2.0])
def test_the_walk_along_a_ranking_gives_each_rank_its_tail(rows, labelled, shift):
    rng = np.random.default_rng(rows)
    labels = np.arange(rows) < labelled
    hit_ranks = np.flatnonzero(labels[np.argsort(-rng.normal(shift * labels))]) + 1
    chances = np.concatenate([result for _, result in chances_along(hit_ranks, rows)])
    ranks = np.unique(np.linspace(0, rows - 1, 400).astype(int))
    hits = np.searchsorted(hit_ranks, ranks, side="right")
    np.testing.assert_allclose(chances[ranks], tails(hits, rows, labelled, ranks).fewer, atol=1e-12)


@pytest.mark.parametrize("rows", [4_000_000_000, 20_000_000_000])
def test_populations_of_billions_keep_their_digits(rows):
    labelled, called, hits = 40, rows // 3, 17
    chance = Fraction(comb(labelled, hits))
    for step in range(hits):
        chance *= Fraction(called - step, rows - step)
    for step in range(labelled - hits):
        chance *= Fraction(rows - called - step, rows - hits - step)
    assert np.exp(log_pmf(hits, rows, labelled, called)) == pytest.approx(float(chance), rel=1e-12)
    # half of the rows, half of the labels: the two sides are mirror images
    result = tails(hits, rows, rows // 2, 2 * hits - 1)
    assert result.fewer == pytest.approx(0.5, rel=1e-12)
    # many of everything, far from the expected count: the products pass 64 bits
    half = tails(rows // 4, rows, rows // 2, rows // 2)
    assert half.fewer == pytest.approx(0.5 - np.exp(log_pmf(rows // 4, rows, rows // 2, rows // 2)) / 2, rel=1e-7)
