"""The share of positives: given by the user, estimated, or counted in an audit."""

from pulens.priors.audit import Audit, prior_from_audit, rows_to_audit
from pulens.priors.class_prior import ClassPrior, population_prior, unlabelled_prior
from pulens.priors.estimate import estimate_from_buckets, estimate_from_tally, estimate_prior
from pulens.priors.feasible import feasible_range
from pulens.priors.from_scores import find, knows, names
from pulens.priors.given import given
from pulens.priors.label_noise import LabelNoise, PriorAndNoise, estimate_prior_and_noise

__all__ = [
    "Audit",
    "ClassPrior",
    "LabelNoise",
    "PriorAndNoise",
    "estimate_from_buckets",
    "estimate_from_tally",
    "estimate_prior",
    "estimate_prior_and_noise",
    "feasible_range",
    "find",
    "given",
    "knows",
    "names",
    "population_prior",
    "prior_from_audit",
    "rows_to_audit",
    "unlabelled_prior",
]
