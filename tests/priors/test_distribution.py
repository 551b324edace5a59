"""The distribution that carries the doubt about a class prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import pulens
from pulens.priors.distribution import PriorDistribution


def of(density, size=4001):
    values = np.linspace(0, 1, size)[1:-1]
    return PriorDistribution(values, density(values))


def test_quantiles_mean_and_spread_are_those_of_the_density():
    result = of(beta(3, 9).pdf)
    for share in (0.025, 0.5, 0.9):
        assert result.quantile(share) == pytest.approx(beta(3, 9).ppf(share), abs=1e-4)
    assert result.mean == pytest.approx(0.25, abs=1e-4)
    assert result.standard_deviation == pytest.approx(beta(3, 9).std(), abs=1e-4)


@pytest.mark.parametrize("odd", [-0.1, 1.1, float("nan"), -(10**400), "half"])
def test_quantiles_of_what_is_no_share_are_refused(odd):
    with pytest.raises(pulens.PulensError, match="from 0 to 1"):
        of(beta(3, 9).pdf).quantiles(odd)


def test_interval_reaches_zero_only_where_zero_is_likely():
    assert of(beta(1, 20).pdf).interval(0.95)[0] == 0
    low, high = of(beta(30, 70).pdf).interval(0.95)
    assert (low, high) == pytest.approx(beta(30, 70).ppf([0.025, 0.975]), abs=1e-3)


def test_draws_follow_the_density():
    draws = of(beta(3, 9).pdf).draw(np.random.default_rng(0), 20_000)
    assert draws.mean() == pytest.approx(0.25, abs=0.005)
    assert draws.std() == pytest.approx(beta(3, 9).std(), abs=0.005)


def test_a_limit_below_all_likelihood_leaves_the_values_next_to_it():
    result = PriorDistribution(np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 1.0])).below(0.25)
    assert result.quantile(0.5) == pytest.approx(0.2, abs=0.06)


def test_an_estimated_prior_can_be_drawn_from():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(2, 1, 700), rng.normal(0, 1, 1600)])
    prior = pulens.estimate_prior(np.repeat([1, 0], [300, 2000]), scores, scenario="case-control")
    draws = prior.distribution.draw(rng, 5000)
    inside = np.mean((draws >= prior.unlabelled_interval.low) & (draws <= prior.unlabelled_interval.high))
    assert inside == pytest.approx(0.95, abs=0.02)
