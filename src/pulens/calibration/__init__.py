"""Are a model's probabilities true? Calibration from positives and unlabelled rows, and its repair.

>>> import numpy as np
>>> from pulens.calibration import expected_calibration_error
>>> from pulens.calibration.worlds import logistic_world
>>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(1000, 10_000, np.random.default_rng(0))
>>> labels, scores = np.repeat([1, 0], [1000, 10_000]), np.concatenate([labelled, unlabelled])
>>> print(expected_calibration_error(labels, scores, class_prior=0.5))
expected_calibration_error 0.083, corrected 0.060 [0.023, 0.097], noise floor 0.044
"""

from pulens.calibration.binning import optimal_bins
from pulens.calibration.expected_error import CalibrationError, expected_calibration_error
from pulens.calibration.guarantees import (
    Bound,
    SampleSize,
    best_evaluation_bound,
    best_training_bound,
    evaluation_bound,
    information_bound,
    prior_error_bound,
    sample_size_for_error,
    training_bound,
)
from pulens.calibration.reliability import Reliability, ReliabilityBin, reliability

__all__ = [
    "Bound",
    "CalibrationError",
    "Reliability",
    "ReliabilityBin",
    "SampleSize",
    "best_evaluation_bound",
    "best_training_bound",
    "evaluation_bound",
    "expected_calibration_error",
    "information_bound",
    "optimal_bins",
    "prior_error_bound",
    "reliability",
    "sample_size_for_error",
    "training_bound",
]
