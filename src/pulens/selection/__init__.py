"""How labelled positives were selected among all positives: at random, or as unevenly as in practice."""

from pulens.selection.distortion import distort, distorted
from pulens.selection.inference import SelectionInference
from pulens.selection.labelling import (
    check_labelling,
    estimator_of,
    labelling_of,
    prior_in_practice,
    read_as_said,
    read_under,
    said_of_labels,
    told_under,
)
from pulens.selection.practice import Favouring, Practice
from pulens.selection.shifts import correlated_levels, moved_by, rank_correlations
from pulens.selection.tilted import TiltedEvidence, moved_ends, moved_interval, under_labelling
from pulens.selection.tilts import TiltDistribution

__all__ = [
    "Favouring",
    "Practice",
    "SelectionInference",
    "TiltDistribution",
    "TiltedEvidence",
    "check_labelling",
    "correlated_levels",
    "distort",
    "distorted",
    "estimator_of",
    "labelling_of",
    "moved_by",
    "moved_ends",
    "moved_interval",
    "prior_in_practice",
    "rank_correlations",
    "read_as_said",
    "read_under",
    "said_of_labels",
    "told_under",
    "under_labelling",
]
