"""Rows go where answers matter most, with a floor under every stratum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.audits.allocation import (
    GOALS,
    allocate,
    check_budget,
    check_goal,
    default_guess,
    guesses,
    labelled_guess,
    thinly_checked,
)
from pulens.errors import AssumptionError

ROWS = np.array([200, 332, 882, 2347, 6239])
LABELLED = np.array([60, 20, 10, 5, 5])
NONE = np.zeros(5, np.int64)


def test_the_guesses_of_the_worked_example():
    assert default_guess(ROWS, 1).round(2).tolist() == [100, 53.33, 26.67, 13.33, 6.67]
    assert labelled_guess(ROWS, LABELLED, 200).round(2).tolist() == [119.21, 40.00, 20.20, 10.30, 10.30]
    assert labelled_guess(ROWS, LABELLED, 0.05 * 10_000).round(2).tolist() == [196, 100, 50.50, 25.74, 25.74]
    assert len(guesses(ROWS, NONE, 1)) == 1


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("precision", [131, 2, 6, 17, 44]),
        ("recall", [23, 31, 39, 45, 62]),
        ("f1", [58, 25, 31, 36, 50]),
        ("class_prior", [26, 31, 38, 44, 61]),
        ("roc_auc", [26, 31, 38, 44, 61]),
        ("all", [76, 22, 27, 31, 44]),
    ],
)
def test_the_allocation_of_the_worked_example(goal, expected):
    assert allocate(ROWS, LABELLED, 1, 200, goal).tolist() == expected


@pytest.mark.parametrize(
    ("goal", "expected"),
    [("recall", [27, 32, 40, 47, 54]), ("class_prior", [27, 32, 40, 47, 54]), ("f1", [63, 25, 31, 37, 44])],
)
def test_the_allocation_without_labels(goal, expected):
    assert allocate(ROWS, NONE, 1, 200, goal).tolist() == expected


def test_a_hundred_rows_and_then_a_hundred_more():
    first = allocate(ROWS, LABELLED, 1, 100)
    assert first.tolist() == [38, 11, 13, 16, 22]
    assert (allocate(ROWS, LABELLED, 1, 200, at_least=first) - first).tolist() == [38, 11, 14, 15, 22]


@given(
    rows=st.lists(st.integers(0, 500), min_size=1, max_size=6).filter(lambda rows: sum(rows) > 0),
    labelled=st.integers(0, 40),
    flagged=st.integers(0, 2),
    budget=st.integers(10, 400),
    goal=st.sampled_from(GOALS),
)
def test_the_budget_is_spent_to_the_row_and_no_stratum_holds_more_than_it_has(rows, labelled, flagged, budget, goal):
    sizes = np.array(rows)
    flagged = min(flagged, sizes.size)
    labels = np.minimum(sizes, labelled)
    first = allocate(sizes, labels, flagged, budget, goal)
    assert first.sum() == min(budget, sizes.sum())
    assert (first <= sizes).all()
    floor = 0.35 * min(budget, sizes.sum()) * sizes / sizes.sum()
    assert (first >= np.floor(floor - 1e-6)).all()
    second = allocate(sizes, labels, flagged, 2 * budget, goal, at_least=first)
    assert (second >= first).all()
    assert second.sum() == min(2 * budget, sizes.sum())


def test_goals_and_budgets_that_cannot_be_are_refused_in_words():
    for goal, words in (("recal", "'recall'"), ("average_precision", "validated"), (None, "None")):
        with pytest.raises(AssumptionError, match=words):
            check_goal(goal)
    for budget in (9, 0, -5, 10.5, "200", True, 10**9, None):
        with pytest.raises(AssumptionError, match="whole number of rows"):
            check_budget(budget)
    assert check_budget(np.int64(10)) == 10


def test_strata_below_need_eight_rows_or_all_they_have():
    assert thinly_checked(np.array([100, 100]), np.array([1, 7]), 1)
    assert not thinly_checked(np.array([100, 100]), np.array([1, 8]), 1)
    assert not thinly_checked(np.array([100, 5]), np.array([1, 5]), 1)
