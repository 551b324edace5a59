"""Do they learn? Balanced accuracy on held-out rows of real data, beside taking unlabelled for negative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import load_digits
from torch import nn

from pulens.learners import P3MixC, P3MixE, SelfPU, fit_many
from pulens.learners._data import Pooled
from pulens.learners._estimator import PULearner
from pulens.learners._loop import Program, Stage
from pulens.risks.losses import logistic
from pulens.risks.means import masked_mean

SEEDS = range(5)
LABEL_FREQUENCY = 0.2


def narrow(shape):
    """Half a second per run instead of a dozen."""
    return nn.Sequential(
        nn.Linear(shape[0], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)
    )


class NaiveProgram(Program):
    needs_class_prior = False

    def stages(self):
        return [Stage("training", 40, Pooled(256, skip_without_labelled=False), self.adam())]

    def loss(self, stage, batch):
        z = self.stack.logits(batch)
        costs = batch.labelled * logistic(z, 1) + batch.unlabelled * logistic(z, -1)
        return masked_mean(costs, batch.labelled + batch.unlabelled)


@dataclass(kw_only=True, eq=False, repr=False)
class Naive(PULearner):
    selection: str = "last"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4

    _program = NaiveProgram


class Cases:
    """Five draws of case-control data from one table: 1,200 rows to train on, the others to test."""

    def __init__(self, X, positive):
        self.X, self.positive = ((X - X.mean(0)) / np.maximum(X.std(0), 1e-9)).astype(np.float32), positive
        self.rows, self.labels, self.tests, self.priors = [], [], [], []
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(X))
            pool, test = order[:1200], order[1200:2400]
            known = pool[positive[pool]]
            known = known[: round(LABEL_FREQUENCY * len(known))]
            self.rows.append(np.concatenate([known, pool]))
            self.labels.append(np.repeat([1, 0], [len(known), len(pool)]))
            self.tests.append(test)
            self.priors.append(float(positive[pool].mean()))

    def balanced_accuracy(self, learner, **options):
        needs = learner._program.needs_class_prior
        runs = [
            learner(
                random_state=seed,
                backbone=narrow,
                device="cpu",
                class_prior=self.priors[seed] if needs else "auto",
                **options,
            )
            for seed in SEEDS
        ]
        found = []
        for fitted, test in zip(fit_many(runs, self.X, self.labels, rows=self.rows), self.tests, strict=True):
            right = fitted.predict(self.X[test]) == self.positive[test]
            found.append((right[self.positive[test]].mean() + right[~self.positive[test]].mean()) / 2)
        return float(np.mean(found))


@pytest.fixture(scope="module", params=["digits", "spambase"])
def cases(request):
    if request.param == "digits":
        X, y = load_digits(return_X_y=True)
        return Cases(X, y % 2 == 0)
    z = np.load(request.getfixturevalue("shared") / "data" / "spambase.npz")
    return Cases(z["X"], z["y"] == 1)


@pytest.fixture(scope="module")
def naive(cases):
    return cases.balanced_accuracy(Naive)


# a small network on few rows learns in fewer, larger steps than the defaults take
MIXING = {"learning_rate": 1e-3, "epochs": 40, "steps_per_epoch": 5, "heuristic_start": 4, "halve_every": 4}
OPTIONS = {
    P3MixC: MIXING,
    P3MixE: MIXING,
    SelfPU: {"learning_rate": 2e-3},
}


@pytest.mark.parametrize("learner", OPTIONS, ids=lambda learner: learner.__name__)
def test_learns_more_than_taking_unlabelled_for_negative(cases, naive, learner):
    found = cases.balanced_accuracy(learner, **OPTIONS[learner])
    assert found > naive + 0.25


@pytest.mark.parametrize("learner", OPTIONS, ids=lambda learner: learner.__name__)
def test_the_same_seed_twice_gives_identical_bits(learner):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(90, 4)), (np.arange(90) < 20).astype(int)
    options = {"class_prior": 0.5, "epochs": 3, "batch_size": 32, "device": "cpu", "backbone": narrow}
    first, second = (learner(random_state=3, **options).fit(X, labels).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first != learner(random_state=4, **options).fit(X, labels).decision_function(X)).any()
