"""A share of positives is shown within [0, 1], however far a recovered one leaves it."""

import re

import numpy as np

from pulens.calibration import reliability


def test_no_printed_share_of_positives_is_above_one():
    rng = np.random.default_rng(2)
    positive = rng.random(600) < 0.3
    scores = np.clip(rng.normal(0.3 + 0.4 * positive, 0.1), 0.01, 0.99)
    labels = (positive & (rng.random(600) < scores**2)).astype(int)
    diagram = reliability(labels, scores, class_prior=0.5, labelling="random")
    assert max(one.fraction for one in diagram.bins) > 1
    shown = [float(number) for line in str(diagram).splitlines()[1:] for number in re.findall(r"\b\d\.\d{4}\b", line)]
    assert max(shown) <= 1
