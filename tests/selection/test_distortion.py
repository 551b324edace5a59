"""Tilted labels: the closed form against rows weighted one by one, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.evidence import gather
from pulens.scenario import Scenario
from pulens.selection.distortion import distort, distorted, label_frequency, tilt_of

tilts = st.floats(-30, 30)
shares = st.floats(0, 1)


@given(tilts, shares)
def test_hidden_recall_is_the_share_of_tilted_rows_above_a_rank(tilt, share):
    """The slow version: a million ranks, each weighted by its tilt."""
    ranks = (np.arange(20_000) + 0.5) / 20_000
    weights = np.exp(-tilt * (ranks - (0 if tilt > 0 else 1)))
    witness = weights[ranks >= 1 - share].sum() / weights.sum()
    assert distort(share, tilt) == pytest.approx(witness, abs=2e-3)


@given(tilts, st.floats(0, 1))
def test_recall_stays_a_rate_and_never_falls_below_the_labelled_rows_own_part(tilt, frequency):
    rates = np.linspace(0, 1, 41)
    result = distort(rates, tilt, frequency)
    assert result[0] == pytest.approx(0, abs=1e-12)
    assert result[-1] == pytest.approx(1)
    assert (np.diff(result) >= -1e-12).all()
    assert (result >= frequency * rates - 1e-12).all()


@given(shares, st.floats(0.1, 20))
def test_a_tilt_and_its_opposite_mirror_each_other(share, tilt):
    assert distort(share, tilt) == pytest.approx(1 - distort(1 - share, -tilt), abs=1e-12)


@pytest.mark.parametrize("tilt", [-1e6, -1e3, 0.0, 1e-12, 1e3, 1e6])
def test_extreme_tilts_stay_finite(tilt):
    assert np.isfinite(distort(np.linspace(0, 1, 11), tilt, 0.3)).all()


@given(st.floats(-40, 40))
def test_a_tilt_is_found_again_from_the_mean_rank_it_gives(tilt):
    mean = 0.5 - tilt / 12 if abs(tilt) < 1e-4 else 1 / tilt - 1 / np.expm1(tilt)
    assert tilt_of(float(mean)) == pytest.approx(tilt, abs=1e-3 + 1e-4 * tilt**2)


def test_no_tilt_gives_the_numbers_of_random_labels():
    rng = np.random.default_rng(3)
    labels = (rng.random(400) < 0.3).astype(int)
    scores = rng.normal(size=400) + labels
    for scenario in ("single-set", "case-control"):
        rows = gather(labels, scores, class_prior=0.5, scenario=scenario)
        random = pulens.evaluate(
            labels, scores, class_prior=0.5, scenario=scenario, threshold=0.5, confidence=None, labelling="random"
        )
        flat = distorted(rows, 0.0)
        for name in ("roc_auc", "recall", "precision", "f1"):
            again = pulens.evaluate(flat, threshold=0.5, confidence=None, labelling="random")[name].value
            assert again == pytest.approx(random[name].value, abs=1e-12), (scenario, name)


def test_labelled_rows_are_all_positives_where_the_class_prior_says_so():
    assert label_frequency((30, 70, 0), 0.3, Scenario.SINGLE_SET) == pytest.approx(1.0)
    assert label_frequency((30, 70, 0), 0.3, Scenario.CASE_CONTROL) == 0.0
