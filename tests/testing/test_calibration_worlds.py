"""Worlds with a known calibration error."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import PulensError
from pulens.testing import LogitMixture, fit_logit_mixture, logistic_world

MIXTURE = LogitMixture(0.4, [(0.7, 2.0, 1.0), (0.3, 0.0, 0.5)], [(0.5, -2.0, 1.0), (0.5, 0.0, 0.6)])


def test_the_true_error_is_the_trapezoid_rule_of_the_paper():
    grid = np.linspace(-12, 14, 400_001)
    share, score = np.nan_to_num(MIXTURE.posterior(grid)), 1 / (1 + np.exp(-grid))
    slow = np.trapezoid(MIXTURE.density(grid) * np.abs(share - score), grid)
    assert MIXTURE.true_calibration_error() == pytest.approx(slow, abs=1e-8)


def test_a_narrow_component_is_not_stepped_over():
    world = LogitMixture(0.5, [(0.9, 3.0, 1.0), (0.1, 0.777, 1e-3)], [(1.0, -3.0, 1.0)])
    grid = np.concatenate([np.linspace(-12, 12, 200_001), np.linspace(0.76, 0.79, 400_001)])
    grid.sort()
    score = 1 / (1 + np.exp(-grid))
    gap = np.abs(0.5 * world.density(grid, positive=True) - score * world.density(grid))
    assert world.true_calibration_error() == pytest.approx(np.trapezoid(gap, grid), abs=1e-6)


def test_bins_hide_error_and_many_bins_hide_none():
    coarse, fine = (MIXTURE.binned_calibration_error(MIXTURE.mass_edges(bins)) for bins in (3, 2_000))
    truth = MIXTURE.true_calibration_error()
    assert coarse < truth
    assert fine == pytest.approx(truth, abs=1e-4)


def test_masses_of_bins_are_those_of_drawn_rows():
    edges = MIXTURE.mass_edges(5)
    positive, promised = MIXTURE.binned_masses(edges)
    few, many, is_positive = MIXTURE.draw(50_000, 200_000, np.random.default_rng(0))
    place = np.searchsorted(edges[1:-1], many, side="left")
    np.testing.assert_allclose(np.bincount(place) / many.size, 0.2, atol=0.005)
    np.testing.assert_allclose(np.bincount(place, many) / many.size, promised, atol=0.003)
    np.testing.assert_allclose(np.bincount(place[is_positive], minlength=5) / many.size, positive, atol=0.004)
    where = np.searchsorted(edges[1:-1], few, side="left")
    np.testing.assert_allclose(0.4 * np.bincount(where, minlength=5) / few.size, positive, atol=0.004)
    assert sum(positive) == pytest.approx(0.4)
    assert MIXTURE.population_below(edges[1]) == pytest.approx(0.2, abs=1e-6)


def test_a_calibrated_world_has_no_error():
    prior = 0.3
    world = logistic_world(np.log(prior / (1 - prior)), 2.0, prior)
    assert world.true_calibration_error() == pytest.approx(0, abs=1e-9)
    with pytest.raises(PulensError, match="slope must be above 0"):
        logistic_world(0.0, -1.0)


def test_a_fitted_mixture_has_nearly_the_true_error():
    rng = np.random.default_rng(0)
    positive, negative = (MIXTURE._draw(parts, 4_000, rng) for parts in (MIXTURE.positive, MIXTURE.negative))
    fitted = fit_logit_mixture(positive, negative, 0.4, most_components=3)
    assert fitted.true_calibration_error() == pytest.approx(MIXTURE.true_calibration_error(), abs=0.015)
    assert len(fitted.positive) <= 3
