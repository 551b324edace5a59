"""Adversarial and generative learners on small real data: better than taking unlabelled rows for negatives."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from torch import nn

from pulens.learners import PAN, VAEPU, CGenPU, fit_many
from pulens.learners._data import Pooled
from pulens.learners._estimator import PULearner
from pulens.learners._loop import Program, Stage
from pulens.risks.losses import logistic

SEEDS = range(5)


class NaiveProgram(Program):
    """Labelled against unlabelled rows."""

    needs_class_prior = False

    def stages(self):
        return [Stage("training", self.value("epochs"), Pooled(256), self.adam())]

    def loss(self, stage, batch):
        z = self.stack.logits(batch)
        each = logistic(z, 1) * batch.labelled + logistic(z, -1) * batch.unlabelled
        return each.sum(1) / (batch.labelled + batch.unlabelled).sum(1)


@dataclass(kw_only=True, eq=False, repr=False)
class Naive(PULearner):
    selection: str = "last"
    epochs: int = 20
    learning_rate: float = 1e-3
    weight_decay: float = 0.0

    _program = NaiveProgram


def small(shape):
    return nn.Sequential(
        nn.Linear(shape[0], 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)
    )


def problem(X, positive, label_frequency):
    """Case-control, labels completely at random: a quarter of the rows of each class is held out."""
    spread = X.std(0)
    X = ((X - X.mean(0)) / np.where(spread > 0, spread, 1)).astype(np.float32)
    rows, labels, tests = [], [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        known = [rng.permutation(np.flatnonzero(positive == kind)) for kind in (True, False)]
        pool = np.concatenate([own[: 3 * len(own) // 4] for own in known])
        labelled = known[0][: int(label_frequency * (3 * len(known[0]) // 4))]
        rows.append(np.concatenate([labelled, pool]))
        labels.append(np.repeat([1, 0], [len(labelled), len(pool)]))
        tests.append(np.concatenate([own[3 * len(own) // 4 :] for own in known]))
    return SimpleNamespace(X=X, positive=positive, rows=rows, labels=labels, tests=tests)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return problem(X, y % 2 == 0, 0.3)


@pytest.fixture(scope="module")
def spambase(shared):
    z = np.load(shared / "data" / "spambase.npz")
    return problem(z["X"].astype(float), z["y"] == 1, 0.2)


def balanced_accuracy(learner, data, **options):
    """Mean over five seeds, trained as one stack."""
    prior = {"class_prior": float(data.positive.mean())} if learner._program.needs_class_prior else {}
    runs = [learner(random_state=seed, backbone=small, device="cpu", **prior, **options) for seed in SEEDS]
    fit_many(runs, data.X, data.labels, rows=data.rows)
    found = []
    for run, test in zip(runs, data.tests, strict=True):
        predicted, truth = run.predict(data.X[test]) == 1, data.positive[test]
        found.append((predicted[truth].mean() + (~predicted[~truth]).mean()) / 2)
    return float(np.mean(found))


@pytest.fixture(scope="module", params=["digits", "spambase"])
def data(request):
    found = request.getfixturevalue(request.param)
    found.name, found.naive = request.param, balanced_accuracy(Naive, found)
    return found


def test_pan_beats_taking_unlabelled_for_negative(data):
    found = balanced_accuracy(PAN, data, epochs=20, learning_rate=1e-3)
    assert found > data.naive + 0.05


def test_cgenpu_beats_taking_unlabelled_for_negative(data):
    found = balanced_accuracy(CGenPU, data, epochs=10, steps_per_epoch=30, batch_size=64, learning_rate=1e-3)
    assert found > data.naive + 0.05


def test_vae_pu_beats_taking_unlabelled_for_negative(data):
    options = {"epochs": 32, "pretraining_epochs": 3, "steps_per_epoch": 10, "hidden": (64, 64), "batch_size": 128}
    found = balanced_accuracy(VAEPU, data, learning_rate=1e-3, **options)
    assert found > data.naive + 0.05
