"""Shared by the learners' tests: a toy population, and a reason to skip where PyTorch is not installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch", reason="learners that train networks need PyTorch: pip install 'pulens[torch]'")

from torch_threads import one_thread  # noqa: F401


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/learners" in item.path.as_posix():
            item.add_marker(pytest.mark.torch)


def toy_draw(seed: int, accept=None) -> SimpleNamespace:
    """toy-G2: positives N((1, .5), I), negatives N((-1, -.5), I), 40% positive; 400 labelled, 4000 unlabelled."""
    rng = np.random.default_rng(seed)
    centre = np.array([1.0, 0.5])

    def population(n):
        positive = rng.random(n) < 0.4
        return rng.normal(size=(n, 2)) + np.where(positive[:, None], centre, -centre), positive

    labelled = rng.normal(size=(400 if accept is None else 20000, 2)) + centre
    if accept is not None:
        labelled = labelled[rng.random(len(labelled)) < accept(labelled)][:400]
    unlabelled, hidden = population(4000)
    test, truth = population(20000)
    return SimpleNamespace(
        labelled=labelled,
        unlabelled=unlabelled,
        hidden=hidden,  # the truth of unlabelled rows, for references that are told it
        X=np.concatenate([labelled, unlabelled]),
        labels=np.repeat([1, 0], [400, 4000]),
        test=test,
        truth=truth,
    )


class Toy:
    """Draws of the toy, six unless told, trained as one stack of linear models."""

    def __init__(self, accept=None, seeds=range(6)):
        self.draws = [toy_draw(seed, accept) for seed in seeds]
        self.table = np.concatenate([draw.X for draw in self.draws]).astype(np.float32)
        size = 4400
        self.rows = [np.arange(size) + size * number for number in range(len(self.draws))]
        self.labels = [draw.labels for draw in self.draws]

    def fit(self, learner, **options):
        from pulens.learners import fit_many

        settings = {"scenario": "case-control", "backbone": "linear", "selection": "last", "weight_decay": 0.0}
        settings |= {"learning_rate": 0.05, **options}
        runs = [learner(random_state=seed, device="cpu", **settings) for seed in range(len(self.draws))]
        return fit_many(runs, self.table, self.labels, rows=self.rows)

    def accuracies(self, learners) -> np.ndarray:
        return np.array(
            [(fitted.predict(d.test) == d.truth).mean() for fitted, d in zip(learners, self.draws, strict=True)]
        )


@pytest.fixture(scope="session")
def toy():
    return Toy()


@pytest.fixture(scope="session")
def ten_toys():
    """As many draws as the specifications' figures are over."""
    return Toy(seeds=range(10))


@pytest.fixture(scope="session")
def biased_toy():
    """Positives far along the first axis are labelled more often."""
    return Toy(accept=lambda x: 1 / (1 + np.exp(-3 * (x[:, 0] - 1))))
