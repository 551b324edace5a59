"""Worlds that fit the counts where random labels do not: worked examples, and a witness that builds worlds by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pulens.counts.tally import Tally, Totals
from pulens.recovery.possible_worlds import PossibleWorlds, blocks_of, positives_that_fit


def worlds_of(labelled, unlabelled, prior, *, slack=0.0, together=False, favours="high") -> PossibleWorlds:
    counts = [np.array(kind, float) for kind in (labelled, unlabelled)]
    totals = Totals(counts[0].sum(), counts[1].sum(), 0.0)
    running = [np.cumsum(kind) / kind.sum() for kind in counts]
    low, high = positives_that_fit(*running, totals, prior, together=together, slack=slack)
    return PossibleWorlds(counts[0] / counts[0].sum(), low, high, favours)


def recalls(worlds: PossibleWorlds, blocks: int, factor: float) -> tuple[float, float]:
    flagged = (np.arange(worlds.shares.size) < blocks).astype(float)
    return tuple(float(world @ flagged) for world in worlds.extremes(flagged, factor))  # type: ignore[return-value]


def test_two_blocks_have_the_least_factor_and_recall_worked_by_hand() -> None:
    worlds = worlds_of([8, 2], [10, 90], 0.2)
    assert worlds.least_factor == pytest.approx(4)
    assert worlds.nearest == pytest.approx([1 / 2, 1 / 2])
    low, high = recalls(worlds, 1, 3 * worlds.least_factor)
    assert (low, high) == pytest.approx((1 / 4, 1 / 2))
    assert (0.2 * low / 0.1, 0.2 * high / 0.1) == pytest.approx((1 / 2, 1))  # precision


def test_three_blocks_have_the_world_recalls_and_area_worked_by_hand() -> None:
    worlds = worlds_of([5, 3, 2], [5, 5, 90], 0.2)
    assert worlds.least_factor == pytest.approx(5)
    assert worlds.nearest == pytest.approx([1 / 4, 1 / 4, 1 / 2])
    assert worlds.nearest / worlds.shares / (worlds.nearest / worlds.shares)[0] == pytest.approx([1, 5 / 3, 5])
    factor = 3 * worlds.least_factor
    assert recalls(worlds, 1, factor) == pytest.approx((1 / 12, 1 / 4))
    assert recalls(worlds, 2, factor) == pytest.approx((4 / 19, 1 / 2))
    outscored = np.array([0.975, 0.925, 0.45])
    areas = [(float(world @ outscored) - 0.1) / 0.8 for world in worlds.extremes(outscored, factor)]
    assert areas == pytest.approx([0.570724, 0.75], abs=1e-6)


def test_slack_of_two_standard_errors_gives_the_factors_worked_by_hand() -> None:
    assert worlds_of([80, 20], [100, 900], 0.2, slack=2).least_factor == pytest.approx(1.921726, abs=1e-6)
    assert worlds_of([8, 2], [10, 90], 0.2, slack=2).least_factor == 1.0


def test_labels_that_favour_low_scores_are_the_mirror_image() -> None:
    high = worlds_of([8, 2], [10, 90], 0.2)
    low = worlds_of([2, 8], [90, 10], 0.2, favours="low")
    assert low.least_factor == pytest.approx(high.least_factor)
    assert low.nearest == pytest.approx(high.nearest[::-1])
    assert worlds_of([2, 8], [90, 10], 0.2).is_empty


def test_positives_with_nowhere_to_be_leave_no_world() -> None:
    for favours in ("high", "low"):
        assert worlds_of([10, 0], [1, 99], 0.2, favours=favours).is_empty


def test_in_one_sample_labelled_rows_are_among_the_positives() -> None:
    """8 + 2 labelled rows and 20 hidden positives; at most 10 of those stand above the cut: 18 of 30."""
    worlds = worlds_of([8, 2], [10, 90], 0.2, together=True)
    assert worlds.high[0] == pytest.approx(18 / 30)
    assert worlds.low[0] == pytest.approx(8 / 30)
    assert worlds.nearest[0] == pytest.approx(18 / 30)
    assert worlds.least_factor == pytest.approx((12 / 2) / (18 / 8))
    # however much high scores were favoured, the labelled rows above the cut stay positives
    assert recalls(worlds, 1, 1e4)[0] == pytest.approx(8 / 30, abs=1e-6)


def witness(worlds: PossibleWorlds, factor: float, levels: int = 41) -> np.ndarray:
    """Densities of all worlds whose h takes values on a grid: tried one by one, without any programme."""
    result = []
    steps = np.geomspace(1.0, factor, levels)
    for heights in itertools.combinations_with_replacement(steps, worlds.shares.size - 1):
        density = worlds.shares * np.array([1.0, *heights])
        density = density / density.sum()
        running = np.cumsum(density)
        if np.all(running <= worlds.high + 1e-12) and np.all(running >= worlds.low - 1e-12):
            result.append(density)
    return np.array(result)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("together", [False, True])
def test_no_world_built_by_hand_leaves_the_range_and_its_ends_are_nearly_met(seed: int, together: bool) -> None:
    rng = np.random.default_rng(seed)
    labelled = np.sort(rng.integers(5, 60, 4))[::-1]
    unlabelled = rng.integers(5, 40, 4) * np.array([1, 2, 4, 8])
    worlds = worlds_of(labelled, unlabelled, 0.35, slack=rng.choice([0.0, 0.5]), together=together)
    if worlds.is_empty:
        assert not len(witness(worlds, 1e6))
        return
    factor = 3 * worlds.least_factor
    by_hand = witness(worlds, factor)
    values = rng.normal(size=4)
    low, high = (float(world @ values) for world in worlds.extremes(values, factor))
    result = by_hand @ values
    assert low - 1e-9 <= result.min() <= low + 0.08 * (high - low) + 1e-9
    assert high - 0.08 * (high - low) - 1e-9 <= result.max() <= high + 1e-9
    if worlds.least_factor > 1.02:
        assert not len(witness(worlds, 0.98 * worlds.least_factor))
        assert len(witness(worlds, 1.1 * worlds.least_factor))


def test_every_end_is_a_world() -> None:
    worlds = worlds_of([50, 30, 20, 10], [20, 60, 200, 700], 0.25, slack=1.0)
    factor = 3 * worlds.least_factor
    for world in worlds.extremes(np.array([1.0, 1.0, 0.0, 0.0]), factor):
        running, heights = np.cumsum(world), world / worlds.shares
        assert np.all(running <= worlds.high + 1e-7)
        assert np.all(running >= worlds.low - 1e-7)
        assert np.all(np.diff(heights) >= -1e-7)
        assert heights[-1] <= factor * heights[0] * (1 + 1e-6)
        assert world.sum() == pytest.approx(1)


def test_blocks_are_few_and_hold_the_thresholds_asked_for() -> None:
    scores = np.random.default_rng(0).normal(size=5000)
    tally = Tally.from_arrays((np.arange(5000) % 7 == 0).astype(int), scores)
    asked = float(np.sort(scores)[1234])
    places = blocks_of(tally, (asked, 99.0))
    assert places.size <= 130
    assert places[-1] == len(tally) - 1
    assert asked in tally.thresholds[places]
