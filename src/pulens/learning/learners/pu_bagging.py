"""Mordelet and Vert (2014): many classifiers, each against its own few unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from pulens.errors import AssumptionError
from pulens.learning.learners.base.classifier import check_count, check_word
from pulens.learning.learners.base.facts import Learner
from pulens.learning.learners.base.wrapper import (
    Wrapper,
    count_rows,
    fit_weighted,
    log_odds_beyond,
    positive_probability,
    posterior_from_odds,
    take,
    upper_quantile,
)
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Booleans, Floats

CUTS = ("quantile", "bayes", "half")


def out_of_bag_means(scores: Floats, bags: Booleans) -> tuple[Floats, NDArray[np.int64]]:
    """Mean score of each row over the members that did not train on it, and how many those are.

    ``scores`` and ``bags`` are members x rows. A row that every member trained on gets the mean over all.

    >>> scores = np.array([[.9, .2, .4, .1], [.8, .3, .5, .2], [.7, .1, .6, .3]])
    >>> bags = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]], bool)
    >>> means, counts = out_of_bag_means(scores, bags)
    >>> means.round(2), counts
    (array([0.8 , 0.15, 0.6 , 0.15]), array([1, 2, 1, 2]))
    """
    outside = (~bags).sum(0)
    total = np.where(bags, 0.0, scores).sum(0)
    return np.where(outside > 0, total / np.maximum(outside, 1), scores.mean(0)), outside


@dataclass(kw_only=True, eq=False, repr=False)
class PUBagging(Wrapper):
    r"""Bagging for PU data: positives against random bags of unlabelled rows.

    Each of T members is trained to tell all labelled rows from ``bag_size`` unlabelled ones, drawn with replacement.
    A row's score is the mean over members; for the unlabelled training rows ``out_of_bag_scores_`` is the mean over
    the members that did not train on them. Small bags hold few hidden positives and differ more.

    Parameters
    ----------
    estimator
        Any classifier. Default: a logistic regression on standardised columns.
    n_estimators, bag_size
        Members, and unlabelled rows in each; default: as many as there are labelled ones.
    class_prior
        Share of positives in the population: only the cut needs it. ``"auto"`` estimates it.
    cut
        ``"quantile"``: the share of unlabelled rows whose out-of-bag score is above it is their share of positives.
        ``"bayes"``: :math:`n_P / (n_P + 2 \pi K)`, right if members are calibrated. ``"half"``: 0.5, more likely
        under the positives than under the population. Default: quantile with a class prior, else half.
    n_jobs
        Threads; members do not depend on it.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, (700, 4)), rng.normal(-1, 1, (800, 4))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])
    >>> model = PUBagging(class_prior=7 / 15, n_estimators=10, random_state=0).fit(X, labels)
    >>> model.predict([[1.0] * 4, [-1.0] * 4])
    array([1, 0])
    """

    estimator: Any = field(default=None, kw_only=False)
    class_prior: Any = None
    n_estimators: int = 100
    bag_size: int | None = None
    cut: str | None = None
    scenario: str = DEFAULT_SCENARIO
    n_jobs: int | None = None
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members on rows with PU labels; ``sample_weight`` says how many rows each stands for."""
        X = self._rows(X, reset=True)
        labelled = self._labelled(y, count_rows(X))
        weights = self._weights(sample_weight, labelled)
        check_count("n_estimators", self.n_estimators)
        self.class_prior_ = self._resolved_prior(X, labelled, needed=False, weights=weights)
        ours, theirs = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        size = ours.size if self.bag_size is None else check_count("bag_size", self.bag_size)
        rng = self._random()
        drawn = rng.integers(theirs.size, size=(self.n_estimators, size))
        seeds = rng.integers(2**31, size=self.n_estimators)
        unlabelled = take(X, theirs)

        def member(bag: NDArray[np.int64], seed: int) -> tuple[Any, Floats]:
            rows = np.concatenate([ours, theirs[bag]])
            target = np.repeat([1, 0], [ours.size, size])
            model = fit_weighted(
                self._fresh(X, seed), take(X, rows), target, None if weights is None else weights[rows]
            )
            return model, positive_probability(model, unlabelled)

        made = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(member)(bag, int(seed)) for bag, seed in zip(drawn, seeds, strict=True)
        )
        self.estimators_ = [model for model, _ in made]
        bags = np.zeros((self.n_estimators, theirs.size), bool)
        np.put_along_axis(bags, drawn, True, 1)
        scores, self.out_of_bag_counts_ = out_of_bag_means(np.array([score for _, score in made]), bags)
        self.out_of_bag_scores_ = np.full(labelled.size, np.nan)  # labelled rows are in every bag
        self.out_of_bag_scores_[theirs] = scores
        self.cut_ = self._cut(scores, labelled, size, weights)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the mean score, beyond the cut."""
        X = self._rows(X, reset=False)
        mean = np.mean([positive_probability(model, X) for model in self.estimators_], axis=0)
        return log_odds_beyond(mean, self.cut_)

    def _posterior(self, X: Any) -> Floats:
        return posterior_from_odds(self.decision_function(X))

    def _cut(self, scores: Floats, labelled: Booleans, bag_size: int, weights: Floats | None) -> float:
        prior = self.class_prior_
        cut = self.cut or ("half" if prior is None else "quantile")
        check_word("cut", cut, CUTS)
        if cut == "half":
            return 0.5
        if prior is None:
            raise AssumptionError(f"cut={cut!r} needs class_prior: a number, or 'auto' to estimate it.")
        if cut == "bayes":
            return int(labelled.sum()) / (int(labelled.sum()) + 2 * prior * bag_size)
        counted = np.ones(labelled.size) if weights is None else weights
        if check_scenario(self.scenario) is Scenario.SINGLE_SET:
            rows, n_labelled = float(counted.sum()), float(counted[labelled].sum())
            prior = float(np.clip((prior * rows - n_labelled) / (rows - n_labelled), 0, 1))
        return upper_quantile(scores, prior, None if weights is None else weights[~labelled])


LEARNER = Learner(PUBagging, title="PU bagging")
