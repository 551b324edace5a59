"""The packed sort counts exactly what a slow count does, for every kind of score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import pulens
from pulens.counts import kernels
from pulens.counts.kernels import count_rows, count_weighted_rows, running_count
from pulens.counts.tally import Tally
from pulens.curves.precision_recall import curve_areas, precision_recall_areas, precision_recall_curve
from pulens.priors import find, names
from pulens.recovery import recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.point import pairwise_auc


def slow_counts(scores, labels, weights=None):
    weights = np.ones(scores.size) if weights is None else weights
    thresholds = np.unique(scores)[::-1]
    table = [[weights[(scores >= t) & (labels == code)].sum() for t in thresholds] for code in (1, 0, -1)]
    return thresholds, *map(np.array, table)


SCORES = {
    "probabilities": lambda rng, n: rng.random(n),
    "logits": lambda rng, n: rng.normal(size=n) * 3,
    "coarse": lambda rng, n: np.round(rng.normal(size=n), 1),
    "beyond two": lambda rng, n: rng.random(n) * 100,
    "signed zeros": lambda rng, n: rng.choice([-0.0, 0.0, 1.0, -1.0], n),
    "subnormal": lambda rng, n: rng.choice([5e-324, 0.0, -5e-324, 1e308, -1e308], n),
    "constant": lambda rng, n: np.full(n, 0.25),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("codes", [[1, 0], [1, 0, -1]])
def test_fast_counts_equal_slow_counts(kind, dtype, codes):
    rng = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        scores = np.clip(SCORES[kind](rng, 700), *map(float, [np.finfo(dtype).min, np.finfo(dtype).max])).astype(dtype)
    labels = rng.choice(codes, 700).astype(np.int8)
    counts = count_rows(scores, labels)
    thresholds, labelled, unlabelled, negative = slow_counts(scores, labels)
    assert counts.thresholds.dtype == dtype
    np.testing.assert_array_equal(counts.thresholds, thresholds)
    np.testing.assert_array_equal(counts.labelled, labelled)
    np.testing.assert_array_equal(counts.unlabelled, unlabelled)
    if counts.negative is not None:
        np.testing.assert_array_equal(counts.negative, negative)


def test_runs_of_equal_scores_that_cross_blocks_are_one_threshold(monkeypatch):
    import pulens.counts.kernels

    monkeypatch.setattr(pulens.counts.kernels, "CACHED", 4)
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(-2, 3, 50).astype(float), rng.integers(0, 2, 50).astype(np.int8)
    thresholds, labelled, unlabelled, _ = slow_counts(scores, labels)
    counts = count_rows(scores, labels)
    np.testing.assert_array_equal(counts.thresholds, thresholds)
    np.testing.assert_array_equal(counts.labelled, labelled)
    np.testing.assert_array_equal(counts.unlabelled, unlabelled)


def test_weights_add_up():
    rng = np.random.default_rng(2)
    scores, labels = np.round(rng.random(300), 1), rng.choice([1, 0, -1], 300).astype(np.int8)
    weights = rng.random(300)
    counts = count_weighted_rows(scores, labels, weights)
    for got, expected in zip(counts, slow_counts(scores, labels, weights), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_scores_are_not_changed_by_counting():
    scores = np.array([0.5, -0.25, 0.75])
    before = scores.copy()
    Tally.from_arrays(np.array([1, 0, 0]), scores)
    np.testing.assert_array_equal(scores, before)


def test_counts_do_not_depend_on_the_number_of_cores(monkeypatch):
    import pulens.counts.kernels

    rng = np.random.default_rng(3)
    scores, labels = np.round(rng.normal(size=5000), 2), rng.choice([1, 0, -1], 5000).astype(np.int8)
    alone = [count_rows(scores, labels), count_rows(np.abs(scores), np.abs(labels))]
    monkeypatch.setattr(pulens.counts.kernels, "SHARED_SORT", 100)
    for threads in ("2", "3", "7"):
        monkeypatch.setenv("PULENS_THREADS", threads)
        together = [count_rows(scores, labels), count_rows(np.abs(scores), np.abs(labels))]
        for mine, theirs in zip(alone, together, strict=True):
            for got, expected in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(got, expected)


def test_rows_that_are_all_known_negatives_are_counted():
    counts = count_rows(np.array([-1.0, 5.0, 5.0]), np.array([-1, -1, -1], np.int8))
    np.testing.assert_array_equal(counts.thresholds, [5.0, -1.0])
    np.testing.assert_array_equal(counts.negative, [2, 3])
    np.testing.assert_array_equal(counts.labelled, [0, 0])


@pytest.mark.parametrize("codes", [[1, 0], [1, 0, -1]], ids=["two kinds", "three kinds"])
def test_counts_of_32_bits_give_the_numbers_of_64(monkeypatch, codes):
    """Products of counts of this many rows pass 32 bits, so whatever multiplies them unwidened differs."""
    rng = np.random.default_rng(0)
    labels = rng.choice(codes, 120_000).astype(np.int8)
    scores = 1 / (1 + np.exp(-rng.normal(size=120_000) - labels))
    answers = []
    for narrow in (range(0), range(1 << 31)):
        monkeypatch.setattr(kernels, "NARROW", narrow)
        tally = Tally.from_arrays(labels, scores)
        assert tally.labelled.dtype == (np.int32 if narrow else np.int64)
        found = pulens.evaluate(tally, labelling="random", redraws=100, threshold=0.5)
        numbers = [(each.value, each.interval.low, each.interval.high) for each in found.estimates.values()]
        answers.append([*numbers, *(find(name).compute(tally).value for name in names()), found.top(1000).to_dict()])
    assert str(answers[0]) == str(answers[1])  # to the last digit, and nan where nan was


def test_the_tally_of_a_million_rows_takes_twice_their_memory_at_most():
    rng = np.random.default_rng(0)
    scores, labels = rng.random(1 << 20), rng.integers(0, 2, 1 << 20).astype(np.int8)
    tally = Tally.from_arrays(labels, scores)
    held = tally.thresholds.nbytes + tally.labelled.nbytes + tally.unlabelled.nbytes
    assert held <= 2 * (scores.nbytes + labels.nbytes)
    assert tally.totals.rows == 1 << 20


@pytest.mark.parametrize("doubles", [True, False], ids=["as doubles", "as integers"])
@pytest.mark.parametrize("kind", SCORES)
def test_counts_do_not_depend_on_what_numpy_sorts_fastest(monkeypatch, kind, doubles):
    monkeypatch.setattr(kernels, "_has_vectors", lambda: doubles)
    rng = np.random.default_rng(5)
    scores = np.asarray(SCORES[kind](rng, 500), float)
    labels = rng.integers(0, 2, 500).astype(np.int8)
    fast, slow = count_rows(scores, labels), count_weighted_rows(scores, labels, np.ones(500))
    for one, other in zip(fast[:3], slow[:3], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 255, 4096])
def test_running_counts_are_cumulated_sums(size):
    flags = (np.random.default_rng(size).random(size) < 0.6).astype(np.uint8)
    np.testing.assert_array_equal(running_count(flags, np.int32), np.cumsum(flags))


@pytest.mark.parametrize("labelled", [0.002, 0.7], ids=["few labelled", "many labelled"])
@pytest.mark.parametrize("prior", [0.0, 0.2])
def test_areas_of_long_rankings_are_those_of_their_curves(labelled, prior):
    rng = np.random.default_rng(8)
    labels = (rng.random(200_000) < labelled).astype(np.int8)
    scores = (rng.normal(size=labels.size) + 2.0 * labels).round(6)
    tally = Tally.from_arrays(labels, scores)
    assumed = Assumptions(prior)
    of_curve = curve_areas(precision_recall_curve(recover(tally, assumed)))
    assert precision_recall_areas(tally, assumed) == pytest.approx(of_curve, rel=1e-12)
    if prior == 0:
        assert pairwise_auc(tally, "labelled", "unlabelled") == pytest.approx(roc_auc_score(labels, scores), rel=1e-13)
