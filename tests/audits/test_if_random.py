"""The sharper column holds the worked numbers, its own exact witnesses, and says when it cannot be had."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from pulens.audits import AuditCounts
from pulens.audits.if_random import PooledShares, _share_densities, if_random_estimates
from pulens.testing import AuditWorld


def worked(**changed: Any) -> AuditCounts:
    given: dict[str, Any] = {
        "rows": [200, 300, 900, 2600, 6000],
        "checked": [60, 40, 35, 30, 35],
        "found": [45, 8, 2, 0, 0],
        "labelled": [70, 18, 8, 3, 1],
        "flagged": 1,
        "scenario": "case-control",
    }
    return AuditCounts(**(given | changed))


@pytest.mark.parametrize(
    ("metric", "value", "low", "high"),
    [
        ("class_prior", 0.023, 0.019, 0.027),
        ("precision", 0.755, 0.660, 0.835),
        ("recall", 0.654, 0.567, 0.738),
        ("f1", 0.699, 0.631, 0.761),
    ],
)
def test_the_worked_example_has_its_numbers(metric: str, value: float, low: float, high: float) -> None:
    result = if_random_estimates(worked())[metric]
    assert result.interval is not None
    assert result.basis == "random labelling"
    assert [result.value, result.interval.low, result.interval.high] == pytest.approx([value, low, high], abs=0.01)
    assert "random labelling" in result.interval.method


@pytest.mark.parametrize("pull", [0.5, 40.0, 3_000.0])
@pytest.mark.parametrize(("seen", "refused"), [(1.0, 1.0), (3.0, 30.0), (200.0, 12.5)])
def test_shares_follow_their_density(seen: float, refused: float, pull: float) -> None:
    def density(odds: float) -> float:
        rest = np.logaddexp(0, odds)
        return float(np.exp(seen * (odds - rest) - refused * rest - pull * np.exp(odds - rest) - top))

    odds, reached, log_integral = _share_densities(seen, refused, np.array([pull]))
    top = float(log_integral[0])
    middle = float(np.interp(0.5, reached[0], odds[0]))
    assert integrate.quad(density, odds[0, 0], odds[0, -1], points=[middle], limit=400)[0] == pytest.approx(
        1, abs=0.003
    )
    assert integrate.quad(density, odds[0, 0], middle, limit=400)[0] == pytest.approx(0.5, abs=0.003)


def test_labels_per_positive_follow_the_binomial_split_where_positives_are_rare() -> None:
    rows = 10**7
    counts = AuditCounts(rows=[rows], checked=[rows // 100], found=[12], labelled=[40], flagged=1)
    ratio = PooledShares.of(counts).labels_per_positive
    share = np.sort(0.01 / (0.01 + ratio))
    levels = (np.arange(share.size) + 0.5) / share.size
    np.testing.assert_allclose(share, stats.beta.ppf(levels, 12.5, 40.5), rtol=0.01)


def test_few_labels_leave_a_thoroughly_checked_stratum_to_its_own_beta() -> None:
    counts = AuditCounts(rows=[10**6], checked=[200], found=[120], labelled=[1], flagged=1, scenario="case-control")
    interval = if_random_estimates(counts)["precision"].interval
    assert interval is not None
    expected = stats.beta.ppf([0.025, 0.975], 120.5, 80.5)
    assert [interval.low, interval.high] == pytest.approx(expected, abs=0.01)


def test_many_labels_bring_recall_to_its_binomial_limits() -> None:
    counts = AuditCounts(
        rows=[10**6, 10**8], checked=[30, 30], found=[20, 0], labelled=[300, 200], flagged=1, scenario="case-control"
    )
    interval = if_random_estimates(counts)["recall"].interval
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx(stats.beta.ppf([0.025, 0.975], 300.5, 200.5), abs=0.01)


def test_nothing_is_left_to_doubt_when_every_row_is_checked() -> None:
    counts = AuditCounts(rows=[20, 80], checked=[20, 80], found=[15, 5], labelled=[6, 4], flagged=1)
    for name, result in if_random_estimates(counts).items():
        assert result.interval is not None
        assert result.interval.width == 0, name


def test_the_same_seed_gives_the_same_numbers_and_another_nearly_the_same() -> None:
    first, again, other = (if_random_estimates(worked(), seed=seed)["f1"].interval for seed in (1, 1, 2))
    assert first is not None
    assert other is not None
    assert first == again
    assert [other.low, other.high] == pytest.approx([first.low, first.high], abs=0.01)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"labelled": [0] * 5}, "no row is labelled"),
        ({"checked": [0] * 5, "found": [0] * 5}, "no row was checked"),
        ({"undecided": [1, 0, 0, 0, 0]}, "undecided"),
    ],
)
def test_it_says_why_it_cannot_be_had(changed: dict[str, Any], reason: str) -> None:
    result = if_random_estimates(worked(**changed))["f1"]
    assert np.isnan(result.value)
    assert reason in str(result.undefined_because)


@pytest.mark.parametrize(
    "changed",
    [
        {"found": [0] * 5},
        {"found": [60, 0, 0, 0, 0]},
        {"checked": [60, 40, 0, 30, 35], "found": [45, 8, 0, 0, 0]},
        {"labelled": [0, 0, 0, 0, 1]},
        {"flagged": 0},
        {"flagged": 5},
        {"scenario": "single-set", "known_negative": [0, 5, 0, 0, 9]},
    ],
)
def test_thin_answers_still_give_ordered_limits(changed: dict[str, Any]) -> None:
    for name, result in if_random_estimates(worked(**changed)).items():
        if result.interval is not None:
            assert np.isfinite([result.interval.low, result.interval.high]).all() or name == "lift"


def test_it_holds_the_truth_about_as_often_as_it_says() -> None:
    world = AuditWorld("small", class_prior=0.05, labelled=60, unlabelled=4_000, shift=2.0)
    hits = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = world.draw(rng)
        edges = np.searchsorted(-table.unlabelled, [-table.threshold, -0.8], side="right")
        rows = np.diff([0, *edges, table.unlabelled.size])
        checked = np.array([40, 40, 40])
        starts = np.cumsum([0, *rows[:-1]])
        result = [
            table.positive[start + rng.permutation(size)[:40]].sum() for start, size in zip(starts, rows, strict=True)
        ]
        ordered = -np.sort(-table.labelled)
        labelled = np.diff([0, *np.searchsorted(-ordered, [-table.threshold, -0.8], side="right"), ordered.size])
        counts = AuditCounts(
            rows=rows, checked=checked, found=result, labelled=labelled, flagged=1, scenario="case-control"
        )
        estimates, truth = if_random_estimates(counts), table.truth()
        hits += [truth[name] in estimates[name].interval for name in ("class_prior", "precision", "recall", "f1")]  # type: ignore[operator]
    assert 0.88 <= np.mean(hits) <= 1.0


def test_more_labels_sharpen_recall() -> None:
    few, many = worked(), replace(worked(), labelled=np.array([700, 180, 80, 30, 10]))
    widths = [if_random_estimates(counts)["recall"].interval.width for counts in (few, many)]  # type: ignore[union-attr]
    assert widths[1] < 0.7 * widths[0]
