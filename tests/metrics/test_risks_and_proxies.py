"""Risks and proxies mean what they say: they are accuracy, error and AUC in other clothes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulens.risks import LOSSES

import pulens.metrics
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.metrics.parts.measure import raw_value
from pulens.metrics.parts.observed import class_prior_of
from pulens.recovery import recover_at
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario
from tests_support import pu_rows, scenarios


@given(rows=pu_rows(), alpha=st.floats(0.01, 0.6), scenario=scenarios)
def test_proxy_accuracy_is_accuracy_plus_the_class_prior(rows, alpha, scenario):
    tally, assumptions = Tally.from_arrays(*rows), Assumptions(alpha, 0.0, Scenario(scenario))
    table = recover_at(tally, assumptions, 0.5)
    if table.is_possible.all():
        accuracy = raw_value(pulens.metrics.METRICS["accuracy"], tally, assumptions, 0.5)
        proxy = raw_value(pulens.metrics.METRICS["proxy_accuracy"], tally, assumptions, 0.5)
        assert proxy == pytest.approx(accuracy + class_prior_of(tally.totals, assumptions))


@given(rows=pu_rows(), alpha=st.floats(0.01, 0.6), scenario=scenarios)
def test_the_zero_one_risk_is_the_error_rate_at_zero(rows, alpha, scenario):
    tally, assumptions = Tally.from_arrays(*rows), Assumptions(alpha, 0.0, Scenario(scenario))
    if recover_at(tally, assumptions, 0.0).is_possible.all():
        error = raw_value(pulens.metrics.METRICS["error_rate"], tally, assumptions, 0.0)
        assert raw_value(pulens.metrics.METRICS["upu_risk"], tally, assumptions) == pytest.approx(error)
        assert raw_value(pulens.metrics.METRICS["nnpu_risk"], tally, assumptions) == pytest.approx(error)


@given(rows=pu_rows(negatives=True), scenario=scenarios)
def test_proxy_auc_in_the_single_set_compares_with_every_row(rows, scenario):
    labels, scores = rows
    result = pulens.metrics.proxy_roc_auc(labels, scores, scenario=scenario).value
    others = scores[labels == 0] if scenario == "case-control" else scores
    gaps = scores[labels == 1][:, None] - others[None, :]
    assert result == pytest.approx(((gaps > 0) + 0.5 * (gaps == 0)).mean())


@given(rows=pu_rows(), alpha=st.floats(0.01, 0.6), loss=st.sampled_from(list(LOSSES)))
def test_the_cut_risk_is_never_below_the_uncut_one(rows, alpha, loss):
    tally, assumptions = Tally.from_arrays(*rows), Assumptions(alpha, scenario=Scenario.CASE_CONTROL)
    uncut, cut = (
        raw_value(pulens.metrics.METRICS[name], tally, assumptions, loss=loss) for name in ("upu_risk", "nnpu_risk")
    )
    assert cut >= uncut - 1e-12
    assert cut >= 0


def test_losses_do_not_overflow():
    z = np.array([-1e4, -30.0, 0.0, 30.0, 1e4])
    for loss in LOSSES.values():
        for sign in (1, -1):
            assert np.isfinite(loss(z, sign)).all()
    np.testing.assert_allclose(LOSSES["sigmoid"](z, 1), 1 / (1 + np.exp(np.clip(z, -700, 700))), atol=1e-15)
    np.testing.assert_allclose(LOSSES["logistic"](z, 1), np.logaddexp(0, -z), rtol=1e-14)


def test_unknown_losses_and_label_noise_are_refused():
    with pytest.raises(PulensError, match="loss of upu_risk must be one of 'zero-one', 'sigmoid', 'logistic'"):
        pulens.metrics.upu_risk([1, 0, 0], [1, -1, -2], class_prior=0.2, loss="hinge", scenario="case-control")
    with pytest.raises(PulensError, match="takes every labelled row for a positive"):
        pulens.metrics.nnpu_risk([1, 0, 0], [1, -1, -2], class_prior=0.2, label_noise=0.1, scenario="case-control")


def test_lee_liu_takes_the_population_from_the_scenario():
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [0.8, 0.6, 0.3, 0.9, 0.6, 0.5, 0.4, 0.2]
    single = pulens.metrics.lee_liu(labels, scores, threshold=0.6, scenario="single-set").value
    control = pulens.metrics.lee_liu(labels, scores, threshold=0.6, scenario="case-control").value
    assert single == pytest.approx((2 / 3) ** 2 / (4 / 8))
    assert control == pytest.approx((2 / 3) ** 2 / (2 / 5))
    precision, recall = (
        getattr(pulens.metrics, name)(labels, scores, threshold=0.6, class_prior=0.3, scenario="case-control").value
        for name in ("precision", "recall")
    )
    assert control == pytest.approx(precision * recall / 0.3)


def test_a_measure_at_a_threshold_asks_for_one():
    with pytest.raises(PulensError, match="lee_liu needs a threshold"):
        pulens.metrics.lee_liu([1, 0, 0], [3, 2, 1], scenario="case-control")
