"""Expected losses from cells: who weighs how much, and how sure their mean is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from pulens.learning.learners.advice.archived import ArchivedCell, Circumstances
from pulens.learning.learners.advice.expected import expected_losses, likeness, mean_and_interval

HERE = Circumstances("table", 2000, 200, "single-set", 0.3, True)


def cell(data_set, accuracy, **changes):
    return ArchivedCell("made", data_set, Circumstances(**{**vars(HERE), **changes}), 1, accuracy)


def test_the_loss_is_against_the_best_of_the_same_cell():
    result = expected_losses([cell("x", {"a": 0.9, "b": 0.8}), cell("y", {"a": 0.6, "b": 0.7})], HERE)
    assert [one.learner for one in result] == ["a", "b"]  # equal means, by name
    assert [one.loss for one in result] == pytest.approx([0.05, 0.05])
    assert (result[1].worst, result[1].worst_on) == (pytest.approx(0.1), "x")


def test_a_data_set_weighs_the_same_however_many_cells_it_has():
    few = [cell("x", {"a": 0.9, "b": 0.8}), cell("y", {"a": 0.6, "b": 0.8})]
    many = [*few, *[few[0]] * 9]
    assert [one.loss for one in expected_losses(many, HERE)] == pytest.approx(
        [one.loss for one in expected_losses(few, HERE)]
    )


def test_similar_conditions_decide_who_is_named_first():
    cells = [cell("x", {"a": 0.9, "b": 0.8}, labelled=20), cell("y", {"a": 0.8, "b": 0.9}, labelled=1900, rows=20000)]
    few = Circumstances(**{**vars(HERE), "labelled": 20})
    assert expected_losses(cells, few)[0].learner == "a"
    assert expected_losses(cells, Circumstances(**{**vars(HERE), "labelled": 1900, "rows": 20000}))[0].learner == "b"


def test_learners_never_run_on_data_of_the_kind_are_not_named_for_it():
    cells = [cell("x", {"a": 0.9, "b": 0.8}), cell("z", {"a": 0.9, "b": 0.8, "c": 0.95}, kind="picture")]
    assert {one.learner for one in expected_losses(cells, HERE)} == {"a", "b"}


@pytest.mark.parametrize(
    "change",
    [{"kind": "text"}, {"scenario": "case-control"}, {"prior_known": False}, {"labelled": 20}, {"class_prior": 0.8}],
)
def test_every_difference_makes_a_cell_say_less(change):
    assert likeness(HERE, Circumstances(**{**vars(HERE), **change})) < likeness(HERE, HERE) == 1


def test_far_from_all_cells_an_answer_is_still_given():
    far = Circumstances("table", 10**12, 10**11, "single-set", 0.3, True)
    assert expected_losses([cell("x", {"a": 0.9, "b": 0.8})], far)[0].learner == "a"


def test_without_skew_the_interval_is_students():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    reach = student.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5)
    assert mean_and_interval(values) == pytest.approx((3, 3 - reach, 3 + reach))


def test_weights_of_nothing_leave_values_out():
    values, weights = np.array([1.0, 2.0, 4.0, 99.0]), np.array([1.0, 1.0, 1.0, 0.0])
    assert mean_and_interval(values, weights) == pytest.approx(mean_and_interval(values[:3]))


def test_one_data_set_has_no_interval_and_equal_ones_no_width():
    assert mean_and_interval(np.array([0.2]))[1:] == (-np.inf, np.inf)
    assert mean_and_interval(np.array([0.2, 0.2])) == (0.2, 0.2, 0.2)


def test_skewed_losses_are_held_more_often_than_by_students_t():
    """Exponential losses of eight data sets: 93 of 100 instead of 90."""
    draws = np.random.default_rng(0).exponential(size=(1500, 8))
    reach = student.ppf(0.975, 7) * draws.std(1, ddof=1) / np.sqrt(8)
    plain = np.mean(abs(draws.mean(1) - 1) <= reach)
    held = np.mean([low <= 1 <= high for _, low, high in map(mean_and_interval, draws)])
    assert held > 0.915
    assert held > plain + 0.01
