"""The share of positives: given by the user, or estimated."""

from pulens.priors.class_prior import ClassPrior, population_prior, unlabelled_prior
from pulens.priors.given import given

__all__ = ["ClassPrior", "given", "population_prior", "unlabelled_prior"]
