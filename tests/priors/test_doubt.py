"""The default estimate doubts its own shapes: discounted by their misfit, and never surer than the scores allow."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import pulens
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError
from pulens.priors import _shapes
from pulens.priors._cells import cut
from pulens.priors._misfit import misfit
from pulens.priors._shapes import profile
from pulens.priors._uncertainty import doubted, implied_auc, weakness
from pulens.priors.feasible import highest_prior
from pulens.priors.from_scores.auto import CELLS, SHAPES, auto

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))


def even(size):
    """Scores as regular as a normal sample can be."""
    return ndtri((np.arange(size) + 0.5) / size)


def made(labelled, unlabelled):
    labels = np.repeat([1, 0], [len(labelled), len(unlabelled)])
    return Tally.from_arrays(labels, np.concatenate([labelled, unlabelled]))


SHAPE_RIGHT = made(2 + even(300), np.r_[2 + even(600), even(2400)])  # a fifth positive
IMPURE = made(2 + even(300), np.r_[2 + even(960), even(2040)])  # a fifth positive, 360 negatives that look like them
CLUMPS = made(
    np.r_[3 + 0.3 * even(500), 0.3 * even(500)],
    np.r_[
        3 + 0.3 * even(700), 0.3 * even(500), 1.5 + 0.3 * even(2000), -2 + 0.3 * even(6800)
    ],  # 1,000 of 10,000 positive
)


@pytest.mark.parametrize(
    ("tally", "limit", "unfit", "weak", "trusted"),
    [(SHAPE_RIGHT, 0.3313, -2.88, 0.2856, 0.2049), (IMPURE, 0.4737, -2.86, 0.2821, 0.3266)],
)
def test_worked_cases(tally, limit, unfit, weak, trusted):
    result = auto(tally)
    assert highest_prior(tally) == pytest.approx(limit, abs=5e-5)
    assert result.details["misfit"] == pytest.approx(unfit, abs=0.01)
    assert weakness(result.details["implied_auc"]) == pytest.approx(weak, abs=5e-5)
    assert result.details["full trust"] == pytest.approx(trusted, abs=2e-4)
    assert result.value == pytest.approx(trusted, abs=2e-4)  # a perfect fit is not discounted
    assert result.details["discount"] == 1
    assert result.details["doubt"] == pytest.approx(0.25 * weak, abs=1e-4)


def test_negatives_that_look_like_positives_do_not_put_the_truth_outside():
    trusting = auto(IMPURE, doubt=0, discount=0)
    assert trusting.low > 0.2  # the shape fits perfectly and the truth is missed
    assert auto(IMPURE).low < 0.2 < auto(IMPURE).high


def test_shapes_that_do_not_fit_count_for_nothing():
    trusting, result = auto(CLUMPS, doubt=0, discount=0), auto(CLUMPS)
    assert trusting.high - trusting.low < 0.005  # absurdly sure, and the truth is 0.1
    assert result.details["misfit"] == pytest.approx(191, abs=1)
    assert result.details["discount"] < 0.02
    assert result.low < 0.1 < result.high
    assert "misfit-shapes" in [notice.code for notice in result.notices]


def test_arithmetic_of_weakness_and_discount():
    assert implied_auc(0.8, 0.2) == pytest.approx(0.875)
    assert weakness(0.875) == pytest.approx(0.37796, abs=1e-5)
    result = doubted(np.array([0.1, 0.3]), np.zeros(2), limit=0.4, observed_auc=0.8, misfit=2.0)
    weak = weakness(result.implied_auc)
    assert result.discount == pytest.approx(1 / (1 + 2 * weak))
    assert result.doubt == pytest.approx(0.25 * weak)


def test_mixture_of_evidence_doubt_and_purity_against_direct_integration():
    """The slow witness: densities integrated on a fine grid of their own."""
    values = np.linspace(0.01, 0.5, 50)
    evidence = -0.5 * ((values - 0.2) / 0.05) ** 2
    limit, unfit = 0.45, 1.5
    result = doubted(values, evidence, limit=limit, observed_auc=0.85, misfit=unfit)
    pure = 0.2 * (1 - result.discount)

    def mass(trust, end):
        """In roots of shares the density has no pole: a fine trapezoid."""
        roots = np.linspace(0, np.sqrt(limit), 400_001)
        shares = roots**2
        heights = 2 * (1 - shares) * np.exp(trust * np.interp(shares, values, evidence))
        inside = roots <= np.sqrt(end)
        return np.trapezoid(heights[inside], roots[inside]) / np.trapezoid(heights, roots)

    for level in (0.025, 0.5, 0.975):
        share = result.distribution.quantile(level)
        believed = mass(result.discount, share)
        doubting = mass(0.0, share)
        near = (share / limit) ** 5
        mixed = (1 - pure) * ((1 - result.doubt) * believed + result.doubt * doubting) + pure * near
        assert mixed == pytest.approx(level, abs=2e-3)


@given(st.floats(0.02, 0.95), st.floats(0.4, 0.99), st.floats(-3, 200), st.floats(0.01, 0.9), st.floats(0.001, 0.2))
def test_nothing_lies_beyond_the_feasible_limit(limit, area, unfit, centre, spread):
    values = np.linspace(0.005, 0.99, 60)
    result = doubted(
        values, -0.5 * ((values - centre) / spread) ** 2, limit=limit, observed_auc=area, misfit=unfit
    ).distribution
    low, high = result.interval(0.95)
    assert 0 <= low <= high <= limit * (1 + 1e-9)
    assert result.masses.sum() == pytest.approx(1)


def test_misfit_is_small_where_a_shape_is_right_and_grows_with_rows_where_none_is():
    rng = np.random.default_rng(5)

    def mean_misfit(positive, negative, n, runs):
        result = []
        for _ in range(runs):
            tally = made(positive(n), np.concatenate([positive(2 * n), negative(8 * n)]))
            cells = cut(tally, CELLS)
            result.append(misfit(cells, profile(cells, SHAPES)))
        return float(np.mean(result))

    def two_places(size):
        return rng.choice([0.0, 3.0], size) + 0.3 * rng.normal(size=size)

    def between(size):
        return rng.choice([1.5, -2.0], size, p=[0.2, 0.8]) + 0.3 * rng.normal(size=size)

    right = mean_misfit(lambda size: rng.normal(2, 1, size), lambda size: rng.normal(0, 1, size), 300, 12)
    assert -1 < right < 0.7
    few, many = (mean_misfit(two_places, between, n, 2) for n in (100, 1600))
    assert few > 3
    assert many > 8 * few


def test_more_rows_do_not_make_a_wrong_shape_surer():
    """Two bumps of positives, negatives between them: full trust narrows around a wrong share."""
    rng = np.random.default_rng(3)
    widths, held = [], 0
    for n in (200, 3200):
        positive = rng.choice([0.0, 3.0], 3 * n) + 0.3 * rng.normal(size=3 * n)
        negative = rng.choice([1.5, -2.0], 18 * n, p=[0.2, 0.8]) + 0.3 * rng.normal(size=18 * n)
        tally = made(positive[:n], np.concatenate([positive[n:], negative]))
        result = auto(tally)
        widths.append(result.high - result.low)
        held += result.low <= 0.1 <= result.high
    assert held == 2
    assert widths[1] > 0.5 * widths[0]


def test_reversed_scores_leave_everything_up_to_the_limit_open():
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0], [200, 2000])
    scores = np.concatenate([rng.normal(-1, 1, 200), rng.normal(0, 1, 2000)])
    prior = pulens.estimate_prior(labels, scores, scenario="case-control")
    assert prior.unlabelled_interval.low == 0
    assert prior.unlabelled_interval.high == pytest.approx(prior.unlabelled_feasible.high, rel=1e-5)
    assert prior.notices[0].code == "reversed-scores"


def test_scores_that_tell_little_are_called_undetermined():
    rng = np.random.default_rng(2)
    labels = np.repeat([1, 0], [300, 3000])
    scores = np.concatenate([rng.normal(0.4, 1, 600), rng.normal(0, 1, 2700)])
    prior = pulens.estimate_prior(labels, scores, scenario="case-control")
    assert "undetermined-prior" in [notice.code for notice in prior.notices]
    assert prior.unlabelled_interval.width > 0.3


def test_full_trust_can_be_asked_for_and_says_so():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    labels = np.repeat([1, 0], [500, 5000])
    doubting = pulens.estimate_prior(labels, scores, scenario="case-control")
    trusting = pulens.estimate_prior(labels, scores, scenario="case-control", doubt=0, discount=0)
    assert doubting.interval.method == "likelihood with doubt"
    assert trusting.interval.method == "likelihood"
    assert trusting.interval.width < doubting.interval.width


@pytest.mark.slow
def test_intervals_hold_on_scores_of_models_trained_on_real_tables(shared):
    """A few of the worlds of benchmarks/real_worlds.py in which full trust in the shapes fails most."""
    import real_worlds

    wanted = [("spambase", "spam", "logistic"), ("page_blocks", "not text", "bayes"), ("pima", "positive", "network")]
    doubting, trusting, runs = 0, 0, 12
    for each in wanted:
        world = real_worlds.pool(shared / "data", each)
        rng = np.random.default_rng(world.seed)
        for _ in range(runs):
            drawn = real_worlds.draw(world, rng)
            tally = Tally.from_arrays(drawn.labels, drawn.scores)
            for options in ({}, {"doubt": 0, "discount": 0}):
                result = auto(tally, **options)
                held = result.low <= drawn.unlabelled_prior <= result.high
                doubting, trusting = (doubting + held, trusting) if not options else (doubting, trusting + held)
    assert doubting >= 32  # of 36: at 95% fewer have a chance of 1 in 40
    assert trusting < doubting


def test_likelihoods_that_no_double_holds_are_said_in_words(monkeypatch) -> None:
    result = _shapes.profile
    on_grid = _shapes._on_grid

    def lost(*given):
        return replace(on_grid(*given), integrated=np.full_like(on_grid(*given).integrated, -np.inf))

    monkeypatch.setattr(_shapes, "_on_grid", lost)
    rng = np.random.default_rng(0)
    tally = Tally.from_arrays(np.repeat([1, 0], [50, 200]), rng.normal(size=250))
    with pytest.raises(AssumptionError, match="numbers that a computer holds"):
        result(cut(tally, 50), (_shapes.Shape("line"),))


def test_a_prior_too_large_for_floating_point_is_refused_in_words():
    with pytest.raises(AssumptionError, match="class_prior"):
        pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=10**400, labelling="random")
