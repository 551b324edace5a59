"""What people read off an evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import pulens
from pulens import PulensError
from pulens.notice import Severity

LABELS = [1, 1, 1, 0, 0, 0, 0, 0]
SCORES = [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2]


def test_single_set_precision_is_in_labelled_and_unlabelled_rows_together():
    """With a pencil: at 0.5, 2 of 3 labelled and 3 of 5 unlabelled rows are flagged; 1 of the 5 is positive.

    Recall is 2/3, so 4 positives give 8/3 true positives among 5 flagged rows.
    """
    result = pulens.evaluate(LABELS, SCORES, unlabelled_prior=0.2, scenario="single-set", labelling="random").at(0.5)
    assert result["precision"].value == pytest.approx(8 / 3 / 5)
    assert result["recall"].value == pytest.approx(2 / 3)
    assert result.to_dict()["table"]["true_positive"] == pytest.approx(8 / 3)


def test_case_control_precision_is_in_the_unlabelled_rows():
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.2, scenario="case-control", labelling="random").at(0.5)
    assert result["precision"].value == pytest.approx(0.2 * (2 / 3) / 0.6)


def test_one_prior_never_means_two_things():
    by_population = pulens.evaluate(LABELS, SCORES, class_prior=0.5, scenario="single-set", labelling="random")
    assert by_population.class_prior.unlabelled == pytest.approx(0.2)
    assert by_population.evidence.recovery.class_prior == pytest.approx(0.5)
    apart = pulens.evaluate(LABELS, SCORES, class_prior=0.5, scenario="case-control", labelling="random")
    assert apart.class_prior.unlabelled == 0.5


def test_known_negatives_in_a_single_set_are_counted_as_what_they_are():
    labels = [1, 1, 0, 0, 0, -1, -1]
    scores = [5, 4, 5, 3, 1, 4, 0]
    result = pulens.evaluate(labels, scores, unlabelled_prior=1 / 3, scenario="single-set", labelling="random").at(4)
    # flagged: 2 labelled, 1 unlabelled, 1 known negative; recall 1, so 3 of the 3 positives, 1 false alarm of 4
    assert result["precision"].value == pytest.approx(3 / 4)
    assert result["specificity"].value == pytest.approx(3 / 4)


def test_best_threshold_is_where_the_metric_is_best():
    evaluation = pulens.evaluate(LABELS, SCORES, class_prior=0.5, labelling="random")
    best = evaluation.best_threshold("f1")
    tried = {score: evaluation.at(score)["f1"].value for score in SCORES}
    assert tried[best] == max(tried.values())
    assert evaluation.threshold == best
    assert evaluation.best_threshold("error_rate") in SCORES
    with pytest.raises(PulensError, match="reads the whole ranking"):
        evaluation.best_threshold("roc_auc")
    with pytest.raises(PulensError, match="Did you mean 'f1'"):
        evaluation.best_threshold("f11")


def test_nothing_predicted_positive_leaves_precision_undefined_with_a_reason():
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.5, labelling="random").at(2)
    assert np.isnan(result["precision"].value)
    assert "nothing is predicted positive" in result["precision"].undefined_because
    assert result["precision"].to_dict()["value"] is None
    assert result["f1"].value == 0


def test_areas_above_one_are_clipped_and_reported():
    labels, scores = [1, 1, 1, 0, 0, 0, 0], [0.9, 0.8, 0.8, 0.8, 0.8, 0.6, 0.1]
    evaluation = pulens.evaluate(labels, scores, class_prior=0.5, scenario="case-control", labelling="random")
    assert evaluation.estimates["roc_auc"].value == 1
    assert any("roc_auc is 1.1667" in text and "class prior is too high" in text for text in evaluation.warnings)


def test_a_class_prior_that_the_data_contradict_is_reported_with_its_cause():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(3, 1, 500), rng.normal(0, 1, 5000)])
    evaluation = pulens.evaluate(
        np.repeat([1, 0], [500, 5000]), scores, class_prior=0.4, scenario="case-control", labelling="random"
    )
    notice = next(notice for notice in evaluation.notices if notice.code == "impossible-rates")
    assert notice.severity == 1
    assert "class prior is too high" in str(notice)
    assert "40.0% positive" in str(notice)


def test_rates_slightly_outside_by_chance_are_only_noted():
    rng = np.random.default_rng(0)
    hidden = rng.random(2000) < 0.2
    scores = np.concatenate([rng.normal(1, 1, 200), rng.normal(hidden * 1.0, 1)])
    options = {"class_prior": 0.2, "scenario": "case-control", "threshold": 0.5}
    evaluation = pulens.evaluate(np.repeat([1, 0], [200, 2000]), scores, **options, labelling="random")
    notices = [notice for notice in evaluation.notices if notice.code == "impossible-rates"]
    assert all(notice.severity == 0 for notice in notices)


def test_a_range_that_begins_at_zero_is_the_limit_of_ranges_that_do_not():
    """The population stays the same along the range: only a class prior given as 0 makes rows fully labelled."""
    options = {"scenario": "case-control", "threshold": 0.5, "confidence": None}
    from_zero, from_little = (
        pulens.evaluate(LABELS, SCORES, class_prior=(low, 0.3), **options, labelling="random") for low in (0.0, 1e-14)
    )
    for name, result in from_little.estimates.items():
        assert from_zero.estimates[name].interval.low == pytest.approx(result.interval.low, abs=1e-6), name
        assert from_zero.estimates[name].interval.high == pytest.approx(result.interval.high, abs=1e-6), name


def test_a_range_of_priors_gives_a_range_of_values():
    options = {"scenario": "case-control", "threshold": 0.5}
    evaluation = pulens.evaluate(LABELS, SCORES, class_prior=(0.1, 0.3), **options, labelling="random")
    ends = [pulens.evaluate(LABELS, SCORES, class_prior=end, **options, labelling="random") for end in (0.1, 0.3)]
    for name in ("roc_auc", "precision", "f1"):
        interval = evaluation.estimates[name].interval
        for end in ends:
            assert interval.low - 1e-12 <= end.estimates[name].value <= interval.high + 1e-12
    assert evaluation.class_prior.interval.low == 0.1


@pytest.mark.parametrize(
    "options",
    [
        {"class_prior": np.float64(0.2)},
        {"class_prior": np.array([0.1, 0.3])},
        {"class_prior": [0.1, 0.3]},
        {"class_prior": 0.2, "label_noise": np.float32(0.1)},
        {"class_prior": 0.2, "threshold": np.float32(0.5)},
    ],
)
def test_numbers_of_numpy_are_numbers(options):
    result = pulens.evaluate(LABELS, SCORES, scenario="case-control", **options, labelling="random")
    assert result.class_prior.value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_prior": 1.0}, "at least 0 and below 1, or a range .*got 1.0"),
        ({"class_prior": -0.1}, "got -0.1"),
        ({"class_prior": float("nan")}, "got nan"),
        ({"class_prior": True}, "got True"),
        ({"class_prior": (0.4, 0.2)}, r"got \(0.4, 0.2\)"),
        ({"class_prior": 0.2, "unlabelled_prior": 0.2}, "exactly one of"),
        ({"class_prior": 0.95, "label_noise": 0.1}, "must be below 1 - label_noise = 0.9"),
        ({"class_prior": 0.2, "label_noise": 1}, "label_noise must be .*got 1"),
        ({"class_prior": 0.2, "label_noise": "x"}, "got 'x'"),
        ({"class_prior": 0.2, "scenario": "random"}, "'case-control' or 'single-set', got 'random'"),
        ({"class_prior": 0.1, "scenario": "single-set"}, "labelled positives alone make up 0.375"),
        ({"class_prior": 0.5, "threshold": "high"}, "threshold must be a number, got 'high'"),
        ({"class_prior": 0.5, "threshold": float("nan")}, "threshold must be a number, got nan"),
    ],
)
def test_impossible_assumptions_are_refused_by_name(options, message):
    with pytest.raises(PulensError, match=message):
        pulens.evaluate(LABELS, SCORES, **options, labelling="random")


def test_json_holds_everything_and_no_nan():
    evaluation = pulens.evaluate(LABELS, SCORES, class_prior=(0.45, 0.55), threshold=5, labelling="random")
    answer = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert {"value", "low", "high"} <= answer["estimates"]["roc_auc"].keys()
    assert answer["scenario"] == "single-set"
    assert answer["class_prior"]["low"] == 0.45
    assert answer["target_population"] == "all rows, labelled and unlabelled"
    assert isinstance(answer["warnings"], list)


def test_text_and_notebook_show_recovered_beside_uncorrected():
    evaluation = pulens.evaluate(LABELS, SCORES, class_prior=(0.45, 0.55), labelling="random")
    for shown in (str(evaluation), evaluation._repr_html_()):
        assert "uncorrected" in shown
        assert "0.625" in shown
    assert "<script" not in evaluation._repr_html_()


def test_metrics_read_tables_and_name_themselves():
    import pandas as pd

    table = pd.DataFrame({"p": SCORES, "y": LABELS})
    result = pulens.metrics.f_beta(table, score="p", label="y", class_prior=0.5, threshold=0.5, beta=1.0)
    assert result.value == pytest.approx(pulens.metrics.f1(LABELS, SCORES, class_prior=0.5, threshold=0.5).value)
    assert float(result) == result.value
    assert "f_beta" in repr(pulens.metrics.f_beta)
    with pytest.raises(AttributeError, match="Did you mean 'recall'"):
        _ = pulens.metrics.recal
    with pytest.raises(PulensError, match="beta of f_beta must be a positive number"):
        pulens.metrics.f_beta(LABELS, SCORES, class_prior=0.5, threshold=0.5, beta=-1)


def test_import_is_light():
    heavy = ["torch", "sklearn", "matplotlib", "pandas", "polars", "duckdb", "scipy"]
    code = f"import sys, pulens; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_evaluating_arrays_loads_no_library_or_room_that_nobody_asked_for():
    heavy = ["torch", "sklearn", "matplotlib", "pandas", "polars", "duckdb", "pulens.audits", "pulens.strata"]
    code = (
        "import sys, numpy, pulens; pulens.evaluate(numpy.array([1, 0, 0]), numpy.array([3., 2., 1.]), class_prior=.4);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_public_list_resolves():
    for name in pulens.__all__:
        assert getattr(pulens, name) is not None
    assert "evaluate" in dir(pulens)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = pulens.nonsense


def test_every_room_can_be_entered_by_its_name():
    for room in pulens._ROOMS:
        assert getattr(pulens, room) is import_module(f"pulens.{room}")


@pytest.mark.parametrize("class_prior", [0.2, 0.45, 0.9])
def test_alarms_are_the_notices_that_are_more_than_notes(class_prior):
    rng = np.random.default_rng(3)
    labels, scores = np.repeat([1, 0], [20, 200]), np.r_[rng.normal(2.0, 1.0, 20), rng.normal(0.0, 1.0, 200)].round(1)
    evaluation = pulens.evaluate(labels, scores, class_prior=class_prior, labelling="random")
    expected = [notice for notice in evaluation.notices if notice.severity > Severity.NOTE]
    assert expected
    assert len(expected) < len(evaluation.notices)
    assert list(evaluation.alarms) == expected
