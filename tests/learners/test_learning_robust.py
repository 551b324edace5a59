"""Robust-PU and Holistic-PU on small real data: better than taking the unlabelled for negative."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from torch import nn

from pulens.learners import HolisticPU, RobustPU, fit_many

SEEDS = range(5)
ROBUST = {"pretraining_learning_rate": 1e-3, "learning_rate": 1e-3}  # the network is smaller than the default one


def hundred(shape):
    """The network that Robust-PU's authors use for vectors."""
    return nn.Sequential(nn.Linear(shape[0], 100), nn.ReLU(), nn.Linear(100, 1))


def digits(shared):
    found = load_digits()
    return found.data.astype(np.float32), found.target % 2 == 0


def spambase(shared):
    z = np.load(shared / "data" / "spambase.npz")
    return z["X"].astype(np.float32), z["y"] == 1


class Draws:
    """Five splits: labelled positives at random, unlabelled rows with the population's share of positives, the rest."""

    def __init__(self, X, positive, frequency):
        self.positive = positive
        self.table, self.rows, self.labels, self.tested = [], [], [], []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(X))
            training, tested = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
            chosen = training[positive[training] & (rng.random(len(training)) < frequency)]
            deviation = X[training].std(0)
            self.table.append((X - X[training].mean(0)) / np.where(deviation > 0, deviation, 1))
            offset = seed * len(X)
            self.rows.append(np.concatenate([chosen, training]) + offset)
            self.labels.append(np.repeat([1, 0], [len(chosen), len(training)]))
            self.tested.append(tested)
        self.priors = [
            float(positive[rows[labels == 0] % len(X)].mean())
            for rows, labels in zip(self.rows, self.labels, strict=True)
        ]

    def balanced_accuracies(self, learner, **options):
        wants = learner._program.needs_class_prior
        runs = [
            learner(
                class_prior=self.priors[s] if wants else "auto",
                random_state=s,
                device="cpu",
                backbone=hundred,
                progress=False,
                **options,
            )
            for s in SEEDS
        ]
        fitted = fit_many(runs, np.concatenate(self.table).astype(np.float32), self.labels, rows=self.rows)
        return np.array([self._of(model.predict(self.table[s][self.tested[s]]), s) for s, model in enumerate(fitted)])

    def naive(self):
        """The same network, labelled against unlabelled rows, cut at one half."""
        weights = {"labelled_weight": 1.0, "labelled_start": 1e6, "unlabelled_start": 1e6, "schedule": "constant"}
        return self.balanced_accuracies(
            RobustPU, pretraining_epochs=0, episodes=1, epochs_per_episode=20, selection="last", **weights
        )

    def _of(self, predicted, seed):
        truth = self.positive[self.tested[seed]]
        return (predicted[truth].mean() + 1 - predicted[~truth].mean()) / 2


@pytest.fixture(scope="module", params=[digits, spambase], ids=["digits", "spambase"])
def draws(request, shared):
    return Draws(*request.param(shared), frequency=0.2)


@pytest.fixture(scope="module")
def naive(draws):
    return draws.naive().mean()


def test_robust_pu_beats_the_naive_classifier(draws, naive):
    found = draws.balanced_accuracies(RobustPU, pretraining_epochs=20, **ROBUST)
    assert found.mean() > naive + 0.2


def test_holistic_pu_beats_the_naive_classifier(draws, naive):
    found = draws.balanced_accuracies(HolisticPU)
    assert found.mean() > naive + 0.3
