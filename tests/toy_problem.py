"""Two overlapping normal classes in the plane, as positive and unlabelled rows: the specifications' toy problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BAYES_ACCURACY = 0.8721


@dataclass(frozen=True)
class Toy:
    X: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def toy(seed, n_labelled=400, n_unlabelled=4000, n_test=20_000, prior=0.4):
    """Positives around (1, .5), negatives around (-1, -.5), identity covariance; unlabelled rows drawn afresh."""
    rng = np.random.default_rng([seed, 77])
    mean = np.array([1.0, 0.5])

    def rows(positive):
        return rng.normal(size=(positive.size, 2)) + np.where(positive[:, None], mean, -mean)

    hidden, y_test = rng.random(n_unlabelled) < prior, rng.random(n_test) < prior
    truth = np.concatenate([np.ones(n_labelled, bool), hidden])
    labels = np.repeat([1, 0], [n_labelled, n_unlabelled])
    return Toy(rows(truth), labels, truth, rows(y_test), y_test)
