"""Forecasts narrow with rows, keep what was checked, and say when they reach beyond what was simulated."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pulens.audits import AuditCounts
from pulens.audits.estimates import design_limits
from pulens.audits.forecast import AuditForecast, _rows_at, _simulated, forecast_of
from pulens.errors import AssumptionError

ROWS, LABELLED = [200, 332, 882, 2347, 6239], [60, 20, 10, 5, 5]


def before(**changed: object) -> AuditCounts:
    given = {"rows": ROWS, "checked": [0] * 5, "found": [0] * 5, "labelled": LABELLED, "flagged": 1}
    return AuditCounts(**(given | changed))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def forecast() -> AuditForecast:
    return forecast_of(before(), budgets=[50, 200, 1000])


def test_there_is_a_line_for_each_guess_and_intervals_narrow_with_rows(forecast: AuditForecast) -> None:
    assert list(forecast.widths) == ["default guess", "guess from labels"]
    for line in forecast.widths.values():
        for widths in line.values():
            assert widths[0] > widths[1] > widths[2]
    assert 0 < forecast.power[0] < forecast.power[2] <= 1


def test_without_labels_there_is_one_guess_and_no_power() -> None:
    alone = forecast_of(before(labelled=[0] * 5), budgets=[100])
    assert list(alone.widths) == ["default guess"]
    assert alone.power == (0.0,)
    low, high = alone.width("recall", 100)
    assert low == high


def test_rows_for_a_width_lie_between_budgets_or_are_marked(forecast: AuditForecast) -> None:
    assert forecast.rows_for("f1", forecast.width("f1", 200)[1]).most == 200
    inside = forecast.rows_for("f1", 0.2)
    assert 200 < inside.fewest <= inside.most < 1000
    assert not inside.extrapolated
    beyond = forecast.rows_for("recall", 0.05)
    assert beyond.extrapolated
    assert 1000 < beyond.most <= sum(ROWS)
    assert "extrapolated" in str(beyond)
    assert forecast.rows_for("precision", 0.9).most == 50


def test_interpolation_is_straight_in_logarithms_and_ignores_bumps() -> None:
    assert _rows_at([100, 400], [0.4, 0.2], 0.2**0.5 * 0.4**0.5, 10**6) == (200, False)
    assert _rows_at([100, 200, 400], [0.4, 0.5, 0.2], 0.4, 10**6) == (100, False)
    assert _rows_at([100, 400], [0.4, 0.2], 0.1, 10**6) == (1600, True)
    assert _rows_at([100, 400], [0.4, 0.2], 0.01, 1000) == (1000, True)


def test_every_row_checked_leaves_no_width() -> None:
    small = forecast_of(AuditCounts(rows=[20, 40], checked=[0, 0], found=[0, 0], labelled=[5, 5], flagged=1))
    assert small.budgets == (25, 50, 60)
    assert small.width("f1", 60)[1] == pytest.approx(0, abs=1e-8)


def test_after_checking_the_answers_are_kept() -> None:
    counts = before(checked=[76, 22, 27, 31, 44], found=[50, 5, 2, 0, 0])
    made = forecast_of(counts, budgets=[100, 400])
    assert made.budgets == (300, 400)
    assert list(made.widths) == ["after checking"]
    now = design_limits(counts, metrics=["f1"])["f1"]
    assert made.width("f1", 300)[1] < float(now.high[0] - now.low[0])
    plan = np.array([100, 40, 40, 50, 70])
    drawn = _simulated(np.random.default_rng(0), counts, plan, np.array([130.0, 70, 60, 20, 10]), 50)
    assert (drawn >= counts.found).all()
    assert (drawn <= plan).all()


def test_it_reads_as_a_sentence_and_is_plain_json(forecast: AuditForecast) -> None:
    assert "With 200 rows checked, 95% intervals are about this wide: F1 0." in str(forecast)
    assert "whatever the labelling; a 3:1 preference" in str(forecast)
    assert json.loads(json.dumps(forecast.to_dict()))["budgets"] == [50, 200, 1000]


def test_the_same_seed_gives_the_same_forecast() -> None:
    first, again = (forecast_of(before(), budgets=[100], seed=3).to_dict() for _ in range(2))
    assert first == again


def test_what_cannot_be_forecast_is_refused(forecast: AuditForecast) -> None:
    with pytest.raises(AssumptionError, match=r"forecasts are made for .* got 'recal'\. Did you mean 'recall'"):
        forecast.rows_for("recal", 0.1)
    with pytest.raises(AssumptionError, match="width must lie between 0 and 1, got 10"):
        forecast.rows_for("recall", 10)


def test_a_forecast_goes_on_from_answers_that_nobody_could_give():
    # all rows but the undecided ones were checked: what is left to find must not be more than what is left to see
    counts = AuditCounts(rows=[10, 40], checked=[10, 20], found=[6, 2], undecided=[4, 3], flagged=1)
    result = forecast_of(counts, seed=1)
    assert result.checked == 30
    assert all(np.isfinite(widths).all() for by in result.widths.values() for widths in by.values())
