"""Curves recovered from noisy labels against exact fractions: rates that tie must tie."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

import pulens
from page_scripts import answers_of, page_data
from pulens.counts.tally import Tally
from pulens.curves import gain_curve, precision_recall_curve, roc_curve
from pulens.curves._ties import level
from pulens.recovery import recover
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario

LABELS, SCORES = [1, 1, 1, 1, 1, 0, 0], [7, 6, 5, 4, 2, 3, 1]
PRIOR, NOISE = Fraction(1, 4), Fraction(3, 10)


class Exact(NamedTuple):
    """A threshold's recovered rates and rows called positive per row of the population (case-control)."""

    recall: Fraction
    alarms: Fraction
    called: Fraction


def exact_points(labels: list[int], scores: list[float], prior: Fraction, noise: Fraction) -> list[Exact]:
    """Equations 1 and 2 of paper 003 at each threshold, those possible, "nothing is called positive" first."""
    known, latent = labels.count(1), labels.count(0)
    scale = 1 - noise - prior
    points = []
    for threshold in [max(scores) + 1, *sorted(set(scores), reverse=True)]:
        hits = Fraction(sum(s >= threshold for s, kind in zip(scores, labels, strict=True) if kind == 1), known)
        rest = Fraction(sum(s >= threshold for s, kind in zip(scores, labels, strict=True) if kind == 0), latent)
        recall, alarms = ((1 - prior) * hits - noise * rest) / scale, ((1 - noise) * rest - prior * hits) / scale
        if 0 <= recall <= 1 and 0 <= alarms <= 1:
            points.append(Exact(recall, alarms, prior * recall + (1 - prior) * alarms))
    return points


def exact_areas(points: list[Exact], prior: Fraction) -> tuple[Fraction, Fraction]:
    """Average precision and trapezoidal area of the points in the order of recall, then of rows called positive."""
    kept = sorted((p.recall, p.called, prior * p.recall / p.called) for p in points if p.called)
    steps = trapezoids = Fraction(0)
    before, precision_before = Fraction(0), kept[0][2]
    for recall, _, precision in kept:
        steps += (recall - before) * precision
        trapezoids += (recall - before) * (precision + precision_before) / 2
        before, precision_before = recall, precision
    return steps, trapezoids


def small_samples() -> list[tuple[list[int], list[float], Fraction, Fraction]]:
    """Few rows and round shares: recovered rates tie at many thresholds."""
    rng = np.random.default_rng(19)
    samples = [(LABELS, [float(s) for s in SCORES], PRIOR, NOISE)]
    for number in range(150):
        known, latent = (50, 500) if number % 10 == 0 else (int(rng.integers(3, 12)), int(rng.integers(3, 12)))
        labels = [1] * known + [0] * latent
        scores = rng.normal(np.concatenate([rng.random(known) < 0.7, rng.random(latent) < 0.25]) * 1.5)
        scores = np.round(scores, 1) if number % 3 == 0 else scores
        prior, noise = Fraction(int(rng.integers(1, 8)), 20), Fraction(int(rng.integers(1, 7)), 20)
        samples.append((labels, scores.tolist(), prior, noise))
    return samples


def test_areas_of_noisy_labels_are_exact() -> None:
    for labels, scores, prior, noise in small_samples():
        points = exact_points(labels, scores, prior, noise)
        if not any(p.called for p in points):
            continue
        steps, trapezoids = exact_areas(points, prior)
        given = {"class_prior": float(prior), "label_noise": float(noise), "scenario": "case-control"}
        assert pulens.metrics.average_precision(labels, scores, **given).value == pytest.approx(float(steps), abs=1e-9)
        assert pulens.metrics.pr_auc(labels, scores, **given).value == pytest.approx(float(trapezoids), abs=1e-9)


def test_points_of_noisy_labels_stand_in_their_exact_order() -> None:
    for labels, scores, prior, noise in small_samples():
        points = exact_points(labels, scores, prior, noise)
        table = recover(
            Tally.from_arrays(np.array(labels), np.array(scores)),
            Assumptions(float(prior), float(noise), Scenario.CASE_CONTROL),
        )
        for curve, exact in (
            (precision_recall_curve(table), sorted((p.recall, p.called) for p in points if p.called)),
            (roc_curve(table), sorted((p.alarms, p.recall) for p in points)),
            (gain_curve(table), sorted((p.called, p.recall) for p in points)),
        ):
            np.testing.assert_allclose(curve.x, np.array([x for x, _ in exact], float), atol=1e-9)
            assert (np.diff(curve.x) >= 0).all()
            if curve.name == "precision-recall":
                result = [prior * recall / called for recall, called in exact]
            else:
                result = np.maximum.accumulate([y for _, y in exact])
            np.testing.assert_allclose(curve.y, np.array(result, float), atol=1e-9)


def test_the_page_sorts_noisy_labels_alike() -> None:
    driver = """
    const recovery = require(process.argv[1] + "/recovery.js");
    const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(JSON.stringify(cases.map((data) => recovery.evaluate(data, data.prior, 0).values.average_precision)));
    """
    cases, expected = [], []
    for labels, scores, prior, noise in small_samples()[:40]:
        points = exact_points(labels, scores, prior, noise)
        if any(p.called for p in points):
            tally = Tally.from_arrays(np.array(labels), np.array(scores))
            cases.append(page_data(tally, Scenario.CASE_CONTROL, float(prior), scores[0], float(noise)))
            expected.append(float(exact_areas(points, prior)[0]))
    np.testing.assert_allclose(answers_of(driver, cases), expected, atol=1e-9)


def test_rates_that_differ_by_rounding_become_one() -> None:
    rates = np.array([0.3, 0.1 + 0.2, 0.3 + 1e-9, 0.0])
    np.testing.assert_array_equal(level(rates), [0.3, 0.3, 0.3 + 1e-9, 0.0])
    assert level(np.empty(0)).size == 0
