"""The worked numbers of Robust-PU's specification, and what its weights do on data with a known truth."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import RobustPU, fit_many

from pulens.errors import InputError
from pulens.learning.learners.robust_pu import SelfPacedProgram
from pulens.learning.learners.stack.rows import Batch
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.self_paced import SCHEDULES, WEIGHTS, hardness, threshold, welsch

LABELLED, UNLABELLED = np.array([2.0]), np.array([-1.0, 0.5])
D = np.concatenate([hardness(LABELLED, 1, 1.0), hardness(UNLABELLED, -1, 1.3)])


def close(result, expected, tolerance=2e-6):
    np.testing.assert_allclose(np.asarray(result), expected, rtol=0, atol=tolerance)


def test_hardness():
    close(D, [0.126928, 0.380742, 0.903833])
    close(hardness(LABELLED, 1, 1.0, "sigmoid"), [1 / (1 + math.exp(2))])
    close(hardness(torch.tensor(UNLABELLED), -1, 1.3), D[1:])


@pytest.mark.parametrize(
    ("name", "tau", "expected"),
    [
        ("welsch", 1.0, [0.880797, 0.683354, 0.405014]),
        ("welsch", 0.46, [0.548895, 0.165407, 0.013962]),
        ("linear", 1.0, [0.873072, 0.619258, 0.096167]),
        ("linear", 0.46, [0.724070, 0.172301, 0]),
        ("linear", 0.1, [0, 0, 0]),
    ],
)
def test_weights(name, tau, expected):
    close(WEIGHTS[name](D, tau), expected)
    close(WEIGHTS[name](torch.tensor(D), tau), expected)


@pytest.mark.parametrize(("tau", "loss", "normalised"), [(1.0, 0.240127, 0.365831), (0.5, 0.056972, 0.201827)])
def test_loss_of_an_episode_is_a_mean_over_the_batch(tau, loss, normalised):
    losses = np.concatenate([logistic(LABELLED, 1), logistic(UNLABELLED, -1)])
    close(losses, [0.126928, 0.313262, 0.974077])
    v = welsch(D, tau)
    close((v * losses).sum() / v.sum(), normalised)
    assert episode_loss(v) == pytest.approx(loss, abs=2e-6)


def episode_loss(weights):
    """The program's own loss of a batch of three rows and a padding one."""
    program = SelfPacedProgram.__new__(SelfPacedProgram)
    logits = torch.tensor([[2.0, -1.0, 0.5, 9.0]])
    program.stack = SimpleNamespace(logits=lambda batch: logits)
    program.weights = torch.tensor(np.append(weights, 5.0)[None], dtype=torch.float32)
    labelled, unlabelled = torch.tensor([[1.0, 0, 0, 0]]), torch.tensor([[0, 1.0, 1, 0]])
    batch = Batch(torch.arange(4)[None], torch.zeros(1, 4, 1), labelled, unlabelled, unlabelled, (0, 0), None)
    return program.loss(SimpleNamespace(name="episodes"), batch).item()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("linear", [0.1, 0.28, 0.46, 0.64, 0.82, 1]),
        ("convex", [0.1, 0.378115, 0.629007, 0.828115, 0.955951, 1]),
        ("concave", [0.1, 0.144049, 0.271885, 0.470993, 0.721885, 1]),
        ("exponential", [0.1, 0.55, 0.775, 0.8875, 0.94375, 0.971875]),
        ("constant", [0.1] * 6),
    ],
)
def test_schedules(kind, expected):
    close([threshold(kind, episode, 0.1, 1.0, 5) for episode in range(6)], expected)
    later = threshold(kind, 50, 0.1, 1.0, 5)
    assert later == pytest.approx(0.1 if kind == "constant" else 1.0)
    falling = [threshold(kind, episode, 1.0, 0.1, 5) for episode in range(8)]
    assert min(falling) >= 0.1 - 1e-12
    assert set(SCHEDULES) == {"constant", "linear", "convex", "concave", "exponential"}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_fall_with_hardness_and_rise_with_the_threshold(name):
    d = np.linspace(0.001, 3, 60)
    taus = [0.1, 0.4, 0.8] if name == "logarithmic" else [0.1, 0.5, 1.0, 2.0]
    result = np.array([WEIGHTS[name](d, tau) for tau in taus])
    assert np.isfinite(result).all()
    assert (result >= 0).all()
    assert (result <= 1 + 1e-9).all()
    assert (np.diff(result, axis=1) <= 1e-12).all()
    if name != "logarithmic":
        assert (np.diff(result, axis=0) >= -1e-12).all()
    close(WEIGHTS[name](torch.tensor(d), taus[1]), result[1], 1e-9)


def test_limits():
    z = np.linspace(-4, 4, 9)
    close(hardness(z, 1, 1e9), math.log(2))
    close(hardness(z, -1, 1e9), math.log(2))
    losses = logistic(z, 1)
    close(welsch(hardness(z, 1, 1.0), 1e6) * losses, losses)
    close(welsch(hardness(z, 1, 1.0), 1e-3) * losses, 0)
    close(welsch(hardness(z, 1, 0.8), 0.7), welsch(hardness(-z, -1, 0.8), 0.7))


def gaussians(seed=0, labelled=150, unlabelled=1200):
    rng = np.random.default_rng(seed)
    positive = rng.random(unlabelled) < 0.4
    X = np.concatenate([rng.normal(1.2, 1, labelled), rng.normal(np.where(positive, 1.2, -1.2), 1)])[:, None]
    return X.astype(np.float32), np.repeat([1, 0], [labelled, unlabelled]), positive


QUICK = {
    "class_prior": 0.4,
    "backbone": "linear",
    "device": "cpu",
    "progress": False,
    "pretraining_epochs": 10,
    "pretraining_learning_rate": 0.05,
    "learning_rate": 0.02,
    "random_state": 0,
}


def test_negatives_weigh_more_than_hidden_positives():
    X, labels, positive = gaussians()
    seen = []

    def watch(program, number, stage):
        if stage.name == "episodes":
            seen.append(program.weights[0, len(labels) - len(positive) :].clone().numpy())

    fit_many([RobustPU(episodes=3, selection="last", **QUICK, scenario="case-control")], X, [labels], on_epoch=watch)
    for weights in seen:
        assert weights[~positive].mean() > 2 * weights[positive].mean()
    assert seen[2].mean() > seen[0].mean()  # the threshold grows


def test_labelled_rows_stand_for_all_positives_unless_told_otherwise():
    X, labels, _ = gaussians()
    result = {}

    def watch(program, number, stage):
        if stage.name == "episodes":
            result[program.value("labelled_weight")] = program.weights[0].clone()

    for weight in (None, 1.0):
        options = {**QUICK, "episodes": 1, "selection": "last", "labelled_weight": weight}
        fit_many([RobustPU(**options, scenario="case-control")], X, [labels], on_epoch=watch)
    torch.testing.assert_close(result[None][:150], result[1.0][:150] * (0.4 * 1200 / 150))
    assert torch.equal(result[None][150:], result[1.0][150:])


def test_old_weights_are_remembered_row_by_row():
    X, labels, _ = gaussians()
    seen = {0.0: [], 1.0: []}

    def watch(program, number, stage):
        if stage.name == "episodes":
            seen[program.value("memory")].append(program.weights[0].clone())

    for memory in seen:
        fit_many(
            [RobustPU(episodes=2, memory=memory, selection="last", **QUICK, scenario="case-control")],
            X,
            [labels],
            on_epoch=watch,
        )
    assert torch.equal(seen[1.0][0], seen[1.0][1])
    assert not torch.equal(seen[0.0][0], seen[0.0][1])


def test_episodes_compete_among_themselves_and_not_with_pre_training():
    X, labels, _ = gaussians()
    learner = RobustPU(episodes=4, pretraining_selection="proxy_accuracy", **QUICK, scenario="case-control").fit(
        X, labels
    )
    assert 1 <= learner.pretraining_epoch_ <= 10
    assert 11 <= learner.best_epoch_ <= 14
    assert len(learner.history_) == 4
    assert RobustPU(episodes=1, **QUICK, scenario="case-control").fit(X, labels).pretraining_epoch_ == 10


def test_pre_training_is_judged_on_pu_rows_also_where_an_oracle_selects():
    X, labels, positive = gaussians()
    other, truth = gaussians(1)[0][150:], np.where(gaussians(1)[2], 1, -1)
    options = {**QUICK, "episodes": 2, "selection": "oracle", "pretraining_selection": "proxy_accuracy"}
    options["standardise"] = False  # the settings were chosen for these rows as they are
    learner = RobustPU(**options, scenario="case-control").fit(X, labels, validation=(other, truth))
    assert (learner.predict(X[150:]) == positive).mean() > 0.85


def test_a_fresh_network_in_every_episode_still_learns():
    X, labels, positive = gaussians()
    learner = RobustPU(
        episodes=3,
        epochs_per_episode=20,
        restart=True,
        labelled_start=0.5,
        unlabelled_start=0.4,
        **QUICK,
        scenario="case-control",
    ).fit(X, labels)
    assert (learner.predict(X[150:]) == positive).mean() > 0.85


@pytest.mark.parametrize("name", ["hardness", "weights", "schedule"])
def test_unknown_words_are_refused(name):
    X, labels, _ = gaussians()
    with pytest.raises(InputError, match=f"{name} must be one of"):
        RobustPU(**{**QUICK, name: "soft"}, scenario="case-control").fit(X, labels)


def test_the_same_seed_twice_gives_identical_bits():
    X, labels, _ = gaussians()
    first, second = (
        RobustPU(episodes=2, **QUICK, scenario="case-control").fit(X, labels).decision_function(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
