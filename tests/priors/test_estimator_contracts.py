"""What every estimator promises, whatever its method: one set of tests, run for each file of the catalogue."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pulens
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError
from pulens.priors import estimate_from_tally, find, names, with_noise

ESTIMATORS = names()
NOISE_ESTIMATORS = with_noise.names()


def world(rng, n=300, m=3000, prior=0.2, distance=2.0, noise=0.0, spread=1.0):
    positives = rng.binomial(m, prior)
    wrong = round(noise * n)
    parts = [
        rng.normal(distance, 1, n - wrong),
        rng.normal(0, spread, wrong),
        rng.normal(distance, 1, positives),
        rng.normal(0, spread, m - positives),
    ]
    return np.repeat([1, 0], [n, m]), np.concatenate(parts), positives / m


@pytest.fixture(scope="module")
def rows():
    return world(np.random.default_rng(11))[:2]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimate_lies_between_zero_and_one_and_inside_its_own_interval(name, rows):
    prior = pulens.estimate_prior(*rows, method=name, scenario="case-control")
    assert 0 <= prior.unlabelled <= 1
    assert prior.unlabelled in prior.unlabelled_interval
    assert prior.unlabelled_feasible.low == 0
    assert 0.1 < prior.unlabelled_feasible.high <= 1
    assert (prior.unlabelled_interval.confidence is not None) == find(name).has_interval


@pytest.mark.parametrize("name", ESTIMATORS)
def test_order_of_rows_does_not_matter(name, rows):
    labels, scores = rows
    order = np.random.default_rng(0).permutation(labels.size)
    shuffled = pulens.estimate_prior(labels[order], scores[order], method=name, scenario="case-control")
    assert shuffled.unlabelled == pulens.estimate_prior(labels, scores, method=name, scenario="case-control").unlabelled


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if find(name).rank_based])
def test_rank_based_estimators_ignore_an_increasing_change_of_the_score(name, rows):
    labels, scores = rows
    before = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    after = pulens.estimate_prior(labels, np.exp(scores) * 3 + 1, method=name, scenario="case-control")
    assert after.unlabelled == before.unlabelled


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if not find(name).rank_based])
def test_other_estimators_ignore_a_change_of_unit(name, rows):
    labels, scores = rows
    before = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    after = pulens.estimate_prior(labels, scores * 4 + 16, method=name, scenario="case-control")
    assert_allclose(after.unlabelled, before.unlabelled, atol=0.011)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weight_two_means_two_rows(name, rows):
    labels, scores = rows
    doubled = pulens.estimate_prior(np.tile(labels, 2), np.tile(scores, 2), method=name, scenario="case-control")
    weighted = pulens.estimate_prior(
        labels, scores, weights=np.full(labels.size, 2.0), method=name, scenario="case-control"
    )
    assert_allclose(weighted.unlabelled, doubled.unlabelled, atol=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_labelled_row_above_every_unlabelled_one_means_few_positives_are_left(name):
    labels = np.repeat([1, 0], [100, 1000])
    scores = np.concatenate([np.linspace(10, 11, 100), np.linspace(0, 1, 1000)])
    prior = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    assert prior.unlabelled < 0.05
    assert prior.unlabelled_feasible.high < 0.05


@pytest.mark.parametrize("name", ESTIMATORS)
def test_identical_distributions_leave_everything_feasible_and_warn(name):
    rng = np.random.default_rng(4)
    labels, scores = np.repeat([1, 0], [300, 2000]), rng.normal(0, 1, 2300)
    prior = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    assert math.isfinite(prior.unlabelled)
    assert prior.unlabelled_feasible.high > 0.95
    codes = {notice.code for notice in prior.notices}
    assert codes & {"weak-scores-for-prior", "reversed-scores"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_labelled_row_is_refused(name):
    labels = np.repeat([1, 0], [1, 1000])
    with pytest.raises(AssumptionError, match="from 1 labelled and 1000 unlabelled rows"):
        pulens.estimate_prior(labels, np.arange(1001.0), method=name, scenario="case-control")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_equal_scores_are_refused(name):
    with pytest.raises(AssumptionError, match=r"scores that are all 0\.5"):
        pulens.estimate_prior(np.repeat([1, 0], [100, 1000]), np.full(1100, 0.5), method=name, scenario="case-control")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_heavily_tied_scores_are_no_trouble(name, rows):
    labels, scores = rows
    prior = pulens.estimate_prior(labels, np.round(scores), method=name, scenario="case-control")
    assert 0 <= prior.unlabelled <= 1


@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_distinct_scores_are_enough_to_answer(name):
    labels = np.repeat([1, 0], [200, 1000])
    scores = np.concatenate([np.ones(200), np.repeat([1.0, 0.0], [300, 700])])
    prior = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    assert 0 <= prior.unlabelled <= 1
    assert 0.3 in prior.unlabelled_feasible


@pytest.mark.parametrize("name", ESTIMATORS)
def test_infinitely_good_scores_give_the_share_above_the_gap(name):
    rng = np.random.default_rng(8)
    labels = np.repeat([1, 0], [500, 4000])
    scores = np.concatenate([rng.uniform(2, 3, 500), rng.uniform(2, 3, 1000), rng.uniform(0, 1, 3000)])
    prior = pulens.estimate_prior(labels, scores, method=name, scenario="case-control")
    slack = 0.25 if name.startswith("elkan") else 0.05
    assert prior.unlabelled == pytest.approx(0.25, abs=slack)
    if find(name).has_interval:
        assert 0.25 in prior.unlabelled_interval


@pytest.mark.parametrize("name", ESTIMATORS)
def test_known_label_noise_is_allowed_for(name):
    rng = np.random.default_rng(21)
    labels, scores, truth = world(rng, n=3000, m=10_000, prior=0.3, distance=3.0, noise=0.25)
    aware = pulens.estimate_prior(labels, scores, method=name, label_noise=0.25, scenario="case-control").unlabelled
    assert 0 <= aware <= 0.75
    if not name.startswith("elkan"):
        assert aware == pytest.approx(truth, abs=0.06)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_facts_are_declared(name):
    facts = find(name)
    assert facts.summary
    assert facts.assumption.endswith(".")
    assert facts.source


def test_estimates_agree_on_a_tally_and_on_rows(rows):
    labels, scores = rows
    tally = Tally.from_arrays(labels, scores)
    assert estimate_from_tally(tally, "auto", scenario="case-control") == pulens.estimate_prior(
        labels, scores, scenario="case-control"
    )


@pytest.mark.parametrize("name", NOISE_ESTIMATORS)
def test_prior_and_noise_are_shares_and_compatible(name, rows):
    result = pulens.estimate_prior_and_noise(*rows, method=name, scenario="case-control")
    assert 0 <= result.label_noise.value < 1
    assert 0 <= result.class_prior.unlabelled < 1 - result.label_noise.value
    assert result.label_noise.feasible.low == 0


@pytest.mark.parametrize("name", NOISE_ESTIMATORS)
def test_noise_is_found_where_classes_are_well_separated(name):
    rng = np.random.default_rng(31)
    labels, scores, truth = world(rng, n=2000, m=10_000, prior=0.2, distance=4.0, noise=0.2)
    result = pulens.estimate_prior_and_noise(labels, scores, method=name, scenario="case-control")
    slack = 0.12 if name == "alphamax" else 0.05
    assert result.label_noise.value == pytest.approx(0.2, abs=slack)
    assert result.class_prior.unlabelled == pytest.approx(truth, abs=slack)


@pytest.mark.parametrize("name", [name for name in NOISE_ESTIMATORS if with_noise.find(name).rank_based])
def test_rank_based_noise_estimators_ignore_an_increasing_change_of_the_score(name, rows):
    labels, scores = rows
    before = pulens.estimate_prior_and_noise(labels, scores, method=name, scenario="case-control")
    after = pulens.estimate_prior_and_noise(labels, np.exp(scores), method=name, scenario="case-control")
    assert after.label_noise.value == before.label_noise.value


@pytest.mark.parametrize("name", ESTIMATORS)
def test_extreme_and_saturated_scores_are_no_trouble(name, rows):
    labels, scores = rows
    saturated = 1 / (1 + np.exp(-30 * scores))
    for extreme in (saturated, saturated * 1e-200, scores * 1e150, 1e8 + scores, (scores > 1) * 1.0):
        prior = pulens.estimate_prior(labels, extreme, method=name, scenario="case-control")
        assert 0 <= prior.unlabelled <= 1
        assert prior.unlabelled in prior.unlabelled_interval


@pytest.mark.parametrize("name", names())
def test_counts_of_hundreds_of_billions_are_read(name):
    """The likelihood of so many rows is narrower than any step of a grid."""
    rng = np.random.default_rng(3)
    counts = [rng.integers(0, 10**9, 60) for _ in range(2)]
    result = estimate_from_tally(Tally.from_increments(np.arange(60.0), *counts), name, scenario="case-control")
    assert 0 <= result.value <= 1
    if result.interval is not None:
        assert result.interval.low <= result.value <= result.interval.high
