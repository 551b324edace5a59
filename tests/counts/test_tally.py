"""A tally is immutable, adds up, and answers for any threshold."""

from __future__ import annotations

import numpy as np
import pytest

from pulens import Tally


def example() -> Tally:
    return Tally.from_arrays(np.array([1, 0, 0, -1]), np.array([0.9, 0.5, 0.2, 0.2]))


def test_arrays_inside_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        example().labelled[0] = 5


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1.0, (0, 0, 0)), (0.9, (1, 0, 0)), (0.7, (1, 0, 0)), (0.2, (1, 2, 1)), (-np.inf, (1, 2, 1)), (np.inf, (0, 0, 0))],
)
def test_predicted_positive_means_at_or_above_the_threshold(threshold, expected):
    assert tuple(example().at(threshold)) == expected


def test_no_known_negatives_cost_no_memory():
    tally = Tally.from_arrays(np.array([1, 0]), np.array([2.0, 1.0]))
    assert tally.negative.strides == (0,)
    assert not tally.has_negatives


def test_counts_of_integers_stay_integers_when_added():
    both = example() + example()
    assert both.labelled.dtype == np.int64
    assert both.totals == (2, 4, 2)


def test_tallies_are_equal_by_content():
    assert example() == example()
    assert example() != example() + example()


def test_it_prints_what_it_holds():
    assert str(example()) == "Tally(1 labelled, 2 unlabelled, 1 known negative, 3 distinct scores)"
