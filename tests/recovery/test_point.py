"""The linear map from observed to true rates: counts of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.recovery import (
    pairwise_auc,
    precision_from_pu_precision,
    precision_in_unlabelled,
    recover_at,
    recovered_rates,
)
from pulens.recovery.assumptions import Assumptions

SMALL = Tally.from_arrays(np.array([1, 0, 0]), np.array([3, 2, 1]))


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


RATES = {"unlabelled_prior": 0.25}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=1.0), "at least 0 and below 1, got 1.0"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=-0.1), "at least 0 and below 1, got -0.1"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior="0.2"), "unlabelled_prior must be a number.*got '0.2'"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=np.nan), "at least 0 and below 1, got nan"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=0.8, label_noise=0.2), "must be below 1 - label_noise"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=0.9, label_noise=0.2), "must be below 1 - label_noise"),
        (lambda: recovered_rates(0.8, 0.3, unlabelled_prior=0.2, label_noise=1.0), "label_noise must be a number"),
        (lambda: recovered_rates("many", 0.3, **RATES), "labelled_rate must be a number.*got 'many'"),
        (lambda: recovered_rates(8, 0.3, **RATES), "labelled_rate must be a share from 0 to 1, got 8.0"),
        (lambda: recovered_rates(0.8, [0.3, -0.1], **RATES), "unlabelled_rate must be a share from 0 to 1, got -0.1"),
        (lambda: recovered_rates(0.8, [0.3, np.nan], **RATES), "unlabelled_rate must be finite, got nan"),
        (lambda: precision_in_unlabelled(0.8, 0.0, **RATES), "unlabelled_rate must be above 0, got 0"),
        (lambda: precision_in_unlabelled(None, 0.3, **RATES), "true_positive_rate must be"),
        (lambda: precision_in_unlabelled(0.8, 0.3, unlabelled_prior=None), "unlabelled_prior must be a number"),
        (lambda: precision_from_pu_precision(1.0, 0.2, **RATES), "pu_precision must be below 1, got 1"),
        (lambda: precision_from_pu_precision(0.5, 0.0, **RATES), "labelled_share must lie strictly between 0 and 1"),
        (lambda: precision_from_pu_precision(0.5, 0.2, unlabelled_prior=1), "at least 0 and below 1, got 1"),
        (lambda: pairwise_auc(SMALL, "labeled", "unlabelled"), "above must be one of 'labelled'.*got 'labeled'"),
        (lambda: pairwise_auc(Tally.from_increments(*np.zeros((3, 0))), "labelled", "negative"), "without rows"),
        (lambda: recover_at(SMALL, Assumptions(0.2), np.nan), "threshold must be a number, got nan"),
    ],
)
def test_impossible_arguments_are_named(call, words: str) -> None:
    with pytest.raises(PulensError, match=words):
        call()


def test_formulas_take_arrays_and_numbers() -> None:
    hits, alarms = recovered_rates([0.8, 0.4], np.array([0.3, 0.1]), **RATES)
    single = recovered_rates(0.8, 0.3, **RATES)
    assert (hits[0], alarms[0]) == single
    assert isinstance(single[0], float)
    # a recovered rate may lie above 1: nothing is clipped
    assert precision_in_unlabelled(1.2, 0.3, **RATES) == pytest.approx(1.0)
