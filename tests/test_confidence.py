"""Every door that takes a confidence checks it in the same words."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.calibration.guarantees import evaluation_bound

import pulens
from pulens.calibration import expected_calibration_error
from pulens.priors import estimate_prior

LABELS = np.repeat([1, 0], [20, 80])
SCORES = np.linspace(0.99, 0.01, 100)
DOORS = {
    "evaluate": lambda confidence: pulens.evaluate(
        LABELS, SCORES, class_prior=0.4, confidence=confidence, labelling="random"
    ),
    "prior": lambda confidence: estimate_prior(LABELS, SCORES, confidence=confidence),
    "calibrate": lambda confidence: expected_calibration_error(
        LABELS, SCORES, class_prior=0.4, confidence=confidence, labelling="random"
    ),
    "guarantee": lambda confidence: evaluation_bound(0.4, 200, 3000, 9, confidence=confidence),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("confidence", [95, 0, 1, -0.5, float("nan"), "95%", True])
def test_a_confidence_outside_of_0_and_1_is_refused_in_the_same_words(door, confidence):
    with pytest.raises(
        pulens.PulensError, match=r"confidence must lie strictly between 0 and 1, got .*\. Write 95% as 0\.95"
    ):
        DOORS[door](confidence)
