"""A decision curve where the rows rule random labels out: its numbers are those that an evaluation gives."""

import numpy as np
import pytest

import pulens


@pytest.mark.parametrize("worlds", [2.0, 3.0])
@pytest.mark.parametrize("cell", [False, True])
def test_curve_and_band_are_those_of_possible_worlds_that_the_evaluation_gives(worlds, cell):
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [300, 1200])
    scores = rng.normal(np.repeat([2.0, 2.0, 0.0], [300, 120, 1080]))
    asked = {"class_prior": 0.35, "scenario": "case-control", "redraws": 100, "worlds": worlds}
    if cell:
        asked["labelled_within"] = np.zeros(labels.size)
    result = pulens.evaluate(labels, scores, threshold=1.0, labelling="random", **asked)
    assert result.contradiction is not None
    known, curve = result.at(1.0)["net_benefit"], result.decision_curve(ratios=[0.5])
    assert known.basis == "possible worlds"
    assert [curve.model[0], curve.low[0], curve.high[0]] == [known.value, known.interval.low, known.interval.high]
    assert "as near to random as they allow" in str(curve.notices[0])
