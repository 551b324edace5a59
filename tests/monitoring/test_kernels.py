"""Weights, shift, fit, metrics, running totals: small cases checked by hand, and identities that must hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, skew

from pulens.counts.tally import Tally
from pulens.monitoring.cells import MOST_CELLS, edges_of, reduce_to_cells
from pulens.monitoring.evidence_lines import SPREADS, RunningEvidence, Starts, recall_starts, start_weights
from pulens.monitoring.fit import features, fit_of
from pulens.monitoring.noise import NOISES, NoiseLevels, scatter_of
from pulens.monitoring.rates import parts_of, rate_of, with_own_positives
from pulens.monitoring.shift import CellReference, shift_of, straightened
from pulens.monitoring.weights import placements
from pulens.scenario import Scenario


def counts(*numbers: float) -> np.ndarray:
    return np.array(numbers, float)


def placed(labelled: np.ndarray, population: np.ndarray) -> CellReference:
    """A reference whose weight is the plain placement: the shift is then a ratio of areas."""
    result = CellReference.of(labelled, population)
    h = placements(result.q)
    return replace(result, weights=(h - result.q @ h) / ((result.p - result.q) @ h))


FOUR = CellReference.of(counts(1, 2, 5, 12), counts(40, 30, 20, 10))
WINDOW = counts(30, 30, 25, 15)


def test_the_shift_by_placements_is_the_ratio_of_areas():
    reference = placed(counts(0, 0, 1, 1), counts(1, 1, 1, 1))
    result = shift_of(reference, counts(0, 1, 1, 2))
    assert reference.weights == pytest.approx([-1.5, -0.5, 0.5, 1.5])
    assert result.value == pytest.approx(0.75)
    assert result.error == pytest.approx(0.576222, abs=5e-7)


@pytest.mark.parametrize("made", [CellReference.of, placed])
def test_two_scores_leave_one_weight_and_no_test_of_fit(made):
    reference = made(counts(3, 27), counts(90, 10))
    result = shift_of(reference, counts(80, 20))
    assert reference.weights == pytest.approx([-0.125, 1.125])
    assert (result.value, result.error) == (pytest.approx(0.125), pytest.approx(0.060999, abs=5e-7))
    assert fit_of(reference, features(reference), counts(80, 20), result.value) is None
    parts = parts_of(reference, counts(80, 20), np.array([False, True]), result.value)
    values = {name: rate_of(name, parts, 0.05).value for name in ("prior", "precision", "f1", "accuracy")}
    expected = {"prior": 0.16875, "precision": 0.759375, "f1": 0.823729, "accuracy": 0.935}
    assert values == pytest.approx(expected, abs=5e-7)


def test_tilt_in_four_scores():
    assert FOUR.weights == pytest.approx([-0.342893, -0.212188, 0.175282, 1.657572], abs=5e-7)
    assert FOUR.null_variance == pytest.approx(0.351527, abs=5e-7)
    result = shift_of(FOUR, WINDOW)
    assert (result.value, result.error) == (pytest.approx(0.125932, abs=5e-7), pytest.approx(0.088218, abs=5e-7))
    assert fit_of(FOUR, features(FOUR), WINDOW, result.value).p_value == pytest.approx(0.571135, abs=5e-7)
    plain = shift_of(placed(FOUR.labelled, FOUR.population), WINDOW)
    assert (plain.value, plain.error) == (pytest.approx(0.201493, abs=5e-7), pytest.approx(0.108707, abs=5e-7))


def test_labelled_rows_of_a_single_set_are_rows_of_the_population_too():
    reference = CellReference.of(counts(1, 2, 5, 12), counts(41, 32, 25, 22), together=True)
    result = shift_of(reference, WINDOW)
    assert reference.weights == pytest.approx([-0.706900, -0.404187, 0.156139, 1.727882], abs=5e-7)
    assert (result.value, result.error) == (pytest.approx(-0.035109, abs=5e-7), pytest.approx(0.114316, abs=5e-7))


def test_metrics_of_a_window_with_their_standard_errors():
    parts = parts_of(FOUR, WINDOW, np.array([False, False, True, True]), shift_of(FOUR, WINDOW).value)
    assert parts.values[[1, 3]] == pytest.approx([0.85, 0.40])
    expected = {
        "prior": (0.300746, 0.070364),
        "precision": (0.639084, 0.125654),
        "f1": (0.729605, 0.094359),
        "accuracy": (0.810522, 0.060050),
    }
    for name, (value, error) in expected.items():
        result = rate_of(name, parts, 0.2)
        assert (result.value, result.error) == (pytest.approx(value, abs=5e-7), pytest.approx(error, abs=5e-7))


def test_an_impossible_metric_keeps_an_interval_of_some_width():
    reference = CellReference.of(counts(0, 60), counts(50, 50))
    window = counts(99, 1)
    parts = parts_of(reference, window, np.array([False, True]), 0.9)
    result = rate_of("precision", parts, 0.5)
    assert result.value == result.high == 1
    assert result.low < 1


@pytest.mark.parametrize(
    ("window", "shift", "p_value"),
    [(counts(31.25, 25, 21.25, 22.5), 0.25, 1.0), (counts(10, 60, 25, 5), -0.034903, 0.000300)],
)
def test_fit_accepts_a_mixture_and_refuses_what_is_none(window, shift, p_value):
    result = shift_of(FOUR, window)
    assert result.value == pytest.approx(shift, abs=5e-7)
    assert fit_of(FOUR, features(FOUR), window, result.value).p_value == pytest.approx(p_value, abs=5e-7)


def test_more_positives_than_rows_are_caught_by_the_fit():
    all_high = counts(0, 0, 0, 100)
    many = CellReference.of(50 * FOUR.labelled, 50 * FOUR.population)
    result = shift_of(many, all_high)
    fit = fit_of(many, features(many), all_high, result.value)
    assert result.value > 1
    assert fit.p_value < 1e-6
    assert fit.whitened[-1] > 0


def test_what_is_false_among_the_flagged_needs_no_class_prior():
    d, q0, recall, a0 = 0.1, 0.10, 0.6, 0.05
    q1 = (1 - d) * q0 + d * recall
    a1 = a0 + (1 - a0) * d
    before, after = a0 * recall / q0, a1 * recall / q1
    assert (before, after) == (pytest.approx(0.30), pytest.approx(0.58))
    assert (1 - after) / (1 - before) == pytest.approx((1 - d) * q0 / q1) == pytest.approx(0.6)


def test_shift_is_exact_for_every_mixture_and_every_weight():
    rng = np.random.default_rng(3)
    labelled, population = rng.integers(1, 30, 12).astype(float), rng.integers(1, 300, 12).astype(float)
    for made in (CellReference.of, placed):
        reference = made(labelled, population)
        for d in (-0.05, 0.0, 0.3):
            window = 500 * ((1 - d) * reference.q + d * reference.p)
            assert shift_of(reference, window).value == pytest.approx(d)


def test_own_positives_give_the_share_where_positives_moved():
    rng = np.random.default_rng(8)
    places = np.linspace(-4, 6, 60)

    def normal(mean):
        density = np.exp(-((places - mean) ** 2) / 2)
        return density / density.sum()

    flagged, result = places >= 0.8, []
    for _ in range(200):
        labelled = rng.multinomial(500, normal(1.466))
        everyone = labelled + rng.multinomial(1500, normal(1.466)) + rng.multinomial(8000, normal(0))
        reference = CellReference.of(labelled + 0.0, everyone + 0.0, together=True)
        own = rng.multinomial(200, normal(0.766))
        window = own + rng.multinomial(400, normal(0.766)) + rng.multinomial(1400, normal(0))
        parts = with_own_positives(reference, window + 0.0, own + 0.0, flagged, 0.2)
        rate = rate_of("prior", parts, 0.2)
        result.append([rate.value, rate.error, rate.low <= 0.3 <= rate.high])
    values, errors, holds = np.array(result).T
    assert values.mean() == pytest.approx(0.3, abs=0.012)
    assert errors.mean() == pytest.approx(values.std(), rel=0.25)
    assert holds.mean() > 0.9


def test_windows_share_the_error_of_their_reference():
    rng = np.random.default_rng(4)
    shares_p, shares_q = counts(0.1, 0.2, 0.7), counts(0.6, 0.3, 0.1)
    near, far = 400 * (0.8 * shares_q + 0.2 * shares_p), 400 * shares_q
    pairs = []
    for _ in range(1500):
        labelled, population = rng.multinomial(200, shares_p) + 0.0, rng.multinomial(500, shares_q) + 0.0
        drawn = placed(labelled, population)
        pairs.append([shift_of(drawn, near).value, shift_of(drawn, far).value])
    known_shares = placed(200 * shares_p, 500 * shares_q)
    expected = known_shares.covariance(known_shares.weights[:, None], 0.2, 0.0)[0, 0]
    assert np.cov(np.array(pairs).T)[0, 1] == pytest.approx(expected, rel=0.12)


def test_shifts_of_few_high_scores_are_straightened_to_normal_ones():
    rng = np.random.default_rng(21)
    labelled, population = counts(1, 4, 15, 80), counts(8000, 1000, 700, 300)
    reference, rows = CellReference.of(labelled, population), 150
    shifts = rng.multinomial(rows, reference.q, size=40_000) @ reference.weights / rows
    variance = np.full(shifts.size, reference.null_variance / rows)
    skewness = reference.skewness / np.sqrt(rows)
    assert skew(shifts) == pytest.approx(skewness, abs=0.05)
    assert skewness > 0.3
    straight = straightened(shifts, variance, np.full(shifts.size, skewness)) / np.sqrt(variance)
    assert [straight.mean(), straight.std(), skew(straight)] == pytest.approx([0, 1, 0], abs=0.03)
    beyond = np.array([np.mean(values > 3) for values in (shifts / np.sqrt(variance), straight)])
    assert beyond[0] > 3 * norm.sf(3) > beyond[1] / 1.7
    same = straightened(shifts[:9], variance[:9], np.zeros(9))
    assert same == pytest.approx(shifts[:9], abs=1e-4)


def known(typical: float, *levels: tuple[float, float]) -> NoiseLevels:
    """Levels of noise, all as likely beforehand; none at all where none is given."""
    variances, correlations = np.array(levels or [(0.0, 0.0)]).T
    return NoiseLevels(variances, correlations, np.full(variances.size, -math.log(variances.size)), typical)


def starts_after(values, variance, reference, noise, life=50.0) -> Starts:
    """After all of these windows, the reference being one observation."""
    result = RunningEvidence(noise, windows=len(values), coordinates=values.shape[1], life=life)
    result.add_reference(np.zeros(values.shape[1]), reference)
    for value in values:
        result.add(value, variance)
    return result.starts()


def test_running_total_over_every_start():
    values = counts(0, 0, 0.1, 0.1, 0.1)[:, None]
    result = [starts_after(values[:t], 0.001, 0.0001, known(0.001)) for t in range(1, 6)]
    totals = [each.log_total for each in result]
    assert totals == pytest.approx([-0.010557, -0.022913, 0.279166, 2.595085, 5.734241], abs=5e-7)
    last = result[-1]
    assert last.heaviest == 2
    assert last.shares[2] == pytest.approx(0.948, abs=5e-4)
    assert (last.levels[2, 0], math.sqrt(last.variances[2])) == (pytest.approx(0.1), pytest.approx(0.020412, abs=5e-7))
    assert list(last.likely()) == [2]


def test_a_log_total_of_thousands_does_not_overflow():
    result = starts_after(np.full((20, 1), 5.0), 0.001, 0.0001, known(0.001))
    assert 1000 < result.log_total < math.inf


def slow_log_total(reference, values, variances, noise, life):
    """The same ratio from whole covariance matrices: contrasts of all windows, in which no mean is left."""
    n, m = len(variances), len(reference)
    x = np.concatenate([reference, values])
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1].T
    gaps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    weights = start_weights(n - m, life)

    def density(covariance):
        return multivariate_normal(np.zeros(n - 1), contrasts @ covariance @ contrasts.T).pdf(contrasts @ x)

    changed = never = 0.0
    for weight, level, r in zip(np.exp(noise.log_weights), noise.variances, noise.correlations, strict=True):
        covariance = np.diag(variances) + level * r**gaps
        quiet = density(covariance)
        steps = [np.where(np.arange(n) >= m + j, 1.0, 0.0) for j in range(n - m)]
        spread = next(iter(SPREADS)) * (noise.typical + level)
        by_start = [density(covariance + spread * np.outer(step, step)) for step in steps]
        changed += weight * (weights @ by_start + life / (n - m + life) * quiet)
        never += weight * quiet
    return math.log(changed / never)


def test_the_running_total_is_that_of_whole_covariance_matrices():
    rng = np.random.default_rng(17)
    noise = known(1.0, (0.0, 0.0), (0.7, 0.5), (2.0, 0.8), (0.7, 0.0))
    reference, values = rng.normal(size=7), np.concatenate([rng.normal(size=4), 1.5 + rng.normal(size=5)])
    variances = rng.uniform(0.5, 1.5, size=16)
    result = RunningEvidence(noise, windows=9, coordinates=1, life=20.0)
    for value, variance in zip(reference, variances[:7], strict=True):
        result.add_reference(np.array([value]), variance)
    for count, (value, variance) in enumerate(zip(values, variances[7:], strict=True), 1):
        result.add(np.array([value]), variance)
        exact = slow_log_total(reference, values[:count], variances[: 7 + count], noise, 20.0)
        assert result.starts().log_total == pytest.approx(exact, abs=1e-9)


def test_a_rise_is_expected_rather_than_a_fall_and_noise_less_where_something_changed():
    """The same ratio with all sizes of step summed up, none about 0 and four in five a rise, and other weights of noise
    where it did."""
    rng = np.random.default_rng(19)
    n, m, life, spreads, rising = 9, 5, 20.0, {1.5: 0.7, 6.0: 0.3}, 0.8
    x, variances = np.concatenate([rng.normal(size=6), 1 + rng.normal(size=3)]), rng.uniform(0.5, 1.5, size=n)
    noise = replace(known(1.0, (0.0, 0.0), (0.7, 0.5)), log_changed=np.log([1.8, 0.2]))
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1].T
    gaps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    weights = start_weights(n - m, life)
    changed = never = 0.0
    for level, r, more in zip(noise.variances, noise.correlations, np.exp(noise.log_changed), strict=True):
        covariance = contrasts @ (np.diag(variances) + level * r**gaps) @ contrasts.T
        quiet = multivariate_normal(np.zeros(n - 1), covariance)
        widths = {math.sqrt(spread * (1.0 + level)): chance for spread, chance in spreads.items()}
        sizes = np.linspace(-8, 8, 4000) * max(widths)
        expected = sum(chance * (sizes / width) ** 2 * norm.pdf(sizes, scale=width) for width, chance in widths.items())
        expected *= 2 * np.where(sizes > 0, rising, 1 - rising) * (sizes[1] - sizes[0])
        for j, weight in enumerate(weights):
            step = contrasts @ (np.arange(n) >= m + j).astype(float)
            changed += more * weight * expected @ quiet.pdf(contrasts @ x - sizes[:, None] * step)
        changed += more * life / (n - m + life) * quiet.pdf(contrasts @ x)
        never += quiet.pdf(contrasts @ x)
    result = RunningEvidence(noise, windows=n - m, coordinates=1, life=life, spreads=spreads, rising=rising)
    for place, (value, variance) in enumerate(zip(x, variances, strict=True)):
        (result.add_reference if place < m else result.add)(np.array([value]), variance)
    assert result.starts().log_total == pytest.approx(math.log(changed / never), abs=1e-4)


def test_weights_of_noise_are_one_together_also_where_something_changed():
    for way in NOISES:
        noise = NoiseLevels.of(way, 1.0)
        assert np.exp(noise.log_weights).sum() == pytest.approx(1)
        assert np.exp(noise.log_weights + noise.log_changed).sum() == pytest.approx(1)


def test_noise_is_learnt_from_every_window_so_far():
    rng = np.random.default_rng(18)
    noise = NoiseLevels.of("default", 1.0)
    calm, wild = (RunningEvidence(noise, windows=60, coordinates=1) for _ in range(2))
    for _ in range(60):
        calm.add(rng.normal(size=1), 1.0)
        wild.add(3 * rng.normal(size=1), 1.0)
    assert noise.factor(noise.log_weights) > noise.factor(calm.noise_weights())
    assert noise.factor(calm.noise_weights()) < 1.2
    assert noise.factor(wild.noise_weights()) > 6


def test_windows_of_weeks_share_less_noise_than_days_do():
    days, weeks = NoiseLevels.of("default", 1.0), NoiseLevels.of("default", 1.0, days=7.0)
    assert days.correlations.max() == 0.5
    assert weeks.correlations.max() == pytest.approx(0.5**7, abs=1e-6)


def test_running_total_of_recall():
    hits, sizes = counts(2, 1, 2), counts(10, 10, 10)
    result = [recall_starts(hits[:t], sizes[:t], (58, 100), life=50.0) for t in range(1, 4)]
    assert [each.log_total for each in result] == pytest.approx([0.057733, 1.442876, 2.889109], abs=5e-7)
    assert result[-1].heaviest == 0
    assert result[-1].shares[0] == pytest.approx(0.929, abs=5e-4)


def test_running_total_is_a_likelihood_ratio_with_mean_one():
    rng = np.random.default_rng(5)
    lives, windows, noise = 4000, 4, known(1.0, (0.0, 0.0), (1.0, 0.5))
    totals = []
    for life in range(lives):
        own = math.sqrt(life % 2)  # half of the lives have each level of noise
        alike = own * rng.normal(size=5)
        for place in range(1, 5):
            alike[place] = 0.5 * alike[place - 1] + math.sqrt(0.75) * own * rng.normal()
        values = rng.normal(size=5) + alike
        result = RunningEvidence(noise, windows=windows, coordinates=1)
        result.add_reference(values[:1], 1.0)
        for value in values[1:]:
            result.add(np.array([value]), 1.0)
        totals.append(math.exp(result.starts().log_total))
    assert np.mean(totals) == pytest.approx(1, abs=4 * np.std(totals) / math.sqrt(len(totals)))


def test_scatter_of_ten_reference_windows():
    x = counts(0.01, -0.02, 0.03, 0, -0.01, 0.02, -0.03, 0.01, 0, -0.01)[:, None]
    assert scatter_of(x, np.full(10, 0.0001)) == pytest.approx((30 / 9, -19 / 30))
    assert scatter_of(x[:1], np.full(1, 0.0001)) == (1.0, 0.0)


@pytest.mark.parametrize("scenario", list(Scenario))
def test_cells_keep_every_row_and_never_split_ties(scenario):
    rng = np.random.default_rng(6)
    scores = np.round(rng.normal(size=5000), 3)
    tally = Tally.from_arrays((rng.random(5000) < 0.1).astype(int), scores)
    edges = edges_of(tally, scenario, 0.7345)
    assert edges.size <= MOST_CELLS
    assert 0.7345 in edges
    result = reduce_to_cells(tally, edges, scenario)
    population = tally.totals.unlabelled if scenario is Scenario.CASE_CONTROL else tally.totals.rows
    assert (result.rows, result.n_labelled) == (population, tally.totals.labelled)
    kept = scores if scenario is Scenario.SINGLE_SET else None
    if kept is not None:
        slow = np.bincount(np.maximum(np.searchsorted(edges, kept, side="right") - 1, 0), minlength=edges.size)
        assert np.array_equal(result.population, slow)


def test_scores_beyond_the_reference_stand_in_the_outermost_cells():
    edges = counts(0.2, 0.5)
    tally = Tally.from_arrays(np.array([0, 0, 1, 0]), np.array([0.1, 0.3, 0.5, 0.9]))
    result = reduce_to_cells(tally, edges, Scenario.SINGLE_SET)
    assert list(result.population) == [2, 2]
    assert result.outside == 2


def test_intervals_of_metrics_are_wide_enough_for_the_very_rows_of_a_window():
    rng = np.random.default_rng(30)
    places = np.linspace(-3, 5, 40)
    of_positives, of_negatives = np.exp(-((places - 1.5) ** 2) / 2), np.exp(-(places**2) / 2)
    of_positives, of_negatives = of_positives / of_positives.sum(), of_negatives / of_negatives.sum()
    flagged, rows, share, a0 = places >= 0.8, 400, 0.3, 0.2
    # so large a reference has no error of its own: all doubt is the window's
    reference = CellReference.of(1e9 * of_positives, 1e9 * (a0 * of_positives + (1 - a0) * of_negatives))
    names = ("precision", "f1", "accuracy")
    errors, widths, held = {name: [] for name in names}, {name: [] for name in names}, {name: [] for name in names}
    for _ in range(400):
        positive = rng.multinomial(many := rng.binomial(rows, share), of_positives)
        window = (positive + rng.multinomial(rows - many, of_negatives)).astype(float)
        hit, a1, q1 = positive @ flagged / rows, many / rows, window @ flagged / rows
        truths = {"precision": hit / q1, "f1": 2 * hit / (a1 + q1), "accuracy": 1 - a1 - q1 + 2 * hit}
        parts = parts_of(reference, window, flagged, shift_of(reference, window).value)
        for name in names:
            result = rate_of(name, parts, a0)
            errors[name].append(result.value - truths[name])
            widths[name].append((result.high - result.low) / 2 / 1.96)
            held[name].append(result.low <= truths[name] <= result.high)
    assert all(0.92 <= np.mean(held[name]) <= 0.99 for name in names)
    # where the window's own chance is the larger part the width is that of the errors seen
    assert np.mean(widths["f1"]) == pytest.approx(np.std(errors["f1"]), rel=0.12)


def test_noise_that_shows_to_last_is_taken_to_last_as_long_as_it_does():
    rng = np.random.default_rng(31)
    days = np.empty(400)
    days[0] = rng.normal()
    for place in range(1, 400):
        days[place] = 0.8 * days[place - 1] + 0.6 * rng.normal()
    noise = NoiseLevels.of("slow", 1.0)
    result = RunningEvidence(noise, windows=1, coordinates=1)
    for value in days + rng.normal(size=400):
        result.add_reference(np.array([value]), 1.0)
    shares = np.exp(result.noise_weights())
    assert shares[noise.correlations == 0.8].sum() > 0.9


def test_f1_of_a_window_without_positives_is_nought_and_not_one():
    reference = CellReference.of(counts(0, 1, 3, 16), counts(500, 300, 60, 40))
    window = counts(600, 398, 1, 1)
    shift = shift_of(reference, window)
    flagged = np.array([False, False, True, True])
    assert 0.03 + 0.97 * shift.value < 0, "fewer positives than none"
    result = rate_of("f1", parts_of(reference, window, flagged, shift.value), 0.03)
    assert result.value == result.low == 0
    assert 0 < result.high <= 1


def test_where_all_flagged_rows_are_true_the_share_of_positives_is_in_doubt_still():
    window = counts(30, 30, 3, 17)
    flagged = np.array([False, False, False, True])
    shift = shift_of(FOUR, window).value
    parts = parts_of(FOUR, window, flagged, shift)
    prior, recall, q1 = 0.35 + 0.65 * shift, parts.values[1], parts.values[3]
    assert prior * recall > q1, "more true positives than rows flagged"
    result = rate_of("f1", parts, 0.35)
    assert result.value == pytest.approx(2 * q1 / (prior + q1))
    low_share, high_share = (rate_of("prior", parts, 0.35).low, rate_of("prior", parts, 0.35).high)
    assert low_share < prior < high_share
    assert result.low < 2 * q1 / (prior + (high_share - prior) / 2 + q1), "a larger share is possible, and F1 lower"
