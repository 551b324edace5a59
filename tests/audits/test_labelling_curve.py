"""The labelling curve holds the worked numbers, and says where nothing limits it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pulens.audits import AuditCounts
from pulens.audits.labelling_curve import labelling_curve

ROWS, CHECKED = [200, 300, 900, 2600, 6000], [60, 40, 35, 30, 35]


def test_the_worked_example_has_its_numbers() -> None:
    counts = AuditCounts(rows=ROWS, checked=CHECKED, found=[45, 8, 2, 0, 0], labelled=[70, 18, 8, 3, 1], flagged=1)
    curve = labelling_curve(counts)
    expected = [(0.318, 0.290, 0.363), (0.231, 0.136, 0.4186), (0.135, 0.039, 0.615), (1, 0.008, 1), (1, 0.001, 1)]
    # .4186 = 18/(18 + 25): 24 positives in the second stratum have a chance of .00476 only, below .005
    result = [(rate.value, rate.low, rate.high) for rate in curve]
    np.testing.assert_allclose(result, expected, atol=0.01)
    assert len(curve) == 5
    assert not curve.relative


def test_random_labels_of_another_sample_lie_about_one() -> None:
    counts = AuditCounts(
        rows=[1000, 9000], checked=[200, 400], found=[100, 20], labelled=[105, 95], flagged=1, scenario="case-control"
    )
    curve = labelling_curve(counts)
    assert curve.relative
    assert all(rate.low < 1 < rate.high for rate in curve)
    assert curve.rates[0].value == pytest.approx(105 / 200 / (500 / 950))
    assert "relative to the average positive" in str(curve)


def test_a_stratum_without_finds_has_no_upper_limit_and_none_is_written() -> None:
    counts = AuditCounts(
        rows=ROWS,
        checked=CHECKED,
        found=[45, 8, 2, 0, 0],
        labelled=[70, 18, 8, 3, 1],
        flagged=1,
        scenario="case-control",
    )
    last = labelling_curve(counts).rates[-1]
    assert math.isinf(last.high)
    assert last.to_dict()["high"] is None
    assert "no limit" in str(last)
    assert 0 < last.low < 1


def test_undecided_rows_widen_the_band_to_both_sides() -> None:
    plain = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[30, 10], labelled=[50, 30], flagged=1)
    doubt = AuditCounts(
        rows=[200, 9800], checked=[60, 140], found=[30, 10], undecided=[6, 6], labelled=[50, 30], flagged=1
    )
    for scenario in ("single-set", "case-control"):
        narrow, wide = (labelling_curve(replace(of, scenario=scenario)) for of in (plain, doubt))  # type: ignore[arg-type]
        for inner, outer in zip(narrow, wide, strict=True):
            assert outer.low < inner.low + 0.005
            assert outer.high > inner.high - 0.005


def test_an_unchecked_or_empty_stratum_is_unknown() -> None:
    counts = AuditCounts(rows=[200, 500], checked=[60, 0], found=[30, 0], labelled=[50, 0], flagged=1)
    last = labelling_curve(counts).rates[-1]
    assert math.isnan(last.value)
    assert (last.low, last.high) == (0.0, 1.0)
    assert str(last).startswith("unknown")
