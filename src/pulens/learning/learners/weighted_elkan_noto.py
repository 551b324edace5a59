"""Elkan and Noto (2008), weighted: each unlabelled row counts as positive and as negative, in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pulens.errors import AssumptionError
from pulens.learning.learners.base.facts import Learner
from pulens.learning.learners.base.wrapper import ByEstimator, count_rows, fit_weighted, positive_probability, take
from pulens.learning.learners.elkan_noto import ElkanNoto, unlabelled_weights
from pulens.scenario import Scenario, check_scenario


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedElkanNoto(ByEstimator, ElkanNoto):
    r"""Train a second classifier on rows weighted by how positive they probably are: Elkan & Noto, section 3.

    The first stage is :class:`~pulens.learners.ElkanNoto`'s. Then every unlabelled row enters twice, as a positive of
    weight :math:`w = P(y=1 \mid x, s=0)` and as a negative of weight 1 - w, by classifiers that were not trained on the
    row (unless ``hold_out`` is given, which is the paper's way). Labelled rows enter as positives of
    weight 1 in a single set; in case-control they are no part of the population's sample and stay out, unless
    ``keep_labelled=True``, which is the paper's loss on the rows thrown together and shifts its class prior.

    ``class_prior_`` is the weighted share of positives. Other parameters are those of
    :class:`~pulens.learners.ElkanNoto`.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(2, 1, (700, 2)), rng.normal(-2, 1, (800, 2))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])
    >>> model = WeightedElkanNoto(random_state=0).fit(X, labels)
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    keep_labelled: bool | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows with PU labels, in two stages; ``sample_weight`` says how many rows each stands for."""
        X = self._rows(X, reset=True)
        labelled = self._labelled(y, count_rows(X))
        stands_for = self._weights(sample_weight, labelled)
        scores = self._fit_labelling(X, labelled, stands_for, every_row=True)
        if scores is None:  # the paper's way: one classifier, and weights of the rows that it was trained on
            scores = positive_probability(self.labelling_model_, X)
        weights = unlabelled_weights(scores, self.label_frequency_)
        single = check_scenario(self.scenario) is Scenario.SINGLE_SET
        keep = single if self.keep_labelled is None else self.keep_labelled
        as_positive = np.where(labelled, 1.0 if keep else 0.0, weights)
        as_negative = np.where(labelled, 0.0, 1 - weights)
        if stands_for is not None:
            as_positive, as_negative = stands_for * as_positive, stands_for * as_negative
        if not as_positive.any() or not as_negative.any():
            raise AssumptionError(
                f"with a label frequency of {self.label_frequency_:.4g} every unlabelled row counts as "
                f"{'negative' if not as_positive.any() else 'positive'}: nothing is left to tell apart."
            )
        total = as_positive.sum() + as_negative.sum()
        self.class_prior_ = float(as_positive.sum() / total)
        rows = np.concatenate([np.flatnonzero(as_positive), np.flatnonzero(as_negative)])
        target = np.repeat([1, 0], [np.count_nonzero(as_positive), np.count_nonzero(as_negative)])
        weight = np.concatenate([as_positive[as_positive > 0], as_negative[as_negative > 0]])
        model = self._fresh(X, int(self._random().integers(2**31)))
        self.estimator_ = fit_weighted(model, take(X, rows), target, weight)
        return self


LEARNER = Learner(WeightedElkanNoto, title="Elkan-Noto, weighted")
