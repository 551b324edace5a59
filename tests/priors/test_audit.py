"""Rows checked by hand: exact intervals, their combination with an estimate, and how many rows to check."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

import pulens
from pulens.errors import AssumptionError
from pulens.priors import Audit, prior_from_audit, rows_to_audit
from pulens.priors.audit import check_audit
from pulens.tally import Totals

TOTALS = Totals(500, 5000, 0)


@pytest.mark.parametrize(("positives", "checked"), [(0, 30), (1, 1), (13, 200), (200, 200), (7, 9)])
def test_audit_interval_is_clopper_and_pearsons(positives, checked):
    interval = Audit(positives, checked).interval(0.95)
    low = 0.0 if positives == 0 else beta.ppf(0.025, positives, checked - positives + 1)
    high = 1.0 if positives == checked else beta.ppf(0.975, positives + 1, checked - positives)
    assert interval.low == pytest.approx(low, abs=1e-12)
    assert interval.high == pytest.approx(high, abs=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.93])
def test_audit_interval_covers_at_least_as_often_as_it_says(share):
    checked = 60
    found = np.arange(checked + 1)
    chance = binom.pmf(found, checked, share)
    covers = [share in Audit(int(k), checked).interval(0.9) for k in found]
    assert chance[covers].sum() >= 0.9


@pytest.mark.parametrize("bad", [(5, 3), (-1, 10), (0, 0), (1.5, 10), "13", "13/x", 13, (1, 2, 3), (float("nan"), 3)])
def test_impossible_audits_are_refused_with_an_example(bad):
    with pytest.raises(AssumptionError, match=r"such as \(13, 200\)"):
        check_audit(bad)


def test_audit_of_the_single_set_speaks_of_all_rows():
    prior = prior_from_audit((100, 1000), TOTALS, scenario="single-set")
    assert prior.unlabelled == 0.1
    assert prior.value == pytest.approx((500 + 500) / 5500)


def test_rows_to_audit_gives_the_wanted_width_and_one_row_fewer_does_not():
    for share, width in [(0.1, 0.1), (0.5, 0.05), (0.0, 0.02), (1.0, 0.1)]:
        rows = rows_to_audit(share, width)
        assert Audit(round(share * rows), rows).interval().width <= width
        assert Audit(round(share * (rows - 1)), rows - 1).interval().width > width


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(9)
    scores = np.concatenate([rng.normal(1.2, 1, 1200), rng.normal(0, 1, 4000)])
    return np.repeat([1, 0], [200, 5000]), scores  # 1000 of 5000 are positive


def test_an_audit_sharpens_an_estimate_and_the_estimate_the_audit(rows):
    estimated = pulens.estimate_prior(*rows, scenario="case-control")
    both = pulens.estimate_prior(*rows, audit=(42, 200), scenario="case-control")
    alone = prior_from_audit((42, 200), TOTALS, scenario="case-control")
    assert both.unlabelled_interval.width < estimated.unlabelled_interval.width
    assert both.unlabelled_interval.width < alone.unlabelled_interval.width
    assert both.unlabelled_feasible == alone.unlabelled_feasible


def test_a_huge_audit_decides_alone(rows):
    both = pulens.estimate_prior(*rows, audit=(20_500, 100_000), scenario="case-control")
    assert both.unlabelled == pytest.approx(0.205, abs=0.003)
    assert both.unlabelled_interval.width < 0.01


def test_an_audit_that_contradicts_the_estimate_stands_alone_with_a_warning(rows):
    both = pulens.estimate_prior(*rows, audit=(160, 200), scenario="case-control")
    assert both.unlabelled == 0.8
    assert both.notices[0].code == "audit-contradicts-estimate"
    assert "audited rows not one" in str(both.notices[0])


def test_an_audit_is_enough_where_scores_are_not():
    evaluation = pulens.evaluate(
        [1, 1, 1, 0, 0, 0, 0, 0], [8, 6, 4, 9, 7, 5, 3, 2], audit=(10, 50), scenario="case-control"
    )
    assert evaluation.class_prior.unlabelled == 0.2
    assert evaluation.estimates["roc_auc"].value == pytest.approx(0.625)


def test_an_audit_beside_a_given_prior_is_refused(rows):
    with pytest.raises(AssumptionError, match=r"audit=.* counts positives"):
        pulens.evaluate(*rows, class_prior=0.2, audit=(1, 10), scenario="case-control")


def test_audits_with_every_row_positive_do_not_break_a_recovery(rows):
    evaluation = pulens.evaluate(
        [1, 1, 1, 0, 0, 0, 0, 0], [8, 6, 4, 9, 7, 5, 3, 2], audit=(10, 10), scenario="case-control"
    )
    assert evaluation.estimates["roc_auc"].interval is not None
