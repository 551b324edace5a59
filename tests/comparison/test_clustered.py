"""Two models on rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.errors import PulensError
from pulens.inference.kernels.jackknife import student_quantile
from pulens.report.comparison import comparison_text


def two_models(clusters: int = 90, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), 1 + rng.poisson(7, clusters))
    positive = rng.random(cluster.size) < 0.3
    shared = rng.normal(0, 1, clusters)[cluster] + rng.normal(size=cluster.size) + 1.5 * positive
    scores = {"a": shared + 0.3 * rng.normal(size=cluster.size), "b": shared + 1.5 * rng.normal(size=cluster.size)}
    return (positive & (rng.random(cluster.size) < 0.5)).astype(int), scores, cluster


def test_differences_are_found_without_each_bucket():
    labels, scores, cluster = two_models()
    options = {"class_prior": 0.3, "threshold": 1.0, "redraws": 200}
    plain = pulens.compare(labels, scores, **options, labelling="random")
    result = pulens.compare(labels, scores, cluster=cluster, **options, labelling="random")
    for metric in ("roc_auc", "precision", "recall"):
        mine, theirs = result.difference("a", "b", metric), plain.difference("a", "b", metric)
        assert mine.value == pytest.approx(theirs.value, abs=1e-12)
        assert mine.value in mine.interval
        assert (mine.p_value < 0.05) == (not mine.interval.low <= 0 <= mine.interval.high)
        assert "jackknife" in mine.interval.method
    assert result.clusters.clusters == (90, 90)
    assert "each of 90 buckets of clusters left out in turn" in comparison_text(result, explain=True)
    assert result.to_dict()["clusters"]["buckets"] == 90
    assert "90 clusters" in result.to_html()


def test_what_a_cluster_does_to_both_models_cancels():
    labels, scores, cluster = two_models(60, 1)
    moved = {name: values + 5 * (cluster % 2) for name, values in scores.items()}
    result = pulens.compare(labels, moved, cluster=cluster, class_prior=0.3, labelling="random")
    alone = result.estimates["roc_auc"]
    both = alone["a"].interval.width + alone["b"].interval.width
    assert result.difference("a", "b", "roc_auc").interval.width < 0.5 * both


def test_the_interval_of_the_recall_difference_is_the_jackknife_by_hand():
    labels, scores, cluster = two_models(40, 2)
    result = pulens.compare(
        labels, scores, cluster=cluster, class_prior=0.3, threshold=1.0, metrics=["recall"], labelling="random"
    )
    gaps = []
    for out in range(40):
        kept = (cluster != out) & (labels == 1)
        gaps.append(np.mean(scores["a"][kept] >= 1) - np.mean(scores["b"][kept] >= 1))
    error = np.sqrt(39 / 40 * np.sum((np.array(gaps) - np.mean(gaps)) ** 2))
    pair = result.difference("a", "b", "recall")
    share = (pair.value + 1) / 2
    own = np.bincount(cluster[labels == 1])  # recall is known from labelled visits alone
    step = student_quantile(own.sum() ** 2 / (own**2).sum() - 1, 0.025) * error / 2 / (share * (1 - share))
    ends = [2 / (1 + np.exp(-(np.log(share / (1 - share)) + sign * step))) - 1 for sign in (-1, 1)]
    assert (pair.interval.low, pair.interval.high) == pytest.approx(tuple(ends), abs=1e-6)


def test_a_class_prior_in_doubt_enters_the_difference():
    labels, scores, cluster = two_models(50, 3)
    narrow, wide = (
        pulens.compare(
            labels, scores, cluster=cluster, class_prior=prior, threshold=1.0, metrics=["precision"], labelling="random"
        )
        for prior in (0.3, (0.2, 0.4))
    )
    assert wide.difference("a", "b").interval.width > narrow.difference("a", "b").interval.width


def test_too_few_clusters_leave_models_undecided():
    labels, scores, _ = two_models()
    result = pulens.compare(labels, scores, cluster=np.arange(labels.size) % 3, class_prior=0.3, labelling="random")
    assert result.winner is None
    assert result.difference("a", "b").undefined_because == "labelled or other rows lie in fewer than 5 clusters"
    assert "too-few-clusters" in [notice.code for notice in result.notices]


def test_counts_without_buckets_are_refused(tmp_path):
    labels, scores, cluster = two_models()
    joint = pulens.counts.joint.JointTally.from_rows(scores, labels)
    with pytest.raises(PulensError, match="a joint tally holds no buckets"):
        pulens.compare(joint, cluster="patient", class_prior=0.3, labelling="random")
    with pytest.raises(PulensError, match="weighted rows"):
        pulens.compare(
            labels, scores, cluster=cluster, weights=np.ones(labels.size), class_prior=0.3, labelling="random"
        )
