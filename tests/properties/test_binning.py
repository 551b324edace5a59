"""What binning can change is never more than the bound says: exact tallies and binned ones, side by side."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.counts.tally import Tally
from pulens.estimate import Estimate
from pulens.evaluation.evaluate import evaluate
from pulens.evidence import gather
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate, raw_value
from pulens.recovery.assumptions import UNCORRECTED, Assumptions
from pulens.scenario import Scenario

RANKINGS = {name: metric for name, metric in METRICS.items() if metric.reads == "ranking" and metric.binning_error}


@st.composite
def fine_rows(draw, *, negatives: bool = True):
    """Labels and scores of which several share a cell of width 1."""
    codes = [1, 0, 0, -1] if negatives else [1, 0, 0]
    rows = draw(st.lists(st.tuples(st.sampled_from(codes), st.integers(0, 31)), min_size=1, max_size=40))
    rows += [(1, draw(st.integers(0, 31))), (0, draw(st.integers(0, 31))), (0, draw(st.integers(0, 31)))]
    labels, scores = map(np.array, zip(*rows, strict=True))
    return labels.astype(np.int8), scores / 8


def options_of(name: str) -> list[dict]:
    return {
        "roc_auc": [{}, {"method": "indirect"}],
        "partial_roc_auc": [{}, {"max_false_positive_rate": 0.5}],
    }.get(name, [{}])


@pytest.mark.parametrize("name", RANKINGS)
@given(rows=fine_rows(), prior=st.floats(0, 0.6), noise=st.sampled_from([0.0, 0.0, 0.15]), bits=st.integers(-3, 2))
def test_rankings_change_by_at_most_the_bound(name, rows, prior, noise, bits):
    exact = Tally.from_arrays(*rows)
    binned = exact.binned(bits)
    for scenario in Scenario:
        assumptions = Assumptions(prior, noise, scenario)
        for options in options_of(name):
            metric = METRICS[name]
            bound = metric.binning_error(binned, assumptions, **options)
            truth, read = (raw_value(metric, tally, assumptions, **options) for tally in (exact, binned))
            if math.isnan(bound):
                assert noise > 0 or name == "precision_at_k"  # counts at other places move it
            else:
                assert math.isnan(truth) == math.isnan(read)
                assert math.isnan(truth) or abs(truth - read) <= bound + 1e-9


@given(rows=fine_rows(), prior=st.floats(0, 0.6), bits=st.integers(-3, 2), threshold=st.integers(-1, 33))
def test_metrics_at_a_threshold_change_by_at_most_the_bound(rows, prior, bits, threshold):
    exact = gather(Tally.from_arrays(*rows), unlabelled_prior=prior, scenario="case-control")
    binned = exact.with_tally(exact.tally.binned(bits))
    for name, metric in METRICS.items():
        if metric.reads == "ranking":
            continue
        truth, read = (estimate(name, metric, evidence, threshold=threshold / 8) for evidence in (exact, binned))
        if math.isnan(truth.value) or math.isnan(read.value):
            continue
        reach = read.sources.get("binning")
        if reach is None and metric.reads == "counts" and binned.tally.binning is not None:
            continue  # not bounded inside a bin, and the evaluation says so
        if reach is None:
            assert binned.tally.binning is None
            assert truth.value == read.value
        else:
            assert reach.low - 1e-9 <= truth.value <= reach.high + 1e-9


@given(rows=fine_rows(), bits=st.integers(-3, 3))
def test_counts_at_the_thresholds_of_a_binned_tally_are_exact(rows, bits):
    exact = Tally.from_arrays(*rows)
    binned = exact.binned(bits)
    for place, threshold in enumerate(binned.thresholds):
        counted = (binned.labelled[place], binned.unlabelled[place], binned.negative[place])
        assert exact.at(threshold) == counted
    assert binned.totals == exact.totals


@given(parts=st.lists(fine_rows(), min_size=3, max_size=3), bits=st.tuples(*[st.integers(-2, 4)] * 3))
def test_adding_tallies_is_associative_and_commutative_to_the_bit(parts, bits):
    a, b, c = (Tally.from_arrays(*rows).binned(k) for rows, k in zip(parts, bits, strict=True))
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a


@given(rows=fine_rows(), other=fine_rows(), bits=st.integers(-2, 3))
def test_adding_binned_tallies_is_binning_the_sum_or_finer(rows, other, bits):
    a, b = Tally.from_arrays(*rows), Tally.from_arrays(*other)
    together, apart = (a + b).binned(bits), a.binned(bits) + b.binned(bits)
    assert set(together.thresholds) <= set(apart.thresholds)
    assert together.totals == apart.totals


def test_joining_scores_of_unlabelled_rows_alone_changes_no_area():
    labels = np.array([1, 0, 0, 0, 1, 0, 0], np.int8)
    exact = Tally.from_arrays(labels, np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]))
    joined = Tally.from_increments(
        np.array([0.9, 0.6, 0.5, 0.3]),
        np.array([1, 0, 1, 0]),
        np.array([0, 3, 0, 2]),
        highest=np.array([0.9, 0.8, 0.5, 0.4]),
    )
    # average precision also reads where recovered rates become possible, which with a class prior may be in between
    for name, assumptions in (
        ("roc_auc", Assumptions(0.2, scenario=Scenario.CASE_CONTROL)),
        ("average_precision", UNCORRECTED),
    ):
        assert METRICS[name].binning_error(joined, assumptions) == 0
        truth = raw_value(METRICS[name], exact, assumptions)
        assert truth > 0
        assert raw_value(METRICS[name], joined, assumptions) == truth


def test_an_evaluation_of_a_binned_tally_says_so_and_widens_its_intervals():
    rng = np.random.default_rng(0)
    labels = (rng.random(2000) < 0.2).astype(np.int8)
    tally = Tally.from_arrays(labels, rng.normal(labels * 1.0)).binned(bits=1)
    evaluation = evaluate(tally, class_prior=(0.1, 0.2), scenario="case-control", labelling="random")
    result: Estimate = evaluation.estimates["roc_auc"]
    assert result.sources["binning"].width > 0
    assert result.interval.low <= result.sources["class prior"].low - result.sources["binning"].width / 2 + 1e-12
    [notice] = [notice for notice in evaluation.notices if notice.code == "binned-scores"]
    assert "roc_auc by at most" in str(notice)
    assert "f1" not in str(notice)  # the best threshold is one at which counts are exact
