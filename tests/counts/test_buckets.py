"""Rows counted by bucket of clusters: they add up like tallies, whoever counted the parts."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pulens.counts.buckets import MOST_BUCKETS, BucketTally, bucket_names, digest_of
from pulens.counts.tally import Tally
from pulens.errors import InputError

SIZE = 900


def rows(clusters: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.choice([1, 0, -1], SIZE, p=[0.3, 0.6, 0.1])
    return labels, np.round(rng.normal(size=SIZE), 1), rng.integers(0, clusters, SIZE)


def counted(labels: np.ndarray, scores: np.ndarray, clusters: np.ndarray) -> BucketTally:
    return BucketTally.from_rows(labels, scores, clusters.tolist())


@pytest.mark.parametrize("clusters", [7, 200, 300, 5000])
@pytest.mark.parametrize("parts", [2, 3])
def test_shards_added_up_equal_one_pass(clusters, parts):
    labels, scores, ids = rows(clusters)
    whole = counted(labels, scores, ids)
    shards = [counted(labels[place::parts], scores[place::parts], ids[place::parts]) for place in range(parts)]
    added = sum(shards[1:], shards[0])
    fewest, most = added.clusters
    assert fewest <= whole.clusters[0] <= most
    assert replace(added, counted_clusters=whole.counted_clusters) == whole
    if not whole.is_hashed:
        assert added == whole


def test_parts_of_few_clusters_each_are_put_together_by_digest_once_they_are_many():
    labels, scores, ids = rows(300)
    low = ids < 150
    parts = [counted(labels[mine], scores[mine], ids[mine]) for mine in (low, ~low)]
    assert not any(part.is_hashed for part in parts)
    assert (parts[0] + parts[1]).is_hashed
    added, whole = parts[0] + parts[1], counted(labels, scores, ids)
    assert replace(added, counted_clusters=whole.counted_clusters) == whole
    assert parts[1] + parts[0] == added


@pytest.mark.parametrize("clusters", [20, 3000])
def test_counts_at_a_threshold_are_those_of_the_rows(clusters):
    labels, scores, ids = rows(clusters, 1)
    result = counted(labels, scores, ids)
    name_of = dict(zip(np.unique(ids).tolist(), bucket_names([str(i) for i in np.unique(ids)]), strict=True))
    owner = np.array([result.names.index(name_of[one]) for one in ids.tolist()])
    for threshold in (-5.0, -0.3, 0.0, 0.25, 9.0):
        for kind, code in enumerate((1, 0, -1)):
            mine = (labels == code) & (scores >= threshold)
            np.testing.assert_array_equal(
                result.at(threshold)[:, kind], np.bincount(owner[mine], minlength=len(result))
            )
    several = result.above([2.0, 0.25, -0.3])
    for place, threshold in enumerate((2.0, 0.25, -0.3)):
        np.testing.assert_array_equal(several[:, place], result.at(threshold))


def test_without_a_bucket_is_the_tally_of_the_other_rows():
    labels, scores, ids = rows(12, 2)
    result = counted(labels, scores, ids)
    out = result.names.index(digest_of("3"))
    left = result.without([out])
    expected = Tally.from_arrays(labels[ids != 3], scores[ids != 3])
    assert left.totals == expected.totals
    for threshold in np.unique(scores).tolist():
        assert left.at(threshold) == expected.at(threshold)


def test_weights_add_up_in_buckets():
    labels, scores, ids = rows(9, 3)
    weights = np.random.default_rng(0).integers(0, 3, SIZE).astype(float)
    result = BucketTally.from_rows(labels, scores, ids.tolist(), weights)
    np.testing.assert_allclose(result.totals.sum(axis=0), result.tally.totals)
    assert result.rows == np.count_nonzero(weights)
    assert result.tally.is_weighted


def test_a_bucket_is_two_digits_of_the_digest_beyond_256_clusters():
    assert bucket_names(["7"]) == ["8f14e45fceea167a5a36dedd4bea2543"]
    assert len(set(bucket_names([str(one) for one in range(MOST_BUCKETS)]))) == MOST_BUCKETS
    assert {len(name) for name in bucket_names([str(one) for one in range(MOST_BUCKETS + 1)])} == {2}


def test_counts_that_do_not_agree_with_the_tally_are_refused():
    result = counted(*rows(5))
    damaged = replace(result, labelled=result.labelled + 1)
    with pytest.raises(InputError, match="the buckets hold"):
        damaged.check()


def test_it_survives_a_pickle():
    result = counted(*rows(5))
    assert pickle.loads(pickle.dumps(result)) == result
