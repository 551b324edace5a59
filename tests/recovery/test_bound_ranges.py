"""Bounds over a range of class priors against the bounds at every number of latent positives in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import pulens
from pulens.recovery import bound_cells
from pulens.recovery import bounds as kernels
from pulens.types import Floats

AREAS = ("roc_auc", "average_precision", "pr_auc")
GRID = np.linspace(0, 1, 257)


def samples() -> Iterator[tuple[list[int], list[float], tuple[int, int]]]:
    """Rankings of all kinds with few rows, ties among them, and a range of the number of latent positives."""
    rng = np.random.default_rng(19)
    yield [0, 1, 1, 1, 1, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1], (1, 4)
    for number in range(24):
        known, unlabelled, refuted = int(rng.integers(2, 20)), int(rng.integers(4, 40)), int(rng.integers(1, 8))
        labels = np.repeat([1, 0, -1], [known, unlabelled, refuted])
        scores = rng.normal(rng.uniform(-1, 2) * (labels == 1)) + rng.normal(size=labels.size) * (labels == 0)
        low, high = np.sort(rng.integers(1, unlabelled, 2)).tolist()
        yield labels.tolist(), (np.round(scores) if number % 3 == 0 else scores).tolist(), (low, max(high, low + 1))


def at_each_count(
    labels: list[int], scores: list[float], counts: tuple[int, int], **options: str
) -> list[pulens.Bounds]:
    rows = labels.count(0)
    return [
        pulens.bounds(labels, scores, unlabelled_prior=count / rows, **options)
        for count in range(counts[0], min(counts[1], rows - 1) + 1)
    ]


def over_range(labels: list[int], scores: list[float], counts: tuple[int, int], **options: str) -> pulens.Bounds:
    rows = labels.count(0)
    return pulens.bounds(
        labels, scores, unlabelled_prior=(counts[0] / rows, min(counts[1], rows - 1) / rows), **options
    )


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
@pytest.mark.parametrize("band", ["dkw", "clopper-pearson", "bootstrap"])
@pytest.mark.parametrize("approach", ["positives", "negatives", "tighter"])
def test_areas_over_a_range_are_the_hull_over_its_counts(scenario: str, band: str, approach: str) -> None:
    inner = 0
    for labels, scores, counts in samples():
        if approach != "positives" and -1 not in labels:
            continue
        options = {"scenario": scenario, "band": band, "approach": approach}
        each, whole = at_each_count(labels, scores, counts, **options), over_range(labels, scores, counts, **options)
        for area in AREAS:
            ends = [getattr(one, area) for one in each]
            assert getattr(whole, area).low == pytest.approx(min(end.low for end in ends), abs=1e-12)
            assert getattr(whole, area).high == pytest.approx(max(end.high for end in ends), abs=1e-12)
            inner += min(end.low for end in ends) < min(ends[0].low, ends[-1].low) - 1e-9
        for shape in ("sorted", "rank"):
            ends = [one.roc_area(shape) for one in each]  # type: ignore[arg-type]
            result = whole.roc_area(shape)  # type: ignore[arg-type]
            assert result.low == pytest.approx(min(end.low for end in ends), abs=1e-12)
            assert result.high == pytest.approx(max(end.high for end in ends), abs=1e-12)
    assert inner > 0  # the ends of the range alone would not do


def test_the_least_area_may_lie_between_the_ends_of_the_range() -> None:
    labels, scores = [0, 1, 1, 1, 1, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1]
    options = {"scenario": "single-set", "band": "dkw"}
    whole = pulens.bounds(labels, scores, unlabelled_prior=(0.2, 0.8), **options)
    middle = pulens.bounds(labels, scores, unlabelled_prior=0.6, **options)
    assert (whole.roc_auc.low, whole.roc_auc.high) == (middle.roc_auc.low, 1.0)
    assert whole.roc_auc.low == pytest.approx(2 / 7)


def test_the_two_sample_band_of_a_range_holds_that_of_every_count() -> None:
    for labels, scores, counts in samples():
        whole = over_range(labels, scores, counts, scenario="single-set")
        for one in at_each_count(labels, scores, counts, scenario="single-set"):
            assert whole.roc_auc.low <= one.roc_auc.low + 1e-12
            assert whole.roc_auc.high >= one.roc_auc.high - 1e-12
            assert (whole.tables.upper.false_positive_rate <= one.tables.upper.false_positive_rate + 1e-12).all()
            assert (whole.tables.lower.false_positive_rate >= one.tables.lower.false_positive_rate - 1e-12).all()


def assert_between(each: list[pulens.Bounds], whole: pulens.Bounds) -> None:
    """Every single curve lies between the two of the range, at its own points and on a grid."""
    lower, upper = whole.roc
    for one in each:
        for curve in one.roc:
            assert (np.diff(curve.x) >= 0).all()
        own_low, own_high = one.roc
        for rates in (GRID, own_low.x, own_high.x):
            # left and right of a step: a curve is compared just beside each rate, where it has one height
            for x in (np.clip(rates - 1e-9, 0, 1), np.clip(rates + 1e-9, 0, 1)):
                assert (np.interp(x, lower.x, lower.y) <= np.interp(x, own_low.x, own_low.y) + 1e-6).all()
                assert (np.interp(x, upper.x, upper.y) >= np.interp(x, own_high.x, own_high.y) - 1e-6).all()


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_curves_over_a_range_hold_the_curve_of_every_count(scenario: str) -> None:
    for labels, scores, counts in samples():
        options = {"scenario": scenario, "band": "dkw"}
        each, whole = at_each_count(labels, scores, counts, **options), over_range(labels, scores, counts, **options)
        assert_between(each, whole)
        # no further out than it must be: at any rate the hull is one of the curves, but for chords between steps
        for side, pick in ((0, np.min), (1, np.max)):
            x = whole.roc[side].x[1:-1] + 1e-9
            outermost = pick([np.interp(x, *_drawn(one.roc[side])) for one in each], axis=0)
            np.testing.assert_allclose(np.interp(x, *_drawn(whole.roc[side])), outermost, atol=1e-5)
        for side, pick in (("lower", np.max), ("upper", np.min)):
            rates = [getattr(one.tables, side).false_positive_rate for one in each]
            np.testing.assert_allclose(getattr(whole.tables, side).false_positive_rate, pick(rates, axis=0), atol=1e-12)


def _drawn(curve: pulens.Curve) -> tuple[Floats, Floats]:
    return curve.x, curve.y


@pytest.fixture
def too_many_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with millions of rows: a few cells, and a few thresholds kept."""
    monkeypatch.setattr(kernels, "MOST_WORK", 1)
    monkeypatch.setattr(bound_cells, "CELLS", 24)


def large_samples() -> Iterator[tuple[list[int], list[float], tuple[int, int]]]:
    rng = np.random.default_rng(5)
    for number, (known, unlabelled, low, high) in enumerate(
        [(40, 300, 30, 120), (10, 400, 0, 399), (120, 200, 60, 190), (60, 300, 1, 40), (30, 300, 200, 299)]
    ):
        labels = np.repeat([1, 0], [known, unlabelled])
        means = np.concatenate([np.ones(known), rng.random(unlabelled) < 0.3]) * [1.5, 0.2, -1.0, 2.5, 0.7][number]
        scores = rng.normal(means)
        yield labels.tolist(), (np.round(scores, 1) if number % 2 else scores).tolist(), (low, high)


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
@pytest.mark.parametrize("points", [60, 5000])
@pytest.mark.usefixtures("too_many_to_try")
def test_cells_hold_every_count_between_those_tried(
    scenario: str, points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound_cells, "POINTS", points)
    for labels, scores, counts in large_samples():
        options = {"scenario": scenario, "band": "dkw"}
        whole = over_range(labels, scores, counts, **options)
        assert whole._by_cells
        counts = (max(counts[0], 1 - (scenario == "single-set")), counts[1])
        each = at_each_count(labels, scores, counts, **options)
        for area in AREAS:
            ends = [getattr(one, area) for one in each]
            low, high = min(end.low for end in ends), max(end.high for end in ends)
            result = getattr(whole, area)
            assert low - 0.2 <= result.low <= low + 1e-12  # a guard that holds, not one that says nothing
            assert high - 1e-12 <= result.high <= min(high + 0.2, 1)
        assert_between(each[:: max(1, len(each) // 12)], whole)


def test_cells_are_close_to_the_hull_at_their_own_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for labels, scores, counts in large_samples():
        options = {"scenario": "single-set", "band": "dkw"}
        exact = over_range(labels, scores, counts, **options)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "MOST_WORK", 1)
            cells = over_range(labels, scores, counts, **options)
            assert cells._by_cells
            for area in AREAS:
                assert 0 <= getattr(exact, area).low - getattr(cells, area).low < 0.03
                assert 0 <= getattr(cells, area).high - getattr(exact, area).high < 0.03


def test_shares_that_round_to_every_row_leave_one_negative() -> None:
    labels, scores = [1, 1] + [0] * 9, list(range(11))
    result = pulens.bounds(labels, scores, class_prior=0.95, scenario="case-control")
    as_counted = pulens.bounds(labels, scores, unlabelled_prior=8 / 9, scenario="case-control")
    for area in AREAS:
        interval = getattr(result, area)
        assert np.isfinite([interval.low, interval.high]).all()
        assert (interval.low, interval.high) == (getattr(as_counted, area).low, getattr(as_counted, area).high)
    assert np.isfinite(result.tables.upper.false_positive_rate).all()
    assert result.metric("specificity", threshold=5).high <= 1
    in_one_set = pulens.bounds(labels, scores, unlabelled_prior=0.999, scenario="single-set")
    assert np.isfinite([in_one_set.roc_auc.low, in_one_set.roc_auc.high]).all()


def test_bounds_of_a_single_unlabelled_row_are_refused() -> None:
    with pytest.raises(pulens.PulensError, match=r"a positive and a negative, and there are only 1 unlabelled"):
        pulens.bounds([1, 1, 0], [3, 2, 1], class_prior=0.5, scenario="case-control")
