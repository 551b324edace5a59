"""Many intervals at once: critical values beside published ones, MOVER beside a slow witness."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.inference.kernels.mover import jeffreys_ends, mover
from pulens.inference.kernels.simultaneous import LargestOf, independent_quantile, tail_of

#: Upper 5% points of the studentised range with infinitely many degrees of freedom (Harter 1960, table of q).
STUDENTISED_RANGE = {2: 2.772, 3: 3.314, 4: 3.633, 5: 3.858, 10: 4.474, 20: 5.012}


@pytest.mark.parametrize(("groups", "published"), STUDENTISED_RANGE.items())
def test_the_critical_value_of_equally_sure_groups_is_tukeys(groups, published):
    result = LargestOf.pairs(np.full(groups, 0.1)).quantile(0.95)
    assert result == pytest.approx(published / np.sqrt(2), abs=5e-4)


def test_worked_critical_values():
    assert LargestOf.pairs(np.array([0.04, 0.07])).quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert LargestOf.pairs(np.ones(3)).quantile(0.95) == pytest.approx(2.344, abs=0.01)
    assert independent_quantile(20, 0.95) == pytest.approx(3.016, abs=5e-4)
    assert LargestOf.contrasts(np.eye(20)).quantile(0.95) == pytest.approx(3.016, abs=0.01)


def test_unequal_groups_have_the_quantile_of_draws():
    errors = np.array([0.02, 0.05, 0.11, 0.2, 0.04])
    drawn = np.random.default_rng(5).normal(size=(200_000, 5)) * errors
    one, other = np.triu_indices(5, 1)
    largest = (np.abs(drawn[:, one] - drawn[:, other]) / np.hypot(errors[one], errors[other])).max(axis=1)
    result = LargestOf.pairs(errors)
    assert result.quantile(0.95) == pytest.approx(np.quantile(largest, 0.95), abs=0.012)
    for bound in (1.0, 2.0, 3.0):
        assert result.at_most(bound) == pytest.approx((largest <= bound).mean(), abs=0.005)
        assert result.at_most(bound) + result.beyond(bound) == pytest.approx(1.0, abs=1e-12)


def test_a_group_that_is_as_good_as_known_costs_what_it_should():
    """With one group known exactly, the two others and their difference remain."""
    nearly = LargestOf.pairs(np.array([1e-9, 1.0, 1.0])).quantile(0.95)
    rows = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
    assert nearly == pytest.approx(LargestOf.contrasts(rows).quantile(0.95), abs=0.005)


def test_the_tail_far_out_keeps_its_digits():
    from scipy.special import ndtr

    assert LargestOf.pairs(np.array([0.1, 0.3])).beyond(9.0) == pytest.approx(2 * ndtr(-9.0), rel=1e-9)
    many = LargestOf.pairs(np.ones(6)).beyond(7.0)
    assert 0.5 < many / (15 * 2 * ndtr(-7.0)) <= 1.05  # far out, misses of several pairs at once are rare


def test_fewer_than_two_groups_need_nothing():
    assert LargestOf.pairs(np.array([0.1])).quantile(0.95) == 0.0
    assert tail_of(0.0) == 0.5


def test_worked_gap_of_81_of_100_and_32_of_50():
    low, high = jeffreys_ends([81, 32], [100, 50], 0.025)
    result = mover([1, -1], [0.81, 0.64], low, high)
    assert [float(end) for end in result] == pytest.approx([0.021089, 0.323508], abs=5e-7)


def test_mover_takes_from_each_part_the_side_on_which_it_pulls():
    """A witness in plain words, part by part."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        weights, values = rng.normal(size=4), rng.uniform(0.2, 0.8, 4)
        lows, highs = values - rng.uniform(0, 0.2, 4), values + rng.uniform(0, 0.2, 4)
        low, high = mover(weights, values, lows, highs)
        down = up = 0.0
        for weight, value, below, above in zip(weights, values, lows, highs, strict=True):
            ends = sorted((weight * below, weight * above))
            down += (weight * value - ends[0]) ** 2
            up += (ends[1] - weight * value) ** 2
        middle = float(weights @ values)
        assert float(low) == pytest.approx(middle - down**0.5)
        assert float(high) == pytest.approx(middle + up**0.5)


def test_mover_of_normal_parts_is_the_normal_interval():
    values, errors = np.array([0.4, 0.3, 0.6]), np.array([0.02, 0.05, 0.03])
    weights = np.array([1.0, -0.5, -0.5])
    low, high = mover(weights, values, values - 1.96 * errors, values + 1.96 * errors)
    half = 1.96 * np.sqrt((weights**2 * errors**2).sum())
    assert (float(high) - float(low)) / 2 == pytest.approx(half)


def test_mover_adds_a_variance_that_no_part_has():
    low, high = mover([1.0], [0.5], [0.4], [0.6], extra=0.3**2)
    assert (float(low), float(high)) == pytest.approx((0.5 - 0.1**0.5, 0.5 + 0.1**0.5))


def test_jeffreys_ends_hold_the_rate_and_reach_the_limits():
    low, high = jeffreys_ends([0, 7, 7, 0], [7, 7, 14, 0], 1e-60)
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert low[2] < 0.5 < high[2]
    assert np.isnan(low[3])


def test_parts_that_go_together_widen_or_narrow_a_difference():
    """With a correlation of -1 spreads add up, with 1 they cancel, with 0 they are independent."""
    ends = {r: mover([1, -1], [0.5, 0.4], [0.4, 0.2], [0.7, 0.5], correlations=[[1, r], [r, 1]]) for r in (-1, 0, 1)}
    assert [float(end) for end in ends[-1]] == pytest.approx([0.1 - (0.1 + 0.1), 0.1 + (0.2 + 0.2)])
    assert [float(end) for end in ends[1]] == pytest.approx([0.1, 0.1])
    apart = mover([1, -1], [0.5, 0.4], [0.4, 0.2], [0.7, 0.5])
    assert [float(end) for end in ends[0]] == pytest.approx([float(end) for end in apart])
