"""Clusters of unequal size have one rule for degrees of freedom, and a number one interval through every door."""

from __future__ import annotations

import math

import numpy as np
import pyarrow
import pytest

import pulens
from pulens.evidence import IntervalOptions, gather
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.jackknife import freedom_of, student_quantile
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.mass_replicates import mass_replicates
from pulens.strata import WeightedEvidence, as_one_cell

PRIORS = [{"class_prior": 0.3}, {"class_prior": (0.25, 0.35)}, {}]


def three_large_clusters(seed=0, rows=900):
    rng = np.random.default_rng(seed)
    clusters = np.where(rng.random(rows) < 0.6, rng.integers(0, 3, rows), 3 + rng.integers(0, 60, rows))
    positive = rng.random(rows) < 0.3
    scores = rng.normal(0, 1, rows) + 1.5 * positive + 0.35 * rng.normal(size=63)[clusters]
    return (positive & (rng.random(rows) < 0.4)).astype(int), scores, clusters


def test_a_few_large_clusters_leave_calibration_and_masses_the_freedom_of_metrics():
    labels, scores, clusters = three_large_clusters()
    evidence = gather(labels, 1 / (1 + np.exp(-scores)), cluster=clusters, class_prior=0.3)
    freedom = IntervalEstimator(evidence, Resampling()).buckets.freedom
    assert 1 < freedom < 12 < np.unique(clusters).size - 1
    for own in (evidence, WeightedEvidence.of(as_one_cell(evidence, IntervalOptions()))):
        masses = mass_replicates(own, evidence.class_prior.unlabelled)
        assert masses.freedom == freedom
        assert masses.times_as_wide() == pytest.approx(student_quantile(freedom, 0.025) / normal_quantile(0.95))


def test_a_class_prior_of_checked_rows_allows_for_a_few_large_clusters(monkeypatch):
    from pulens.evaluation import reviewed_groups

    labels, scores, clusters = three_large_clusters()
    rng = np.random.default_rng(1)
    free = np.flatnonzero(labels == 0)
    checked = rng.permutation(free)[:200]
    answers = np.where(scores[checked] > 1, "positive", "negative")
    reviews = pyarrow.table({"row": checked, "answer": answers, "probability": [200 / free.size] * 200})
    asked = []
    result = reviewed_groups.freedom_of
    monkeypatch.setattr(reviewed_groups, "freedom_of", lambda *kinds: asked.append(result(*kinds)) or asked[-1])
    pulens.evaluate(labels, scores, cluster=clusters, reviews=reviews, threshold=1.0, redraws=100, labelling="random")
    rows = np.bincount(clusters[free])
    assert asked
    assert asked[0] <= freedom_of(rows) < np.unique(clusters).size / 2


@pytest.mark.parametrize("prior", PRIORS, ids=["known", "range", "estimated"])
@pytest.mark.parametrize("within", [False, True], ids=["random", "within cells"])
def test_net_benefit_has_one_interval_in_evaluations_and_decision_curves(prior, within):
    labels, scores, clusters = three_large_clusters()
    cells = {"labelled_within": np.arange(labels.size) % 2} if within else {}
    result = pulens.evaluate(labels, scores, cluster=clusters, threshold=1.0, **prior, **cells, labelling="random")
    known, curve = result.at(1.0)["net_benefit"], result.decision_curve(ratios=[0.5])
    if not known.withheld_because:
        assert curve.model[0] == pytest.approx(known.value, rel=1e-12)
    assert (curve.low[0], curve.high[0]) == pytest.approx((known.interval.low, known.interval.high), rel=1e-12)
    wide = result.decision_curve(ratios=[0.2, 0.5])
    assert wide.low[1] < curve.low[0] < curve.high[0] < wide.high[1], "a band holds at all ratios together"


@pytest.mark.parametrize("prior", PRIORS, ids=["known", "range", "estimated"])
def test_the_curve_of_a_decision_is_that_of_the_evaluation(prior):
    labels, scores, clusters = three_large_clusters()
    decision = pulens.decide(
        labels, scores, cluster=clusters, cost_miss=5, cost_alarm=1, redraws=200, **prior, labelling="random"
    )
    result = pulens.evaluate(
        labels, scores, cluster=clusters, threshold=decision.threshold, **prior, labelling="random"
    )
    curve, other = decision.curve, result.decision_curve(ratios=decision.curve.ratios)
    assert curve.model == pytest.approx(other.model, rel=1e-12, nan_ok=True)  # withheld in both, or in neither
    assert curve.low == pytest.approx(other.low, rel=1e-12)
    assert curve.high == pytest.approx(other.high, rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=["known", "range", "estimated"])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_table_of_a_single_group_holds_the_intervals_of_the_evaluation(prior, clustered, one_by_one):
    labels, scores, clusters = three_large_clusters(rows=400)
    rows = pyarrow.table({"label": labels, "score": scores, "group": ["a"] * labels.size, "patient": clusters})
    cluster = {"cluster": "patient"} if clustered else {}
    table = pulens.evaluate_by(
        rows, "group", threshold=1.0, one_by_one=one_by_one, **prior, **cluster, labelling="random"
    )
    whole = pulens.evaluate(rows, threshold=1.0, **prior, **cluster, labelling="random")
    (line,) = table.to_dict()["segments"]
    for name, known in line["estimates"].items():
        result = whole.estimates[name] if name in whole.estimates else whole.at(1.0)[name]
        value = math.nan if known["value"] is None else known["value"]  # what is withheld in one is so in the other
        assert value == pytest.approx(result.value, rel=1e-12, nan_ok=True), name
        ends = result.interval.low, result.interval.high
        assert (known["low"], known["high"]) == pytest.approx(ends, rel=1e-12), name


@pytest.mark.slow
def test_clusters_of_a_single_row_rule_out_what_independent_rows_rule_out():
    rng = np.random.default_rng(3)
    positive = rng.random(240) < 0.4
    labels, scores = (positive & (rng.random(240) < 0.5)).astype(int), rng.normal(2.5 * positive)
    ruled_out = set()
    for class_prior in np.arange(0.4, 0.8, 0.005).tolist():
        asked = {"class_prior": class_prior, "threshold": 0.5}
        plain = pulens.evaluate(labels, scores, **asked, labelling="random")
        alone = pulens.evaluate(labels, scores, cluster=np.arange(240), **asked, labelling="random")
        assert (plain.contradiction is None) == (alone.contradiction is None), class_prior
        ruled_out.add(plain.contradiction is not None)
        assert alone["accuracy"].value == pytest.approx(plain["accuracy"].value, nan_ok=True), class_prior
    assert ruled_out == {False, True}


def test_only_clusters_of_rows_that_count_once_are_independent_rows():
    from pulens.counts.buckets import BucketTally

    labels, scores = [1, 0, 0, 0], [0.9, 0.4, 0.3, 0.1]
    assert BucketTally.from_rows(labels, scores, range(4)).holds_single_rows
    assert not BucketTally.from_rows(labels, scores, [0, 1, 2, 2]).holds_single_rows
    assert not BucketTally.from_rows(labels, scores, range(4), [1, 2, 1, 1]).holds_single_rows
    many = 1000  # more clusters than buckets
    assert BucketTally.from_rows(np.arange(many) % 2, np.arange(many) / many, range(many)).holds_single_rows
