"""Are a model's probabilities true? Calibration from positives and unlabelled rows, and its repair.

>>> import numpy as np
>>> from pulens.calibration import expected_calibration_error
>>> from pulens.testing import logistic_world
>>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(1000, 10_000, np.random.default_rng(0))
>>> labels, scores = np.repeat([1, 0], [1000, 10_000]), np.concatenate([labelled, unlabelled])
>>> print(expected_calibration_error(labels, scores, class_prior=0.5, scenario="case-control", labelling="random"))
expected_calibration_error 0.083, corrected 0.060 [0.023, 0.097], noise floor 0.044
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pulens.calibration.binning import optimal_bins
from pulens.calibration.brier import Decomposition, ProperScore, brier_score
from pulens.calibration.expected_error import CalibrationError, expected_calibration_error
from pulens.calibration.in_the_large import calibration_in_the_large
from pulens.calibration.log_loss import log_loss
from pulens.calibration.recalibration import Recalibration, recalibrate
from pulens.calibration.recalibrators import CalibrationMap
from pulens.calibration.reliability import Reliability, ReliabilityBin, reliability
from pulens.calibration.reviewed import ReviewedBin, ReviewedReliability, reviewed_reliability
from pulens.calibration.slope import CalibrationLine, calibration_slope
from pulens.calibration.verdict import CalibrationTest, CalibrationVerdict, calibration_verdict

if TYPE_CHECKING:
    from pulens.calibration.classifier import PUCalibratedClassifier
    from pulens.research.classwise import ClasswiseError, classwise_calibration_error
    from pulens.research.guarantees import (
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

# imported on first use: scikit-learn takes a second, and the evaluation floor does not need research
_HOMES = {
    "PUCalibratedClassifier": "pulens.calibration.classifier",
    **dict.fromkeys(("ClasswiseError", "classwise_calibration_error"), "pulens.research.classwise"),
    **dict.fromkeys(
        ("Bound", "SampleSize", "best_evaluation_bound", "best_training_bound"), "pulens.research.guarantees"
    ),
    **dict.fromkeys(("evaluation_bound", "information_bound", "prior_error_bound"), "pulens.research.guarantees"),
    **dict.fromkeys(("sample_size_for_error", "training_bound"), "pulens.research.guarantees"),
}

__all__ = [
    "Bound",
    "CalibrationError",
    "CalibrationLine",
    "CalibrationMap",
    "CalibrationTest",
    "CalibrationVerdict",
    "ClasswiseError",
    "Decomposition",
    "PUCalibratedClassifier",
    "ProperScore",
    "Recalibration",
    "Reliability",
    "ReliabilityBin",
    "ReviewedBin",
    "ReviewedReliability",
    "SampleSize",
    "best_evaluation_bound",
    "best_training_bound",
    "brier_score",
    "calibration_in_the_large",
    "calibration_slope",
    "calibration_verdict",
    "classwise_calibration_error",
    "evaluation_bound",
    "expected_calibration_error",
    "information_bound",
    "log_loss",
    "optimal_bins",
    "prior_error_bound",
    "recalibrate",
    "reliability",
    "reviewed_reliability",
    "sample_size_for_error",
    "training_bound",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pulens.calibration' has no attribute {name!r}")
