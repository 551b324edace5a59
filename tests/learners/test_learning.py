"""Do they learn? Balanced accuracy on held-out rows of real data, beside taking unlabelled rows for negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from pulens.learners import fit_many
from sklearn.datasets import load_digits
from torch import nn

from network_learners import NETWORKS
from pulens import learners
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Pooled
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean

SEEDS = range(5)
LABEL_FREQUENCY = 0.2
SUPPORT = 40  # rows of known class for LaGAM, out of neither training nor test rows


def narrow(shape):
    """A fraction of the default network's time."""
    return nn.Sequential(
        nn.Linear(shape[0], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)
    )


class NaiveProgram(Program):
    """The same network, labelled against unlabelled rows, cut at one half."""

    needs_class_prior = False

    def stages(self):
        return [Stage("training", 30, Pooled(128, skip_without_labelled=False), self.adam())]

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
    """Five draws of case-control data from one table: 1,200 unlabelled rows, 40 of known class, the others to test."""

    def __init__(self, X, positive):
        self.X, self.positive = ((X - X.mean(0)) / np.maximum(X.std(0), 1e-9)).astype(np.float32), positive
        self.rows, self.labels, self.support, self.tests, self.priors = [], [], [], [], []
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(X))
            pool, known, test = np.split(order, [1200, 1200 + SUPPORT])
            confirmed = pool[positive[pool]]
            confirmed = confirmed[: round(LABEL_FREQUENCY * len(confirmed))]
            self.rows.append(np.concatenate([confirmed, pool]))
            self.labels.append(np.repeat([1, 0], [len(confirmed), len(pool)]))
            self.support.append((known, np.where(positive[known], 1, -1)))
            self.tests.append(test[:1000])
            self.priors.append(float(positive[pool].mean()))

    def balanced_accuracy(self, learner, **options):
        priors = self.priors if learner._program.needs_class_prior else ["auto"] * len(SEEDS)
        runs = [
            learner(random_state=seed, backbone=narrow, device="cpu", class_prior=priors[seed], **options)
            for seed in SEEDS
        ]
        support = {"support": self.support} if getattr(learner, "needs_support", False) else {}
        result = []
        fitted = fit_many(runs, self.X, self.labels, rows=self.rows, **support)
        for run, test in zip(fitted, self.tests, strict=True):
            right = run.predict(self.X[test]) == self.positive[test]
            result.append((right[self.positive[test]].mean() + right[~self.positive[test]].mean()) / 2)
        return float(np.mean(result))


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
    "UPU": {"learning_rate": 2e-3},
    "NNPU": {"learning_rate": 2e-3},
    "PUSB": {"learning_rate": 2e-3},
    "VPU": {"learning_rate": 1e-3, "epochs": 20, "steps_per_epoch": 10, "batch_size": 128},
    "MPEPU": {"learning_rate": 1e-3, "batch_size": 64},
    "LBE": {},
    "DistPU": {"warm_up_learning_rate": 2e-3, "learning_rate": 3e-4, "warm_up_epochs": 30, "epochs": 15},
    "PULDA": {"warm_up_learning_rate": 2e-3, "learning_rate": 3e-4, "warm_up_epochs": 20, "epochs": 10},
    "SelfPU": {"learning_rate": 2e-3},
    "P3MixC": MIXING,
    "P3MixE": MIXING,
    "RobustPU": {"pretraining_learning_rate": 2e-3, "learning_rate": 1e-3, "pretraining_epochs": 30},
    "HolisticPU": {},
    "LaGAM": {"learning_rate": 2e-3, "warm_up_epochs": 2, "epochs": 10},
    "LaGAMPUOnly": {"learning_rate": 2e-3, "warm_up_epochs": 2, "epochs": 10},
    "PULCPBF": {"learning_rate": 2e-3, "fence_learning_rate": 2e-3, "fence_epochs": 40, "epochs": 12},
    "VAEPU": {"epochs": 40, "pretraining_epochs": 8, "steps_per_epoch": 10, "hidden": (64,), "learning_rate": 1e-3},
    "PAN": {"epochs": 20, "learning_rate": 1e-3},
    "CGenPU": {"epochs": 10, "steps_per_epoch": 30, "batch_size": 64, "learning_rate": 1e-3},
}


@pytest.mark.slow
@pytest.mark.per_learner
@pytest.mark.parametrize("name", NETWORKS)
def test_learns_more_than_taking_unlabelled_for_negative(cases, naive, name):
    """The naive classifier calls every row negative: 0.5."""
    learner = learners.find(name)
    assert cases.balanced_accuracy(learner, **OPTIONS.get(learner.__name__, {})) > naive + 0.12
