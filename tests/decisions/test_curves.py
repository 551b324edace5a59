"""Decision curves and crossings: worked numbers, the classical formula, bands that hold at all ratios together."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.comparison.worth import crossovers
from pulens.counts.joint import JointTally
from pulens.decisions.crossings import OperatingRates, crossing_priors, crossing_ratio, fieller
from pulens.decisions.curve import _reach, decision_curve
from pulens.decisions.linear import LinearAtThresholds, net_benefit_form
from pulens.evidence import gather
from pulens.inference.kernels.resampling import Resampling

CAREFUL, BOLD = OperatingRates(0.4, 0.1), OperatingRates(0.9, 0.4)


def probabilities(seed=0, size=1200, frequency=0.5):
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.6, 3.0, size)
    positive = rng.random(size) < chance
    return (positive & (rng.random(size) < frequency)).astype(int), chance, positive


def test_two_models_cross_where_the_worked_numbers_say():
    assert crossing_priors(CAREFUL, BOLD, 0.2) == pytest.approx([3 / 25])
    assert crossing_ratio(CAREFUL, BOLD, 0.1) == pytest.approx(1 / 6)
    assert fieller(0.625, 0.075, 0.0016, 0.00001, 1.96) == pytest.approx((0.103648, 0.140189), abs=5e-7)
    assert fieller(0.05, 0.075, 0.0016, 0.00001, 1.96) is None


def test_crossings_beyond_the_cut_of_hits_are_found_too():
    first, second, ratio = OperatingRates(0.9, 0.3), OperatingRates(0.95, 0.5), 0.3
    odds = ratio / (1 - ratio)
    priors = np.linspace(0, 1, 200_001)
    gaps = [(1 + odds) * np.minimum(priors * m.recall, m.flagged) - odds * m.flagged for m in (first, second)]
    signs = np.sign(gaps[1] - gaps[0])
    searched = priors[1:][signs[1:] != signs[:-1]]
    assert crossing_priors(first, second, ratio) == pytest.approx(searched, abs=1e-5)


def crossing_interval(joint, thresholds, scenario="case-control"):
    """Of the class prior at which both models are worth the same at a cost ratio of .2; ``None`` if there is none."""
    evidences = {name: gather(joint.tally(name), class_prior=0.2, scenario=scenario) for name in joint.names}
    (pair,) = crossovers(joint, evidences, dict(zip(joint.names, thresholds, strict=True)), 0.2, 0.95)
    return None if pair.prior_interval is None else (pair.prior_interval.low, pair.prior_interval.high)


def test_the_interval_of_a_crossing_comes_from_paired_rows():
    rng = np.random.default_rng(3)
    labels = np.r_[np.ones(400), np.zeros(2000)].astype(int)
    positive = np.r_[np.ones(400, bool), rng.random(2000) < 0.2]
    base = rng.normal(positive * 1.5)
    joint = JointTally.from_rows({"a": base, "b": base + rng.normal(0, 0.5, base.size)}, labels)
    low, high = crossing_interval(joint, (1.5, 0.5))
    flags = np.stack([base >= 1.5, base >= 0.5])
    assert 0 < low < high
    same = crossing_interval(JointTally.from_rows({"a": base, "b": base}, labels), (1.5, 0.5))
    rates = [OperatingRates(flag[labels == 1].mean(), flag[labels == 0].mean()) for flag in flags]
    assert same[0] < crossing_priors(*rates, 0.2)[0] < same[1]


def test_with_every_row_labelled_the_curve_is_the_classical_one():
    _, chance, positive = probabilities()
    evaluation = pulens.evaluate(np.where(positive, 1, -1), chance, negative=-1, threshold=0.5, labelling="random")
    result = evaluation.decision_curve(ratios=[0.05, 0.2, 0.5], scores_are="probability")
    for ratio, model in zip(result.ratios, result.model, strict=True):
        flagged = chance >= ratio
        hits, alarms = (flagged & positive).mean(), (flagged & ~positive).mean()
        assert model == pytest.approx(hits - ratio / (1 - ratio) * alarms, abs=1e-12)


def test_the_band_holds_at_all_ratios_together_and_so_is_wider_than_at_one():
    labels, chance, positive = probabilities()
    evaluation = pulens.evaluate(labels, chance, class_prior=positive.mean(), threshold=0.3, labelling="random")
    result = evaluation.decision_curve(scores_are="probability")
    assert result.simultaneous
    assert result.ratios.size == 20
    alone = evaluation.decision_curve(ratios=result.ratios[10:11], scores_are="probability")
    assert result.low[10] < alone.low[0] < alone.model[0] < alone.high[0] < result.high[10]
    assert not result.notices
    assert result.to_dict()["simultaneous"] is True


def test_bands_hold_the_whole_curve_about_as_often_as_they_say():
    ratios = np.array([0.05, 0.1, 0.2, 0.35, 0.5])
    _, chance, _ = probabilities(99, 400_000)
    odds = ratios / (1 - ratios)
    flagged = np.array([(chance >= ratio).mean() for ratio in ratios])
    truth = (1 + odds) * np.array([(chance * (chance >= ratio)).mean() for ratio in ratios]) - odds * flagged
    held = 0
    for seed in range(120):
        labels, scores, _ = probabilities(seed, 600)
        evidence = gather(labels, scores, class_prior=float(chance.mean()))
        result = decision_curve(
            evidence, ratios=ratios, scores_are="probability", resampling=Resampling(confidence=0.9)
        )
        held += bool(((result.low <= truth) & (truth <= result.high)).all())
    assert 0.81 < held / 120 <= 0.99  # 90%, give or take three standard errors


def test_the_band_of_one_threshold_reaches_as_far_as_draws_do():
    labels, chance, positive = probabilities()
    evidence = gather(labels, chance, class_prior=float(positive.mean()))
    ratios = np.linspace(0.02, 0.7, 20)
    above = tuple(np.full(20, float(count)) for count in evidence.tally.at(0.3))
    construction = LinearAtThresholds(evidence, net_benefit_form(ratios), above)
    covariance = construction.covariance(evidence.class_prior.unlabelled)
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(20), covariance, 200_000, method="eigh")
    largest = np.abs(drawn / np.sqrt(np.diag(covariance))).max(axis=1)
    assert _reach(construction, 0.95) == pytest.approx(np.quantile(largest, 0.95), rel=0.005)


def test_scores_that_are_chances_of_being_labelled_are_warned_of():
    labels, chance, positive = probabilities()
    evaluation = pulens.evaluate(labels, chance * 0.2, class_prior=positive.mean(), threshold=0.1, labelling="random")
    (notice,) = evaluation.decision_curve(ratios=[0.05], scores_are="probability").notices
    assert "pulens calibrate" in str(notice)


def test_one_threshold_over_all_ratios_has_the_best_beside_it():
    labels, chance, positive = probabilities()
    decision = pulens.decide(
        labels, chance, class_prior=positive.mean(), cost_miss=5, cost_alarm=1, redraws=100, labelling="random"
    )
    curve = decision.curve
    assert (curve.best >= curve.model - 1e-12).all()
    low, high = decision.useful_ratios
    beats = (curve.model > 0) & (curve.model > curve.flag_all)
    assert np.array_equal(beats, (curve.ratios > low) & (curve.ratios < high))
    assert len(curve.plot().lines) >= 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ratios": [0.0], "scores_are": "probability"}, "strictly between 0 and 1"),
        ({"ratios": np.linspace(0.1, 0.9, 65), "scores_are": "probability"}, "1 to 64"),
        ({"scores_are": "logit"}, "must be 'probability' or None"),
    ],
)
def test_what_is_no_decision_curve_is_refused(given, said):
    labels, chance, _ = probabilities(size=300)
    evaluation = pulens.evaluate(labels, chance, class_prior=0.2, threshold=0.3, confidence=None, labelling="random")
    with pytest.raises(pulens.PulensError, match=said):
        evaluation.decision_curve(**given)


def test_in_one_sample_the_crossing_allows_for_rows_that_are_in_both_parts():
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(60):
        positive = rng.random(1500) < 0.2
        both = rng.normal(size=1500)
        scores = {name: 1.5 * positive + 0.77 * both + 0.64 * rng.normal(size=1500) for name in "ab"}
        labels = (positive & (rng.random(1500) < 0.4)).astype(int)
        joint = JointTally.from_rows(scores, labels)
        result = crossing_interval(joint, (1.6, 0.6), "single-set")
        held += result is not None and result[0] <= 0.1387 <= result[1]  # w dq / ((1 + w) dgamma) of these normals
    assert 52 <= held <= 60
    apart = crossing_interval(joint, (1.6, 0.6))
    assert result != pytest.approx(apart, rel=1e-3)
    assert fieller(0.625, 0.075, 0.0016, 0.00001, 1.96, 1e-5) != pytest.approx((0.103648, 0.140189), abs=1e-5)


def test_the_uncorrected_curve_counts_unlabelled_rows_as_negatives():
    labels, chance, positive = probabilities(frequency=0.5)
    evidence = gather(labels, chance, class_prior=float(positive.mean()))
    result = decision_curve(evidence, ratios=[0.2, 0.4], scores_are="probability")
    odds, flagged = result.ratios / (1 - result.ratios), chance[:, None] >= result.ratios
    theirs = (flagged & (labels[:, None] == 1)).mean(axis=0) - odds * (flagged & (labels[:, None] == 0)).mean(axis=0)
    assert result.uncorrected == pytest.approx(theirs, abs=1e-14)
    hidden = (flagged & (positive & (labels == 0))[:, None]).mean(axis=0)
    assert result.model == pytest.approx(result.uncorrected + (1 + odds) * hidden, abs=0.02)
    assert result.to_dict()["uncorrected"] == result.uncorrected.tolist()
