"""What must hold for any sample: invariances, bookkeeping, limits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.counts.tally import Tally
from pulens.curves import roc_curve
from pulens.errors import PulensError
from pulens.evidence import gather
from pulens.inference.area import AreaUnderROC
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.of_metric import Target
from pulens.inference.sampling_distribution import SamplingDistribution
from pulens.inference.threshold import FixedThreshold
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import raw_value
from pulens.recovery import Recovery, direct_roc_auc, recover, recover_at
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario
from tests_support import noises, priors, pu_rows, scenarios


def values(labels, scores, *, unlabelled_prior=0.1, threshold=0.0, **options):
    evaluation = pulens.evaluate(
        labels, scores, unlabelled_prior=unlabelled_prior, threshold=threshold, **options, labelling="random"
    )
    return np.array([result.value for result in evaluation.estimates.values()])


def assert_same(first, second):
    np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-12)


@given(pu_rows(negatives=True), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    labels, scores = rows
    order = random.sample(range(scores.size), scores.size)
    assert Tally.from_arrays(labels, scores) == Tally.from_arrays(labels[order], scores[order])


@given(pu_rows(negatives=True), scenarios)
def test_increasing_changes_of_the_score_change_nothing(rows, scenario):
    labels, scores = rows
    before = values(labels, scores, scenario=scenario, threshold=1.0)
    after = values(labels, np.exp(scores / 2), scenario=scenario, threshold=np.exp(0.5))
    assert_same(before, after)


@given(pu_rows(negatives=True), st.integers(0, 43))
def test_tallies_of_parts_add_up_to_the_whole(rows, cut):
    labels, scores = rows
    cut = min(max(cut, 1), scores.size - 1)
    whole = Tally.from_arrays(labels, scores)
    assert Tally.from_arrays(labels[:cut], scores[:cut]) + Tally.from_arrays(labels[cut:], scores[cut:]) == whole


@given(pu_rows(), pu_rows(), pu_rows())
def test_merging_is_associative_and_commutative_to_the_bit(first, second, third):
    a, b, c = (Tally.from_arrays(*rows) for rows in (first, second, third))
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a


@given(pu_rows(negatives=True), st.data(), scenarios)
def test_weight_two_is_the_row_twice(rows, data, scenario):
    labels, scores = rows
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=scores.size, max_size=scores.size)), float)
    weights[:3] = np.maximum(weights[:3], 1)  # keep a labelled and an unlabelled row
    times = weights.astype(int)
    weighted = values(labels, scores, weights=weights, scenario=scenario)
    assert_same(weighted, values(np.repeat(labels, times), np.repeat(scores, times), scenario=scenario))


@given(pu_rows(negatives=True), priors, noises, scenarios)
def test_coefficients_sum_to_one_so_the_end_point_stays(rows, prior, noise, scenario):
    tally = Tally.from_arrays(*rows)
    recovery = Recovery.of(tally.totals, Assumptions(prior, noise, scenario=pulens.Scenario(scenario)))
    np.testing.assert_allclose([sum(recovery.true_positive_rate), sum(recovery.false_positive_rate)], 1, atol=1e-12)
    expected = sum(tally.totals) if scenario == "single-set" else tally.totals.unlabelled
    np.testing.assert_allclose(recovery.positive + recovery.negative, expected)


@given(pu_rows(negatives=True), priors, noises, scenarios)
def test_direct_area_is_the_signed_area_of_the_raw_curve(rows, prior, noise, scenario):
    tally = Tally.from_arrays(*rows)
    assumptions = Assumptions(prior, noise, pulens.Scenario(scenario))
    table = recover(tally, assumptions)
    hits, alarms = table.true_positive_rate, table.false_positive_rate
    signed = np.diff(alarms) @ (hits[1:] + hits[:-1]) / 2
    np.testing.assert_allclose(direct_roc_auc(tally, assumptions), signed, atol=1e-10)


@given(pu_rows(negatives=True), priors, noises, scenarios)
def test_a_recovered_roc_curve_is_one(rows, prior, noise, scenario):
    curve = roc_curve(recover(Tally.from_arrays(*rows), Assumptions(prior, noise, pulens.Scenario(scenario))))
    assert (curve.x[0], curve.y[0]) == (0, 0)
    np.testing.assert_allclose((curve.x[-1], curve.y[-1]), (1, 1), atol=1e-12)
    assert (np.diff(curve.x) >= -1e-12).all()
    assert (np.diff(curve.y) >= 0).all()


@given(pu_rows(negatives=True), priors, noises, scenarios, st.floats(-4, 4))
def test_possible_rates_give_values_that_theory_allows_before_anything_is_clipped(
    rows, prior, noise, scenario, threshold
):
    tally, assumptions = Tally.from_arrays(*rows), Assumptions(prior, noise, pulens.Scenario(scenario))
    table = recover(tally, assumptions)
    rates = np.concatenate([table.true_positive_rate, table.false_positive_rate])
    possible = rates.min() >= -1e-12 and rates.max() <= 1 + 1e-12
    here = recover_at(tally, assumptions, threshold).is_possible.all()
    for metric in METRICS.values():
        if metric.ignores_class_prior or metric.reads == "counts" or not metric.listed:
            continue
        if here if metric.reads == "threshold" else possible:
            raw = raw_value(metric, tally, assumptions, threshold)
            assert np.isnan(raw) or metric.lowest - 1e-9 <= raw <= metric.highest + 1e-9


@given(pu_rows(negatives=True), priors, scenarios, st.floats(-4, 4))
def test_what_theory_forbids_is_said_where_it_is_clipped(rows, prior, scenario, threshold):
    """A clipped value and the number before it differ only where the evaluation says that something is impossible."""
    evaluation = pulens.evaluate(
        *rows, unlabelled_prior=prior, scenario=scenario, threshold=threshold, confidence=None, labelling="random"
    )
    if evaluation.contradiction is not None:
        return  # nothing is clipped: the numbers are those of a possible world
    evidence, clipped = evaluation.evidence, []
    for name, result in evaluation.estimates.items():
        raw = raw_value(METRICS[name], evidence.tally, evidence.assumptions, threshold)
        assert np.isnan(raw) == np.isnan(result.value)
        if not np.isnan(raw) and abs(raw - result.value) > 1e-9:
            clipped.append(name)
            assert result.value == (METRICS[name].lowest if raw < result.value else METRICS[name].highest)
    if clipped:
        assert any(notice.code.startswith("impossible") for notice in evaluation.notices)


@given(pu_rows(), priors, noises, scenarios)
def test_the_ends_around_an_area_hold_it_before_they_are_made_to(rows, prior, noise, scenario):
    evidence = gather(*rows, unlabelled_prior=prior, label_noise=noise, scenario=scenario)
    raw = direct_roc_auc(evidence.tally, evidence.assumptions)
    area = AreaUnderROC(
        SamplingDistribution(evidence, Resampling()), Target(METRICS["roc_auc"], lambda prior: raw, None, {})
    )
    low, high = area.ends(prior, 0.025)
    assert low - 1e-9 <= raw <= high + 1e-9


@given(pu_rows(), st.floats(0.05, 0.4), st.sampled_from(["precision", "recall", "specificity", "accuracy"]))
def test_the_ends_at_a_threshold_hold_the_value_before_they_are_made_to(rows, prior, name):
    evidence = gather(*rows, unlabelled_prior=prior, scenario="case-control")
    above, totals = evidence.tally.at(0.0), evidence.tally.totals
    inside = all(0 < hits < total for hits, total in zip(above[:2], totals[:2], strict=True))
    if not inside or not recover_at(evidence.tally, evidence.assumptions, 0.0).is_possible.all():
        return  # a rate of 0 or 1, or one that is cut, lies at the edge of what rows can tell
    raw = raw_value(METRICS[name], evidence.tally, evidence.assumptions, 0.0)
    target = Target(METRICS[name], lambda prior: raw, 0.0, {})
    low, high = FixedThreshold(SamplingDistribution(evidence, Resampling(redraws=400)), target).ends(prior, 0.025)
    assert low < raw < high or np.isnan(raw)


@given(pu_rows(), priors)
def test_class_prior_and_unlabelled_prior_say_the_same(rows, prior):
    labels, scores = rows
    known, unknown = np.count_nonzero(labels == 1), np.count_nonzero(labels == 0)
    class_prior = (known + prior * unknown) / labels.size
    through_population = pulens.evaluate(
        labels, scores, class_prior=class_prior, scenario="single-set", threshold=0, labelling="random"
    )
    assert_same(
        [result.value for result in through_population.estimates.values()],
        values(labels, scores, unlabelled_prior=prior, scenario="single-set"),
    )


@given(st.floats(-0.5, 1.5), st.floats(-0.5, 1.5))
def test_assumptions_are_accepted_or_refused_never_bent(prior, noise):
    try:
        assumptions = Assumptions(prior, noise, scenario=Scenario.CASE_CONTROL)
    except PulensError:
        assert not (0 <= prior < 1 and 0 <= noise < 1 and prior < 1 - noise)
    else:
        assert assumptions.unlabelled_prior == prior
        assert assumptions.label_noise == noise


def test_synthesised_truth_is_recovered_in_both_scenarios():
    """With many rows the recovered numbers are the true ones, noise and known negatives included."""
    rng = np.random.default_rng(5)
    n = 400_000
    positive = rng.random(n) < 0.3
    scores = rng.normal(np.where(positive, 1.2, 0.0))
    truth = pulens.evaluate(
        np.where(positive, 1, -1), scores, negative=-1, threshold=0.7, scenario="single-set", labelling="random"
    )
    picked = rng.random(n)
    for noise in (0.0, 0.1):
        flips = ~positive & (picked < 0.2 * 0.3 / 0.7 * noise / (1 - noise))
        labelled = (positive & (picked < 0.2)) | flips
        known_negative = ~positive & ~labelled & (picked > 0.9)
        labels = np.where(labelled, 1, np.where(known_negative, -1, 0))
        unlabelled_prior = positive[labels == 0].mean()
        noise_seen = 1 - positive[labelled].mean()
        result = pulens.evaluate(
            labels,
            scores,
            unlabelled_prior=unlabelled_prior,
            label_noise=noise_seen,
            scenario="single-set",
            threshold=0.7,
            labelling="random",
        )
        fresh = rng.normal(np.where(rng.random(60_000) < noise, 0.0, 1.2))
        case_control = pulens.evaluate(
            np.concatenate([np.ones(fresh.size), np.zeros(n)]),
            np.concatenate([fresh, scores]),
            class_prior=0.3,
            label_noise=noise,
            threshold=0.7,
            scenario="case-control",
            labelling="random",
        )
        for name, true in truth.estimates.items():
            np.testing.assert_allclose(result.estimates[name].value, true.value, atol=0.02, err_msg=name)
            np.testing.assert_allclose(case_control.estimates[name].value, true.value, atol=0.02, err_msg=name)
