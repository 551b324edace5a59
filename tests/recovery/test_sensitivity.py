"""Sensitivity to labelling: ranges that no allowed labelling leaves and that some labelling reaches."""

from __future__ import annotations

import itertools
import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import pulens
from pulens.metrics import METRICS
from pulens.metrics.parts.labelling_range import Favoured, range_at_threshold
from pulens.recovery.labelling import lowest_mean, mean_range, precision_sum, precision_sum_range, rate_range
from pulens.recovery.possible_worlds import PossibleWorlds
from tests_support import pu_rows

FAVOURS = ("high", "low")


def labellings(shares: np.ndarray, factor: float, favours: str, rng: np.random.Generator, size: int = 200):
    """Densities of positives for random monotone propensities whose ratio is at most the factor, and all steps."""
    for _ in range(size):
        weights = np.sort(np.exp(rng.uniform(0, math.log(factor), shares.size) * rng.choice([0.3, 1.0])))
        if rng.random() < 0.5:
            weights = np.sort(rng.choice([1.0, factor], shares.size))
        density = shares * (weights if favours == "high" else weights[::-1])
        yield density / density.sum()


@pytest.mark.filterwarnings("error")
def test_without_positives_no_labelling_moves_average_precision() -> None:
    # an audit that found none, and no unlabelled row at the scores of the labelled ones
    rows = ([0, 1, 0, -1, 1], [-2.0, 2.0, 1.0, 2.0, 2.0])
    evaluation = pulens.evaluate(*rows, audit="0/50", scenario="case-control", redraws=100, labelling="random")
    result = evaluation.sensitivity("average_precision", factor=2.0)
    assert result.possible.low == result.possible.high == result.value


def by_programme(shares: np.ndarray, values: np.ndarray, factor: float, favours: str, floor: float) -> float:
    """The lowest mean of ``values`` over the positives, by a linear programme in h and its smallest value m."""
    from scipy.optimize import linprog

    size = shares.size
    rising = np.eye(size, size + 1) - np.eye(size, size + 1, 1)
    rows = rising[: size - 1] if favours == "high" else -rising[: size - 1]
    least = np.hstack([-np.eye(size), np.ones((size, 1))])  # m <= h
    most = np.hstack([np.eye(size), np.full((size, 1), -factor)])  # h <= G m
    above = np.vstack([rows, least, most])
    result = linprog(
        np.append(shares * values, 0.0),
        A_ub=above,
        b_ub=np.zeros(len(above)),
        A_eq=[np.append(shares, 0.0)],
        b_eq=[1.0],
        bounds=[(floor, None)] * size + [(0, None)],
    )
    assert result.status == 0
    return float(result.fun)


@pytest.mark.parametrize("favours", FAVOURS)
@pytest.mark.parametrize("seed", range(30))
def test_the_lowest_mean_is_that_of_a_linear_programme(favours: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, factor, floor = (
        int(rng.integers(1, 9)),
        float(rng.uniform(1, 30)),
        float(rng.choice([0.0, rng.random(), 1.0])),
    )
    shares, values = rng.dirichlet(np.ones(size)), rng.normal(size=size)
    if seed % 2:
        values = np.sort(values)[::-1]
    result = lowest_mean(shares, values, factor, favours, floor=floor)
    assert result.value == pytest.approx(by_programme(shares, values, factor, favours, floor), abs=1e-9)
    heights = result.density / shares
    assert result.density @ values == pytest.approx(result.value, abs=1e-9)
    assert heights.min() >= floor - 1e-9
    assert heights.max() <= factor * heights.min() * (1 + 1e-9)
    assert (np.diff(heights if favours == "high" else heights[::-1]) >= -1e-9).all()
    moved = by_programme(shares, values, factor, favours, max(floor - 1e-4, 0.0))
    assert (result.value - moved) / 1e-4 == pytest.approx(result.floor_slope if floor else 0.0, abs=0.02)


@pytest.mark.parametrize("favours", FAVOURS)
@pytest.mark.parametrize("seed", range(10))
def test_no_labelling_leaves_the_ranges(favours: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, factor = int(rng.integers(1, 7)), float(rng.uniform(1, 6))
    floor = float(rng.choice([0.0, rng.random()]))
    shares = rng.dirichlet(np.ones(size))
    called = np.sort(rng.uniform(0.05, 1, size))
    values = np.sort(rng.random(size))[::-1]
    low, high = (result.value for result in mean_range(shares, values, factor, favours, floor=floor))
    least, most = (result.value for result in precision_sum_range(shares, called, factor, favours, floor=floor))
    sums = []
    for density in labellings(shares, factor, favours, rng):
        if (density < floor * shares - 1e-12).any():
            continue
        assert low - 1e-12 <= density @ values <= high + 1e-12
        sums.append(precision_sum(density, called))
        running = np.cumsum(density)
        below, above = rate_range(np.cumsum(shares), factor, favours, floor=floor)
        assert (running >= below - 1e-12).all()
        assert (running <= above + 1e-12).all()
    assert min(sums, default=least) >= least - 1e-12
    assert max(sums, default=most) <= most + 1e-12


def corners(shares: np.ndarray, factor: float, favours: str, floor: float) -> np.ndarray:
    """Densities at which no labelling is a mixture of others: steps, and where edges between them meet the floor."""
    ordered = shares if favours == "high" else shares[::-1]
    steps = [ordered * np.where(np.arange(shares.size) < place, 1.0, factor) for place in range(1, shares.size + 1)]
    steps = [step / step.sum() for step in steps]
    least = [(step / ordered).min() for step in steps]
    result = [step for step, smallest in zip(steps, least, strict=True) if smallest >= floor]
    for (below, smallest), (above, larger) in itertools.product(zip(steps, least, strict=True), repeat=2):
        if smallest < floor <= larger:
            part = (larger - floor) / (larger - smallest)
            result.append(part * below + (1 - part) * above)
    return np.array(result if favours == "high" else [each[::-1] for each in result])


@pytest.mark.parametrize("favours", FAVOURS)
@pytest.mark.parametrize("floor", [0.0, 0.4, 0.8])
def test_the_extremes_of_the_precision_sum_are_reached(favours: str, floor: float) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    shares, called, factor = rng.dirichlet(np.ones(5)), np.sort(rng.uniform(0.1, 1, 5)), 4.0
    low, high = precision_sum_range(shares, called, factor, favours, floor=floor)
    every = corners(shares, factor, favours, floor)

    def mixed(weights: np.ndarray) -> float:
        parts = weights**2 / (weights**2).sum()
        return precision_sum(parts @ every, called)

    result = min(minimize(mixed, rng.random(len(every)) + 0.1, tol=1e-12).fun for _ in range(5))
    assert result == pytest.approx(low.value, abs=5e-6)
    assert max(precision_sum(each, called) for each in every) == pytest.approx(high.value, abs=1e-12)
    assert precision_sum(high.density, called) == pytest.approx(high.value, abs=1e-12)


# --- the single set: labelled rows are positives ---------------------------------------------------------------------


def mostly_labelled(seed: int = 0, rows: int = 6000, positives: int = 1200, labelled: int = 990):
    """A table in which five in six positives are labelled, and where its hidden positives are."""
    rng = np.random.default_rng(seed)
    positive = np.arange(rows) < positives
    labels = np.zeros(rows, int)
    labels[rng.permutation(positives)[:labelled]] = 1
    return labels, rng.normal(np.where(positive, 2.05, 0.0), 1)


@pytest.mark.parametrize("factor", [1.5, 3.0, 1000.0, 1e6])
def test_no_factor_goes_below_what_the_labelled_rows_prove(factor: float) -> None:
    labels, scores = mostly_labelled()
    evaluation = pulens.evaluate(
        labels, scores, class_prior=0.2, scenario="single-set", threshold=1.0, confidence=None, labelling="random"
    )
    worst = labels == 1
    worst[np.flatnonzero(labels == 0)[np.argsort(scores[labels == 0])[:210]]] = True
    proven = {
        "recall": float(worst[scores >= 1.0].sum() / 1200),
        "precision": float(worst[scores >= 1.0].mean()),
        "roc_auc": float(roc_auc_score(worst, scores)),
        "average_precision": float(average_precision_score(worst, scores)),
    }
    for name, least in proven.items():
        result = evaluation.sensitivity(name, factor=factor).possible
        assert result.low >= least - 1e-4, name
    assert math.isinf(evaluation.robustness(f"recall > {proven['recall'] - 1e-6}").factor)


def test_possible_worlds_and_sensitivity_are_one_range_where_both_speak() -> None:
    """With room for all positives everywhere the worlds up to a factor are the labellings up to it."""
    shares, values = np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.6, 0.1])
    for favours, floor in itertools.product(FAVOURS, (0.0, 0.6)):
        worlds = PossibleWorlds(shares, np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0]), favours, floor)
        result = [float(world @ values) for world in worlds.extremes(values, 4.0)]
        assert result == pytest.approx([each.value for each in mean_range(shares, values, 4.0, favours, floor=floor)])
        tight = PossibleWorlds(shares, np.array([0.0, 0.0, 1.0]), np.array([1.0, 1 - 1e-9, 1.0]), favours, floor)
        assert [float(world @ values) for world in tight.extremes(values, 4.0)] == pytest.approx(result, abs=1e-6)


# --- sampling error --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_at_a_factor_of_one_the_interval_is_that_of_random_labels(scenario: str) -> None:
    rng = np.random.default_rng(0)
    positive = np.r_[np.ones(100, bool), rng.random(900) < 0.2]
    labels, scores = np.repeat([1, 0], [100, 900]), rng.normal(1.5 * positive)
    for prior in ({"class_prior": 0.3}, {"audit": (20, 90)}, {"class_prior": (0.28, 0.33)}):
        evaluation = pulens.evaluate(
            labels, scores, scenario=scenario, threshold=1.0, redraws=200, **prior, labelling="random"
        )
        slack = 0.02 if isinstance(prior.get("class_prior"), tuple) else 1e-9  # of a range, over fewer of its shares
        for name in ("recall", "precision", "f1", "roc_auc", "average_precision"):
            result, own = evaluation.sensitivity(name, factor=1.0).interval, evaluation.estimates[name].interval
            assert (result.low, result.high) == pytest.approx((own.low, own.high), abs=slack)
            assert result.confidence == 0.95


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("name", ["recall", "precision", "roc_auc", "average_precision"])
def test_errors_of_the_ends_are_the_spread_of_samples(scenario: str, name: str) -> None:
    """The witness: the same end in two hundred samples."""
    rng = np.random.default_rng(1)
    lows, said = [], []
    for _ in range(200):
        if scenario == "case-control":
            positive = rng.random(3000) < 0.2
            labels = np.repeat([1, 0], [300, 3000])
            scores = np.concatenate([rng.normal(1.5, 1, 300), rng.normal(1.5 * positive)])
        else:
            positive = rng.random(3000) < 0.2
            labels = (positive & (rng.random(3000) < 0.6)).astype(int)
            scores = rng.normal(1.5 * positive)
        evidence = pulens.evidence.gather(labels, scores, class_prior=0.2, scenario=scenario)
        metric = METRICS[name]
        if metric.other_labelling is None:
            reach = range_at_threshold(evidence, Favoured(metric, 3.0, "high", 1.0, {}))
        else:
            reach = metric.other_labelling.up_to(evidence, 3.0, "high", 0.0)
        lows.append(reach.low)
        said.append(reach.low_error)
    assert np.mean(said) == pytest.approx(np.std(lows), rel=0.17)


def truth_of_labelling(scores: np.ndarray, labels: np.ndarray, density: np.ndarray, prior: float, threshold: float):
    """Precision and recall in case-control data when positives have this density over the labelled scores."""
    hits = density[scores[labels == 1] >= threshold].sum()
    called = (scores[labels == 0] >= threshold).mean()
    return prior * hits / called, hits


def test_precision_and_recall_of_small_samples_by_brute_force() -> None:
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    scores = np.array([9.0, 7, 5, 2, 9, 8, 7, 6, 5, 4, 3, 1])
    evaluation = pulens.evaluate(
        labels, scores, class_prior=0.25, threshold=5, confidence=None, scenario="case-control", labelling="random"
    )
    for factor in (1.0, 1.5, 3.0):
        weights = np.array([[factor if i >= cut else 1.0 for i in range(4)] for cut in range(5)])
        result = [truth_of_labelling(scores, labels, w / w.sum(), 0.25, 5) for w in weights]
        for place, metric in enumerate(("precision", "recall")):
            interval = evaluation.sensitivity(metric, factor=factor).interval
            values = [each[place] for each in result]
            assert (interval.low, interval.high) == pytest.approx((min(values), max(values)))


@given(pu_rows(negatives=True), st.sampled_from(["case-control", "single-set"]))
def test_random_labelling_gives_the_value_and_ranges_grow_with_the_factor(rows, scenario) -> None:
    labels, scores = rows
    evaluation = pulens.evaluate(
        labels, scores, unlabelled_prior=0.2, threshold=0, scenario=scenario, confidence=None, labelling="random"
    )
    for metric in ("recall", "f1", "accuracy", "roc_auc", "average_precision"):
        if evaluation.estimates[metric].undefined_because:
            continue
        ranges = [evaluation.sensitivity(metric, factor=factor, favours="either").interval for factor in (1, 1.5, 4)]
        value = evaluation.estimates[metric].value
        assert ranges[0].low == pytest.approx(value, abs=2e-6)
        assert ranges[0].high == pytest.approx(value, abs=2e-6)
        for inner, outer in pairwise(ranges):
            assert outer.low <= inner.low + 2e-6
            assert outer.high >= inner.high - 2e-6


def test_truth_lies_in_the_range_when_labelling_favours_high_scores() -> None:
    rng = np.random.default_rng(0)
    n, prior = 200_000, 0.2
    positive = rng.random(n) < prior
    scores = rng.normal(1.5 * positive, 1)
    propensity = 0.1 * np.where(scores > 1.5, 3.0, 1.0)
    labels = (positive & (rng.random(n) < propensity)).astype(int)
    evaluation = pulens.evaluate(
        labels, scores, class_prior=prior, scenario="single-set", threshold=1.0, confidence=None, labelling="random"
    )
    called = scores >= 1.0
    truth = {
        "precision": positive[called].mean(),
        "recall": called[positive].mean(),
        "roc_auc": 0.8556,
    }
    for metric, value in truth.items():
        assert evaluation.estimates[metric].value > value + 0.01  # random labelling flatters the classifier
        result = evaluation.sensitivity(metric, factor=3.0).interval
        assert result.low - 0.005 <= value <= result.high


def test_robustness_finds_the_factor_at_which_a_statement_fails() -> None:
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
    evaluation = pulens.evaluate(
        labels, scores, class_prior=0.2, threshold=5, confidence=None, scenario="case-control", labelling="random"
    )
    result = evaluation.robustness("recall > 0.5")
    assert result.factor == pytest.approx(2.0)
    assert evaluation.sensitivity("recall", factor=result.factor - 0.01).interval.low > 0.5
    assert evaluation.robustness("recall > 0.7").factor == 1.0
    assert math.isinf(evaluation.robustness("recall <= 0.7").factor)
    assert "less than 2 times" in str(result)
    low, high = evaluation.sensitivity_curve("recall", factors=[1, 2, 4])
    assert low.y == pytest.approx([2 / 3, 0.5, 1 / 3])
    assert high.y == pytest.approx([2 / 3] * 3)


def test_bad_requests_are_named() -> None:
    evaluation = pulens.evaluate(
        [1, 1, 0, 0],
        [4, 3, 2, 1],
        class_prior=0.2,
        threshold=2,
        confidence=None,
        scenario="case-control",
        labelling="random",
    )
    with pytest.raises(pulens.PulensError, match=r"factor must be a number of at least 1, got 0.5"):
        evaluation.sensitivity("recall", factor=0.5)
    with pytest.raises(pulens.PulensError, match="favours must be 'high', 'low' or 'either'"):
        evaluation.sensitivity("recall", factor=2, favours="up")
    with pytest.raises(pulens.PulensError, match=r"a statement reads like 'precision > 0.8'"):
        evaluation.robustness("recall is fine")
    with pytest.raises(pulens.PulensError, match="there is no metric 'recal'"):
        evaluation.robustness("recal > 0.1")
    noisy = pulens.evaluate(
        [1, 1, 0, 0],
        [4, 3, 2, 1],
        class_prior=0.2,
        label_noise=0.1,
        threshold=2,
        confidence=None,
        scenario="case-control",
        labelling="random",
    )
    with pytest.raises(pulens.PulensError, match=r"clean labels only, got label_noise=0.1"):
        noisy.sensitivity("recall", factor=2)


def test_a_threshold_that_nothing_reaches_can_be_written_as_json():
    labels, scores = np.arange(60) % 3 == 0, np.linspace(1, 0, 60)
    evaluation = pulens.evaluate(
        labels.astype(int), scores, class_prior=0.5, scenario="case-control", threshold=np.inf, labelling="random"
    )
    written = evaluation.sensitivity("recall", factor=2).to_dict()
    assert json.loads(json.dumps(written, allow_nan=False))["threshold"] is None


@pytest.mark.parametrize("factor", [8.0, 100.0])
def test_where_random_labels_are_impossible_no_factor_goes_below_what_rows_prove_either(factor: float) -> None:
    rng = np.random.default_rng(3)
    positive = np.arange(6000) < 1200
    scores = rng.normal(2.0 * positive)
    labels = (positive & (rng.random(6000) < np.where(scores > 2.0, 0.95, 0.95 / 6))).astype(int)
    evaluation = pulens.evaluate(
        labels, scores, class_prior=0.2, scenario="single-set", threshold=2.0, labelling="random"
    )
    assert evaluation.contradiction is not None
    worst, hidden = labels == 1, 1200 - int(labels.sum())
    worst[np.flatnonzero(labels == 0)[np.argsort(scores[labels == 0])[:hidden]]] = True
    flagged = scores >= 2.0
    proven = {
        "recall": float(worst[flagged].sum() / 1200),
        "precision": float(worst[flagged].mean()),
        "roc_auc": float(roc_auc_score(worst, scores)),
    }
    for name, least in proven.items():
        result = evaluation.sensitivity(name, factor=factor)
        assert result.possible.low >= least - 1e-4, name
        assert result.interval.low <= result.possible.low + 1e-9
        assert result.interval.high >= result.possible.high - 1e-9
