"""The answer of an audit as an object."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.audits import AuditCounts, AuditResult, CheckedRows, from_counts
from pulens.errors import AssumptionError, InputError, PulensError
from pulens.notice import Notice, Severity


def _result(**more):
    asked = {"rows": [200, 9800], "checked": [60, 140], "found": [45, 2], "flagged": 1}
    return from_counts(**{**asked, **more})


def test_the_dictionary_is_json_and_every_number_names_its_basis():
    answer = json.loads(json.dumps(_result(labelled=[30, 10], threshold=0.5).to_dict(), allow_nan=False))
    assert {result["basis"] for result in answer["estimates"].values()} == {"design"}
    assert answer["strata"][0] | {} == {
        "rows": 200,
        "checked": 60,
        "found": 45,
        "undecided": 0,
        "labelled": 30,
        "known_negative": 0,
        "probability": 0.3,
        "flagged": True,
    }
    assert answer["threshold"] == 0.5
    assert answer["labelling"] is None


def test_the_text_names_what_was_checked_and_every_metric():
    text = str(_result(undecided=[1, 0]))
    assert "200 of 10,000 unlabelled rows checked in 2 strata, 47 positive, 1 undecided" in text
    assert "recall" in text
    assert "precision" in text
    assert "[" in text


def test_numbers_are_computed_once_and_the_same_seed_gives_the_same_ones():
    result = _result()
    assert result.estimates is result.estimates
    assert result.estimates["recall"] == _result().estimates["recall"]


def test_few_finds_below_the_threshold_are_noticed():
    codes = {notice.code: notice for notice in _result().notices}
    assert "likely too high" in codes["few-found-below"].message
    assert "2 of 140" in codes["errors-of-judges"].message
    assert "0.0143" in codes["errors-of-judges"].message
    assert {n.code for n in _result(found=[45, 4]).notices} == {"few-found-below"}
    assert _result(found=[45, 40]).notices == ()
    assert _result(checked=[60, 9800], found=[45, 0]).notices == ()  # every row below was looked at


def test_many_undecided_rows_and_rows_never_checked_are_warnings():
    assert _result(undecided=[5, 5], found=[45, 40]).notices == ()
    told = _result(undecided=[6, 5], found=[45, 40]).notices
    assert [(notice.code, notice.severity) for notice in told] == [("many-undecided", Severity.WARNING)]
    bare = _result(checked=[60, 0], found=[45, 0]).notices
    assert [notice.code for notice in bare] == ["rows-never-checked"]


def test_what_the_reader_of_answers_says_stands_among_the_notices():
    said = Notice(Severity.SERIOUS, "x", "Something.")
    result = AuditResult(counts=_result().counts, told=(said,))
    assert result.notices[0] == said


def test_checked_rows_that_differ_from_the_counts_are_refused():
    rows = CheckedRows(stratum=np.array([0, 0]), score=np.array([1.0, 2.0]), answer=np.array([1, 0]))
    counts = AuditCounts(rows=[5, 5], checked=[1, 1], found=[1, 0], flagged=1)
    with pytest.raises(InputError, match=r"\[2, 0\] checked rows, but the counts say \[1, 1\]"):
        AuditResult(counts=counts, checked_rows=rows)


@pytest.mark.parametrize("wrong", [{"found": [61, 0]}, {"checked": [201, 1]}, {"found": [-1, 0]}, {"found": [0.5, 0]}])
def test_counts_that_cannot_be_are_refused(wrong):
    with pytest.raises(InputError):
        _result(**wrong)


def test_an_unknown_interval_or_confidence_is_refused_at_once():
    with pytest.raises(PulensError, match="'balanced' or 'strict'"):
        _result(interval="exact")
    with pytest.raises(PulensError, match="strictly between 0 and 1"):
        _result(confidence=95)


def test_the_class_prior_of_an_audit_is_taken_where_one_is_taken():
    prior = _result(labelled=[80, 20]).class_prior
    assert prior.method == "audit of 200 rows in 2 strata"
    assert prior.unlabelled == pytest.approx(0.029)
    assert prior.value == pytest.approx(390 / 10_100)
    assert prior.interval.low < prior.value < prior.interval.high
    assert prior.distribution.quantile(0.5) == pytest.approx(0.029, rel=0.25)
    random = np.random.default_rng(1)
    labels = np.repeat([1, 0], [100, 900])
    scores = np.append(random.normal(2, 1, 100), random.normal(0, 1, 900))
    result = pulens.evaluate(
        labels, scores, class_prior=_result(labelled=[80, 20]).class_prior, threshold=1.0, labelling="random"
    )
    assert result.class_prior.method == prior.method
    assert result.estimates["recall"].interval is not None


def test_the_class_prior_of_a_known_table_is_certain_and_that_of_a_half_audit_is_refused():
    known = from_counts(rows=[10, 90], checked=[10, 90], found=[7, 3], flagged=1, scenario="case-control").class_prior
    assert known.value == pytest.approx(0.1)
    assert known.is_exact
    assert known.distribution is None
    with pytest.raises(AssumptionError, match=r"between 0.015 and 0.995"):
        _ = _result(checked=[200, 0], found=[150, 0]).class_prior
