"""The linear map from observed to true rates: counts of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pulens.recovery import pairwise_auc
from pulens.tally import Tally


def exact_pairwise_auc(first: list[int], second: list[int]) -> Fraction:
    """Chance that a row of the first kind outscores one of the second; counts per score, highest first."""
    won, passed = 0, 0
    for at, others in zip(first, second, strict=True):
        won += 2 * passed * others + at * others
        passed += at
    return Fraction(won, 2 * sum(first) * sum(second))


@pytest.mark.parametrize("unit", [1, 10**3, 10**9, 10**12])
def test_areas_of_any_number_of_rows_are_exact(unit: int) -> None:
    labelled, unlabelled = [3 * unit, unit], [unit, 3 * unit]
    tally = Tally.from_increments(np.array([2.0, 1.0]), np.array(labelled), np.array(unlabelled))
    assert pairwise_auc(tally, "labelled", "unlabelled") == float(exact_pairwise_auc(labelled, unlabelled)) == 0.75


def test_areas_of_billions_of_rows_agree_with_whole_numbers() -> None:
    rng = np.random.default_rng(19)
    labelled, unlabelled = rng.integers(0, 10**10, (2, 300))
    tally = Tally.from_increments(np.arange(300)[::-1].astype(float), labelled, unlabelled)
    exact = exact_pairwise_auc(labelled.tolist(), unlabelled.tolist())
    assert pairwise_auc(tally, "labelled", "unlabelled") == pytest.approx(float(exact), rel=1e-15)
