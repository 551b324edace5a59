"""Elkan and Noto (2008): the label frequency from rows out of fold turns P(labelled) into P(positive)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pulens.errors import AssumptionError
from pulens.learning.learners.base.classifier import check_word, dealt_folds
from pulens.learning.learners.base.facts import Learner
from pulens.learning.learners.base.wrapper import (
    SMALLEST,
    Wrapper,
    case_control_cut,
    count_rows,
    fit_weighted,
    hold_out,
    log_odds_beyond,
    pooled_frequency,
    positive_probability,
    posterior_from_odds,
    take,
)
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Booleans, Floats

ESTIMATES = ("e1", "e2", "e3")
FOLDS = 5


def label_frequency(scores: Floats, labelled: Booleans, estimate: str = "e1", weights: Floats | None = None) -> float:
    r"""P(labelled given positive) from held-out values of g(x) = P(labelled given x): Elkan & Noto, section 2.1.

    .. math:: e_1 = \frac{1}{|V_P|} \sum_{V_P} g, \qquad e_2 = \frac{\sum_{V_P} g}{\sum_V g}, \qquad e_3 = \max_V g

    >>> g = np.array([.30, .20, .25, .05, .02, .10, .15, .01, .04, .08])
    >>> [round(label_frequency(g, np.arange(10) < 3, name), 3) for name in ("e1", "e2", "e3")]
    [0.25, 0.625, 0.3]
    """
    if estimate == "e3":
        return float(scores.max())
    counted = np.ones(scores.size) if weights is None else weights
    total = float((counted * scores)[labelled].sum())
    return total / float(counted[labelled].sum() if estimate == "e1" else (counted * scores).sum())


def unlabelled_weights(scores: Floats, frequency: float) -> Floats:
    r"""P(positive given x, unlabelled) :math:`= \frac{1-c}{c} \frac{g(x)}{1-g(x)}`, clipped to [0, 1].

    The same expression is P(positive given x) in case-control, with c the label frequency of the rows thrown
    together.

    >>> unlabelled_weights(np.array([.05, .15]), 0.25).round(6)
    array([0.157895, 0.529412])
    """
    weights: Floats = np.clip((1 - frequency) / frequency * scores / (1 - scores), 0, 1)
    return weights


def class_prior_from(frequency: float, labelled: float, unlabelled: float, scenario: Scenario) -> float:
    """Share of positives in the population that a label frequency implies.

    >>> class_prior_from(0.2, 100, 1000, Scenario.CASE_CONTROL)
    0.4
    """
    if scenario is Scenario.CASE_CONTROL:
        return min(1.0, labelled * (1 - frequency) / (unlabelled * frequency))
    return min(1.0, labelled / (frequency * (labelled + unlabelled)))


@dataclass(kw_only=True, eq=False, repr=False)
class ElkanNoto(Wrapper):
    r"""Learn to tell labelled from unlabelled rows, then divide by the label frequency.

    A classifier g of labelled against unlabelled rows is trained; its scores of rows out of fold give the label
    frequency c. In a single set P(positive given x) = min(1, g(x)/c); in case-control, with c the label frequency of
    the rows thrown together, it is :math:`\frac{1-c}{c} \frac{g}{1-g}`, which is one half at g = c/(2 - c).

    Parameters
    ----------
    estimator
        Any *calibrated* classifier; wrap others in scikit-learn's ``CalibratedClassifierCV``. Default: a logistic
        regression on standardised columns.
    class_prior
        Share of positives in the population, if known or ``"auto"``: then c follows from it. Default: c is estimated.
    estimate
        ``"e1"`` (recommended), ``"e2"`` or ``"e3"`` (biased upwards) of the paper.
    hold_out
        Default: c is estimated from scores of all rows, out of five folds, and the classifier is then trained on all
        rows. A number, as in the paper: this share of rows is kept from training, and c is estimated from them alone.
        On training rows an over-fitted g would make c too large.
    labelled_in_unlabelled
        Say True when every labelled row occurs again as an unlabelled one (``unlabelled="whole-pool"``): the copies
        of held-out rows are then kept from training too.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(2, 1, (700, 2)), rng.normal(-2, 1, (800, 2))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])
    >>> model = ElkanNoto(scenario="single-set", random_state=0).fit(X, labels)
    >>> round(model.label_frequency_, 1), round(model.class_prior_, 1)  # really 3/7 and 7/15
    (0.4, 0.5)
    """

    estimator: Any = field(default=None, kw_only=False)
    class_prior: Any = None
    scenario: str = DEFAULT_SCENARIO
    estimate: str = "e1"
    hold_out: float | None = None
    labelled_in_unlabelled: bool = False
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows with PU labels; ``sample_weight`` says how many rows each stands for."""
        X = self._rows(X, reset=True)
        labelled = self._labelled(y, count_rows(X))
        self._fit_labelling(X, labelled, self._weights(sample_weight, labelled))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of being labelled, beyond the cut where the posterior is one half."""
        X = self._rows(X, reset=False)
        return log_odds_beyond(positive_probability(self.labelling_model_, X), self.cut_)

    def _posterior(self, X: Any) -> Floats:
        if check_scenario(self.scenario) is Scenario.CASE_CONTROL:
            return posterior_from_odds(self.decision_function(X))
        X = self._rows(X, reset=False)
        return np.minimum(1.0, positive_probability(self.labelling_model_, X) / self.label_frequency_)

    def _fit_labelling(
        self, X: Any, labelled: Booleans, weights: Floats | None = None, *, every_row: bool = False
    ) -> Floats | None:
        """The classifier of labelled against unlabelled rows, the label frequency, and the cut.

        Gives back P(labelled) of each row by a classifier that was not trained on it, where that was needed, for the
        label frequency or because ``every_row`` asks for it.
        """
        scenario = check_scenario(self.scenario)
        check_word("estimate", self.estimate, ESTIMATES)
        rng = self._random()
        counted = np.ones(labelled.size) if weights is None else weights
        n_labelled, n_unlabelled = float(counted[labelled].sum()), float(counted[~labelled].sum())
        prior = self._resolved_prior(X, labelled, needed=False, weights=weights)
        scores = None
        if self.hold_out is None and (prior is None or every_row):
            scores = self._out_of_fold(X, labelled, weights, rng)
        if prior is not None or scores is not None:
            self.labelling_model_ = fit_weighted(
                self._fresh(X, int(rng.integers(2**31))), X, labelled.astype(int), weights
            )
        if prior is not None:
            if scenario is Scenario.CASE_CONTROL:
                frequency = pooled_frequency(n_labelled, n_unlabelled, prior)
            else:
                frequency = n_labelled / (prior * (n_labelled + n_unlabelled))
        elif scores is not None:
            frequency = label_frequency(scores, labelled, self.estimate, weights)
        else:
            assert self.hold_out is not None
            held = hold_out(labelled, self.hold_out, rng)
            left_out = held | self._copies(X, labelled, held)
            model, kept = self._fresh(X, int(rng.integers(2**31))), None if weights is None else weights[~left_out]
            self.labelling_model_ = fit_weighted(model, take(X, ~left_out), labelled[~left_out].astype(int), kept)
            frequency = label_frequency(
                positive_probability(self.labelling_model_, take(X, held)), labelled[held], self.estimate, counted[held]
            )
        self.label_frequency_ = float(np.clip(frequency, SMALLEST, 1 - SMALLEST))
        self.class_prior_ = prior or class_prior_from(self.label_frequency_, n_labelled, n_unlabelled, scenario)
        is_case_control = scenario is Scenario.CASE_CONTROL
        self.cut_ = case_control_cut(self.label_frequency_) if is_case_control else self.label_frequency_ / 2
        return scores

    def _out_of_fold(self, X: Any, labelled: Booleans, weights: Floats | None, rng: np.random.Generator) -> Floats:
        """P(labelled) of each row by a classifier that was trained on the other folds."""
        fewest = int(min(labelled.sum(), (~labelled).sum()))
        if fewest < 2:
            name = "labelled" if labelled.sum() < 2 else "unlabelled"
            raise AssumptionError(
                f"there are too few {name} rows to leave some out of a fold: n_samples = {fewest}, at least 2 are "
                "needed."
            )
        folds, scores = min(FOLDS, fewest), np.empty(labelled.size)
        fold = dealt_folds(labelled, folds, rng)
        for number in range(folds):
            held = fold == number
            left_out = held | self._copies(X, labelled, held)
            model, kept = self._fresh(X, int(rng.integers(2**31))), None if weights is None else weights[~left_out]
            fit_weighted(model, take(X, ~left_out), labelled[~left_out].astype(int), kept)
            scores[held] = positive_probability(model, take(X, held))
        return scores

    def _copies(self, X: Any, labelled: Booleans, held: Booleans) -> Booleans:
        """Unlabelled rows that equal a held-out labelled row, one for each."""
        copies = np.zeros(labelled.size, bool)
        if not self.labelled_in_unlabelled:
            return copies
        table = np.asarray(X)
        table = table.astype(str) if table.dtype == object else table  # whose bytes are those of references
        rows = np.ascontiguousarray(table.reshape(labelled.size, -1))
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        wanted, counts = np.unique(keys[held & labelled], return_counts=True)
        left = dict(zip((key.tobytes() for key in wanted), counts.tolist(), strict=True))
        for place in np.flatnonzero(~labelled & np.isin(keys, wanted)):
            key = keys[place].tobytes()
            if left[key]:
                left[key] -= 1
                copies[place] = True
        return copies


LEARNER = Learner(ElkanNoto, title="Elkan-Noto")
