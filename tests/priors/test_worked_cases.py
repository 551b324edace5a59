"""Cases worked by hand or known in the limit of infinite data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import beta, norm

from pulens.counts.tally import Tally
from pulens.inference.kernels.exact import binomial_lower, binomial_upper
from pulens.priors import feasible_range
from pulens.priors._cells import cut
from pulens.priors._density_ratio import fit_ratio
from pulens.priors._shapes import Shape, coefficient_prior, columns
from pulens.priors.from_scores._label_probability import prior_from_label_frequency
from pulens.priors.from_scores.alphamax import bend, loss_curve
from pulens.priors.from_scores.auto import auto
from pulens.priors.from_scores.best_bin import best_bin
from pulens.priors.from_scores.dedpul import prior_from_ratio
from pulens.priors.from_scores.roc_slope import roc_slope
from pulens.priors.from_scores.tilt import tilt
from pulens.priors.with_noise.tilt import tilt as two_floor_tilt

LABELLED = [0.9, 0.8, 0.7, 0.6]
UNLABELLED = [0.95, 0.85, 0.75, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
SMALL = Tally.from_arrays(np.repeat([1, 0], [4, 10]), np.array(LABELLED + UNLABELLED))
P, W = np.array([0, 0.1, 0.3, 0.6]), np.array([0.5, 0.2, 0.15, 0.15])


def population(prior, positive, negative, noise=0.0, size=1e6, grid=None):
    """A tally of densities instead of rows: an infinite sample, up to the grid."""
    x = np.linspace(-9, 9, 20_001) if grid is None else grid
    f1, f0 = positive(x), negative(x)
    f1, f0 = f1 / f1.sum(), f0 / f0.sum()
    return Tally.from_increments(x, size * ((1 - noise) * f1 + noise * f0), size * (prior * f1 + (1 - prior) * f0))


def test_best_bin_objective_of_the_small_case():
    result = best_bin(SMALL)
    assert result.value == pytest.approx(0.4)
    assert result.details["threshold"] == 0.6
    penalty = result.details["penalty"]
    shares = np.array([1, 2, 3, 4])
    assert_allclose((0.1 * shares + penalty) / (shares / 4), [4.878421, 2.639211, 1.892807, 1.519605], atol=1e-6)


def test_binomial_limits_of_the_small_case():
    counts = np.array([1.0, 2, 3, 4])
    assert_allclose(binomial_upper(counts, 10, 0.1), [0.336848, 0.449604, 0.551731, 0.645784], atol=1e-6)
    assert_allclose(binomial_lower(counts, 4, 0.1), [0.025996, 0.142559, 0.320461, 0.562341], atol=1e-6)
    assert roc_slope(SMALL).value == 1.0


def test_elkan_and_noto_by_hand():
    labelled = np.array([0.5, 0.4, 0.3, 0.4])
    unlabelled = np.array([0.45, 0.3, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01, 0.1])
    assert prior_from_label_frequency(labelled.mean(), 4, 10) == pytest.approx(0.6)
    second = labelled.sum() / (labelled.sum() + unlabelled.sum())
    assert second == pytest.approx(0.571429, abs=1e-6)
    assert prior_from_label_frequency(second, 4, 10) == pytest.approx(0.3)
    assert prior_from_label_frequency(0.5, 4, 10) == pytest.approx(0.4)


def test_dedpul_expectation_maximisation_by_hand():
    assert prior_from_ratio(np.array([4, 4, 3, 2, 1, 0.5, 0.2, 0.1, 0.1, 0.1])) == pytest.approx(0.5, abs=1e-4)


def test_alphamax_loss_and_shares_by_hand():
    grid = np.array([0.2, 0.25, 0.3, 0.4, 0.6, 0.8])
    loss, shares = loss_curve(P, W, grid)
    expected = [0, 0, 0.020212 + 0.004510, 0.123430 + 0.034306, 0.481584 + 0.144521, 0.747263 + 0.396430]
    assert_allclose(loss, expected, atol=2e-6)
    assert_allclose(shares[1], [0, 0.125, 0.5, 1], atol=1e-6)
    assert_allclose(shares[2], [0, 0.193907, 0.741457, 1], atol=1e-6)
    assert_allclose(shares[5], [0.6, 1, 1, 1], atol=1e-6)
    assert bend(np.linspace(0.01, 0.99, 99), P, W)[0] == pytest.approx(0.29)


def test_alphamax_dual_finds_what_a_general_optimiser_finds():
    rng = np.random.default_rng(3)
    p, w = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    for prior in (0.3, 0.7):
        loss = loss_curve(p, w, np.array([prior]))[0][0]

        def objective(b, prior=prior):
            b = np.clip(b, 1e-12, 1)
            return -(p @ np.log(b * w / prior) + w @ np.log(prior * p + (1 - b) * w))

        general = minimize(
            objective,
            np.full(6, prior),
            bounds=[(1e-9, 1)] * 6,
            constraints={"type": "eq", "fun": lambda b, prior=prior: w @ b - prior},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert loss == pytest.approx(general.fun + p @ np.log(p) + w @ np.log(w), abs=1e-6)


def test_tilt_is_exact_where_its_shape_is():
    equal = population(0.2, norm(1.5, 1).pdf, norm(0, 1).pdf)
    assert tilt(equal).value == pytest.approx(0.2, abs=5e-4)


def test_tilt_is_too_high_where_negatives_are_wider_and_auto_is_not():
    wide = population(0.2, norm(1.5, 1).pdf, norm(0, 1.5).pdf)
    assert tilt(wide).value == pytest.approx(0.4287, abs=5e-4)
    assert tilt(wide, shape="parabola").value == pytest.approx(0.2, abs=0.01)
    assert auto(wide).value == pytest.approx(0.2, abs=0.01)


def test_tilt_uses_the_logit_of_probabilities():
    grid = np.linspace(0, 1, 20_003)[1:-1]
    scores = population(0.1, beta(5, 2).pdf, beta(2, 5).pdf, grid=grid)
    result = tilt(scores)
    assert result.details["scale"] == "logit"
    assert result.value == pytest.approx(0.1, abs=1e-3)


def test_tilt_with_two_floors_finds_both():
    noisy = population(0.2, norm(2, 1).pdf, norm(0, 1).pdf, noise=0.1)
    result = two_floor_tilt(noisy)
    assert result.unlabelled_prior.value == pytest.approx(0.2, abs=0.01)
    assert result.label_noise.value == pytest.approx(0.1, abs=0.01)
    assert tilt(noisy, label_noise=0.1).value == pytest.approx(0.2, abs=2e-3)


def test_known_negatives_sharpen_a_tilt():
    rng = np.random.default_rng(4)
    scores = np.concatenate([rng.normal(0.8, 1, 600), rng.normal(0, 1, 2400), rng.normal(0, 1, 2000)])
    labels = np.repeat([1, 0, -1], [200, 2800, 2000])  # 400 of 2800 are positive
    with_negatives = tilt(Tally.from_arrays(labels, scores))
    without = tilt(Tally.from_arrays(labels[:3000], scores[:3000]))
    assert with_negatives.high - with_negatives.low < 0.75 * (without.high - without.low)
    assert with_negatives.low < 1 / 7 < with_negatives.high


def test_fisher_scoring_finds_what_a_general_optimiser_finds():
    rng = np.random.default_rng(7)
    scores = np.concatenate([rng.normal(1, 1, 500), rng.normal(0, 1, 1500)])
    cells = cut(Tally.from_arrays(np.repeat([1, 0], [300, 1700]), scores), 60)
    scale = (cells.scores - cells.scores.mean()) / cells.scores.std()
    shape = Shape("parabola", spread=0.5)
    basis, (centre, precision) = columns(scale, shape), coefficient_prior(shape)
    n, m = cells.n_labelled, cells.n_unlabelled
    for prior, noise in ((0.1, 0.0), (0.4, 0.1)):
        fit = fit_ratio(basis, cells, np.array([prior]), np.array([noise]), centre, precision, tolerance=1e-10)

        def objective(a, prior=prior, noise=noise):
            ratio = np.exp(basis @ a)
            ours, theirs = 1 - noise + noise * ratio, prior + (1 - prior) * ratio
            value = cells.labelled @ np.log(ours) + cells.unlabelled @ np.log(theirs)
            value -= (cells.labelled + cells.unlabelled) @ np.log(n * ours + m * theirs)
            return -(value - 0.5 * precision @ (a - centre) ** 2)

        general = minimize(objective, centre, method="BFGS", options={"gtol": 1e-6})
        assert fit.log_likelihood[0] == pytest.approx(-general.fun, abs=1e-5)
        assert_allclose(fit.coefficients[0], general.x, atol=5e-3)


def test_feasible_range_holds_the_limit_of_the_density_ratio():
    """Negatives wider than positives: nothing tells 0.2 from 0.4168, the smallest ratio of densities."""
    wide = population(0.2, norm(1.5, 1).pdf, norm(0, 1.5).pdf, size=1e7)
    assert 0.41 < feasible_range(wide).high < 0.46


def test_cells_never_split_ties_and_keep_every_row():
    rng = np.random.default_rng(0)
    tally = Tally.from_arrays((rng.random(5000) < 0.2).astype(int), rng.integers(0, 700, 5000) / 7)
    cells = cut(tally, 100)
    assert len(cells) <= 101
    assert cells.n_labelled + cells.n_unlabelled == 5000
    assert (np.diff(cells.scores) > 0).all()
    fine = cut(tally, 10_000)
    assert_allclose(fine.scores, tally.thresholds[::-1])
