"""PULP against exact rational arithmetic, its rules for ties, and its limits."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens.metrics
from pulens.counts import operating_points
from pulens.counts.hypergeometric import tails
from pulens.counts.operating_points import Ranking, average
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.metrics.parts.observed import matthews_at
from pulens.metrics.pulp import pulp_of
from tests_support import pu_rows


@cache
def exact_chance_of_fewer(hits: int, rows: int, labelled: int, called: int) -> Fraction:
    below = sum(comb(labelled, m) * comb(rows - labelled, called - m) for m in range(hits))
    return Fraction(below, comb(rows, called))


def exact_pulp(hit_ranks: tuple[int, ...], rows: int) -> Fraction:
    """Equation 3 of the paper, in fractions; ``hit_ranks`` counts from 1."""
    total = Fraction(0)
    for called in range(rows + 1):
        hits = sum(rank <= called for rank in hit_ranks)
        total += exact_chance_of_fewer(hits, rows, len(hit_ranks), called)
    return total / (rows + 1)


def test_every_ranking_of_few_rows_has_the_exact_value(everything):
    """Of up to twelve in ``make everything``, of up to nine otherwise."""
    for rows in range(2, 13 if everything else 10):
        for labelled in range(1, rows):
            for hit_ranks in combinations(range(1, rows + 1), labelled):
                hits = np.zeros(rows, np.int64)
                hits[np.array(hit_ranks) - 1] = 1
                result = pulp_of(Ranking(np.ones(rows, np.int64), hits))
                assert result == pytest.approx(float(exact_pulp(hit_ranks, rows)), abs=1e-14)


@pytest.mark.parametrize("blocks", [[(3, 1), (4, 2)], [(2, 2), (3, 1), (1, 0)], [(5, 2)], [(1, 0), (6, 3)]])
def test_the_expected_value_is_the_mean_over_all_orders_of_tied_rows(blocks):
    rows = sum(size for size, _ in blocks)
    orders = [[]]
    for size, labelled in blocks:
        inside = set(permutations([1] * labelled + [0] * (size - labelled)))
        orders = [[*order, *added] for order in orders for added in inside]
    exact = sum(exact_pulp(tuple(i + 1 for i, hit in enumerate(order) if hit), rows) for order in orders) / len(orders)
    sizes, labelled = map(np.array, zip(*blocks, strict=True))
    assert pulp_of(Ranking(sizes, labelled)) == pytest.approx(float(exact), abs=1e-14)


def test_long_ties_give_the_sum_over_each_of_their_ranks(monkeypatch):
    rng = np.random.default_rng(3)
    labels = np.repeat([1, 0], [300, 6000])
    for digits, shift in ((0, 0.4), (1, 0.8), (0, -0.5)):
        ranking = Ranking.of(Tally.from_arrays(labels, np.round(rng.normal(shift * labels), digits)), "pulp")
        quick = pulp_of(ranking)
        with monkeypatch.context() as patch:
            patch.setattr(operating_points, "_LONG", 10**9)
            assert quick == pytest.approx(pulp_of(ranking), abs=1e-12)


def rounded_ranking(rows, share, shift, digits):
    rng = np.random.default_rng(7)
    labels = np.zeros(rows, np.int8)
    labels[rng.choice(rows, int(share * rows), replace=False)] = 1
    return Ranking.of(Tally.from_arrays(labels, np.round(rng.normal(shift * labels), digits)), "pulp")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_long_ties_of_many_labelled_rows_give_the_sum_over_each_of_their_ranks(share, shift, monkeypatch):
    ranking = rounded_ranking(30_000, share, shift, 1)
    assert ranking.sizes.max() > 1_000
    quick = pulp_of(ranking)
    monkeypatch.setattr(operating_points, "_LONG", 10**9)
    assert quick == pytest.approx(pulp_of(ranking), abs=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_no_label_share_has_every_rank_of_a_million_tied_rows_looked_at(share, monkeypatch):
    # a tolerance at the level of rounding is never met: every stretch is then halved down to single ranks
    ranking = rounded_ranking(1_000_000, share, 0.0, 2)
    one_by_one, looked_at = operating_points._sum_one_by_one, []

    def counted(expected, blocks, low, high):
        looked_at.append(int((high - low).sum()))
        assert sum(looked_at) < ranking.rows / 50
        return one_by_one(expected, blocks, low, high)

    monkeypatch.setattr(operating_points, "_sum_one_by_one", counted)
    assert 0 < pulp_of(ranking) < 1


def test_log_pulp_inside_ties_is_the_sum_over_tails():
    ranking = Ranking(np.array([40, 300, 5, 120]), np.array([12, 60, 5, 3]))
    rows, labelled = ranking.rows, ranking.hits
    slow = average(ranking, lambda called, hits: -tails(hits, rows, labelled, called).log_at_least)
    increments = (ranking.labelled, ranking.sizes - ranking.labelled)
    tally = Tally.from_increments(np.arange(4)[::-1].astype(float), *increments)
    assert pulens.metrics.log_pulp(tally).value == pytest.approx(slow, rel=1e-11)


def test_a_cliff_in_the_middle_of_a_tie_is_not_smoothed_over():
    # the labels come late and then all at once: the expected value climbs from 0 to 1 inside the second block
    sizes, labelled = np.array([3000, 4000, 500]), np.array([0, 400, 20])
    ranking = Ranking(sizes, labelled)
    quick = pulp_of(ranking)
    rng, draws = np.random.default_rng(0), []
    for _ in range(300):
        flags = [np.zeros(3000, np.int64)]
        for size, hits in ((4000, 400), (500, 20)):
            block = np.zeros(size, np.int64)
            block[rng.choice(size, hits, replace=False)] = 1
            flags.append(block)
        draws.append(pulp_of(Ranking(np.ones(7500, np.int64), np.concatenate(flags))))
    assert quick == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / np.sqrt(300))


@given(rows=pu_rows())
def test_rules_for_ties_are_ordered_and_chance_lies_below_the_maximum(rows):
    result = {
        ties: pulens.metrics.pulp(*rows, ties=ties, scenario="case-control").value
        for ties in ("pessimistic", "expected", "optimistic")
    }
    assert result["pessimistic"] - 1e-12 <= result["expected"] <= result["optimistic"] + 1e-12
    marks = pulens.metrics.pulp(*rows, scenario="case-control").landmarks
    assert marks["chance"] < marks["maximum"] < 1
    assert result["optimistic"] <= marks["maximum"] + 1e-12


@given(rows=pu_rows(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    labels, scores = rows
    order = random.sample(range(labels.size), labels.size)
    assert (
        pulens.metrics.pulp(labels, scores, scenario="case-control").value
        == pulens.metrics.pulp(labels[order], scores[order], scenario="case-control").value
    )


def test_a_constant_score_has_the_chance_value_or_none_at_all():
    labels, scores = np.repeat([1, 0], [4, 26]), np.ones(30)
    result = pulens.metrics.pulp(labels, scores, scenario="case-control")
    assert result.landmarks["scaled"] == 0
    assert pulens.metrics.pulp(labels, scores, ties="grouped", scenario="case-control").value == 0


def test_a_constant_function_averages_to_itself_under_every_rule():
    ranking = Ranking(np.array([400, 3, 1, 90]), np.array([30, 1, 1, 0]))
    for ties in ("expected", "grouped", "optimistic", "pessimistic"):
        assert average(ranking, lambda called, hits: np.ones(called.shape), ties) == pytest.approx(1.0, abs=1e-12)


def test_hits_average_to_their_expectation_inside_a_long_tie():
    size, labelled = 2000, 37
    result = average(Ranking(np.array([size]), np.array([labelled])), lambda called, hits: hits.astype(float))
    assert result == pytest.approx(labelled / 2, rel=1e-12)


def test_no_class_prior_is_asked_for_and_none_is_used():
    labels, scores = [1, 1, 0, 0, 0], [0.9, 0.6, 0.7, 0.2, 0.1]
    alone = pulens.metrics.pulp(labels, scores, scenario="case-control")
    assert alone == pulens.metrics.pulp(labels, scores, class_prior=0.3, scenario="case-control")
    assert alone.interval is None
    assert "chance" in str(alone)
    assert set(alone.to_dict()["landmarks"]) == {"chance", "maximum", "scaled"}
    ranged = pulens.metrics.pulp(labels, scores, class_prior=(0.1, 0.3), scenario="case-control")
    assert ranged.interval.width == 0


def test_known_negatives_are_rows_without_a_label():
    scores = [0.9, 0.6, 0.7, 0.2, 0.1]
    assert (
        pulens.metrics.pulp([1, 1, 0, 0, -1], scores, scenario="case-control").value
        == pulens.metrics.pulp([1, 1, 0, 0, 0], scores, scenario="case-control").value
    )


def test_weights_and_unknown_rules_are_refused():
    with pytest.raises(PulensError, match="has no weighted form"):
        pulens.metrics.pulp([1, 0, 0], [3, 2, 1], weights=[1, 2, 1], scenario="case-control")
    with pytest.raises(PulensError, match=r"ties of pulp must be one of 'expected', 'grouped'.*got 'random'"):
        pulens.metrics.pulp([1, 0, 0], [3, 2, 1], ties="random", scenario="case-control")


def test_log_p_values_go_where_p_values_vanish():
    labels = np.repeat([1, 0], [2000, 100_000])
    at = {"threshold": 0.5}
    assert pulens.metrics.pulp_at_threshold(labels, labels * 1.0, **at, scenario="case-control").value == 1
    assert pulens.metrics.chance_p_value(labels, labels * 1.0, **at, scenario="case-control").value == 0
    log_p = pulens.metrics.log_chance_p_value(labels, labels * 1.0, **at, scenario="case-control").value
    from math import lgamma

    exact = -(lgamma(102_001) - lgamma(2001) - lgamma(100_001))  # one of C(N, t) choices
    assert log_p == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_the_walk_and_the_closed_form_add_up_to_the_same(digits):
    from pulens.metrics import pulp  # the function; the kernels live in the module of the same name

    module = __import__("sys").modules[pulp.metric.compute.__module__]
    rng = np.random.default_rng(digits)
    labels = np.repeat([1, 0], [700, 2300])
    ranking = Ranking.of(Tally.from_arrays(labels, np.round(rng.normal(0.1 * labels), digits)), "pulp")
    walked, _ = module._sum_by_walk(ranking, 3000)
    assert walked == pytest.approx(module._sum_by_stretches(ranking, 3000, 700), abs=1e-9)


def test_a_scorer_of_pulp_needs_no_class_prior():
    from sklearn.linear_model import LogisticRegression

    from pulens.sklearn import scorer

    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [30, 170])
    rows = rng.normal(size=(200, 3)) + labels[:, None]
    model = LogisticRegression().fit(rows, labels)
    assert (
        scorer("pulp", scenario="case-control")(model, rows, labels)
        == pulens.metrics.pulp(labels, model.predict_proba(rows)[:, 1], scenario="case-control").value
    )
    with pytest.raises(PulensError, match="needs a threshold"):
        scorer("lee_liu", scenario="case-control")


@pytest.mark.parametrize("ties", ["expected", "grouped", "optimistic", "pessimistic"])
def test_scores_that_no_row_has_make_no_operating_point(ties):
    thresholds, labelled, unlabelled = np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 1, 2, 2]), np.array([0, 0, 3, 4])
    with_empty = Tally(thresholds, labelled, unlabelled, np.zeros(4, np.int64))
    without = Tally.from_arrays(np.array([1, 1, 0, 0, 0, 0]), np.array([3.0, 1.0, 1.0, 1.0, 1.0, 0.0]))
    first, second = (
        pulens.metrics.pulp(tally, ties=ties, scenario="case-control").value for tally in (with_empty, without)
    )
    assert first == second


def test_log_pulp_is_the_mean_surprise_and_goes_on_where_pulp_stops():
    from math import log

    hit_ranks, rows = (1, 3, 4), 9
    surprises = []
    for called in range(rows + 1):
        hits = sum(rank <= called for rank in hit_ranks)
        surprises.append(-log(1 - exact_chance_of_fewer(hits, rows, 3, called)))
    labels, scores = np.zeros(rows, int), np.arange(rows, 0.0, -1)
    labels[[0, 2, 3]] = 1
    assert pulens.metrics.log_pulp(labels, scores, scenario="case-control").value == pytest.approx(
        np.mean(surprises), rel=1e-12
    )

    labels = np.repeat([1, 0], [200, 5000])
    good, better = (np.random.default_rng(0).normal(shift * labels) for shift in (2.0, 3.0))
    close = [pulens.metrics.pulp(labels, scores, scenario="case-control").value for scores in (good, better)]
    apart = [pulens.metrics.log_pulp(labels, scores, scenario="case-control").value for scores in (good, better)]
    assert abs(close[1] / close[0] - 1) < 0.01
    assert apart[1] / apart[0] > 1.3


def test_correlation_of_billions_of_rows_is_a_number():
    ranking = Ranking(np.array([10**10, 10**10]), np.array([5 * 10**9, 10**9]))
    rows, labelled = ranking.rows, ranking.hits
    result = average(ranking, lambda called, hits: matthews_at(called, hits, rows, labelled), "grouped")
    covariance = 5e9 * 2e10 - 1e10 * 6e9
    assert result == pytest.approx(covariance / np.sqrt(1e10 * 1e10 * 6e9 * 1.4e10) / 3)
