"""Intervals of estimates: they hold the value, keep sources of doubt apart, and cover what they promise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.cli import main
from pulens.estimate import Interval
from pulens.evidence import gather
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.metric import Metric
from pulens.priors import ClassPrior
from tests_support import noises, pu_rows, scenarios


def draw(rng: np.random.Generator, labelled: int, unlabelled: int, prior: float, gap: float):
    positive = rng.binomial(unlabelled, prior)
    scores = np.concatenate([rng.normal(gap, 1, labelled + positive), rng.normal(0, 1, unlabelled - positive)])
    return np.repeat([1, 0], [labelled, unlabelled]), scores


def study(value: float, low: float, high: float) -> ClassPrior:
    interval = Interval(low, high, 0.95, "another study")
    return ClassPrior(value, value, "another study", interval, interval)


PRIORS = st.sampled_from([0.2, (0.1, 0.3), study(0.2, 0.1, 0.35)])


@given(pu_rows(negatives=True), PRIORS, noises, scenarios, st.sampled_from([None, 0.0]))
def test_every_interval_holds_its_value_and_the_class_priors_part(rows, prior, noise, scenario, threshold) -> None:
    try:
        evaluation = pulens.evaluate(
            *rows,
            class_prior=prior,
            label_noise=noise,
            scenario=scenario,
            threshold=threshold,
            redraws=100,
            labelling="random",
        )
    except pulens.PulensError:
        return  # a class prior that this scenario rules out
    for name, result in evaluation.estimates.items():
        if result.undefined_because or result.interval is None:
            continue
        metric = METRICS[name]
        assert metric.lowest <= result.interval.low <= result.value <= result.interval.high <= metric.highest
        sample = result.sources["sample"]
        assert sample.low <= result.value <= sample.high
        assert result.interval.confidence == 0.95


def test_same_seed_same_bytes_and_other_seed_other_ends() -> None:
    labels, scores = draw(np.random.default_rng(0), 60, 600, 0.2, 1.5)
    texts = [
        json.dumps(
            pulens.evaluate(
                labels, scores, class_prior=0.2, redraws=300, seed=seed, scenario="case-control", labelling="random"
            ).to_dict()
        )
        for seed in (4, 4, 5)
    ]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    labels, scores = draw(rng, 60, 600, 0.2, 1.5)
    order = rng.permutation(labels.size)
    first = pulens.evaluate(labels, scores, class_prior=0.2, redraws=200, scenario="case-control", labelling="random")
    second = pulens.evaluate(
        labels[order], scores[order], class_prior=0.2, redraws=200, scenario="case-control", labelling="random"
    )
    assert first.to_dict() == second.to_dict()


def test_no_confidence_no_intervals() -> None:
    evaluation = pulens.evaluate(
        [1, 1, 0, 0, 0], [5, 3, 4, 2, 1], class_prior=0.2, confidence=None, scenario="case-control", labelling="random"
    )
    assert all(result.interval is None for result in evaluation.estimates.values())
    assert pulens.metrics.recall([1, 0], [2, 1], class_prior=0.2, threshold=1, scenario="case-control").interval is None
    result = pulens.metrics.roc_auc(
        [1, 1, 0, 0], [4, 3, 3, 1], class_prior=0.2, confidence=0.9, scenario="case-control"
    )
    assert result.interval is not None
    assert result.interval.confidence == 0.9
    assert "DeLong" in result.interval.method


def test_sources_of_doubt_are_kept_apart() -> None:
    labels, scores = draw(np.random.default_rng(1), 200, 2000, 0.2, 1.5)
    known = pulens.evaluate(
        labels, scores, class_prior=0.2, threshold=1.0, redraws=500, scenario="case-control", labelling="random"
    )
    doubted = pulens.evaluate(
        labels,
        scores,
        class_prior=study(0.2, 0.12, 0.3),
        threshold=1.0,
        redraws=500,
        scenario="case-control",
        labelling="random",
    )
    ranged = pulens.evaluate(
        labels,
        scores,
        class_prior=(0.12, 0.28),
        threshold=1.0,
        redraws=500,
        scenario="case-control",
        labelling="random",
    )
    for name in ("roc_auc", "average_precision", "precision", "f1"):
        alone, both, hull = (each.estimates[name] for each in (known, doubted, ranged))
        assert alone.interval == alone.sources["sample"]
        assert "class prior" not in alone.sources
        assert both.sources["sample"].low == pytest.approx(alone.interval.low, abs=0.03)
        assert both.interval.width > 1.05 * alone.interval.width
        assert hull.interval.low <= hull.sources["class prior"].low
        assert hull.interval.high >= hull.sources["class prior"].high
        assert "class prior drawn" in both.interval.method
    recall = doubted.estimates["recall"]
    assert recall.interval == recall.sources["sample"]  # recall is the labelled rate whatever the prior


def test_higher_confidence_is_wider() -> None:
    labels, scores = draw(np.random.default_rng(2), 80, 800, 0.2, 1.0)
    narrow, wide = (
        pulens.evaluate(
            labels,
            scores,
            class_prior=(0.15, 0.25),
            confidence=level,
            redraws=400,
            scenario="case-control",
            labelling="random",
        ).estimates
        for level in (0.8, 0.99)
    )
    for name, result in narrow.items():
        assert result.interval.width < wide[name].interval.width


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_area_error_is_the_spread_over_repeated_samples(scenario: str) -> None:
    areas, widths, inside = [], [], 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        if scenario == "case-control":
            labels, scores = draw(rng, 80, 400, 0.4, 1.5)
        else:
            positive = rng.random(480) < 0.5
            labels = (positive & (rng.random(480) < 0.4)).astype(int)
            scores = rng.normal(1.5 * positive, 1)
        prior = 0.4 if scenario == "case-control" else 0.5
        evidence = gather(labels, scores, class_prior=prior, scenario=scenario)
        result = estimate("roc_auc", METRICS["roc_auc"], evidence, doubts=IntervalEstimator(evidence, Resampling()))
        areas.append(result.value)
        widths.append(result.interval.width)
        inside += 0.855579 in result.interval
    assert np.mean(widths) / 2 / 1.99 == pytest.approx(np.std(areas), rel=0.12)
    assert 0.915 <= inside / 300 <= 0.985


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "average_precision"])
def test_small_samples_are_covered(metric: str) -> None:
    truth = {"precision": 0.6989, "recall": 0.7694, "f1": 0.7325, "average_precision": 0.8117}[metric]
    sets, inside = 80, 0
    for seed in range(sets):
        labels, scores = draw(np.random.default_rng([seed, 9]), 30, 1000, 0.3, 1.8124)
        evidence = gather(labels, scores, class_prior=0.3, scenario="case-control")
        doubts = IntervalEstimator(evidence, Resampling(redraws=400))
        result = estimate(metric, METRICS[metric], evidence, threshold=1.0755, doubts=doubts)
        inside += truth in result.interval
    assert inside / sets >= 0.88


def test_a_chosen_threshold_pays_for_its_optimism() -> None:
    lower = 0
    for seed in range(20):
        labels, scores = draw(np.random.default_rng(seed), 40, 600, 0.2, 1.0)
        chosen = pulens.evaluate(
            labels, scores, class_prior=0.2, redraws=300, scenario="case-control", labelling="random"
        )
        given = pulens.evaluate(
            labels,
            scores,
            class_prior=0.2,
            redraws=300,
            threshold=chosen.threshold,
            scenario="case-control",
            labelling="random",
        )
        assert chosen.estimates["f1"].value == given.estimates["f1"].value
        lower += chosen.estimates["f1"].interval.low < given.estimates["f1"].interval.low
        assert given.threshold_interval is None
        assert chosen.threshold in chosen.threshold_interval
        assert 0 < chosen.threshold_interval.width < np.ptp(scores)
    assert lower >= 18


@pytest.mark.parametrize("method", ["direct", "indirect"])
def test_metrics_without_a_form_of_their_own_are_redrawn_one_by_one(method: str) -> None:
    labels, scores = draw(np.random.default_rng(4), 100, 1000, 0.2, 1.0)
    result = pulens.metrics.roc_auc(
        labels, scores, class_prior=0.2, method=method, confidence=0.95, redraws=500, scenario="case-control"
    )
    other = pulens.metrics.pr_auc(
        labels, scores, class_prior=(0.15, 0.25), confidence=0.95, redraws=200, scenario="case-control"
    )
    assert result.interval.low < result.value < result.interval.high
    assert 0.05 < result.interval.width < 0.2
    assert ("percentile" in result.interval.method) == (method == "indirect")
    assert other.interval.low < other.value < other.interval.high


def test_metrics_of_counts_at_a_threshold_are_redrawn_too() -> None:
    labels, scores = draw(np.random.default_rng(4), 100, 1000, 0.2, 1.0)
    evidence = gather(labels, scores, class_prior=0.2, scenario="case-control")

    def labelled_rate(tally, threshold, assumptions) -> float:
        return tally.at(threshold).labelled / tally.totals.labelled

    metric = Metric(labelled_rate, "Share of labelled rows above", reads="counts", needs_class_prior=False)
    known = labelled_rate(evidence.tally, 1.0, None)
    doubts = IntervalEstimator(evidence, Resampling())
    looped = doubts.of(Target(metric, lambda prior: known, 1.0), known).interval
    exact = estimate("recall", METRICS["recall"], evidence, threshold=1.0, doubts=doubts).interval
    assert (looped.low, looped.high) == pytest.approx((exact.low, exact.high), abs=0.015)


def test_a_weight_of_two_is_the_row_twice() -> None:
    labels, scores = draw(np.random.default_rng(3), 30, 200, 0.2, 1.0)
    once = pulens.evaluate(
        labels,
        scores,
        class_prior=0.2,
        weights=np.full(labels.size, 2.0),
        redraws=200,
        scenario="case-control",
        labelling="random",
    )
    twice = pulens.evaluate(
        np.repeat(labels, 2),
        np.repeat(scores, 2),
        class_prior=0.2,
        redraws=200,
        scenario="case-control",
        labelling="random",
    )
    for name in ("roc_auc", "average_precision", "recall", "f1"):
        mine, theirs = once.estimates[name].interval, twice.estimates[name].interval
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("size", [1, 5, 50])
def test_perfect_separation_is_not_certainty(size: int) -> None:
    labels = np.repeat([1, -1], [size, 4 * size])
    scores = labels + np.linspace(0, 0.1, labels.size)
    evaluation = pulens.evaluate(
        labels, scores, negative=-1, threshold=0.5, redraws=200, scenario="case-control", labelling="random"
    )
    for name in ("roc_auc", "average_precision", "precision", "recall", "specificity"):
        result = evaluation.estimates[name]
        assert result.value == 1.0
        assert result.interval.high == 1.0
        assert result.interval.width > 2.0 / (4 * size + 1)


def test_everything_labelled_gives_ordinary_intervals() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, -1], [60, 90])
    scores = rng.normal(labels, 1)
    evaluation = pulens.evaluate(
        labels, scores, negative=-1, threshold=0.0, redraws=300, scenario="case-control", labelling="random"
    )
    for name in ("roc_auc", "average_precision", "precision", "recall"):
        result = evaluation.estimates[name]
        assert 0 < result.interval.width < 0.4


def test_command_prints_intervals_and_obeys_its_options(tmp_path, capsys) -> None:
    labels, scores = draw(np.random.default_rng(0), 50, 500, 0.2, 1.5)
    path = tmp_path / "scores.csv"
    lines = [f"{label},{score}" for label, score in zip(labels, scores, strict=True)]
    path.write_text("\n".join(["label,score", *lines]))
    shown = []
    for extra in ([], [], ["--seed", "3"], ["--confidence", "0.8"], ["--redraws", "200"]):
        main(["evaluate", "--labelling", "random", str(path), "--class-prior", "0.2", *extra, "--json", "-"])
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert len(set(shown)) == 4
    for result in json.loads(shown[3])["estimates"].values():
        assert result["low"] <= result["value"] <= result["high"]
        assert result["confidence"] == 0.8
    main(["evaluate", "--labelling", "random", str(path), "--class-prior", "0.2"])
    assert "95% interval" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "--labelling", "random", str(path), "--class-prior", "0.2", "--confidence", "95"])
    assert ended.value.code == 2
    assert "confidence must lie strictly between 0 and 1, got 95" in capsys.readouterr().err
