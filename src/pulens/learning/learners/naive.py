"""Unlabelled taken for negative: the baseline that every PU learner must beat, with a choice of cuts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pulens.errors import AssumptionError
from pulens.learning.learners.base.classifier import check_word, refuse_options
from pulens.learning.learners.base.facts import REFERENCE, Learner
from pulens.learning.learners.base.wrapper import (
    Wrapper,
    case_control_cut,
    count_rows,
    log_odds_beyond,
    pooled_frequency,
    positive_probability,
    upper_quantile,
)
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Floats

CUTS = ("half", "label_frequency", "quantile")


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveClassifier(Wrapper):
    r"""Train any classifier to tell labelled from unlabelled rows, then cut its score.

    The classifier estimates g(x) = P(labelled given x), which for a positive is at most the label frequency: at the
    usual cut of one half it calls nearly everything negative. ``cuts_`` therefore holds three cuts:

    - ``"half"``: 0.5;
    - ``"label_frequency"``: where P(positive given x) is one half if g is right, :math:`c'/(2-c')` in case-control
      with :math:`c' = n_P/(n_P + \pi n_U)`, and c/2 in a single set;
    - ``"quantile"``: so that the share of unlabelled rows above it is their share of positives.

    The last two need the class prior.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, (700, 4)), rng.normal(-1, 1, (800, 4))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])
    >>> model = NaiveClassifier(class_prior=7 / 15, cut="quantile").fit(X, labels)
    >>> {name: round(cut, 2) for name, cut in model.cuts_.items()}
    {'half': 0.5, 'label_frequency': 0.21, 'quantile': 0.12}
    """

    estimator: Any = field(default=None, kw_only=False)
    class_prior: Any = None
    cut: str = "half"
    scenario: str = DEFAULT_SCENARIO
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Train on rows with PU labels."""
        refuse_options(type(self).__name__, refused)
        X = self._rows(X, reset=True)
        labelled = self._labelled(y, count_rows(X))
        scenario = check_scenario(self.scenario)
        check_word("cut", self.cut, CUTS)
        self.class_prior_ = self._resolved_prior(X, labelled, needed=False)
        if self.class_prior_ is None and self.cut != "half":
            raise AssumptionError(f"cut={self.cut!r} needs class_prior: a number, or 'auto' to estimate it.")
        self.estimator_ = self._fresh(X, int(self._random().integers(2**31))).fit(X, labelled.astype(int))
        scores = positive_probability(self.estimator_, X)
        self.cuts_ = {"half": 0.5}
        if self.class_prior_ is not None:
            n_labelled, n_unlabelled = int(labelled.sum()), int((~labelled).sum())
            if scenario is Scenario.CASE_CONTROL:
                among_unlabelled = self.class_prior_
                cut = case_control_cut(pooled_frequency(n_labelled, n_unlabelled, self.class_prior_))
            else:
                positives = self.class_prior_ * labelled.size
                among_unlabelled = float(np.clip((positives - n_labelled) / n_unlabelled, 0, 1))
                cut = min(1.0, n_labelled / positives) / 2
            self.cuts_["label_frequency"] = cut
            self.cuts_["quantile"] = upper_quantile(scores[~labelled], among_unlabelled)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of being labelled, beyond the cut."""
        X = self._rows(X, reset=False)
        return log_odds_beyond(positive_probability(self.estimator_, X), self.cuts_[self.cut])


LEARNER = Learner(NaiveClassifier, title="naive (logistic regression)", family=REFERENCE)
