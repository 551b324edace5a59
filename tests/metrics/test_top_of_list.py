"""The top of the list: worked numbers, exact ties, other tools on fully labelled rows, intervals, refusals."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import dcg_score, ndcg_score

import pulens
from pulens import metrics
from pulens.metrics.parts.top_of_list import fitting_together

W = [1] * 3 + [0] * 5, [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2]
T = [1] * 4 + [0] * 8, [3, 2, 2, 1, 3, 2, 2, 2, 1, 1, 1, 0]
F = [1, -1, 1, -1, -1], [0.9, 0.8, 0.7, 0.6, 0.1]
W_APART = {"unlabelled_prior": 0.2, "scenario": "case-control"}
W_ONE_SAMPLE = {"unlabelled_prior": 0.2, "scenario": "single-set"}
T_APART = {"unlabelled_prior": 0.25, "scenario": "case-control"}
ALL_KNOWN = {"negative": -1, "scenario": "single-set"}
NOISY = {**W_APART, "label_noise": 0.1}

WORKED = [
    (W, W_APART, "recall_at_k", [(1, 0), (2, 1 / 3), (3, 2 / 3), (4, 1), (5, 1)]),
    (W, W_APART, "precision_at_k", [(1, 0), (2, 1 / 6), (3, 2 / 9), (4, 1 / 4), (5, 1 / 5)]),
    (W, W_APART, "enrichment_factor", [(1, 0), (2, 5 / 6), (3, 10 / 9), (4, 5 / 4), (5, 1)]),
    (W, W_APART, "dcg_at_k", [(3, 0.37697658452382)]),
    (W, W_APART, "ndcg_at_k", [(3, 0.37697658452382)]),
    (W, W_APART, "rie", [(5, 0.58655853747522), (20, 0.03052587731885)]),
    (W, W_APART, "bedroc", [(5, 0.16911575513808)]),
    (W, W_APART, "r_precision", [(None, 0)]),
    (W, W_ONE_SAMPLE, "recall_at_k", [(2, 1 / 3), (4, 2 / 3)]),
    (W, W_ONE_SAMPLE, "precision_at_k", [(2, 2 / 3), (4, 2 / 3)]),
    (W, W_ONE_SAMPLE, "dcg_at_k", [(4, 1.41547508219313)]),
    (W, W_ONE_SAMPLE, "ndcg_at_k", [(4, 0.55257323334913)]),
    (W, W_ONE_SAMPLE, "rie", [(20, 0.20228841859308)]),
    (W, W_ONE_SAMPLE, "bedroc", [(20, 0.10110799160249)]),
    (W, NOISY, "recall_at_k", [(2, 34 / 105)]),
    (W, NOISY, "precision_at_k", [(2, 17 / 105)]),
    (W, NOISY, "enrichment_factor", [(2, 17 / 21)]),
    (T, T_APART, "recall_at_k", [(1, 1 / 4), (2, 5 / 12), (3, 7 / 12)]),
    (T, T_APART, "precision_at_k", [(1, 1 / 2), (2, 5 / 12), (3, 7 / 18)]),
    (T, T_APART, "enrichment_factor", [(1, 2), (2, 5 / 3), (3, 14 / 9)]),
    (T, T_APART, "dcg_at_k", [(3, 0.87697658452382)]),
    (T, T_APART, "ndcg_at_k", [(3, 0.53771573092182)]),
    (T, T_APART, "rie", [(20, 1.94524638823368)]),
    (T, T_APART, "bedroc", [(20, 0.48961040997128)]),
    (F, ALL_KNOWN, "precision_at_k", [(2, 1 / 2)]),
    (F, ALL_KNOWN, "enrichment_factor", [(2, 5 / 4)]),
    (F, ALL_KNOWN, "r_precision", [(None, 1 / 2)]),
    (F, ALL_KNOWN, "ndcg_at_k", [(2, 0.61314719276546)]),
    (F, ALL_KNOWN, "rie", [(20, 2.45503420387724)]),
    (F, ALL_KNOWN, "bedroc", [(20, 0.98234311047687)]),
]


@pytest.mark.parametrize(("rows", "assumed", "name", "answers"), WORKED)
def test_worked_numbers_come_out_to_the_digit(rows, assumed, name, answers):
    (parameter,) = metrics.METRICS[name].parameters or (None,)
    for given, expected in answers:
        asked = {} if parameter is None else {parameter: given}
        assert getattr(metrics, name)(*rows, **assumed, **asked).value == pytest.approx(expected, abs=1e-13)


def test_ties_are_the_mean_over_all_orders():
    labels, scores = np.array([1, 0, 0, 1, 0, 0]), np.array([2, 2, 2, 1, 1, 0])
    # halfway down the list, where counts need not fit together with others than none and all
    asked = {"precision_at_k": {"k": 3}, "recall_at_k": {"k": 4}, "rie": {"decay": 3}, "dcg_at_k": {"k": 3}}
    for name, parameters in asked.items():
        values = []
        for order in permutations(range(6)):
            ranked = np.array(order)
            if (np.diff(scores[ranked]) <= 0).all():
                values.append(
                    getattr(metrics, name)(labels[ranked], -np.arange(6), unlabelled_prior=0.25, **parameters).value
                )
        tied = getattr(metrics, name)(labels, scores, unlabelled_prior=0.25, **parameters)
        assert tied.value == pytest.approx(np.mean(values), abs=1e-12)


def test_with_every_row_labelled_gains_are_those_of_scikit_learn():
    rng = np.random.default_rng(7)
    for _ in range(20):
        classes = np.r_[1, 0, rng.random(28) < 0.3].astype(int)
        scores = rng.integers(0, 12, 30).astype(float) if rng.random() < 0.5 else rng.normal(size=30)
        k = int(rng.integers(1, 31))
        for name, theirs in (("dcg_at_k", dcg_score), ("ndcg_at_k", ndcg_score)):
            ours = getattr(metrics, name)(np.where(classes, 1, -1), scores, k=k, **ALL_KNOWN).value
            assert ours == pytest.approx(theirs([classes], [scores], k=k), abs=1e-12)


def test_a_share_of_the_list_is_rounded_up_with_its_decimals_taken_as_exact():
    labels, scores = np.arange(100) % 10 == 0, -np.arange(100.0)
    at = {"unlabelled_prior": 0.1, "scenario": "single-set"}
    seven = metrics.precision_at_k(labels, scores, k=7, **at).value
    assert metrics.precision_at_k(labels, scores, k=0.07, **at).value == seven
    assert metrics.precision_at_k(labels, scores, k="7%", **at).value == seven
    assert metrics.enrichment_factor(labels, scores, k="100%", **at).value == pytest.approx(1)


@pytest.mark.parametrize("k", [0, -1, 2.5, 1.0, "many", 9, True, "120%"])
def test_a_k_that_is_no_place_in_the_list_is_refused(k):
    with pytest.raises(pulens.PulensError, match="k of recall_at_k"):
        metrics.recall_at_k(*W, k=k, class_prior=0.5)


def test_ranks_with_weights_are_refused_and_places_take_them():
    doubled = {"weights": [2.0] * 8, **W_APART}
    with pytest.raises(pulens.PulensError, match="ranks need rows"):
        metrics.dcg_at_k(*W, k=2, **doubled)
    with pytest.raises(pulens.PulensError, match="ranks need rows"):
        metrics.rie(*W, **doubled)
    assert metrics.recall_at_k(*W, k=4, **doubled).value == pytest.approx(1 / 3)


def worlds(count, scenario, seed, n_labelled=60, rows=700, prior=0.15):
    """Binormal rows whose true recall in the top tenth of the population is known from a large draw."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        if scenario == "case-control":
            positive = rng.random(rows) < prior
            scores = np.r_[rng.normal(1.5, 1, n_labelled), rng.normal(positive * 1.5)]
            yield np.r_[np.ones(n_labelled, int), np.zeros(rows, int)], scores
        else:
            positive = rng.random(rows) < prior
            yield (positive & (rng.random(rows) < 0.5)).astype(int), rng.normal(positive * 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_intervals_at_k_hold_the_truth_about_as_often_as_they_say(scenario):
    from scipy.optimize import brentq
    from scipy.stats import norm

    cut = brentq(lambda t: 0.15 * norm.sf(t - 1.5) + 0.85 * norm.sf(t) - 0.1, -9, 9)
    recall = norm.sf(cut - 1.5)
    truths = {"recall_at_k": recall, "precision_at_k": 1.5 * recall}
    held = dict.fromkeys(truths, 0)
    for labels, scores in worlds(150, scenario, 11):
        for name, truth in truths.items():
            result = getattr(metrics, name)(
                labels, scores, k="10%", class_prior=0.15, scenario=scenario, confidence=0.9
            )
            assert result.interval.low <= result.value <= result.interval.high
            held[name] += truth in result.interval
    for count in held.values():
        assert 0.83 < count / 150 < 0.97  # 90%, give or take three standard errors


def test_no_labelled_row_in_the_first_k_is_no_certain_zero():
    labels, scores = [0] * 10 + [1] * 5 + [0] * 35, -np.arange(50.0)
    at = {"class_prior": 0.15, "confidence": 0.95}
    for name in ("recall_at_k", "precision_at_k", "dcg_at_k", "ndcg_at_k"):
        result = getattr(metrics, name)(labels, scores, k=5, **at)
        assert result.value == 0
        assert result.interval.high > 0.02


def test_a_doubtful_class_prior_widens_what_needs_it_and_nothing_else():
    (labels, scores), *_ = worlds(1, "single-set", 3)
    at = {"scenario": "single-set", "confidence": 0.95}
    for name in ("recall_at_k", "rie", "precision_at_k", "dcg_at_k", "bedroc", "ndcg_at_k", "r_precision"):
        metric = getattr(metrics, name)
        exact = metric(labels, scores, class_prior=0.15, **at).interval
        ranged = metric(labels, scores, class_prior=(0.12, 0.2), **at).interval
        if metrics.METRICS[name].needs_class_prior:
            assert ranged.width > exact.width
        else:
            assert (ranged.low, ranged.high) == pytest.approx((exact.low, exact.high))


def test_scorers_follow_from_the_catalogue():
    from sklearn.linear_model import LogisticRegression

    from pulens.sklearn import scorer

    rng = np.random.default_rng(1)
    positive = rng.random(300) < 0.3
    X, y = rng.normal(positive)[:, None], (positive & (rng.random(300) < 0.5)).astype(int)
    fitted = LogisticRegression().fit(X, y)
    score = scorer("precision_at_k", k=20, class_prior=0.3)(fitted, X, y)
    assert score == metrics.precision_at_k(y, fitted.predict_proba(X)[:, 1], k=20, class_prior=0.3).value


def test_net_benefit_is_money_without_its_unit():
    result = metrics.net_benefit(*W, **W_APART, threshold=0.45, cost_ratio=20 / 520)
    assert 500 * 0.2 - 500 * result.value == pytest.approx(8)
    with pytest.raises(pulens.PulensError, match="strictly between 0 and 1"):
        metrics.net_benefit(*W, **W_APART, threshold=0.45, cost_ratio=1)


def test_what_binning_can_change_at_k_is_bounded():
    from pulens.counts.tally import Tally
    from pulens.evidence import gather

    (labels, scores), *_ = worlds(1, "single-set", 5)
    exact = Tally.from_arrays(labels, scores)
    coarse = metrics.precision_at_k(gather(exact.binned(0), class_prior=0.15), k=50, confidence=0.95)
    assert "binning" not in coarse.sources  # counts at other places move it, so there is no bound
    for name in ("recall_at_k", "enrichment_factor"):
        metric = getattr(metrics, name)
        known = metric(gather(exact, class_prior=0.15), k=50).value
        for bits in (0, 1, 3):
            coarse = metric(gather(exact.binned(bits), class_prior=0.15), k=50, confidence=0.95)
            bound = coarse.sources["binning"]
            assert bound.low - 1e-12 <= known <= bound.high + 1e-12


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mrr", "cannot be recovered .* a hidden positive may rank before the known one"),
        ("MAP", "cannot be recovered .* each query's own positives"),
        ("hit_rate@10", "cannot be recovered"),
        ("success_at_k", "cannot be recovered"),
        ("ndcg", "Did you mean 'ndcg_at_k'"),
        ("P@10", "Did you mean 'precision_at_k' with k=10"),
        ("recall_at_100", "Did you mean 'recall_at_k' with k=100"),
        ("ef@1%", "Did you mean 'enrichment_factor' with k='1%'"),
        ("lift_at_k", "Did you mean 'enrichment_factor'"),
        ("AUC", "Did you mean 'roc_auc'"),
        ("recal", "Did you mean 'recall'"),
    ],
)
def test_names_that_people_type_are_told_what_they_are_or_why_not(name, said):
    with pytest.raises(pulens.PulensError, match=said):
        pulens.metrics.find(name)


def test_every_other_name_leads_to_a_metric_that_is_there():
    from pulens.metrics.parts.other_names import ALSO_CALLED, NOT_RECOVERED

    assert set(ALSO_CALLED.values()) <= set(pulens.metrics.METRICS)
    assert not set(ALSO_CALLED) & set(NOT_RECOVERED)


@pytest.mark.parametrize("name", ["rie", "bedroc"])
def test_a_list_that_is_short_for_the_decay_is_noticed(name):
    labels, scores = [1] * 10 + [0] * 90, np.arange(100.0)
    metric = getattr(pulens.metrics, name)
    result = metric(labels, scores, class_prior=0.2, decay=21)
    assert "the list has 100 rows, few for decay 21: its first 8 rows carry 80%" in str(result)
    assert result.to_dict()["notice"] in str(result)
    assert metric(labels, scores, class_prior=0.2, decay=20).notice is None


def test_one_labelled_row_near_the_kth_place_does_not_rule_out_that_there_are_none():
    scores = np.arange(1000.0)[::-1]
    labels = np.zeros(1000, int)
    labels[[9, *range(300, 340)]] = 1
    near = metrics.recall_at_k(labels, scores, k=10, class_prior=0.1, confidence=0.95)
    assert near.value == pytest.approx(1 / 41)
    assert near.interval.low == 0 < near.interval.high
    labels[[0, 9]] = 1, 0  # at the very top it is no matter of where the tenth row is
    assert metrics.recall_at_k(labels, scores, k=10, class_prior=0.1, confidence=0.95).interval.low > 0


def test_discounts_of_more_ranks_than_can_be_counted_go_on_where_the_sum_ends(monkeypatch):
    """Checked against the sum itself where it ends early; a tally that stands for 1e15 rows is not counted through."""
    from pulens.metrics.parts import top_of_list

    ranks = np.array([0.0, 0.5, 7.0, 999.5, 1000.0, 1000.25, 1001.0, 54_321.75, 90_000.0])
    whole = top_of_list.discounts(80_000)(ranks)
    monkeypatch.setattr(top_of_list, "ONE_BY_ONE", 1_000)
    np.testing.assert_allclose(top_of_list.discounts(80_000)(ranks), whole, rtol=1e-12)
    far = top_of_list.discounts(1e15)(np.array([1e14, 1e15]))
    assert np.log(2) * 9e14 / np.log(1e15) < far[1] - far[0] < np.log(2) * 9e14 / np.log(1e14)


@pytest.mark.parametrize(
    ("seed", "scenario", "labelling"),
    [
        *((seed, scenario, "random") for seed in range(6) for scenario in ("single-set", "case-control")),
        *((seed, scenario, "practice") for seed in (1, 2) for scenario in ("single-set", "case-control")),
    ],
)
def test_positives_and_negatives_among_the_first_rows_both_rise_with_k(seed, scenario, labelling):
    rng = np.random.default_rng(seed)
    positive = rng.random(4000) < 0.1
    labels = (positive & (rng.random(4000) < 0.35)).astype(int)
    scores = np.round(rng.normal(1.4 * positive), 3)
    prior = float(rng.uniform(0.1, 0.2))  # often too high
    result = pulens.evaluate(labels, scores, class_prior=prior, scenario=scenario, labelling=labelling)
    rows_checked = (1, 2, 3, 5, 7, 10, 13, 20, 25, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
    tops = [result.top(k) for k in rows_checked]
    steps = np.diff([0, *rows_checked])

    def fits(counts):
        rises = np.diff([0.0, *counts])
        return (rises >= -1e-9).all() and (rises <= steps + 1e-9).all()

    precision = [top["precision_at_k"] for top in tops]
    hits = [each.value * top.k for each, top in zip(precision, tops, strict=True)]
    assert fits(hits)
    assert fits([each.interval.low * top.k for each, top in zip(precision, tops, strict=True)])
    assert fits([each.interval.high * top.k for each, top in zip(precision, tops, strict=True)])
    if scenario == "single-set":
        known = np.array([0.0, *(top.known for top in tops)])
        assert (np.diff([0.0, *hits]) >= np.diff(known) - 1e-9).all()
        for top in tops:
            assert top["precision_at_k"].interval.low >= top.known / top.k - 1e-12
            assert top.hits.low >= math.floor(top.known)


def test_a_place_is_the_same_whichever_others_were_asked_for():
    rng = np.random.default_rng(1)
    positive = rng.random(2000) < 0.2
    labels, scores = (positive & (rng.random(2000) < 0.3)).astype(int), np.round(rng.normal(1.4 * positive), 2)
    first, second = (pulens.evaluate(labels, scores, class_prior=0.25, labelling="random") for _ in range(2))
    for k in (7, 5, 3):
        first.top(k)
    assert first.top(6)["precision_at_k"] == second.top(6)["precision_at_k"]


@pytest.mark.parametrize("apart", [False, True])
def test_counts_at_places_of_the_list_are_sums_over_rows(apart):
    """The slow way: every row's chance of being among the first."""
    from pulens.counts.tally import Tally
    from pulens.metrics.parts.top_of_list import RankedList
    from pulens.recovery.assumptions import Assumptions
    from pulens.scenario import Scenario

    rng = np.random.default_rng(2)
    labels, scores = rng.choice([1, 0, -1], 300, p=[0.2, 0.7, 0.1]), rng.integers(0, 90, 300).astype(float)
    scenario = Scenario.CASE_CONTROL if apart else Scenario.SINGLE_SET
    ranked = RankedList.of(Tally.from_arrays(labels, scores), Assumptions(0.2, scenario=scenario))
    places = np.array([0.0, 1.0, 2.0, 3.5, 17.0, 100.0, ranked.rows])
    slow = np.array([[kind @ ranked.membership(place) for place in places] for kind in ranked.kinds])
    np.testing.assert_allclose(ranked.among(places), slow, atol=1e-9)


def test_counts_are_moved_as_little_as_fitting_together_asks():
    """The slow way: a linear program for the smallest largest deviation, in standard errors."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    for _ in range(30):
        rows = np.sort(rng.uniform(0, 100, 6)).round()
        counts, spread = np.cumsum(rng.normal(8, 12, 6)), rng.uniform(0.5, 5, 6)
        result = fitting_together(counts, rows, spread)
        # variables: the six counts and t
        above = np.column_stack([np.eye(6), -spread])
        below = np.column_stack([-np.eye(6), -spread])
        falls = np.column_stack([-np.diff(np.eye(6), axis=0), np.zeros(5)])
        leaps = np.column_stack([np.diff(np.eye(6), axis=0), np.zeros(5)])
        limits = np.concatenate([counts, -counts, np.zeros(5), np.diff(rows)])
        best = linprog(
            [0] * 6 + [1], np.vstack([above, below, falls, leaps]), limits, bounds=[(None, None)] * 6 + [(0, None)]
        )
        assert np.max(np.abs(result - counts) / spread) == pytest.approx(best.fun, abs=1e-7)
        assert (np.diff(result) >= -1e-9).all()
        assert (np.diff(result) <= np.diff(rows) + 1e-9).all()


def test_that_every_row_is_positive_is_no_headline():
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.1
    labels = (positive & (rng.random(20_000) < 0.35)).astype(int)
    scores = rng.normal(1.3 * positive)
    for prior in (0.1, 0.134, 0.16):
        for k in (20, 50, 100, 200):
            sentence = (
                pulens.evaluate(labels, scores, class_prior=prior, threshold=1.0, labelling="random").top(k).sentence
            )
            assert f"the estimate is {k} " not in sentence.replace("(", " ")
