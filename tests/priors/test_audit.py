"""Rows checked by hand: exact intervals, their combination with an estimate, and how many rows to check."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

import pulens
from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError
from pulens.evidence import Evidence
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate, value
from pulens.priors import Audit, prior_from_audit, rows_to_audit
from pulens.priors.audit import check_audit, exact_distribution
from pulens.scenario import Scenario

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
    result = np.arange(checked + 1)
    chance = binom.pmf(result, checked, share)
    covers = [share in Audit(int(k), checked).interval(0.9) for k in result]
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
    both = pulens.estimate_prior(*rows, audit=(42, 200), combine=True, scenario="case-control")
    alone = prior_from_audit((42, 200), TOTALS, scenario="case-control")
    assert both.unlabelled_interval.width < estimated.unlabelled_interval.width
    assert both.unlabelled_interval.width < alone.unlabelled_interval.width
    assert both.unlabelled_feasible == alone.unlabelled_feasible


def test_a_huge_audit_decides_alone(rows):
    both = pulens.estimate_prior(*rows, audit=(20_500, 100_000), combine=True, scenario="case-control")
    assert both.unlabelled == pytest.approx(0.205, abs=0.003)
    assert both.unlabelled_interval.width < 0.01


def test_an_audit_that_contradicts_the_estimate_stands_alone_with_a_warning(rows):
    both = pulens.estimate_prior(*rows, audit=(160, 200), combine=True, scenario="case-control")
    assert both.unlabelled == 0.8
    assert both.notices[0].code == "audit-contradicts-estimate"
    assert "audited rows not one" in str(both.notices[0])


def test_an_audit_is_enough_where_scores_are_not():
    evaluation = pulens.evaluate(
        [1, 1, 1, 0, 0, 0, 0, 0], [8, 6, 4, 9, 7, 5, 3, 2], audit=(10, 50), scenario="case-control", labelling="random"
    )
    assert evaluation.class_prior.unlabelled == 0.2
    assert evaluation.estimates["roc_auc"].value == pytest.approx(0.625)


def test_an_audit_beside_a_given_prior_is_refused(rows):
    with pytest.raises(AssumptionError, match=r"audit=.* counts positives"):
        pulens.evaluate(*rows, class_prior=0.2, audit=(1, 10), scenario="case-control", labelling="random")


def test_audits_with_every_row_positive_do_not_break_a_recovery(rows):
    evaluation = pulens.evaluate(
        [1, 1, 1, 0, 0, 0, 0, 0], [8, 6, 4, 9, 7, 5, 3, 2], audit=(10, 10), scenario="case-control", labelling="random"
    )
    assert evaluation.estimates["roc_auc"].interval is not None


def test_an_audit_decides_alone_whatever_the_scores_say(rows):
    labels, scores = rows
    for upside_down in (scores, -scores):
        for scenario in ("case-control", "single-set"):
            prior = pulens.evaluate(
                labels, upside_down, audit=(17, 200), scenario=scenario, redraws=100, labelling="random"
            ).class_prior
            assert prior == prior_from_audit((17, 200), Totals(200, 5000, 0), scenario=scenario)
    assert pulens.estimate_prior(*rows, audit="17/200").unlabelled == 17 / 200


def test_every_door_takes_an_audit(rows):
    labels, scores = rows
    given = {"audit": (17, 200), "scenario": "case-control"}
    comparison = pulens.compare(labels, {"a": scores, "b": -scores}, **given, redraws=100, labelling="random")
    assert comparison.class_prior.method == "audit of 200 rows"
    assert pulens.metrics.precision(labels, scores, threshold=1, **given).interval is not None
    assert pulens.metrics.pulp(labels, scores, **given).value > 0
    probabilities = 1 / (1 + np.exp(-scores))
    assert pulens.calibration.reliability(labels, probabilities, **given, labelling="random").class_prior == 17 / 200


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_combining_takes_the_estimate_that_was_named(rows, scenario):
    given = {"audit": (42, 200), "combine": True, "scenario": scenario}
    both = pulens.evaluate(*rows, class_prior="auto", **given, labelling="random").class_prior
    assert both.method == "estimated: auto, with an audit of 200 rows"
    assert (
        both
        == pulens.evaluate(*rows, **given, labelling="random").class_prior
        == pulens.estimate_prior(*rows, method="auto", **given)
    )
    tilt = pulens.evaluate(
        *rows, class_prior="tilt", **given, labelling="random"
    ).class_prior  # it has an interval, but no likelihood
    assert tilt.method == "audit of 200 rows"
    assert "estimate tilt has no likelihood" in str(tilt.notices[0])


def test_an_audit_beside_an_estimator_is_refused_with_both_ways_out(rows):
    for call in (
        lambda: pulens.evaluate(*rows, class_prior="auto", audit=(17, 200), labelling="random"),
        lambda: pulens.estimate_prior(*rows, method="auto", audit=(17, 200)),
        lambda: pulens.compare(
            rows[0], {"a": rows[1], "b": -rows[1]}, class_prior="auto", audit=(17, 200), labelling="random"
        ),
    ):
        with pytest.raises(AssumptionError, match=r"audit 17/200 beside .*'auto'.*Leave out 'auto'.*combine=True"):
            call()


def test_combining_without_an_audit_is_refused(rows):
    for prior in (None, "auto", 0.2):
        with pytest.raises(AssumptionError, match=r"there is no audit: give audit=\(positives, checked\)"):
            pulens.evaluate(*rows, class_prior=prior, combine=True, labelling="random")


def test_combining_where_rows_are_too_few_for_an_estimate_says_that_the_audit_decided():
    evaluation = pulens.evaluate(
        [1, 1, 1, 0, 0, 0, 0, 0], [8, 6, 4, 9, 7, 5, 3, 2], audit=(10, 50), combine=True, labelling="random"
    )
    assert evaluation.class_prior.unlabelled == 0.2
    assert [notice.code for notice in evaluation.class_prior.notices] == ["audit-alone"]


@pytest.mark.parametrize(("positives", "checked"), [(0, 30), (1, 1), (2, 200), (13, 200), (200, 200), (3, 20_000)])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_shares_drawn_from_an_audit_have_its_exact_interval(positives, checked, confidence):
    distribution = exact_distribution(Audit(positives, checked))
    interval = Audit(positives, checked).interval(confidence)
    low, high = (distribution.quantile(level) for level in ((1 - confidence) / 2, (1 + confidence) / 2))
    assert low == pytest.approx(interval.low, rel=2e-3, abs=1e-8)
    assert high == pytest.approx(interval.high, rel=2e-3, abs=1e-8)


@pytest.mark.parametrize("share", [0.01, 0.085])
@pytest.mark.parametrize("name", ["precision", "f1"])
def test_metrics_hold_the_truth_as_often_as_the_audits_own_interval(share, name):
    """So many scored rows that only the audit is in doubt: coverage can be added up over what it may find."""
    many, hits, alarms = 10**9, 0.7, 0.16
    tally = Tally(
        np.array([1.0, 0.0]),
        np.array([hits * many, many]),
        np.array([share * hits + (1 - share) * alarms, 1.0]) * many,
        np.zeros(2),
    )
    result = np.arange(40)
    result = result[binom.pmf(result, 200, share) > 1e-7]  # what never happens cannot be added up to anything
    chance = binom.pmf(result, 200, share)
    covered = []
    for k in result.tolist():
        prior = prior_from_audit((k, 200), tally.totals)
        evidence = Evidence(tally, prior, 0.0, Scenario.CASE_CONTROL)
        doubts = IntervalEstimator(evidence, Resampling(0.95, 4000, 0))
        got = estimate(name, METRICS[name], evidence, threshold=1.0, doubts=doubts).interval
        truth = value(METRICS[name], tally, evidence.assumptions_at(share), 1.0)
        covered.append(got.low <= truth <= got.high)
    assert chance.sum() > 0.9999
    assert chance[covered].sum() >= 0.95
