"""Gaps between groups whose rows share clusters: who goes together, how sure, what is refused."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens.errors import InputError
from pulens.groups.clustered_rates import ClusteredRates
from pulens.groups.gap_rates import difference_ends
from pulens.inference.kernels.simultaneous import LargestOf


def visits(rng, patients=50, groups=3, effect=0.8, shared=True):
    patient = np.repeat(np.arange(patients), rng.geometric(1 / 10, patients))
    names = np.array([f"g{place}" for place in range(groups)])
    group = names[rng.integers(0, groups, patient.size if shared else patients)]
    group = group if shared else group[patient]
    positive = rng.random(patient.size) < 0.5
    labels = positive & (rng.random(patient.size) < 0.6)
    score = rng.normal(positive * 1.5 + effect * rng.normal(size=patients)[patient])
    return polars.DataFrame({"score": score, "label": labels * 1, "group": group, "patient": patient})


def gaps(table, **options):
    return pulens.gaps_by(
        table, "group", "recall", **{"threshold": 1.0, "cluster": "patient", **options}, labelling="random"
    )


def test_covariance_is_that_of_recalls_without_each_patient():
    """The slow way: every group's recall counted again without one patient at a time."""
    table = visits(np.random.default_rng(1), patients=24)
    result = gaps(table)
    slow = []
    for patient in range(24):
        rest = table.filter(polars.col("patient") != patient, polars.col("label") == 1)
        slow.append([(rest.filter(polars.col("group") == f"g{place}")["score"] >= 1).mean() for place in range(3)])
    away = np.array(slow) - np.mean(slow, axis=0)
    covariance = 23 / 24 * away.T @ away
    mine = table.filter(polars.col("label") == 1)
    counts = np.zeros((2, 24, 3))
    for patient, group, score in mine.select("patient", "group", "score").iter_rows():
        counts[:, patient, int(group[1])] += 1, score >= 1
    rates = ClusteredRates.counted(counts[1].sum(axis=0), counts[0].sum(axis=0), counts[1], counts[0])
    assert rates.covariance == pytest.approx(covariance, rel=1e-9)
    root = rates.root
    assert root @ root.T == pytest.approx(rates.correlations, abs=1e-12)
    critical = LargestOf.pairs(rates.errors, root).quantile(0.95)
    assert result.critical_value == pytest.approx(critical, abs=1e-9)
    for gap in result.differences:
        pair = np.array([int(gap.first[1])]), np.array([int(gap.second[1])])
        low, high = difference_ends(rates, *pair, critical)
        assert (gap.low, gap.high) == pytest.approx((low[0], high[0]), abs=1e-9)


def test_values_stay_and_the_evaluations_of_groups_say_the_same():
    table = visits(np.random.default_rng(2))
    plain, clustered = gaps(table, cluster=None), gaps(table)
    assert {group.name: group.estimate.value for group in plain.groups} == {
        group.name: group.estimate.value for group in clustered.groups
    }
    priors = dict.fromkeys(("g0", "g1", "g2"), 0.5)
    whole = pulens.evaluate_by(table, "group", class_prior=priors, threshold=1.0, cluster="patient", labelling="random")
    assert whole.gaps("recall").differences == clustered.differences
    assert "leaving out each of 50" in " ".join(str(clustered).split())
    assert "Student" in clustered.groups[0].estimate.interval.method


def test_patients_in_one_group_each_widen_gaps_and_patients_in_all_cancel():
    rng = np.random.default_rng(3)
    apart, within = visits(rng, 150, 2, effect=2.0, shared=False), visits(rng, 150, 2, effect=2.0)

    def widening(table):
        (one,), (other,) = gaps(table).differences, gaps(table, cluster=None).differences
        return (one.high - one.low) / (other.high - other.low)

    assert widening(apart) > 1.3
    assert 0.8 < widening(within) < 1.15
    assert gaps(apart).audit.positives > 1.5 * gaps(apart, cluster=None).audit.positives


def test_one_row_per_cluster_is_near_the_gaps_of_independent_rows():
    """A standard error from 256 buckets is itself off by some 4%, so widths are compared over several tables."""
    ratios = []
    for seed in range(4):
        table = visits(np.random.default_rng(40 + seed), patients=150)
        alone = table.with_columns(patient=polars.int_range(polars.len()))
        one, other = gaps(alone), gaps(alone, cluster=None)
        assert one.critical_value == pytest.approx(other.critical_value, abs=0.01)
        plain = {(gap.first, gap.second): gap for gap in other.differences}
        for gap in one.differences:
            beside = plain[gap.first, gap.second]
            assert gap.value == beside.value
            ratios.append((gap.high - gap.low) / (beside.high - beside.low))
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)


def test_share_flagged_has_the_same_tool_and_the_test_agrees_with_the_intervals():
    table = visits(np.random.default_rng(5), 80, 2, effect=1.5, shared=False)
    for metric in ("recall", "predicted_positive_rate"):
        result = pulens.gaps_by(table, "group", metric, threshold=1.0, cluster="patient", labelling="random")
        assert (result.p_value_equal < 0.05) == any(gap.is_clear for gap in result.differences)
        at = 1 - result.p_value_equal
        again = pulens.gaps_by(
            table, "group", metric, threshold=1.0, cluster="patient", confidence=at, labelling="random"
        )
        assert max(gap.low for gap in again.differences) == pytest.approx(0, abs=1e-6)


def test_a_group_of_few_patients_is_shown_not_tested():
    table = visits(np.random.default_rng(6), 40, 2)
    few = table.filter(polars.col("patient") < 3).with_columns(group=polars.lit("rare"))
    result = gaps(polars.concat([table, few]))
    rare = {group.name: group for group in result.groups}["rare"]
    assert rare.untested == "fewer than 5 clusters with labelled rows"
    assert rare.estimate.interval is None
    assert len(result.differences) == 1


def test_a_group_in_which_all_are_found_keeps_an_interval():
    table = visits(np.random.default_rng(7), 40, 2)
    result = gaps(table.with_columns(score=polars.when(polars.col("group") == "g0").then(9.0).otherwise("score")))
    (gap,) = result.differences
    assert gap.first == "g0"
    group = {group.name: group.estimate for group in result.groups}["g0"]
    assert group.value == 1
    assert 0.8 < group.interval.low < 1


def test_more_than_256_patients_are_counted_in_buckets_and_said():
    result = gaps(visits(np.random.default_rng(8), patients=300))
    assert "buckets of clusters" in " ".join(result.notes)


def test_missing_patients_are_refused():
    table = visits(np.random.default_rng(9), 20, 2)
    with pytest.raises(InputError, match="patient"):
        gaps(table.with_columns(patient=polars.when(polars.col("patient") > 3).then("patient")))


def test_all_pairs_hold_at_once_in_worlds_with_shared_patients():
    """Five groups, 40 patients: a small seeded piece of benchmarks/groups_gaps.py."""
    rng, moved = np.random.default_rng(10), np.array([-0.6, -0.2, 0.0, 0.3, 0.8])
    from scipy.special import ndtr

    recall = ndtr((moved + 0.6) / np.sqrt(1.64))
    one, other = np.triu_indices(5, 1)
    held = 0
    for _ in range(40):
        cluster = np.repeat(np.arange(40), rng.geometric(1 / 10, 40))
        group = rng.integers(0, 5, cluster.size)
        hit = moved[group] + 0.6 + 0.8 * rng.normal(size=40)[cluster] + rng.normal(size=cluster.size) > 0
        rows, hits = (np.bincount(cluster * 5 + group, many, 200).reshape(40, 5) for many in (None, hit))
        rates = ClusteredRates.counted(hits.sum(axis=0), rows.sum(axis=0), hits, rows)
        low, high = difference_ends(rates, one, other, LargestOf.pairs(rates.errors, rates.root).quantile(0.95))
        gap = recall[one] - recall[other]
        held += bool(((low <= gap) & (gap <= high)).all())
    assert held >= 36
