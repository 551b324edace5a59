"""PUL-CPBF: the worked numbers of its specification, the fence as a whole, and that no true label is read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import PULCPBF, fit_many
from scipy.optimize import minimize
from torch import nn

from pulens.errors import InputError, PulensError
from pulens.learning.learners.pul_cpbf import SelfTraining, self_training
from pulens.learning.risks.alignment import cross_entropy
from pulens.learning.risks.fence import asymmetric, confidence, interval, penalty, weights_of
from pulens.learning.risks.losses import logistic, sigmoid

SHORT = {"epochs": 2, "fence_epochs": 2, "batch_size": 16, "levels": 3, "device": "cpu", "progress": False}
LEVELS = np.array([0.1, 0.5, 0.9])


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.5
    X = rng.normal(size=(n, 3)) + np.where(positive, 1.5, -1.5)[:, None]
    return X.astype(np.float32), (positive & (rng.random(n) < 0.5)).astype(int), positive


@pytest.mark.parametrize(
    ("labelled_share", "prior", "expected"),
    [
        (1980 / 51480, 0.4, [0.009901, 0.047619, 0.082569]),
        (2919 / 62319, 29197 / 59400, [0.009899, 0.047608, 0.082551]),
    ],
)
def test_penalty_of_a_level(labelled_share, prior, expected):
    result = penalty(LEVELS, labelled_share, prior)
    assert result == pytest.approx(expected, abs=1e-6)
    assert (np.diff(result) > 0).all()
    assert penalty(prior * (1 - labelled_share) / labelled_share, labelled_share, prior) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("level", "expected", "below", "above", "at_half"),
    [(0.3, 0.0625, 0.25, 0.35, 0.510826), (0.72, 0.137931, 0.70, 0.75, -0.364643)],
)
def test_the_minimiser_changes_sign_at_the_level(level, expected, below, above, at_half):
    """Chances .05 .. .95 are equally frequent; the risk is minimised numerically, one free score for each."""
    eta = np.arange(1, 20) * 0.05
    share, prior = 0.1, eta.mean()
    result = penalty(level, share, prior)
    assert result == pytest.approx(expected, abs=1e-6)
    positives = eta / eta.sum()

    def risk(f):
        return asymmetric((positives * logistic(f, 1)).sum(), logistic(f, -1).mean(), result, share)

    def slope(f):
        weights = weights_of(result, share)
        return -weights[0] * positives * sigmoid(f, 1) + weights[1] * sigmoid(f, -1) / eta.size

    best = minimize(risk, np.zeros(eta.size), jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(best, np.log(eta / level), atol=1e-4)
    assert best[np.isclose(eta, 0.5)] == pytest.approx(at_half, abs=1e-4)
    assert (best[eta < below + 1e-9] < 0).all()
    assert (best[eta > above - 1e-9] > 0).all()


def test_worked_value_of_the_risk():
    beta = penalty(0.5, 0.2, 0.4)
    assert beta == pytest.approx(0.238095, abs=1e-6)
    P, U = np.array([1.0, 0.0]), np.array([-1.0, 0.5])
    assert asymmetric(logistic(P, 1).mean(), logistic(U, -1).mean(), beta, 0.2) == pytest.approx(0.199282, abs=1e-6)


@pytest.mark.parametrize(
    ("signs", "ends"),
    [("++-", (0.5, 0.9)), ("---", (0.0, 0.1)), ("+++", (0.9, 1.0)), ("+-+", (0.5, 0.9)), ("+--", (0.1, 0.5))],
)
@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_signs_name_exactly_one_bracket(signs, ends, kind):
    passed = np.array([sum(sign == "+" for sign in signs)])
    low, high = interval(kind(passed), kind(LEVELS))
    assert (float(low[0]), float(high[0])) == ends


def test_labels_are_uniform_inside_their_bracket():
    seen = {}

    def keep(program, *_):
        if "drawn" not in seen:
            seen["drawn"] = program.draw(torch.full((1, 20_000), 2))

    fit_many(
        [PULCPBF(class_prior=0.5, random_state=0, **{**SHORT, "epochs": 1}, scenario="case-control")],
        *_single(),
        on_epoch=keep,
    )
    drawn = seen["drawn"]
    assert 0.5 <= drawn.min() < 0.501  # levels 1/4, 2/4, 3/4
    assert 0.749 < drawn.max() <= 0.75
    assert drawn.mean().item() == pytest.approx(0.625, abs=4 * 0.25 / 12**0.5 / 20_000**0.5)


def test_the_mean_of_a_wide_bracket():
    low, high = interval(np.array([2]), LEVELS)
    drawn = low + (high - low) * np.random.default_rng(0).random(10_000)
    assert drawn.mean() == pytest.approx(0.7, abs=0.005)


def _single():
    X, labels, _ = rows()
    return X, [labels]


def test_worked_numbers_of_self_training():
    called, sure = confidence(sigmoid(np.array([1.5]), -1), 0.5)
    assert sure == pytest.approx([0.952574], abs=1e-6)
    assert called == [1.0]
    target = 0.5 * called + 0.5 * 0.35
    assert target == pytest.approx([0.675])
    assert cross_entropy(np.array([1.5]), target) == pytest.approx([0.688913], abs=1e-6)
    assert cross_entropy(np.array([0.4]), called) == pytest.approx([0.513015], abs=1e-6)
    z = torch.tensor([[1.5]], dtype=torch.float64), torch.tensor([[0.4]], dtype=torch.float64)
    own, consistent = self_training(*z, torch.tensor([[0.35]]), SelfTraining())
    assert (own.item(), consistent.item()) == pytest.approx((0.688913, 0.513015), abs=1e-6)
    _, unsure = self_training(*z, torch.tensor([[0.35]]), SelfTraining(threshold=0.96))
    assert unsure.item() == 0.0


def test_own_calls_lend_no_gradient_to_the_target():
    z = torch.tensor([[0.3, -0.2]], requires_grad=True)
    own, _ = self_training(z, z.detach(), torch.tensor([[0.6, 0.1]]), SelfTraining())
    slope = torch.autograd.grad(own.sum(), z)[0]
    expected = (torch.sigmoid(z) - torch.tensor([[0.8, 0.05]])) / 2
    torch.testing.assert_close(slope, expected.detach())


def test_many_levels_bracket_a_known_chance_closely():
    eta = np.random.default_rng(0).random(1000)
    levels = np.arange(1, 1000) / 1000
    passed = (np.log(eta[:, None] / levels) >= 0).sum(1)
    low, high = interval(passed, levels)
    assert (low <= eta).all()
    assert (eta <= high + 1e-12).all()
    assert (high - low).max() < 0.0011


def test_without_own_calls_the_minimiser_is_the_mean_label():
    labels = torch.tensor([[0.2, 0.9, 0.4]], dtype=torch.float64)
    z = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)
    for _ in range(200):
        own, _ = self_training(z.expand(1, 3), z.detach().expand(1, 3), labels, SelfTraining(share=0.0))
        z = (z - 4 * torch.autograd.grad(own.sum(), z)[0]).detach().requires_grad_()
    assert torch.sigmoid(z).item() == pytest.approx(0.5, abs=1e-6)


def test_no_label_of_an_unlabelled_row_is_ever_read():
    X, labels, _ = rows()
    unknown = np.where(labels == 1, 1.0, np.nan)
    first, second = (
        PULCPBF(class_prior=0.5, random_state=0, **SHORT, scenario="case-control").fit(X, given).decision_function(X)
        for given in (labels, unknown)
    )
    np.testing.assert_array_equal(first, second)


def test_the_fence_recovers_a_known_posterior():
    """Two normals with known P(positive | x): brackets of linear classifiers hold it, separate and shared alike."""
    rng = np.random.default_rng(0)
    n, prior = 10_000, 0.4
    positive = rng.random(n) < prior
    X = (rng.normal(size=(n, 1)) + np.where(positive, 0.8, -0.8)[:, None]).astype(np.float32)
    labelled = (rng.normal(size=(4000, 1)) + 0.8).astype(np.float32)
    table, labels = np.concatenate([labelled, X]), np.repeat([1, 0], [4000, n])
    eta = 1 / (1 + np.exp(-1.6 * X[:, 0] - np.log(prior / (1 - prior))))
    result = {}

    def keep(program, *_):
        result["passed"] = program.passed[0, 4000:].numpy() if hasattr(program, "passed") else None

    def deep(shape):
        return nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    options = {
        "backbone": deep,
        "levels": 4,
        "fence_epochs": 12,
        "epochs": 1,
        "batch_size": 500,
        "fence_learning_rate": 0.02,
    }
    options |= {"fence_entropy": 0.0, "fence_weight_decay": 0.0, "device": "cpu", "fence_patience": None}
    for kind in ("separate", "shared"):
        learner = PULCPBF(
            class_prior=prior, random_state=0, fence=kind, selection="last", **options, scenario="case-control"
        )
        fit_many([learner], table, [labels], on_epoch=keep)
        expected = (eta[:, None] >= np.arange(1, 5) / 5).sum(1)
        assert (result["passed"] == expected).mean() > 0.85
        assert np.abs(result["passed"] - expected).max() <= 2
        shares = np.bincount(result["passed"], minlength=5) / n
        assert learner.bracketed_ == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": 0}, "levels must be a whole number of at least 1, got 0"),
        ({"fence": "wooden"}, "fence must be one of 'separate', 'shared', got 'wooden'"),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'sigmoid', got 'hinge'"),
        ({"loss": "sigmoid", "fence": "shared"}, "needs loss='logistic'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    X, labels, _ = rows()
    with pytest.raises(InputError, match=message):
        PULCPBF(**{"class_prior": 0.5, **SHORT, **changes}, scenario="case-control").fit(X, labels)


def test_a_fence_that_diverges_is_an_error():
    X, labels, _ = rows()
    options = {**SHORT, "fence_learning_rate": 1e38, "fence_epochs": 20, "optimiser": "sgd", "fence_patience": None}
    with pytest.raises(PulensError, match="training of the fence diverged"):
        PULCPBF(class_prior=0.5, random_state=0, **options, scenario="case-control").fit(X, labels)


def test_a_fence_that_no_longer_improves_stops_and_keeps_its_best():
    X, labels, _ = rows()
    seen = []

    def watch(program, number, stage):
        if stage.name == "fence":
            seen.append((program.fence_runs, program.fence.lowest.clone()))

    learner = PULCPBF(
        class_prior=0.5,
        random_state=0,
        **{**SHORT, "fence_epochs": 16, "fence_learning_rate": 0.1, "fence_patience": 1},
        scenario="case-control",
    )
    fit_many([learner], X, [labels], on_epoch=watch)
    running = [runs for runs, _ in seen]
    assert running[0]
    assert not running[-1]
    stopped = running.index(False)
    assert all(torch.equal(lowest, seen[stopped][1]) for _, lowest in seen[stopped:])


def test_a_fence_of_a_stack_stops_where_it_stops_alone():
    """Runs whose fences lose patience at different epochs keep the copies that they keep by themselves."""
    X, labels, _ = rows()
    options = {**SHORT, "epochs": 1, "fence_epochs": 16, "fence_patience": 1, "class_prior": 0.5}
    rates = (0.3, 1e-3, 0.1)

    def lowest(runs):
        seen = []

        def watch(program, number, stage):
            if stage.name == "fence":
                seen.append((program.fence.running.clone(), program.fence.lowest.clone()))

        made = [
            PULCPBF(random_state=run, fence_learning_rate=rates[run], **options, scenario="case-control")
            for run in runs
        ]
        fit_many(made, X, [labels] * len(made), on_epoch=watch)
        return seen

    together, alone = lowest(range(3)), [lowest([run]) for run in range(3)]
    ends = [sum(bool(running[run]) for running, _ in together) for run in range(3)]
    assert min(ends) < max(ends), "some run must go on while another has lost its patience"
    for run, own in enumerate(alone):
        assert ends[run] == sum(bool(running[0]) for running, _ in own)
        kept = together[-1][1].view(3, -1)[run]
        torch.testing.assert_close(kept, own[-1][1], rtol=1e-4, atol=1e-6)


def test_an_oracle_that_selects_the_epoch_does_not_stop_the_fence():
    """Its validation rows carry true classes: the fence is watched on PU rows set aside instead."""
    X, labels, positive = rows()
    watched = []

    def watch(program, number, stage):
        watched.append((program.watched.n_rows[0], program.stack.data.n_rows[0], program.passed.clone()))

    options = {**SHORT, "selection": "oracle", "epochs": 1, "fence_epochs": 4}

    def brackets(truth):
        watched.clear()
        validation = [(np.arange(50), truth[:50])]
        learner = PULCPBF(class_prior=0.5, random_state=0, **options, scenario="case-control")
        fit_many([learner], X, [labels[50:]], rows=[np.arange(50, 200)], validation=validation, on_epoch=last)
        return watched[-1]

    def last(program, number, stage):
        if stage.name == "training":
            watch(program, number, stage)

    truth = np.where(positive, 1, -1)
    first, second = brackets(truth), brackets(-truth)
    assert first[:2] == (15, 135)
    assert torch.equal(first[2], second[2])
