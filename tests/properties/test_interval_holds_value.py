"""Every door's interval holds its value, for any rows, any kind of class prior, scenario and label noise."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens import calibration
from pulens.estimate import Estimate, Interval
from pulens.priors import ClassPrior
from tests_support import noises, pu_rows, scenarios

METRICS = ("average_precision", "roc_auc", "precision")


def study(value: float, low: float, high: float, confidence: float) -> ClassPrior:
    interval = Interval(low, high, confidence, "another study")
    return ClassPrior(value, value, "another study", interval, interval)


@st.composite
def class_priors(draw, *, estimated: bool = True):
    """A number, a range (of width zero too), an interval at a confidence (to zero, of width zero), an estimate."""
    low, value, high = sorted(draw(st.tuples(*[st.floats(0.001, 0.6)] * 3)))
    kinds = [value, (low, high), (value, value), study(value, low, high, 0.9), study(value, 0.0, high, 0.95)]
    kinds += [study(value, value, value, 0.95)]
    return draw(st.sampled_from(kinds + (["auto"] if estimated else [])))


def holds(result: Estimate) -> None:
    if result.undefined_because or result.interval is None:
        return
    assert result.interval.low <= result.value <= result.interval.high, result
    assert result.interval.confidence == 0.95, result
    for source in result.sources.values():
        assert source.low <= result.value <= source.high, result


@given(pu_rows(negatives=True), class_priors(), noises, scenarios, st.sampled_from([None, 0.0]))
def test_in_evaluate_and_its_segments(rows, prior, noise, scenario, threshold) -> None:
    options = {"class_prior": prior, "label_noise": noise, "scenario": scenario, "redraws": 100}
    labels, scores = rows
    try:
        evaluation = pulens.evaluate(labels, scores, threshold=threshold, **options, labelling="random")
        table = {"label": labels.tolist(), "score": scores.tolist(), "site": ["a"] * labels.size}
        import polars

        segments = pulens.evaluate_by(
            polars.DataFrame(table), "site", threshold=threshold, **options, labelling="random"
        )
    except pulens.PulensError:
        return  # a class prior that this scenario or this label noise rules out
    for result in (*evaluation.estimates.values(), *segments["a"].estimates.values()):
        holds(result)


@given(pu_rows(negatives=True), class_priors(), noises, scenarios)
def test_in_metric_functions(rows, prior, noise, scenario) -> None:
    options = {"class_prior": prior, "label_noise": noise, "scenario": scenario, "confidence": 0.95, "redraws": 100}
    try:
        for metric in ("roc_auc", "average_precision", "pr_auc"):
            holds(getattr(pulens.metrics, metric)(*rows, **options))
        for metric in ("precision", "f1", "lift", "accuracy"):
            holds(getattr(pulens.metrics, metric)(*rows, threshold=0.0, **options))
    except pulens.PulensError:
        return


@given(pu_rows(negatives=True, most=25), class_priors(), noises, scenarios, st.integers(0, 2**32 - 1))
def test_in_compare(rows, prior, noise, scenario, seed) -> None:
    labels, scores = rows
    models = {"a": scores, "b": np.random.default_rng(seed).integers(-3, 4, scores.size).astype(float)}
    options = {"class_prior": prior, "label_noise": noise, "scenario": scenario, "redraws": 100, "seed": 3}
    try:
        comparison = pulens.compare(labels, models, threshold=0.0, metrics=METRICS, **options, labelling="random")
    except pulens.PulensError:
        return
    for name, pairs in comparison.differences.items():
        for result in comparison.estimates[name].values():
            holds(result)
        for pair in pairs:
            if pair.interval is not None:
                assert pair.interval.low <= pair.value <= pair.interval.high, pair
                assert pair.interval.confidence == 0.95
                assert pair.p_value > 0.04 or not pair.interval.low < 0 < pair.interval.high


@given(pu_rows(negatives=True), class_priors(estimated=False), noises, scenarios, st.sampled_from([1, 2, "max"]))
def test_in_calibration(rows, prior, noise, scenario, norm) -> None:
    labels, scores = rows
    scores = (scores + 3.5) / 7
    options = {"class_prior": prior, "label_noise": noise, "scenario": scenario}
    try:
        result = [
            calibration.expected_calibration_error(
                labels, scores, bins=4, norm=norm, redraws=10, **options, labelling="random"
            ),
            calibration.brier_score(labels, scores, bins=4, **options, labelling="random"),
            calibration.log_loss(labels, scores, bins=4, **options, labelling="random"),
            calibration.calibration_in_the_large(labels, scores, **options, labelling="random"),
        ]
        if np.unique(scores[labels == 0]).size > 1:  # a line through one score is none
            result += calibration.calibration_slope(labels, scores, **options, labelling="random")
        diagram = calibration.reliability(labels, scores, bins=4, redraws=100, **options, labelling="random")
    except pulens.PulensError:
        return
    for one in (*result, diagram.error):
        holds(one)
    for one in diagram.points:
        assert one.interval.low <= one.clipped <= one.interval.high, one
        assert one.interval.confidence == 0.95
