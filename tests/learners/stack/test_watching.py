"""Who goes on and which epoch is kept: one watcher for fit and for the benchmark, patience as its answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import NNPU, fit_many

from pulens.errors import PulensError
from pulens.learning.learners.stack.watching import Best, Watcher

NAN = float("nan")


def problem():
    X = np.random.default_rng(0).normal(size=(90, 2)).astype(np.float32)
    return X, (X[:, 0] > 0.7).astype(int)


def learners(runs, **options):
    usual = {"class_prior": 0.4, "backbone": "linear", "batch_size": 30, "device": "cpu", "selection": "last"}
    return [NNPU(random_state=run, **{**usual, **options}) for run in range(runs)]


class Told(Watcher):
    """A watcher whose criterion is written down beforehand, an epoch a row."""

    def __init__(self, values, patience=None):
        super().__init__(len(values[0]), "cpu", by="told", patience=patience)
        self.values, self.kept = values, []

    def look(self, program, number):
        self.note(number, {"told": torch.tensor(self.values[number - 1], dtype=torch.float64)})

    def keep(self, name, better):
        self.kept.append(better.tolist())


def test_patience_ends_training_and_the_learners_are_fitted():
    X, labels = problem()
    watcher = Told([[0.5, 0.5], [0.4, 0.6], [0.3, 0.6], [0.9, 0.5], [0.9, 0.4]], patience=1)
    fitted = fit_many(learners(2, epochs=5), X, [labels] * 2, on_epoch=watcher)
    assert watcher.epochs == [1, 2, 3]  # the first run stops at 2, the second at 3: nobody is left for the fourth
    assert watcher.best["told"].epoch.tolist() == [1, 2]  # a run that stopped takes no later epoch
    assert [one.best_epoch_ for one in fitted] == [3, 3]
    assert all(np.isfinite(one.decision_function(X)).all() for one in fitted)


def test_a_hook_that_stops_everybody_ends_training():
    X, labels = problem()
    seen = []

    def stop(program, number, stage):
        seen.append(number)
        return torch.tensor([False, False]) if number == 2 else None

    fit_many(learners(2, epochs=6), X, [labels] * 2, on_epoch=stop)
    assert seen == [1, 2]


def test_a_criterion_that_is_no_number_never_wins_and_the_first_of_equals_stays():
    best, everyone = Best(3, "cpu"), torch.ones(3, dtype=torch.bool)
    for number, values in enumerate([[NAN, 0.5, 0.2], [NAN, 0.5, NAN], [NAN, 0.4, 0.3]], start=1):
        best.offer(torch.tensor(values, dtype=torch.float64), number, everyone, is_first=number == 1)
    assert best.epoch.tolist() == [-1, 1, 3]
    assert best.since.tolist() == [2, 2, 0]


def test_fit_keeps_the_epoch_that_its_criterion_likes_best():
    X, labels = problem()
    fitted = fit_many(learners(1, epochs=8, selection="proxy_accuracy", learning_rate=0.05), X, [labels])[0]
    said = [entry["selection"] for entry in fitted.history_]
    assert fitted.best_epoch_ == 1 + int(np.argmax(said))


class Spoiling(Told):
    """Breaks the parameters of the first run in the second epoch."""

    def look(self, program, number):
        super().look(program, number)
        if number == 2:
            for part in program.stack.network.parameters.values():
                part.data[0] = NAN


def test_a_run_that_a_watcher_stopped_may_have_diverged_where_the_others_did_not():
    """What was kept of it is from before."""
    X, labels = problem()
    fitted = fit_many(
        learners(2, epochs=4),
        X,
        [labels] * 2,
        on_epoch=Spoiling([[0.5, 0.5], [0.4, 0.6], [0.4, 0.7], [0.4, 0.8]], patience=1),
    )
    assert np.isfinite(fitted[1].decision_function(X)).all()
    with pytest.raises(PulensError, match="training diverged"):
        fit_many(
            learners(2, epochs=4), X, [labels] * 2, on_epoch=Spoiling([[0.5, 0.5], [0.4, 0.6], [0.4, 0.7], [0.4, 0.8]])
        )
