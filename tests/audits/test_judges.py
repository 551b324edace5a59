"""Judges who err: without errors nothing changes, with known errors the bias goes, and ranges hold every rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pulens.audits import AuditCounts, from_counts
from pulens.audits.estimates import design_estimates
from pulens.audits.judges import ReviewerErrors, agreement_of, judged_estimates
from pulens.errors import AssumptionError, InputError


def counts(found: Any = (45, 8, 2, 0, 0), **changed: Any) -> AuditCounts:
    given: dict[str, Any] = {"rows": [200, 300, 900, 2600, 6000], "checked": [60, 40, 35, 30, 35], "flagged": 1}
    return AuditCounts(found=list(found), scenario="case-control", **(given | changed))


def test_judges_without_errors_leave_column_one_as_it_is() -> None:
    plain, judged = design_estimates(counts()), judged_estimates(counts(), (0, 0))
    for name in ("class_prior", "precision", "recall", "f1"):
        ours, theirs = judged[name].interval, plain[name].interval
        assert ours is not None
        assert theirs is not None
        assert judged[name].value == pytest.approx(plain[name].value)
        assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=0.01), name


def test_expected_answers_of_an_erring_judge_lead_back_to_the_truth() -> None:
    rows, checked, share = np.array([1000, 4000]), np.array([500, 2000]), np.array([0.6, 0.1])
    called = share * 0.8 + (1 - share) * 0.05
    answers = AuditCounts(
        rows=rows, checked=checked, found=np.round(checked * called), flagged=1, scenario="case-control"
    )
    result = judged_estimates(answers, (0.05, 0.2))
    assert result["precision"].value == pytest.approx(0.6, abs=1e-9)
    assert result["recall"].value == pytest.approx(600 / 1000, abs=1e-9)
    assert design_estimates(answers)["recall"].value == pytest.approx(0.5)
    assert 0.6 in result["recall"].interval  # type: ignore[operator]


def test_false_calls_are_taken_off_the_whole_not_stratum_by_stratum() -> None:
    # 2% of 10,000 negative rows below are called positive: all finds there are errors, and none is left
    errors = counts(found=(45, 1, 1, 1, 1), rows=[200, 2500, 2500, 2500, 2500], checked=[60, 50, 50, 50, 50])
    assert judged_estimates(errors, (0.02, 0.0))["recall"].value == pytest.approx(1.0)
    uneven = counts(found=(45, 4, 0, 0, 0), rows=[200, 2500, 2500, 2500, 2500], checked=[60, 50, 50, 50, 50])
    assert judged_estimates(uneven, (0.02, 0.0))["recall"].value == pytest.approx(1.0)


def test_a_range_of_rates_holds_the_limits_of_each() -> None:
    wide = judged_estimates(counts(), ((0.0, 0.01), (0.0, 0.1)))
    for rates in ((0.0, 0.0), (0.01, 0.1), (0.0, 0.1), (0.005, 0.05)):
        for name, result in judged_estimates(counts(), rates).items():
            inner, outer = result.interval, wide[name].interval
            if inner is not None and outer is not None:
                assert outer.low <= inner.low + 1e-9, (rates, name)
                assert outer.high >= inner.high - 1e-9, (rates, name)


def test_errors_leave_doubt_even_when_every_row_was_judged() -> None:
    every = counts(found=(150, 20, 5, 2, 1), checked=[200, 300, 900, 2600, 6000])
    exact, doubtful = (judged_estimates(every, rates)["precision"].interval for rates in ((0, 0), (0.01, 0.1)))
    assert exact is not None
    assert doubtful is not None
    assert exact.width == 0
    assert doubtful.width > 0.02


def test_undecided_rows_widen_to_both_sides() -> None:
    plain = judged_estimates(counts(), (0.01, 0.05))["f1"].interval
    open_ = judged_estimates(counts(undecided=[5, 5, 0, 0, 0]), (0.01, 0.05))["f1"].interval
    assert plain is not None
    assert open_ is not None
    assert open_.low < plain.low
    assert open_.high > plain.high


def test_what_is_assumed_is_said() -> None:
    result = judged_estimates(counts(), (0.01, (0.02, 0.1)))["f1"]
    assert result.rests_on is not None
    assert "0.02 to 0.1 of positives negative" in result.rests_on[1]
    assert result.interval is not None
    assert "judges who err" in result.interval.method


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (0.05, "must be two rates"),
        ((0.05,), "must be two rates"),
        ((5, 0.1), "between 0 and 1"),
        ((0.1, (0.2, 0.1)), "between 0 and 1"),
        ((0.1, "often"), "between 0 and 1"),
        ((0.6, 0.5), "add up to less than 1"),
    ],
)
def test_rates_that_cannot_be_are_refused(given: Any, named: str) -> None:
    with pytest.raises(AssumptionError, match=named):
        ReviewerErrors.of(given)


def test_agreement_of_two_judges_is_kappa_and_an_exact_share() -> None:
    # Cohen's own table has 45 yes-yes, 15 yes-no, 25 no-yes, 15 no-no: kappa .1304
    first = np.repeat([1, 1, 0, 0], [45, 15, 25, 15])
    second = np.repeat([1, 0, 1, 0], [45, 15, 25, 15])
    result = agreement_of(first, second)
    assert result.agreed.value == pytest.approx(0.6)
    assert result.kappa.value == pytest.approx(0.130435, abs=1e-6)
    assert result.agreed.interval is not None
    assert result.agreed.interval.low == pytest.approx(0.4972, abs=1e-4)
    assert result.kappa.value in result.kappa.interval  # type: ignore[operator]


def test_disagreements_suggest_a_rate_of_false_calls() -> None:
    rng = np.random.default_rng(0)
    calls = rng.random((2, 4_000)) < 0.05  # all rows are negative
    result = agreement_of(*calls.astype(int))
    assert result.false_positive_rate[0] == pytest.approx(0.05, abs=0.01)
    assert result.false_positive_rate[0] < result.false_positive_rate[1] < 0.07
    assert result.reviewer_errors[0] == (0.0, result.false_positive_rate[1])
    assert "errors that both make are not seen" in str(result)
    assert result.to_dict()["rows"] == 4_000


def test_judges_who_always_agree_may_still_err_a_little() -> None:
    result = agreement_of([0] * 20, [0] * 20 + [])
    assert result.false_positive_rate[0] == 0 < result.false_positive_rate[1] < 0.15
    assert result.kappa.undefined_because is not None


def test_answers_to_other_rows_are_refused() -> None:
    with pytest.raises(InputError, match="got 2 and 3 answers"):
        agreement_of([1, 0], [1, 0, 1])
    with pytest.raises(InputError, match="no row was decided by both"):
        agreement_of([-1, 1], [1, -1])


def test_an_audit_reads_its_answers_as_those_of_judges_who_err() -> None:
    audit = from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], labelled=[30, 10], flagged=1)
    assert audit.if_judges_err((0.0, 0.0))["recall"].value == pytest.approx(audit.estimates["recall"].value)
    assert audit.if_judges_err((0.01, 0.05))["recall"].value > audit.estimates["recall"].value
