r"""How much each of several models counts in their mean, by the likelihood of the PU labels.

With log-odds :math:`u_m(x)` of rows that the models had not seen, a row is taken to be positive with probability
:math:`p = \sigma(a + \sum_m b_m u_m)`. In a single set it is labelled with probability :math:`cp`, c being the label
frequency; in case-control with :math:`rp/(1 + rp)`, r being labelled rows over unlabelled rows times the class prior.
The :math:`b_m \ge 0` of the highest likelihood are drawn towards equal ones by a normal density of deviation
``DEVIATION``: a hundred labels say nothing of which model is best, and thousands do.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from pulens.learning.learners.parts.training_rows import TrainingRows
from pulens.scenario import Scenario
from pulens.types import Floats

DEVIATION = 0.16  # of a model's coefficient from that of equal shares
TINY = 1e-12


def label_weights(known: TrainingRows, unseen: Floats, class_prior: float, scenario: Scenario) -> Floats:
    """Shares of the models, which add up to 1; ``unseen`` has a row for each model, a column for each row of data.

    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.5
    >>> known = TrainingRows(np.zeros((20_000, 1), np.float32), positive & (rng.random(20_000) < 0.3), np.ones(20_000))
    >>> knows, guesses = rng.normal(np.where(positive, 2.0, -2.0)), rng.normal(size=20_000)
    >>> label_weights(known, np.array([knows, guesses]), 0.5, Scenario.SINGLE_SET).round(1)
    array([1., 0.])
    >>> few = TrainingRows(known.rows[:200], known.labelled[:200], np.ones(200))
    >>> label_weights(few, np.array([knows, guesses])[:, :200], 0.5, Scenario.SINGLE_SET).round(1)
    array([0.6, 0.4])
    """
    labelled, equal = known.labelled, 1 / len(unseen)
    weights = known.weights / known.weights.mean()
    if known.groups is not None:  # rows of one group repeat each other: a group says as much as one row
        weights = weights * np.unique(known.groups).size / labelled.size
    share = known.share_labelled()
    single = scenario is Scenario.SINGLE_SET
    rate = min(share / class_prior, 1 - 1e-6) if single else share / ((1 - share) * class_prior)

    def loss(theta: Floats) -> tuple[float, Floats]:
        chance = expit(theta[0] + theta[1:] @ unseen)
        if single:
            result = np.clip(rate * chance, TINY, 1 - TINY)
            slopes = np.where(labelled, 1 - chance, -result * (1 - chance) / (1 - result))
        else:
            result = np.clip(rate * chance / (1 + rate * chance), TINY, 1 - TINY)
            slopes = (labelled - result) * (1 - chance)
        away = theta[1:] - equal
        value = -weights @ np.log(np.where(labelled, result, 1 - result)) + away @ away / (2 * DEVIATION**2)
        gradient = -np.concatenate([[weights @ slopes], unseen @ (weights * slopes)])
        gradient[1:] += away / DEVIATION**2
        return float(value), gradient

    start = np.concatenate([[0.0], np.full(len(unseen), equal)])
    bounds = [(None, None), *[(0.0, None)] * len(unseen)]
    result = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x[1:]
    return result / result.sum() if result.sum() > 0 else np.full(len(unseen), equal)
