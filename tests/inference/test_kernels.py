"""Kernels of uncertainty against slow and exact witnesses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.counts.tally import Tally, Totals
from pulens.inference.bootstrap import PrecisionReadings
from pulens.inference.kernels.placements import placement_moments
from pulens.inference.kernels.quantiles import studentised_quantile, tail_for_range
from pulens.inference.kernels.redraws import MOST_BLOCKS, BootstrapCounts, compress, redraw_tally
from pulens.inference.kernels.resampling import Resampling, check_resampling
from pulens.inference.replicates import Replicates
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.many import priors_in_redraws, recover_many
from pulens.scenario import Scenario
from tests_support import noises, priors, pu_rows, scenarios


@given(pu_rows(negatives=True), priors, noises, scenarios)
def test_many_recoveries_are_single_recoveries(rows, prior, noise, scenario) -> None:
    totals = Tally.from_arrays(*rows).totals
    one = Recovery.of(totals, Assumptions(prior, noise, Scenario(scenario)))
    many = recover_many(tuple(totals), np.array([prior, prior]), noise, Scenario(scenario))
    np.testing.assert_allclose(many.true_positive_rate[0], one.true_positive_rate, atol=1e-12)
    np.testing.assert_allclose(many.false_positive_rate[1], one.false_positive_rate, atol=1e-12)
    assert many.positive[0] == pytest.approx(one.positive)
    assert many.negative[0] == pytest.approx(one.negative)


def test_a_known_population_prior_moves_the_unlabelled_one_with_the_numbers_of_rows() -> None:
    redrawn = (np.array([100.0, 130.0]), np.array([900.0, 870.0]), np.array([0.0, 0.0]))
    arguments = {"label_noise": 0.0, "scenario": Scenario.SINGLE_SET}
    held = priors_in_redraws(0.2, (100.0, 900.0, 0.0), redrawn, held="population", **arguments)
    assert (redrawn[0] + held * redrawn[1]) / 1000 == pytest.approx([0.28, 0.28])
    assert (priors_in_redraws(0.2, (100.0, 900.0, 0.0), redrawn, held="unlabelled", **arguments) == 0.2).all()


def slow_placements(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return ((first[:, None] > second[None, :]) + 0.5 * (first[:, None] == second[None, :])).mean(1)


@given(pu_rows())
def test_two_kinds_of_rows_give_delongs_variance(rows) -> None:
    labels, scores = rows
    positive, unlabelled = scores[labels == 1], scores[labels == 0]
    moments = placement_moments(Tally.from_arrays(labels, scores))
    value, variances, thirds = moments.bilinear((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    (((value,),), ((variances,),), ((thirds,),)) = value, variances, thirds
    hits, rejections = slow_placements(positive, unlabelled), 1 - slow_placements(unlabelled, positive)
    assert value == pytest.approx(hits.mean())
    for kind, placements in enumerate((hits, rejections)):
        size = placements.size
        if np.ptp(placements) < 1e-12:
            assert variances[kind] == pytest.approx(0.5 / (max(size, 2) + 1) ** 2 * max(size, 2) / max(size, 2))
            continue
        gaps = placements - placements.mean()
        unbiased = (gaps**2).sum() / max(size - 1, 1)
        assert variances[kind] == pytest.approx(unbiased / max(size, 2), abs=1e-12)
        third = (gaps**3).mean() / max(size, 2) ** 2
        assert thirds[kind] == pytest.approx(third, abs=1e-12)


def test_variance_with_known_negatives_is_the_jackknifes() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0, -1], [40, 150, 60])
    scores = np.round(rng.normal(np.repeat([1, 0.3, 0], [40, 150, 60]), 1), 1)
    gamma, eta = np.array([1.1, -0.2, 0.1]), np.array([-0.3, 0.9, 0.4])
    moments = placement_moments(Tally.from_arrays(labels, scores))
    _, ((variances,),), _ = moments.bilinear(gamma, eta)

    def area(kept: np.ndarray) -> float:
        return float(placement_moments(Tally.from_arrays(labels[kept], scores[kept])).value(gamma, eta)[0, 0])

    for kind, code in enumerate((1, 0, -1)):
        rows = np.flatnonzero(labels == code)
        left_out = np.array([area(np.delete(np.arange(labels.size), row)) for row in rows])
        jackknife = (rows.size - 1) / rows.size * ((left_out - left_out.mean()) ** 2).sum()
        assert variances[kind] == pytest.approx(jackknife, rel=1e-9)


@given(pu_rows(negatives=True), priors, scenarios)
def test_average_precision_of_redraws_is_that_of_a_plain_loop(rows, prior, scenario) -> None:
    tally = Tally.from_arrays(*rows)
    at = np.asarray(tally.increments()[0], float)

    def work(redrawn: BootstrapCounts) -> None:
        maps = recover_many(redrawn.totals, np.full(len(redrawn), prior), 0.0, Scenario(scenario))
        cut, free = PrecisionReadings(redrawn, at).of(maps)
        each = Replicates(redrawn, prior, of_rows=True).tallies(tally.thresholds)
        for row, (redrawn_tally, _) in enumerate(each):
            one = Recovery.of(redrawn_tally.totals, Assumptions(prior, 0.0, Scenario(scenario)))
            totals = redrawn_tally.totals
            sums, recall_before = [0.0, 0.0], 0.0
            for place in range(len(tally)):
                rates = [
                    kind[place] / total if total else 0.0
                    for kind, total in zip(
                        (redrawn_tally.labelled, redrawn_tally.unlabelled, redrawn_tally.negative), totals, strict=True
                    )
                ]
                recall, alarms = one.rates(*rates)
                called = one.positive * recall + one.negative * alarms
                hits = one.positive * recall
                enough = called > 1e-9 * (one.positive + one.negative)
                precision = min(max(hits / called, 0.0), 1.0) if enough else float(hits > 0)
                sums[0] += (recall - recall_before) * precision
                drawn = redrawn_tally.increments()[0][place]
                own = 1 + (drawn - 1) / at[place] if at[place] else 1.0
                hits -= one.positive * 0.5 * own / totals.labelled
                most = 2.0 if min(redrawn_tally.labelled[place], redrawn_tally.unlabelled[place]) >= 10 else 1.0
                precision = hits / (called + 0.5) if called + 0.5 > 0 else 1.0
                sums[1] += (recall - recall_before) * min(max(precision, 0.0), most)
                recall_before = recall
            assert sums == pytest.approx([cut[row], free[row]], abs=1e-9)
        at_labelled = PrecisionReadings(redrawn, at, labels_are_right=True).of(maps)
        np.testing.assert_allclose(at_labelled, [cut, free], atol=1e-12)

    redraw_tally(tally, Resampling(redraws=5), work, random_totals=scenario == "single-set")


def test_redraws_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    tally = Tally.from_arrays(rng.integers(0, 2, 500), rng.normal(size=500))
    answers = [
        np.concatenate(redraw_tally(tally, Resampling(redraws=700, threads=threads), lambda r: r.labelled))
        for threads in (1, 3)
    ]
    np.testing.assert_array_equal(*answers)
    other = np.concatenate(redraw_tally(tally, Resampling(redraws=700, seed=1), lambda r: r.labelled))
    assert not np.array_equal(answers[0], other)


@pytest.mark.parametrize("size", [60, 4000], ids=["multinomial", "poisson"])
def test_redrawn_rates_have_the_mean_and_spread_of_a_resample(size: int) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [size // 4, size - size // 4])
    tally = Tally.from_arrays(labels, rng.integers(0, 5, size))
    drawn = redraw_tally(tally, Resampling(redraws=4000), lambda r: (r.labelled, r.unlabelled))
    for kind, counts in enumerate((tally.labelled, tally.unlabelled)):
        rates = np.concatenate([chunk[kind] for chunk in drawn])
        share = counts / counts[-1]
        np.testing.assert_allclose(rates.mean(0), share, atol=4 * np.sqrt(0.25 / counts[-1] / 4000))
        spread = np.sqrt(share * (1 - share) / counts[-1])
        np.testing.assert_allclose(rates.std(0)[:-1], spread[:-1], rtol=0.08)


@given(pu_rows(negatives=True, most=120))
def test_compression_keeps_thresholds_that_occur_and_all_rows(rows) -> None:
    tally = Tally.from_arrays(rows[0], rows[1] + np.linspace(0, 0.9, rows[0].size))
    small = compress(tally, 12)
    assert len(small) <= max(12, 12)
    assert small.totals == tally.totals
    for place, threshold in enumerate(small.thresholds):
        assert small.at(threshold) == tally.at(threshold)
        assert Totals(small.labelled[place], small.unlabelled[place], small.negative[place]) == tally.at(threshold)
    assert compress(tally, MOST_BLOCKS) is tally


def test_skewness_moves_both_ends_the_same_way_and_vanishes_with_the_skew() -> None:
    for skew in (-0.8, -0.1, 0.1, 0.8):
        low, high = (float(studentised_quantile(level, skew, 50.0)) for level in (0.025, 0.975))
        plain = float(studentised_quantile(0.975, 0.0, 50.0))
        assert (low < -plain) == (skew > 0)
        assert (high < plain) == (skew > 0)


def test_skewness_correction_holds_its_level_for_means_of_exponentials() -> None:
    rng = np.random.default_rng(0)
    sample = rng.exponential(size=(4000, 40))
    mean, error = sample.mean(1), sample.std(1, ddof=1) / np.sqrt(40)
    skew = ((sample - mean[:, None]) ** 3).mean(1) / 40**2 / error**3
    low = mean - error * studentised_quantile(0.975, skew, 39.0)
    high = mean - error * studentised_quantile(0.025, skew, 39.0)
    assert 0.935 < ((low <= 1) & (high >= 1)).mean() < 0.965


def test_a_long_range_needs_one_tail_only() -> None:
    tails = [tail_for_range(0.95, length, 1.0) for length in (0, 0.5, 1, 3, 100)]
    assert tails == sorted(tails)
    assert tails[0] == pytest.approx(0.025)
    assert tails[-1] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1, got 95. Write 95% as 0.95"),
        ({"confidence": 0.95, "redraws": 5}, "redraws must be a whole number of at least 100, got 5"),
        ({"confidence": 0.95, "redraws": 1e3}, "redraws must be a whole number"),
        ({"confidence": 0.95, "redraws": 10**400}, "1,000,000 the most"),
        ({"confidence": 1e-300}, "confidence must lie strictly between 0 and 1, got 1e-300"),
        ({"confidence": 0.95, "seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"confidence": True}, "confidence must lie strictly between 0 and 1"),
    ],
)
def test_impossible_wishes_are_refused_by_name(arguments: dict, message: str) -> None:
    with pytest.raises(pulens.PulensError) as refused:
        check_resampling(**arguments)
    assert message in str(refused.value)


@given(st.floats(0.5, 0.999))
def test_any_sensible_wish_is_granted(confidence: float) -> None:
    assert check_resampling(confidence, np.int64(200), np.int64(3)) == Resampling(confidence, 200, 3)


def test_a_redraw_without_any_negative_recovers_numbers():
    none = np.array([0.0, 5.0])
    many = recover_many((np.array([5.0, 5.0]), none, np.zeros(2)), np.array([0.4, 0.4]), 0.0, Scenario.SINGLE_SET)
    assert np.isfinite(many.false_positive_rate).all()
