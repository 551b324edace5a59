"""Intervals of rows that belong together: worked numbers, witnesses, and what happens at the edges."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.buckets import BucketTally
from pulens.evidence import gather
from pulens.inference.clustered import ends_around, inflation_at
from pulens.inference.kernels.jackknife import (
    JackknifeCounts,
    effective_buckets,
    jackknife_error,
    logit_ends,
    redraw_buckets,
    student_quantile,
)
from pulens.inference.kernels.mover import jeffreys_ends
from pulens.inference.kernels.redraws import compress
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.priors import clustered as clustered_prior
from pulens.recovery.point import pairwise_auc


def visits(clusters: int, seed: int, *, effect: float = 0.8, rows: int = 8) -> tuple[np.ndarray, ...]:
    """Labels, scores and the cluster of each row; a cluster moves all of its scores."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), 1 + rng.poisson(rows - 1, clusters))
    positive = rng.random(cluster.size) < 0.3
    scores = rng.normal(0, effect, clusters)[cluster] + rng.normal(size=cluster.size) + 1.5 * positive
    return (positive & (rng.random(cluster.size) < 0.5)).astype(int), scores, cluster


def test_the_worked_example_of_four_clusters():
    """Hits and labelled rows (2, 3), (1, 1), (0, 2), (3, 4): recall 0.6, its error and its ends by hand."""
    hits, labelled = np.array([2, 1, 0, 3]), np.array([3, 1, 2, 4])
    cluster = np.concatenate([np.repeat(np.arange(4), labelled), np.arange(4)])
    scores = np.concatenate([np.r_[np.ones(h), np.zeros(n - h)] for h, n in zip(hits, labelled, strict=True)])
    scores, labels = np.r_[scores, np.zeros(4)], np.repeat([1, 0], [10, 4])
    left = JackknifeCounts.of(BucketTally.from_rows(labels, scores, cluster), [1.0])
    recalls = left.rates()[0][:, 0]
    assert sorted(recalls) == pytest.approx(sorted([4 / 7, 5 / 9, 6 / 8, 3 / 6]))
    error = float(jackknife_error(recalls))
    assert error == pytest.approx(0.1623866, abs=5e-8)
    ends = logit_ends(0.6, error, student_quantile(3, 0.025))
    assert ends == pytest.approx((0.148323, 0.928159), abs=5e-7)


def test_fewer_than_five_clusters_with_labelled_rows_have_no_interval():
    labels, scores, cluster = visits(4, 0, rows=30)
    result = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, cluster=cluster, labelling="random")
    assert all(estimate.interval is None for estimate in result.estimates.values())
    (told,) = [notice for notice in result.notices if notice.code == "too-few-clusters"]
    assert "Labelled rows lie in 3 clusters" in str(told)
    assert "fewer than 5" in str(told)


def test_unlabelled_rows_in_one_cluster_have_no_interval_either():
    labels = np.repeat([1, 0], [40, 60])
    cluster = np.where(labels == 0, 99, np.arange(100) % 10)
    result = pulens.evaluate(
        labels, np.arange(100) % 13, class_prior=0.5, threshold=6.0, cluster=cluster, labelling="random"
    )
    assert all(estimate.interval is None for estimate in result.estimates.values())
    assert any("Unlabelled rows lie in 1 cluster:" in str(notice) for notice in result.notices)


def test_values_stay_and_pairs_of_independent_rows_give_the_widths_of_independent_rows():
    labels, scores, _cluster = visits(1500, 1, rows=1, effect=0.0)
    options = {"class_prior": 0.35, "threshold": 1.0}
    plain = pulens.evaluate(labels, scores, **options, labelling="random")
    pairs = np.random.default_rng(2).permutation(labels.size) // 2
    paired = pulens.evaluate(labels, scores, cluster=pairs, **options, labelling="random")
    for name, estimate in plain.estimates.items():
        assert paired.estimates[name].value == pytest.approx(estimate.value, abs=1e-12)
        # 250 buckets know a standard error to one part in twenty or so
        assert paired.estimates[name].interval.width == pytest.approx(estimate.interval.width, rel=0.15), name
    assert paired.clusters.design_effect == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("prior", [{"class_prior": 0.2}, {"class_prior": (0.1, 0.3)}, {}])
def test_clusters_of_one_row_each_are_none(prior):
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [40, 360])
    rows = labels, rng.normal(1.5 * labels)
    asked = {**prior, "redraws": 100, "labelling": "random"}
    alone = {**asked, "cluster": rng.permutation(400)}
    plain, apart = (pulens.evaluate(*rows, threshold=0.5, **each) for each in (asked, alone))
    assert apart.to_dict()["estimates"] == plain.to_dict()["estimates"]
    assert apart.to_dict()["class_prior"] == plain.to_dict()["class_prior"]
    assert "clusters-of-one-row" in [notice.code for notice in apart.notices]
    models = {"a": rows[1], "b": rows[1].round()}
    first, second = (pulens.compare(labels, models, **each).to_dict()["metrics"] for each in (asked, alone))
    assert first == second
    first, second = (pulens.decide(*rows, cost_miss=5, cost_alarm=1, **each).to_dict() for each in (asked, alone))
    assert {**first, "notices": []} == {**second, "notices": []}
    chances = 1 / (1 + np.exp(-rows[1]))
    first, second = (
        pulens.calibration.brier_score(labels, chances, **prior, cluster=each) for each in (None, np.arange(400))
    )
    assert first.interval == second.interval


def test_one_labelled_row_that_is_a_cluster_of_its_own_has_the_interval_of_one_labelled_row():
    labels, scores = np.eye(1, 60, 3, dtype=int)[0], np.random.default_rng(0).normal(size=60)
    asked = {"class_prior": 0.2, "labelling": "random"}
    result = pulens.evaluate(labels, scores, cluster=np.arange(60), **asked)
    interval = result.estimates["average_precision"].interval
    assert (interval.low, interval.high) == (0.0, 1.0)
    assert interval == pulens.evaluate(labels, scores, **asked).estimates["average_precision"].interval


def test_rows_that_move_together_widen_intervals_and_leave_values():
    labels, scores, cluster = visits(150, 2, effect=1.5, rows=12)
    options = {"class_prior": 0.3, "threshold": 1.0}
    plain = pulens.evaluate(labels, scores, **options, labelling="random")
    together = pulens.evaluate(labels, scores, cluster=cluster, **options, labelling="random")
    for name in ("recall", "specificity", "predicted_positive_rate", "roc_auc"):
        assert together.estimates[name].value == plain.estimates[name].value
        assert together.estimates[name].interval.width > 1.2 * plain.estimates[name].interval.width
        assert together.estimates[name].value in together.estimates[name].interval
    assert together.clusters.design_effect > 1.2
    assert "jackknife" in together.estimates["recall"].interval.method


@pytest.mark.parametrize(("clusters", "within"), [(30, 0.15), (100, 0.05)])
def test_the_jackknife_of_the_area_agrees_with_obuchowski(clusters, within):
    """Obuchowski (1997): placements summed by cluster; a second derivation of the same variance."""
    ratios = []
    for seed in range(6):
        labels, scores, cluster = visits(clusters, seed)
        buckets = BucketTally.from_rows(labels, scores, cluster)
        whole = compress(buckets.without([]))
        left = JackknifeCounts.of(buckets, whole.thresholds)
        areas = [pairwise_auc(one, "labelled", "unlabelled") for one in left.tallies(whole.thresholds)]
        ratios.append(float(jackknife_error(np.array(areas))) / obuchowski_error(labels, scores, cluster))
    assert np.mean(ratios) == pytest.approx(1.0, abs=within)


def obuchowski_error(labels: np.ndarray, scores: np.ndarray, cluster: np.ndarray) -> float:
    first, second = scores[labels == 1], scores[labels == 0]
    wins = (first[:, None] > second).astype(float) + 0.5 * (first[:, None] == second)
    area, many = wins.mean(), int(cluster.max()) + 1
    by_first = np.bincount(cluster[labels == 1], wins.mean(axis=1) - area, many)
    by_second = np.bincount(cluster[labels == 0], wins.mean(axis=0) - area, many)
    held = [np.unique(cluster[labels == kind]).size for kind in (1, 0)]
    variance = (by_first**2).sum() * held[0] / (held[0] - 1) / first.size**2
    variance += (by_second**2).sum() * held[1] / (held[1] - 1) / second.size**2
    variance += 2 * (by_first @ by_second) * many / (many - 1) / (first.size * second.size)
    return float(np.sqrt(variance))


def test_blocks_of_scores_hardly_change_the_error():
    """Replicates are found on 256 thresholds; a witness finds them on all rows."""
    labels, scores, cluster = visits(60, 3, rows=20)
    result = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, cluster=cluster, labelling="random")
    counted = BucketTally.from_rows(labels, scores, cluster)
    for name in ("roc_auc", "average_precision"):
        exact = []
        for out in range(60):
            kept = cluster != out
            evidence = gather(labels[kept], scores[kept], class_prior=0.3)
            exact.append(METRICS[name].compute(evidence.tally, evidence.assumptions))
        low, high = logit_ends(
            result.estimates[name].value, float(jackknife_error(np.array(exact))), student_quantile(59, 0.025)
        )
        interval = result.estimates[name].interval
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.01 * (high - low) + 1e-3)
    assert counted.lowest.size > 256


def test_every_row_found_counts_as_many_rows_as_clusters():
    labels = np.tile([1, 0, 0], 30)
    scores = np.where(labels == 1, 2.0, np.tile([0.0, 1.0, 3.0], 30))
    result = pulens.evaluate(
        labels, scores, class_prior=0.5, threshold=2.0, cluster=np.repeat(np.arange(30), 3), labelling="random"
    )
    recall = result.estimates["recall"]
    assert recall.value == 1.0
    assert recall.interval.low == pytest.approx(jeffreys_ends(30, 30, 0.025)[0])


def test_few_clusters_are_warned_of_and_have_few_degrees_of_freedom():
    labels, scores, cluster = visits(12, 4, rows=30)
    result = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, cluster=cluster, labelling="random")
    assert "few-clusters" in [notice.code for notice in result.notices]
    recall = result.estimates["recall"]
    counted = BucketTally.from_rows(labels, scores, cluster)
    error = float(jackknife_error(JackknifeCounts.of(counted, [1.0]).rates()[0][:, 0]))
    own = np.bincount(cluster[labels == 1])
    low, high = logit_ends(recall.value, error, student_quantile(own.sum() ** 2 / (own**2).sum() - 1, 0.025))
    assert (recall.interval.low, recall.interval.high) == pytest.approx((low, high), abs=1e-9)


def test_a_threshold_chosen_on_the_same_rows_holds_the_jackknife_less_the_optimism_of_choosing():
    labels, scores, cluster = visits(80, 5)
    chosen = pulens.evaluate(labels, scores, class_prior=0.3, cluster=cluster, redraws=400, labelling="random")
    given = pulens.evaluate(
        labels, scores, class_prior=0.3, cluster=cluster, threshold=chosen.threshold, labelling="random"
    )
    assert "chosen again" in chosen.estimates["f1"].interval.method
    assert chosen.estimates["f1"].interval.width > given.estimates["f1"].interval.width
    assert chosen.threshold_interval.low <= chosen.threshold <= chosen.threshold_interval.high


def test_redraws_take_whole_buckets():
    above = np.zeros((5, 2, 3))
    above[:, :, 0] = np.array([1, 10, 100, 1000, 10000])[:, None]
    (drawn,) = redraw_buckets(above, Resampling(redraws=200), lambda chunk: chunk.totals[0])
    digits = np.array([[int(d) for d in f"{int(total):05d}"] for total in drawn])
    assert (digits.sum(axis=1) == 5).all()


@pytest.mark.parametrize(
    "prior", [{"class_prior": (0.25, 0.4)}, {"audit": (60, 200), "scenario": "case-control"}, {"class_prior": "auto"}]
)
def test_a_class_prior_in_doubt_widens_what_needs_it(prior, monkeypatch):
    monkeypatch.setattr(clustered_prior, "GROUPS", 4)
    labels, scores, cluster = visits(120, 6)
    known = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, cluster=cluster, labelling="random")
    doubtful = pulens.evaluate(labels, scores, threshold=1.0, cluster=cluster, **prior, labelling="random")
    assert doubtful.estimates["precision"].interval.width > known.estimates["precision"].interval.width
    assert doubtful.estimates["recall"].interval.width == pytest.approx(known.estimates["recall"].interval.width)


def test_an_estimated_class_prior_allows_for_clusters(monkeypatch):
    """Every row six times: hardly surer than a sixth of the rows."""
    monkeypatch.setattr(clustered_prior, "GROUPS", 8)
    labels, scores, _ = visits(600, 7, rows=1, effect=0.0)
    six = [np.repeat(values, 6) for values in (labels, scores, np.arange(labels.size))]
    once = gather(labels, scores).class_prior.unlabelled_interval
    naive = gather(six[0], six[1]).class_prior.unlabelled_interval
    told = gather(six[0], six[1], cluster=six[2]).class_prior.unlabelled_interval
    assert told.low <= naive.low
    assert naive.high < once.high - 0.05 < told.high < once.high + 0.12
    assert "allowing for clusters" in told.method


def test_dependent_rows_are_no_proof_against_random_labels():
    """Standard errors of recovered rates grow with what clusters do to them."""
    labels, scores, _ = visits(400, 8, rows=1, effect=0.0)
    nine = [np.repeat(values, 9) for values in (labels, scores, np.arange(labels.size))]
    evidence = gather(nine[0], nine[1], cluster=nine[2], class_prior=0.5)
    assert inflation_at(evidence, 1.0, "false positive rate") == pytest.approx(3.0, rel=0.15)


def test_bounds_and_clusters_are_not_both_to_be_had():
    labels, scores, cluster = visits(40, 9)
    result = pulens.evaluate(labels, scores, class_prior=0.3, cluster=cluster, labelling="random")
    with pytest.raises(pulens.PulensError, match="cannot be combined with bounds"):
        result.bounds()


def test_metrics_of_every_kind_have_an_interval():
    labels, scores, cluster = visits(60, 10)
    for name, threshold in (("proxy_roc_auc", None), ("pr_auc", None), ("lee_liu", 1.0), ("mutual_information", 1.0)):
        metric = getattr(pulens.metrics, name)
        result = metric(labels, scores, class_prior=0.3, threshold=threshold, confidence=0.95, cluster=cluster)
        assert result.value in result.interval, name
        assert result.interval.width > 0, name


def test_degrees_of_freedom_are_those_of_clusters_with_labelled_rows():
    """Clusters without labelled rows say nothing of how recall moves, however many there are."""
    labels, scores, cluster = visits(12, 4, rows=30)
    more = np.arange(200)
    with_more = [np.r_[labels, 0 * more], np.r_[scores, np.full(200, -9.0)], np.r_[cluster, 1000 + more]]
    few, many = (
        pulens.evaluate(
            *given[:2], unlabelled_prior=0.1, threshold=1.0, cluster=given[2], labelling="random"
        ).estimates["recall"]
        for given in ((labels, scores, cluster), with_more)
    )
    assert few.interval.width <= many.interval.width <= 1.06 * few.interval.width  # (B - 1)/B, and no more


def test_large_clusters_leave_few_degrees_of_freedom():
    equal, tailed = np.full(20, 10), np.r_[110, np.full(18, 5), 0]
    assert effective_buckets(equal) == pytest.approx(20)
    assert effective_buckets(tailed) == pytest.approx(200**2 / (110**2 + 18 * 25))
    assert effective_buckets(np.zeros(3)) == 0


def test_a_number_that_no_cluster_moves_is_not_certain():
    """Every cluster finds half of its positives: no spread, and yet a rate of so many rows."""
    reach = student_quantile(29, 0.025), 1.959964
    low, high = ends_around(0.5, 0.0, 0.025, reach, 30, 60)
    assert 0.2 < high - low < 0.3


def test_redraws_of_clusters_always_hold_labelled_rows_and_others():
    above = np.zeros((40, 1, 3))
    above[:2, :, 0] = 3.0  # labelled rows in two clusters of forty: one redraw in eight would hold none
    above[:, :, 1] = 1.0
    redrawn = redraw_buckets(above, Resampling(redraws=400), lambda chunk: chunk.totals)
    labelled = np.concatenate([totals[0] for totals in redrawn])
    assert labelled.size == 400
    assert labelled.min() > 0
    assert 5.5 < labelled.mean() < 8.5  # 6 of all redraws, 6.9 of those that hold some


def test_redraws_of_one_cluster_of_each_kind_end_with_the_data_themselves():
    above = np.zeros((2, 1, 3))
    above[0, :, 0], above[1, :, 1] = 3.0, 5.0
    (totals,) = redraw_buckets(above, Resampling(redraws=100), lambda chunk: chunk.totals)
    assert set(totals[0]) == {3.0}
    assert set(totals[1]) == {5.0}
