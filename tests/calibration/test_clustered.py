"""Calibration of rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.calibration import (
    brier_score,
    calibration_in_the_large,
    calibration_slope,
    log_loss,
    recalibrate,
    reliability,
)
from pulens.calibration.recalibration import deal_buckets
from pulens.counts.buckets import BucketTally

OPTIONS = {"class_prior": 0.35}


def visits(clusters: int, times: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent rows of calibrated scores, each so many times: a cluster says as much as one row."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 1.2, clusters)
    positive = rng.random(clusters) < 1 / (1 + np.exp(-logits))
    labels = (positive & (rng.random(clusters) < 0.5)).astype(int)
    rows = np.repeat(np.arange(clusters), times)
    return labels[rows], (1 / (1 + np.exp(-logits)))[rows], rows


def numbers(labels, scores, **options):
    line = calibration_slope(labels, scores, **OPTIONS, **options, labelling="random")
    told = {**OPTIONS, **options, "labelling": "random"}
    means = (each(labels, scores, **told) for each in (calibration_in_the_large, brier_score, log_loss))
    return {result.metric: result for result in (*means, *line)}


def test_rows_counted_five_times_are_as_sure_as_counted_once():
    labels, scores, cluster = visits(1200)
    five = [np.repeat(values, 5) for values in (labels, scores, cluster)]
    once, naive, told = (
        numbers(labels, scores),
        numbers(five[0], five[1]),
        numbers(five[0], five[1], cluster=five[2]),
    )
    for name, result in once.items():
        assert told[name].value == pytest.approx(naive[name].value, abs=1e-12)
        # in one sample the numbers of labelled rows vary too, which leaving out buckets sees and the formula does not
        assert 0.8 < told[name].interval.width / result.interval.width < 1.6, name
        assert naive[name].interval.width < 0.5 * result.interval.width


def test_the_calibration_error_and_its_bins_allow_for_clusters():
    labels, scores, cluster = visits(800, times=6, seed=1)
    naive = reliability(labels, scores, **OPTIONS, labelling="random")
    told = reliability(labels, scores, cluster=cluster, **OPTIONS, labelling="random")
    assert told.error.value == pytest.approx(naive.error.value, abs=1e-12)
    assert told.error.interval.width > 1.5 * naive.error.interval.width
    assert told.error.noise_floor > 1.5 * naive.error.noise_floor
    pairs = zip(told.points, naive.points, strict=True)
    assert np.median([mine.interval.width / theirs.interval.width for mine, theirs in pairs]) > 1.5


def test_too_few_clusters_leave_the_value_alone():
    labels, scores, _ = visits(600)
    cluster = np.arange(600) % 4
    assert all(result.interval is None for result in numbers(labels, scores, cluster=cluster).values())
    diagram = reliability(labels, scores, cluster=cluster, **OPTIONS, labelling="random")
    assert diagram.error.interval is None
    assert all(one.interval is None for one in diagram.bins)
    assert "too-few-clusters" in [notice.code for notice in diagram.notices]


def test_folds_of_a_recalibration_keep_clusters_together():
    labels, scores, cluster = visits(100, times=4, seed=2)
    counted = BucketTally.from_rows(labels, scores, cluster)
    parts = deal_buckets(counted, 5, np.random.default_rng(0))
    assert sum(part.totals.rows for part in parts) == labels.size
    assert max(part.totals.labelled for part in parts) - min(part.totals.labelled for part in parts) <= 4
    seen = [set(part.thresholds.tolist()) for part in parts]  # every cluster has a score of its own
    assert sum(map(len, seen)) == len(set().union(*seen)) == 100
    result = recalibrate(labels, scores, cluster=cluster, method="platt", **OPTIONS, labelling="random")
    assert (
        result.before.interval.width
        > recalibrate(labels, scores, method="platt", **OPTIONS, labelling="random").before.interval.width
    )


def test_logits_are_read_as_probabilities_in_buckets_too():
    labels, scores, cluster = visits(300, times=3)
    logits = np.log(scores / (1 - scores))
    mine = brier_score(labels, logits, scores_are="logit", cluster=cluster, **OPTIONS, labelling="random")
    assert mine.interval.width == pytest.approx(
        brier_score(labels, scores, cluster=cluster, **OPTIONS, labelling="random").interval.width
    )
