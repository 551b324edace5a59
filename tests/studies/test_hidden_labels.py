"""Which positives get a label, and PU rows made of labelled ones."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.labelling import find

from pulens.errors import PulensError
from pulens.research.studies._hidden_labels import hide_labels
from pulens.research.studies._pulp import representativeness


@pytest.mark.parametrize("mechanism", ["S1", "scenario-1", "scenario-2"])
def test_hidden_labels_have_the_asked_sizes_and_share(mechanism):
    rng = np.random.default_rng(1)
    positive = rng.random(400) < 0.4
    result = hide_labels(
        positive,
        rng.random(400),
        mechanism=find(mechanism),
        n_labelled=30,
        n_unlabelled=120,
        unlabelled_prior=0.35,
        rng=rng,
    )
    assert result.labels.sum() == 30
    assert result.is_positive[result.labels == 1].all()
    assert result.is_positive[result.labels == 0].sum() == 42
    assert np.unique(result.rows).size == 150
    np.testing.assert_array_equal(result.is_positive, positive[result.rows])


def test_scenario_one_labels_typical_positives_and_leaves_the_rest():
    rng = np.random.default_rng(2)
    positive, typical = np.ones(50, bool), np.arange(50.0)
    positive[40:] = False
    result = hide_labels(
        positive,
        typical,
        mechanism=find("most_representative"),
        n_labelled=10,
        n_unlabelled=20,
        unlabelled_prior=0.5,
        rng=rng,
    )
    assert set(result.rows[result.labels == 1]) == set(range(30, 40))


def test_too_many_rows_are_refused():
    with pytest.raises(PulensError, match="need 15 positives and 5 negatives; there are 10 and 10"):
        hide_labels(
            np.repeat([True, False], 10),
            np.zeros(20),
            mechanism=find("S1"),
            n_labelled=10,
            n_unlabelled=10,
            unlabelled_prior=0.5,
            rng=np.random.default_rng(0),
        )


def test_density_finds_the_stranger():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(80, 4)), np.full((1, 4), 8.0)])
    density = representativeness(rows, components=2)
    assert density[:80].mean() > density[80]
