"""How labelled positives were selected among all positives: at random, or as unevenly as in practice."""

from pulens.selection.distortion import distort, distorted
from pulens.selection.inference import SelectionInference
from pulens.selection.labelling import Favouring, check_labelling, prior_in_practice
from pulens.selection.practice import Practice
from pulens.selection.tilts import TiltDistribution

__all__ = [
    "Favouring",
    "Practice",
    "SelectionInference",
    "TiltDistribution",
    "check_labelling",
    "distort",
    "distorted",
    "prior_in_practice",
]
