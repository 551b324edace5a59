"""How many positives strata can hold: exact for one stratum, drawn for several."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from pulens.audits import limits
from pulens.audits.limits import draw_totals, exact_quantile, quantile, stratum_limits
from pulens.errors import PulensError


@pytest.mark.parametrize(
    ("rows", "checked", "found", "strict", "balanced"),
    [
        (50, 10, 2, (2, 26), (3, 24)),
        (246, 80, 67, (186, 221), (187, 220)),
        (1000, 50, 0, (0, 69), (0, 56)),
        (1000, 50, 50, (931, 1000), (944, 1000)),
        (20, 20, 7, (7, 7), (7, 7)),
    ],
)
def test_limits_of_one_stratum_are_the_worked_ones(rows, checked, found, strict, balanced):
    assert stratum_limits(rows, checked, found, interval="strict") == strict
    assert stratum_limits(rows, checked, found) == balanced


def _tail(rows: int, positives: int, checked: int, hits: range) -> Fraction:
    ways = sum(comb(positives, hit) * comb(rows - positives, checked - hit) for hit in hits)
    return Fraction(ways, comb(rows, checked))


def test_strict_limits_of_one_stratum_are_those_of_inverted_hypergeometric_tails():
    random = np.random.default_rng(4)
    for _ in range(60):
        rows = int(random.integers(1, 60))
        checked = int(random.integers(1, rows + 1))
        result = int(random.integers(0, checked + 1))
        for confidence in (0.95, 0.8):
            tail = Fraction(1 - confidence) / 2
            possible = range(result, rows - checked + result + 1)
            few_enough = [x for x in possible if _tail(rows, x, checked, range(result + 1)) > tail]
            many_enough = [x for x in possible if _tail(rows, x, checked, range(result, checked + 1)) > tail]
            limits_found = stratum_limits(rows, checked, result, confidence=confidence, interval="strict")
            assert limits_found == (min(many_enough), max(few_enough)), (rows, checked, result)


def test_a_stratum_too_large_to_write_out_has_the_same_limits(monkeypatch):
    random = np.random.default_rng(7)
    cases = []
    for _ in range(8):
        rows = int(random.integers(1, 500))
        checked = int(random.integers(1, rows + 1))
        cases.append((rows, checked, int(random.integers(0, checked + 1))))
    asked = [(level, weight) for level in (0.025, 0.975) for weight in (0.0, 0.5, 1.0)]
    written = [exact_quantile(level, *case, positive_weight=weight) for case in cases for level, weight in asked]
    monkeypatch.setattr(limits, "LISTED", -1)
    searched = [exact_quantile(level, *case, positive_weight=weight) for case in cases for level, weight in asked]
    assert list(map(int, searched)) == list(map(int, written))


def test_swapping_the_classes_mirrors_the_limits():
    for rows, checked, result in ((300, 40, 3), (77, 20, 0), (1000, 100, 55)):
        for kind in ("strict", "balanced"):
            low, high = stratum_limits(rows, checked, result, interval=kind)
            mirrored = stratum_limits(rows, checked, checked - result, interval=kind)
            # a quantile is the lowest number that reaches a level, so mirrored ones may be one row apart
            assert abs(rows - high - mirrored[0]) <= 1
            assert abs(rows - low - mirrored[1]) <= 1


def test_rows_nobody_looked_into_may_be_anything():
    assert stratum_limits(70, 0, 0) == (0, 70)
    drawn = draw_totals([10, 70], [10, 0], [4, 0], 1, interval="balanced", draws=100, seed=0)
    assert set(drawn.below.low[:, 0]) == {0.0}
    assert set(drawn.below.high[:, 0]) == {70.0}
    assert set(drawn.above.low[:, 0]) == set(drawn.above.high[:, 0]) == {4.0}


def test_the_imaginary_row_stands_once_and_where_a_row_stands_for_most():
    drawn = draw_totals([100, 100, 1000], [10, 10, 10], [0, 0, 0], 0, interval="strict", draws=4000, seed=0)
    alone = stratum_limits(1000, 10, 0, interval="strict")
    assert quantile(drawn.everywhere.high, 0.975)[0] == pytest.approx(alone[1], abs=2)
    assert set(drawn.everywhere.low[:, 0]) == {0.0}


@pytest.mark.parametrize("positives", [(0, 11), (12, 1), (0, 6), (6, 6)])
def test_strata_that_look_settled_do_not_settle_the_total(positives):
    """By every outcome: the imaginary row has to stand where it changes something."""
    rows, checked = (12, 12), (4, 4)
    outcomes = np.array([(first, second) for first in range(5) for second in range(5)])
    drawn = draw_totals(rows, checked, outcomes, 0, interval="strict", draws=4000, seed=5).everywhere
    low, high = quantile(drawn.low, 0.025), quantile(drawn.high, 0.975)
    chance = np.array(
        [
            comb(x, a) * comb(12 - x, 4 - a) * comb(y, b) * comb(12 - y, 4 - b) / comb(12, 4) ** 2
            for x, y in [positives]
            for a, b in outcomes.tolist()
        ]
    )
    held = float(chance[(low <= sum(positives)) & (sum(positives) <= high)].sum())
    assert held >= 0.93


def test_many_audits_at_once_have_the_limits_of_each():
    rows, checked = [200, 300, 2000], [50, 40, 60]
    audits = [[30, 5, 1], [30, 0, 0], [50, 40, 2]]
    together = draw_totals(rows, checked, audits, 1, interval="balanced", draws=20_000, seed=3)
    for place, result in enumerate(audits):
        alone = draw_totals(rows, checked, result, 1, interval="balanced", draws=20_000, seed=3)
        for level in (0.025, 0.5, 0.975):
            one = quantile(alone.everywhere.high, level)[0]
            assert quantile(together.everywhere.high, level)[place] == pytest.approx(one, rel=0.06, abs=3)


def test_the_same_seed_draws_the_same_totals():
    asked = {"interval": "strict", "draws": 300, "seed": 11}
    one, two = (draw_totals([90, 900], [30, 60], [20, 3], 1, **asked) for _ in range(2))
    assert (one.below.high == two.below.high).all()
    assert (one.above.low == two.above.low).all()


def test_an_unknown_kind_of_interval_is_refused_with_the_known_ones():
    with pytest.raises(PulensError, match=r"'balanced' or 'strict', got 'wide'"):
        limits.check_interval("wide")
