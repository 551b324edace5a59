"""The class prior from features instead of scores: a classifier's out-of-fold scores, or methods that use none."""

from __future__ import annotations

from pulens.priors.from_features.classifier import estimate_prior_from_features, folds_for, out_of_fold_scores
from pulens.priors.from_features.kernel_mean import kernel_mean
from pulens.priors.from_features.tice import tice

__all__ = ["estimate_prior_from_features", "folds_for", "kernel_mean", "out_of_fold_scores", "tice"]
