"""Limits that hold at every moment."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import betabinom, hypergeom

from pulens.audits import AuditCounts, design_estimates, design_limits
from pulens.audits import anytime as room

ROWS, CHECKED, FOUND = [200, 300, 900, 2600, 6000], [60, 40, 35, 30, 35], [45, 8, 2, 0, 0]


def test_limits_at_any_time_are_the_worked_ones_and_hold_the_balanced_ones():
    counts = AuditCounts(rows=ROWS, checked=CHECKED, found=FOUND, flagged=1, scenario="case-control")
    result, balanced = design_estimates(counts, anytime=True), design_estimates(counts)
    for name, ends in {"recall": (0.063, 0.916), "f1": (0.116, 0.881)}.items():
        assert (result[name].interval.low, result[name].interval.high) == pytest.approx(ends, abs=0.002)
        assert result[name].interval.method == "audit, anytime"
    for name, wide in result.items():
        narrow = balanced[name].interval
        assert wide.interval.low <= narrow.low, name
        assert narrow.high <= wide.interval.high, name


def test_the_least_evidence_at_a_slope_is_that_of_all_numbers_tried():
    random = np.random.default_rng(0)
    for _ in range(12):
        rows = random.integers(1, 300, 3)
        checked = np.array([random.integers(0, size + 1) for size in rows])
        result = random.binomial(checked, random.random(3) ** 2)
        counts = AuditCounts(rows=rows, checked=checked, found=result, flagged=1)
        least = room._lowest(counts, counts.found)
        for k in range(3):
            x = np.arange(result[k], rows[k] - checked[k] + result[k] + 1)
            chance = betabinom.logpmf(result[k], checked[k], 0.5, 0.5)
            evidence = chance - hypergeom.logpmf(result[k], rows[k], x, checked[k])
            tried = (evidence + room.SLOPES[:, None] * x).min(axis=1)
            assert least[:, k] == pytest.approx(tried, abs=1e-7)


def test_limits_at_any_time_enclose_every_pair_that_was_not_ruled_out():
    rows, checked, result = [12, 15, 20], [6, 5, 8], [4, 1, 0]
    counts = AuditCounts(
        rows=rows, checked=checked, found=result, labelled=[5, 2, 1], flagged=1, scenario="case-control"
    )
    least = room._lowest(counts, counts.found)[room.SLOPES.size // 2]
    evidence = []
    for k in range(3):
        x = np.arange(result[k], rows[k] - checked[k] + result[k] + 1)
        log_chance = hypergeom.logpmf(result[k], rows[k], x, checked[k])
        evidence.append((x, least[k] + log_chance.max() - log_chance))
    totals = np.array(np.meshgrid(*(x for x, _ in evidence), indexing="ij"))
    together = sum(np.meshgrid(*(g for _, g in evidence), indexing="ij"))
    inside = totals[:, together < math.log(1 / 0.2)]
    recall = inside[0] / inside.sum(axis=0)
    low, high = design_limits(counts, anytime=True, confidence=0.8, metrics=["recall"])["recall"]
    assert low[0] <= recall.min()
    assert recall.max() <= high[0]
    assert low[0] == pytest.approx(recall.min(), abs=0.05)
    assert high[0] == pytest.approx(recall.max(), abs=0.05)


def test_looking_often_and_stopping_at_the_worst_moment_does_not_lose_the_truth():
    random, missed = np.random.default_rng(12), 0
    rows, positives = np.array([40, 200]), np.array([25, 12])
    truth = positives[0] / positives.sum()
    for _ in range(12):
        answers = [random.permutation(np.arange(size) < x) for size, x in zip(rows, positives, strict=True)]
        lost = False
        for step in (3, 8, 13, 18, 25, 33):
            checked = np.array([step, step])
            result = [int(one[:step].sum()) for one in answers]
            counts = AuditCounts(rows=rows, checked=checked, found=result, flagged=1, scenario="case-control")
            low, high = design_limits(counts, anytime=True, confidence=0.8, metrics=["recall"])["recall"]
            lost = lost or not low[0] <= truth <= high[0]
        missed += lost
    assert missed <= 2
