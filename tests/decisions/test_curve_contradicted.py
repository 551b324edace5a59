"""A decision curve where the rows rule random labels out: its band is the interval that an evaluation gives."""

import numpy as np
import pytest

import pulens


def test_the_band_is_the_range_of_possible_worlds_that_the_evaluation_gives():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [300, 1200])
    scores = rng.normal(np.repeat([2.0, 2.0, 0.0], [300, 120, 1080]))
    found = pulens.evaluate(labels, scores, class_prior=0.6, scenario="case-control", threshold=1.0, redraws=100)
    assert found.labelling is not None
    known, curve = found.at(1.0)["net_benefit"], found.decision_curve(ratios=[0.5])
    if known.undefined_because:
        assert curve.low is None
    else:
        assert curve.low[0] == pytest.approx(min(known.interval.low, curve.model[0]))
        assert curve.high[0] == pytest.approx(max(known.interval.high, curve.model[0]))
