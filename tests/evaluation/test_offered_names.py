"""What a person meets behind a tab, in signatures and in tables: few names, real parameters, their own library."""

from __future__ import annotations

import inspect

import numpy as np
import polars
import pytest

import pulens
from pulens import calibration


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    label = np.where(positive & (rng.random(600) < 0.5), "fraud", "")
    scores = {"risk": rng.normal(2 * positive), "old": rng.normal(positive)}
    return polars.DataFrame({**scores, "outcome": label, "site": ["a", "b"] * 300})


SAID = {"label": "outcome", "positive": "fraud", "class_prior": 0.3}


def _weeks(table):
    return [table[start::20] for start in range(10)], [table[start::20] for start in range(10, 20)]


def public(thing: object) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def test_the_package_offers_at_most_25_names_and_keeps_all_others():
    assert len(public(pulens)) <= 25
    for name in (*public(pulens), *pulens.__all__):
        assert getattr(pulens, name) is not None


def test_scorers_and_displays_are_not_lost_among_what_they_are_made_of():
    assert public(pulens.sklearn) == ["PUScorer", "PrecisionRecallDisplay", "RocCurveDisplay", "scorer"]


def test_answers_offer_at_most_20_names_that_all_exist(table):
    one = {**SAID, "score": "risk"}
    result = pulens.evaluate_by(table, "site", **one, labelling="random")
    answers = [
        pulens.evaluate(table, **one, redraws=100),
        pulens.compare(table, score=["risk", "old"], **SAID, redraws=100, labelling="random"),
        pulens.decide(table, **one, cost_miss=5, cost_alarm=1, redraws=100, labelling="random"),
        pulens.plan_audit(table, **one, budget=50),
        pulens.estimate_prior(table, score="risk", label="outcome", positive="fraud"),
        result,
        result.gaps(),
        pulens.bounds(table, **one),
        pulens.watch(*_weeks(table), **one, labelling="random"),
    ]
    for answer in answers:
        assert len(public(answer)) <= 20, type(answer)
        for name in public(answer):
            getattr(answer, name)


def test_no_answer_shows_all_of_its_fields_in_a_session(table):
    """A class prior took a screen and a half, a reliability diagram six."""
    one = {**SAID, "score": "risk"}
    evaluation = pulens.evaluate(table, **one, redraws=100)
    answers = [
        pulens.estimate_prior(table, score="risk", label="outcome", positive="fraud"),
        calibration.reliability(table, **one, scores_are="logit", labelling="random"),
        *(evaluation.at(1.0), evaluation.top(20), pulens.bounds(table, **one), pulens.plan_audit(table, **one)),
        *(evaluation["recall"], evaluation.roc, evaluation.robustness("precision > 0.2")),
        evaluation.sensitivity("recall", factor=2),
    ]
    for answer in answers:
        assert "=" not in repr(answer).split("\n")[0].replace(">=", ""), type(answer)
    for answer in answers[:7]:
        assert answer._repr_html_()
    assert repr(evaluation.estimates).splitlines()[0] == str(evaluation["roc_auc"])  # it was an object at an address


def test_columns_named_as_scores_are_told_where_they_go(table):
    with pytest.raises(pulens.PulensError, match=r"are named with score=\['risk', 'old'\]"):
        pulens.compare(table, scores=["risk", "old"], **SAID)


DOORS = (
    *(
        pulens.evaluate,
        pulens.compare,
        pulens.decide,
        pulens.plan_audit,
        pulens.estimate_prior,
        pulens.evaluate_by,
        pulens.gaps_by,
    ),
    *(pulens.bounds, pulens.estimate_prior_within, calibration.expected_calibration_error, calibration.reliability),
    *(calibration.recalibrate, calibration.brier_score, calibration.log_loss, calibration.calibration_slope),
)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_columns_and_label_values_are_parameters_with_types(door):
    """They were in ``**reading``: no completion, no type, not in the list of help()."""
    parameters = inspect.signature(door).parameters
    for name in ("score", "label", "positive", "negative", "unlabelled"):
        assert name in parameters
        assert parameters[name].annotation not in (inspect.Parameter.empty, "Any")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_come_back_in_the_library_of_the_rows(table, library):
    """With Polars installed the tables of pandas rows were those of Polars."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = table.to_pandas() if library == "pandas" else table
    compared = pulens.compare(rows, score=["risk", "old"], **SAID, redraws=100, labelling="random")
    result = pulens.evaluate_by(rows, "site", score="risk", **SAID, labelling="random")
    for answer in (compared, result, pulens.evaluate(rows, score="risk", **SAID, redraws=100)):
        assert type(answer.to_frame()).__module__.split(".")[0] == library
        assert type(answer.to_frame("pyarrow")).__module__.split(".")[0] == "pyarrow"


def test_evaluate_takes_group_by_and_gives_what_evaluate_by_gives(table):
    """It answered with a list of thirty argument names."""
    grouped = pulens.evaluate(table, group_by="site", score="risk", **SAID, threshold=1.0)
    expected = pulens.evaluate_by(table, "site", score="risk", **SAID, threshold=1.0)
    assert grouped.to_dict() == expected.to_dict()
    with pytest.raises(pulens.PulensError, match="names a column of a table"):
        pulens.evaluate([1, 0], [0.9, 0.1], group_by="site")
