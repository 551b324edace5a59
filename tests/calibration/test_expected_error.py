"""PU-ECE: what it is with every label known, what it ignores, and what stands beside it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.calibration import expected_calibration_error
from pulens.calibration._gaps import BinGaps, error_terms
from pulens.calibration.masses import MassMap, choose_edges, count_bins
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.evidence import gather
from pulens.testing import logistic_world

RNG_SEED = 7


def drawn(labelled: int = 80, unlabelled: int = 900, prior: float = 0.3, seed: int = RNG_SEED):
    few, many, _ = logistic_world(-0.5, 1.5, prior).draw(labelled, unlabelled, np.random.default_rng(seed))
    return np.repeat([1, 0], [labelled, unlabelled]), np.concatenate([few, many])


def slow_error(labels, scores, prior, edges) -> float:
    """The paper's formula, bin by bin and row by row."""
    total = 0.0
    for b, (low, high) in enumerate(pairwise(edges)):
        inside = (scores <= high) & ((scores > low) | (b == 0))
        positive = prior * np.mean(inside[labels == 1])
        promised = np.mean(np.where(inside, scores, 0)[labels == 0])
        total += abs(positive - promised)
    return total


@st.composite
def pu_rows(draw):
    eighths = st.integers(0, 8)
    few = draw(st.lists(eighths, min_size=1, max_size=12))
    many = draw(st.lists(eighths, min_size=6, max_size=40))
    return np.repeat([1, 0], [len(few), len(many)]), np.array(few + many) / 8


@given(pu_rows(), st.integers(1, 6), st.sampled_from(["mass", "width"]))
def test_it_is_the_formula_of_the_paper_row_by_row(rows, bins, binning):
    labels, scores = rows
    evidence = gather(labels, scores, class_prior=0.4, scenario="case-control")
    edges = choose_edges(evidence, binning=binning, bins=bins)
    result = expected_calibration_error(
        labels,
        scores,
        class_prior=0.4,
        bins=bins,
        binning=binning,
        redraws=2,
        scenario="case-control",
        labelling="random",
    )
    assert result.value == pytest.approx(slow_error(labels, scores, 0.4, edges), abs=1e-12)
    assert result.interval.low <= result.value <= result.interval.high
    assert result.interval.low <= result.corrected <= result.interval.high
    assert result.corrected <= result.value + 1e-12


@given(pu_rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    labels, scores = rows
    order = random.sample(range(scores.size), scores.size)
    options = {"class_prior": 0.2, "bins": 3, "redraws": 5}
    before = expected_calibration_error(labels, scores, **options, scenario="case-control", labelling="random")
    assert (
        expected_calibration_error(labels[order], scores[order], **options, scenario="case-control", labelling="random")
        == before
    )


@given(pu_rows(), st.sampled_from(["case-control", "single-set"]))
def test_a_weight_of_two_is_a_row_twice(rows, scenario):
    labels, scores = rows
    options = {"unlabelled_prior": 0.2, "bins": 3, "scenario": scenario}
    twice = expected_calibration_error(np.tile(labels, 2), np.tile(scores, 2), **options, labelling="random")
    weighted = expected_calibration_error(
        labels, scores, weights=np.full(labels.size, 2.0), **options, labelling="random"
    )
    assert weighted.value == pytest.approx(twice.value, abs=1e-12)
    assert weighted.interval.high == pytest.approx(twice.interval.high, abs=1e-9)


@given(pu_rows(), st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_a_wrong_prior_moves_it_by_no_more_than_its_own_error(rows, prior, wrong):
    labels, scores = rows
    values = [
        expected_calibration_error(
            labels, scores, class_prior=p, bins=4, redraws=1, scenario="case-control", labelling="random"
        ).value
        for p in (prior, wrong)
    ]
    assert abs(values[0] - values[1]) <= abs(prior - wrong) + 1e-12  # Theorem 2


def test_with_every_label_known_it_is_the_ordinary_error():
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    positive = rng.random(500) < scores**2
    result = expected_calibration_error(
        np.where(positive, 1, -1),
        scores,
        negative=-1,
        bins=10,
        binning="width",
        scenario="case-control",
        labelling="random",
    )
    place = np.clip(np.ceil(scores * 10).astype(int) - 1, 0, 9)
    ordinary = np.abs(np.bincount(place, positive - scores, minlength=10)).sum() / 500
    assert result.value == pytest.approx(ordinary, abs=1e-12)


def test_single_set_speaks_of_all_rows():
    labels, scores = drawn()
    result = expected_calibration_error(
        labels, scores, unlabelled_prior=0.25, scenario="single-set", bins=5, labelling="random"
    )
    prior = (80 + 0.25 * 900) / 980
    edges = np.concatenate([[0.0], np.sort(scores)[980 * np.arange(1, 5) // 5 - 1], [1.0]])
    place = np.searchsorted(edges[1:-1], scores, side="left")
    positive = prior * np.bincount(place[labels == 1], minlength=5) / 80
    promised = np.bincount(place, scores, minlength=5) / 980
    assert result.value == pytest.approx(np.abs(positive - promised).sum(), abs=1e-12)


def test_noisy_labels_are_recovered_before_they_are_compared():
    world = logistic_world(-0.5, 1.5, 0.3)
    rng = np.random.default_rng(1)
    few, many, _ = world.draw(45_000, 200_000, rng)
    _, everyone, is_positive = world.draw(1, 20_000, rng)
    noisy = np.concatenate([few, everyone[~is_positive][:5_000]])
    labels, scores = np.repeat([1, 0], [noisy.size, many.size]), np.concatenate([noisy, many])
    edges = np.arange(11) / 10
    options = {"class_prior": 0.3, "bins": 10, "binning": "width", "redraws": 5}
    told = expected_calibration_error(
        labels, scores, label_noise=0.1, **options, scenario="case-control", labelling="random"
    )
    untold = expected_calibration_error(labels, scores, **options, scenario="case-control", labelling="random")
    truth = world.binned_calibration_error(edges)
    assert abs(told.value - truth) < 0.005
    assert abs(untold.value - truth) > 2 * abs(told.value - truth)


def test_known_negatives_belong_to_the_population_of_a_single_set():
    rng = np.random.default_rng(2)
    scores = rng.random(20_000)
    positive = rng.random(20_000) < scores
    labels = np.where(positive & (rng.random(20_000) < 0.5), 1, np.where(~positive & (rng.random(20_000) < 0.5), -1, 0))
    result = expected_calibration_error(
        labels, scores, class_prior=positive.mean(), scenario="single-set", labelling="random"
    )
    assert result.is_noise
    assert result.value < 2 * result.noise_floor


def test_a_tally_and_its_rows_give_the_same_answer():
    labels, scores = drawn()
    direct = expected_calibration_error(labels, scores, class_prior=0.3, scenario="case-control", labelling="random")
    assert (
        expected_calibration_error(
            Tally.from_arrays(labels, scores), class_prior=0.3, scenario="case-control", labelling="random"
        )
        == direct
    )


def test_float32_scores_are_counted_in_double_precision():
    labels, scores = drawn()
    narrow = scores.astype(np.float32)
    result = expected_calibration_error(
        labels, narrow, class_prior=0.3, bins=6, scenario="case-control", labelling="random"
    )
    assert (
        result.value
        == expected_calibration_error(
            labels, narrow.astype(float), class_prior=0.3, bins=6, scenario="case-control", labelling="random"
        ).value
    )


def test_the_noise_floor_is_what_a_calibrated_model_scores():
    world = logistic_world(math.log(0.3 / 0.7), 2.0, 0.3)
    values, floors, corrected = [], [], []
    for seed in range(60):
        few, many, _ = world.draw(200, 2_000, np.random.default_rng(seed))
        result = expected_calibration_error(
            np.repeat([1, 0], [200, 2_000]),
            np.concatenate([few, many]),
            class_prior=0.3,
            redraws=100,
            scenario="case-control",
            labelling="random",
        )
        values.append(result.value)
        floors.append(result.noise_floor)
        corrected.append(result.corrected)
    assert np.mean(values) == pytest.approx(np.mean(floors), rel=0.08)
    assert np.mean(values) == pytest.approx(0.047, abs=0.005)  # as measured elsewhere for these sizes
    assert np.mean(corrected) < np.mean(values) / 2


@pytest.mark.parametrize("line", [(-0.5, 1.5), (math.log(0.3 / 0.7), 2.0), (-1.6, 3.0)])
def test_the_interval_holds_the_binned_truth(line):
    world = logistic_world(*line, 0.3)
    hits = 0
    for seed in range(100):
        few, many, _ = world.draw(100, 1_000, np.random.default_rng(seed))
        labels, scores = np.repeat([1, 0], [100, 1_000]), np.concatenate([few, many])
        edges = choose_edges(gather(labels, scores, class_prior=0.3, scenario="case-control"), binning="mass", bins=8)
        result = expected_calibration_error(
            labels, scores, class_prior=0.3, bins=8, redraws=1, scenario="case-control", labelling="random"
        )
        hits += world.binned_calibration_error(edges) in result.interval
    assert hits >= 92


def test_the_split_sign_value_is_the_average_over_random_halves():
    labels, scores = drawn(400, 4_000)
    evidence = gather(labels, scores, class_prior=0.3, scenario="case-control")
    edges = choose_edges(evidence, binning="mass", bins=8)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    expected = error_terms(BinGaps.of(count_bins(evidence.tally, edges), masses)).understated
    rng = np.random.default_rng(0)
    place = np.searchsorted(edges[1:-1], scores, side="left")
    each = np.where(labels == 1, 0.3 / 400, -scores / 4_000)  # what a row adds to its bin's gap
    split = []
    for _ in range(400):
        half = np.zeros(labels.size, bool)
        for kind in (0, 1):
            rows = np.flatnonzero(labels == kind)
            half[rng.permutation(rows)[: rows.size // 2]] = True
        first, second = (2 * np.bincount(place[which], each[which], minlength=8) for which in (half, ~half))
        split.append((np.sign(first) @ second + np.sign(second) @ first) / 2)
    assert expected == pytest.approx(np.mean(split), abs=4 * np.std(split) / 20 + 0.0005)


def test_the_variance_of_gaps_is_that_of_redrawn_rows():
    labels, scores = drawn(200, 1_500)
    evidence = gather(labels, scores, class_prior=0.3, scenario="case-control")
    edges = np.arange(6) / 5
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    gaps = BinGaps.of(count_bins(evidence.tally, edges), masses)
    rng = np.random.default_rng(0)
    redrawn = []
    for _ in range(800):
        few = rng.choice(scores[labels == 1], 200)
        many = rng.choice(scores[labels == 0], 1_500)
        tally = Tally.from_arrays(np.repeat([1, 0], [200, 1_500]), np.concatenate([few, many]))
        redrawn.append(BinGaps.of(count_bins(tally, edges), masses).gap)
    covariance = np.cov(np.array(redrawn).T)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), gaps.deviation, rtol=0.12)
    weights = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    assert gaps.variance_of_sum(weights) == pytest.approx(weights @ covariance @ weights, rel=0.2)


def test_a_range_of_priors_gives_the_hull_and_keeps_the_sources_apart():
    labels, scores = drawn()
    result = expected_calibration_error(
        labels, scores, class_prior=(0.2, 0.4), scenario="case-control", labelling="random"
    )
    for prior in (0.2, 0.3, 0.4):
        bins = result.bins
        # each may miss a little more often than alone, on the one side on which it can miss: Imbens and Manski
        one = expected_calibration_error(
            labels, scores, class_prior=prior, bins=bins, confidence=0.9, scenario="case-control", labelling="random"
        )
        assert result.interval.low <= one.interval.low + 1e-9
        assert result.interval.high >= one.interval.high - 1e-9
        assert one.value in result.sources["class prior"]
    assert result.sources["sample"].width < result.interval.width


def test_over_and_underconfidence_are_the_two_parts():
    labels, scores = drawn()
    result = expected_calibration_error(labels, scores, class_prior=0.3, scenario="case-control", labelling="random")
    assert result.overconfidence + result.underconfidence == pytest.approx(result.value)
    assert result.overconfidence - result.underconfidence == pytest.approx(scores[labels == 0].mean() - 0.3)


def test_larger_norms_are_larger():
    labels, scores = drawn()
    options = {"class_prior": 0.3, "bins": 6, "redraws": 20}
    values = [
        expected_calibration_error(labels, scores, norm=norm, **options, scenario="case-control", labelling="random")
        for norm in (1, 2, 4, 100, 1000, 1e19, "max")
    ]
    assert all(first.value <= second.value + 1e-12 for first, second in pairwise(values))
    assert all(one.interval.low <= one.value <= one.interval.high for one in values)
    assert values[-1].to_dict()["norm"] == "max"


def test_the_l2_norm_is_the_root_of_the_mean_square():
    labels, scores = [1, 1, 0, 0, 0, 0], [0.2, 0.9, 0.1, 0.3, 0.7, 0.9]
    result = expected_calibration_error(
        labels, scores, class_prior=0.5, bins=2, binning="width", norm=2, scenario="case-control", labelling="random"
    )
    # two bins of half the population: shares of positives 0.5 and 0.5, mean scores 0.2 and 0.8
    assert result.value == pytest.approx(0.3)


def test_same_seed_same_answer_and_another_seed_moves_only_the_noise_floor():
    labels, scores = drawn()
    first, again, other = (
        expected_calibration_error(
            labels, scores, class_prior=0.3, redraws=50, seed=seed, scenario="case-control", labelling="random"
        )
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.noise_floor != other.noise_floor
    assert (first.value, first.interval, first.corrected) == (other.value, other.interval, other.corrected)


def test_logits_are_declared_and_probabilities_are_checked():
    labels, scores = drawn()
    logits = np.log(scores) - np.log1p(-scores)
    declared = expected_calibration_error(
        labels, logits, class_prior=0.3, scores_are="logit", bins=6, scenario="case-control", labelling="random"
    )
    assert declared.value == pytest.approx(
        expected_calibration_error(
            labels, scores, class_prior=0.3, bins=6, scenario="case-control", labelling="random"
        ).value
    )
    with pytest.raises(InputError, match=r"between 0 and 1, got .*scores_are='logit'.*isotonic"):
        expected_calibration_error(labels, logits, class_prior=0.3, scenario="case-control", labelling="random")
    with pytest.raises(InputError, match=r"ranks say which row .*recalibrate"):
        expected_calibration_error(
            labels, logits, class_prior=0.3, scores_are="rank", scenario="case-control", labelling="random"
        )
    with pytest.raises(InputError, match="'probability', 'logit', 'rank', got 'odds'"):
        expected_calibration_error(
            labels, logits, class_prior=0.3, scores_are="odds", scenario="case-control", labelling="random"
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "whole number from 1 to 100,000"),
        ({"bins": 2.5}, "whole number"),
        ({"bins": True}, "whole number"),
        ({"bins": 901}, "901 bins of equal mass need at least 901 rows .* there are 900"),
        ({"binning": "equal"}, "'mass' .* or 'width' .*, got 'equal'"),
        ({"norm": 0.5}, "at least 1, or 'max'"),
        ({"confidence": 95}, "between 0 and 1, got 95"),
    ],
)
def test_bad_arguments_are_refused_with_the_way_out(options, message):
    labels, scores = drawn()
    with pytest.raises(PulensError, match=message):
        expected_calibration_error(
            labels, scores, **{"class_prior": 0.3, **options}, scenario="case-control", labelling="random"
        )


def test_notices_say_what_to_know():
    labels, scores = drawn(20, 60)
    result = expected_calibration_error(
        labels, scores, class_prior=0.3, bins=40, scenario="case-control", labelling="random"
    )
    assert {"too-many-bins", "few-labelled"} <= {notice.code for notice in result.notices}
    impossible = expected_calibration_error(
        *drawn(3_000, 3_000), class_prior=0.9, bins=5, scenario="case-control", labelling="random"
    )
    assert "impossible-fraction" in {notice.code for notice in impossible.notices}
    stray = expected_calibration_error(
        [1, 1, 0, 0],
        [0.9, 0.2, 0.1, 0.3],
        class_prior=0.5,
        bins=4,
        binning="width",
        scenario="case-control",
        labelling="random",
    )
    assert "bins-without-population" in {notice.code for notice in stray.notices}


def test_theory_never_asks_for_more_bins_than_tiny_samples_have():
    result = expected_calibration_error(
        [1, 0, 0, 0], [0.9, 0.5, 0.2, 0.1], class_prior=0.01, scenario="case-control", labelling="random"
    )
    assert result.bins == 1
