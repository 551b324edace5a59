"""What an audit proves without any assumption about labelling: values, limits, and how often these hold."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import pulens.metrics
from pulens.audits import AuditCounts, design_estimates, design_limits
from pulens.audits.formulas import FORMULAS
from pulens.errors import PulensError
from pulens.recovery.contingency import Contingency

ROWS, CHECKED, FOUND = [200, 300, 900, 2600, 6000], [60, 40, 35, 30, 35], [45, 8, 2, 0, 0]


def _counts(found=FOUND, scenario="case-control", **more) -> AuditCounts:
    return AuditCounts(rows=ROWS, checked=CHECKED, found=found, flagged=1, scenario=scenario, **more)


def _single_set() -> AuditCounts:
    return _counts(scenario="single-set", labelled=[80, 20, 0, 0, 0])


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        (_counts(), (0.026143, 0.75, 0.573770, 0.650155, 0.983857, 0.994866, 0.648083)),
        (_single_set(), (0.035785, 0.821429, 0.636364, 0.717149, 0.982037, 0.994866, 0.714186)),
    ],
)
def test_values_are_the_worked_ones(counts, values):
    names = ("class_prior", "precision", "recall", "f1", "accuracy", "specificity", "matthews_correlation")
    result = design_estimates(counts)
    assert [result[name].value for name in names] == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "kind", "limits"),
    [
        (
            _counts(),
            "balanced",
            {
                "class_prior": (0.021, 0.076),
                "recall": (0.196, 0.718),
                "f1": (0.310, 0.745),
                "matthews_correlation": (0.358, 0.741),
            },
        ),
        (
            _counts(),
            "strict",
            {
                "class_prior": (0.020, 0.086),
                "recall": (0.171, 0.741),
                "f1": (0.277, 0.761),
                "matthews_correlation": (0.328, 0.758),
            },
        ),
        (_single_set(), "balanced", {"recall": (0.267, 0.744), "f1": (0.402, 0.788)}),
        (
            _counts([45, 0, 0, 0, 0]),
            "balanced",
            {"recall": (0.233, 1), "f1": (0.353, 0.901), "class_prior": (0.013, 0.064)},
        ),
        (_counts([45, 0, 0, 0, 0]), "strict", {"recall": (0.198, 1)}),
        (
            _counts([0] * 5),
            "balanced",
            {"recall": (0, 1), "precision": (0, 0.040), "f1": (0, 0.066), "class_prior": (0, 0.049)},
        ),
    ],
)
def test_limits_are_the_worked_ones(counts, kind, limits):
    result = design_estimates(counts, interval=kind)
    for name, ends in limits.items():
        interval = result[name].interval
        assert (interval.low, interval.high) == pytest.approx(ends, abs=0.004), name
        assert interval.method == f"audit, {kind}"
        assert interval.confidence == 0.95
        assert result[name].basis == "design"


@pytest.mark.parametrize(("kind", "ends"), [("balanced", (0.650, 0.830)), ("strict", (0.645, 0.835))])
def test_precision_over_one_stratum_is_exact(kind, ends):
    interval = design_estimates(_counts(), interval=kind)["precision"].interval
    assert (interval.low, interval.high) == ends
    assert design_estimates(_counts(), interval=kind, seed=9)["precision"].interval == interval


def test_no_find_below_leaves_recall_one_with_a_lower_limit_and_no_find_at_all_leaves_it_undefined():
    assert design_estimates(_counts([45, 0, 0, 0, 0]))["recall"].value == 1
    nothing = design_estimates(_counts([0] * 5))
    assert math.isnan(nothing["recall"].value)
    assert "no positive was found" in nothing["recall"].undefined_because
    assert math.isnan(nothing["matthews_correlation"].value)
    assert nothing["precision"].value == 0
    assert nothing["f1"].value == 0


def test_a_review_log_without_rows_below_gives_bounds():
    log = AuditCounts(rows=[200, 9800], checked=[200, 0], found=[150, 0], flagged=1, scenario="case-control")
    result = design_estimates(log)
    precision = result["precision"]
    assert (precision.value, precision.interval.low, precision.interval.high) == (0.75, 0.75, 0.75)
    assert precision.basis == "design"
    for name, ends in {"recall": (0.015075, 1), "f1": (0.029557, 0.857143)}.items():
        assert (result[name].interval.low, result[name].interval.high) == pytest.approx(ends, abs=1e-6)
        assert result[name].basis == "bounds"
        assert result[name].interval.confidence is None
        assert math.isnan(result[name].value)
        assert "9,800 rows" in result[name].undefined_because


def test_a_review_log_with_a_random_share_below_gives_everything():
    log = AuditCounts(rows=[200, 9800], checked=[200, 196], found=[150, 4], flagged=1, scenario="case-control")
    result = design_estimates(log)
    values = {"recall": 0.428571, "f1": 0.545455, "class_prior": 0.035}
    ends = {"recall": (0.241, 0.698), "f1": (0.365, 0.723), "class_prior": (0.021, 0.062)}
    for name, value in values.items():
        assert result[name].value == pytest.approx(value, abs=1e-6)
        assert (result[name].interval.low, result[name].interval.high) == pytest.approx(ends[name], abs=0.001)


def test_intervals_shrink_to_a_point_when_every_row_is_checked():
    everything = AuditCounts(rows=[20, 80], checked=[20, 80], found=[15, 5], flagged=1, scenario="case-control")
    for result in design_estimates(everything).values():
        assert result.interval.width == 0
        assert result.interval.low == result.value
    assert design_estimates(everything)["recall"].value == 0.75


def test_undecided_rows_count_half_and_limits_hold_whatever_they_are():
    asked = {"rows": [100, 1000], "checked": [40, 60], "flagged": 1, "scenario": "case-control"}
    open_ = AuditCounts(found=[20, 3], undecided=[4, 2], **asked)
    result = design_estimates(open_)
    assert result["precision"].value == pytest.approx(22 / 40)
    for above, below in product((0, 4), (0, 2)):
        decided = design_estimates(AuditCounts(found=[20 + above, 3 + below], **asked))
        for name, one in decided.items():
            assert result[name].interval.low <= one.interval.low
            assert one.interval.high <= result[name].interval.high
            assert result[name].interval.low <= one.value <= result[name].interval.high


@pytest.mark.parametrize("flagged", [0, 2])
def test_a_threshold_that_flags_nothing_or_everything_is_answered(flagged):
    counts = AuditCounts(rows=[100, 900], checked=[30, 50], found=[20, 4], flagged=flagged, scenario="case-control")
    result = design_estimates(counts)
    assert result["class_prior"].interval.low < result["class_prior"].value < result["class_prior"].interval.high
    if flagged:
        assert result["recall"].value == 1
        assert result["recall"].interval.low == 1
        assert result["precision"].value == pytest.approx(result["class_prior"].value)
    else:
        assert math.isnan(result["precision"].value)
        assert "no row is flagged" in result["precision"].undefined_because
        assert result["recall"].value == 0
        assert result["recall"].interval.high == 0
    assert math.isnan(result["matthews_correlation"].value)


@pytest.mark.parametrize(("rows", "flagged"), [(9, 3), (9, 7), (8, 4)])
def test_every_metric_moves_in_one_direction_with_true_positives_and_with_false_negatives(rows, flagged):
    hits, missed = np.meshgrid(np.arange(flagged + 1.0), np.arange(rows - flagged + 1.0), indexing="ij")
    for name, formula in FORMULAS.items():
        if formula.reads == "everywhere":
            continue
        values = formula.of(hits, missed, flagged, rows) * (1 if formula.rises else -1)
        with np.errstate(invalid="ignore"):
            with_hits, with_missed = np.diff(values, axis=0), np.diff(values, axis=1)
        assert not (with_hits < -1e-12).any(), name
        assert not (with_missed > 1e-12).any(), name


@pytest.mark.parametrize("cells", [(30, 15, 10, 45), (3, 0, 7, 90), (0, 5, 2, 3)])
def test_formulas_are_those_of_the_metrics(cells):
    hits, alarms, missed, _rest = cells
    for name in set(FORMULAS) - {"class_prior"}:
        ours = FORMULAS[name].of(hits, missed, float(hits + alarms), float(sum(cells))).item()
        theirs = pulens.metrics.METRICS[name].compute(Contingency.from_cells(0.5, *cells)).item()
        assert ours == pytest.approx(theirs), name


def test_an_unknown_metric_is_refused_with_the_nearest_name():
    with pytest.raises(PulensError, match=r"mutual_information"):
        design_limits(_counts(), metrics=["mutual_information"])
    with pytest.raises(PulensError, match=r"Did you mean 'recall'"):
        design_estimates(_counts(), metrics=["recal"])


WORLDS = {
    "few positives in the large low stratum": ([250, 1000, 8000], [60, 60, 80], [170, 60, 60], 1),
    "flagged rows in two strata": ([100, 300, 2000], [30, 50, 70], [70, 120, 100], 2),
    "half of the rows positive": ([700, 600, 700], [60, 60, 60], [600, 300, 100], 1),
}


@pytest.mark.parametrize("world", WORLDS)
def test_balanced_limits_hold_the_truth_about_as_often_as_they_say(world):
    rows, checked, positives, flagged = WORLDS[world]
    random, audits = np.random.default_rng(2026), 600
    result = np.stack(
        [random.hypergeometric(x, m - x, n, audits) for x, m, n in zip(positives, rows, checked, strict=True)], axis=1
    )
    counts = AuditCounts(rows=rows, checked=checked, found=result[0], flagged=flagged, scenario="case-control")
    names = ["class_prior", "precision", "recall", "f1", "matthews_correlation"]
    truth = design_estimates(
        AuditCounts(rows=rows, checked=rows, found=positives, flagged=flagged, scenario="case-control")
    )
    for name, (low, high) in design_limits(counts, found=result, metrics=names, draws=500).items():
        value = truth[name].value
        held = float(((low <= value + 1e-12) & (value <= high + 1e-12)).mean())
        assert 0.925 <= held <= 0.99, (name, held)
