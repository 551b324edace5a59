"""The share of positives: given by the user, estimated, or counted in an audit."""

from pulens.priors.class_prior import ClassPrior, population_prior, unlabelled_prior
from pulens.priors.estimate import estimate_from_tally, estimate_prior
from pulens.priors.feasible import feasible_range
from pulens.priors.from_scores import find, names
from pulens.priors.given import given

__all__ = [
    "ClassPrior",
    "estimate_from_tally",
    "estimate_prior",
    "feasible_range",
    "find",
    "given",
    "names",
    "population_prior",
    "unlabelled_prior",
]
