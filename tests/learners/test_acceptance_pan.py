"""The worked numbers of PAN's specification: the game's value, its gradients and its fixed points."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import PAN

from pulens.errors import InputError
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learning.learners.stack.program import gradients_of
from pulens.learning.risks.adversarial import coupling, predictive_game, predictive_game_in_sums
from pulens.learning.risks.losses import sigmoid

D_LABELLED, D_UNLABELLED, C = (0.8, 0.6), (0.7, 0.3, 0.2, 0.5), (0.9, 0.4, 0.2, 0.6)


def logits(probabilities):
    return torch.logit(torch.tensor(probabilities, dtype=torch.float64)).requires_grad_()


def close(result, expected, tolerance=1e-6):
    np.testing.assert_allclose(torch.as_tensor(result).detach(), expected, rtol=0, atol=tolerance)


def test_value_of_the_game():
    d_labelled, d, c = logits(D_LABELLED), logits(D_UNLABELLED), logits(C)
    close(coupling(c, d), [-0.878890, -0.162186, -0.831777, 0])
    close(coupling(c, d).mean(), -0.468213)
    close(predictive_game(d_labelled, d, c, 1e-4), -0.986266)
    close(predictive_game(d_labelled, d, c, 1.0), -1.454432)


def test_the_coupling_is_a_difference_of_two_divergences():
    rng = np.random.default_rng(0)
    c, d = rng.normal(0, 2, 200), rng.normal(0, 2, 200)
    p, q = sigmoid(d, -1), sigmoid(c, -1)

    def divergence(p, q):
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))

    np.testing.assert_allclose(coupling(c, d), divergence(p, q) - divergence(p, 1 - q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(coupling(c, d), (np.log(1 - q) - np.log(q)) * (2 * p - 1), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(coupling(-c, d), -coupling(c, d))  # C turned into 1 - C


def test_value_of_the_authors_program():
    d_labelled, d, c = logits(D_LABELLED), logits(D_UNLABELLED), logits(C)
    close(predictive_game_in_sums(d_labelled, d, c, 0.0), -0.354360)
    close(predictive_game_in_sums(d_labelled, d, c, 1e-4), -0.354542)
    pull = predictive_game_in_sums(d_labelled, d, c, 1e-4) - predictive_game_in_sums(d_labelled, d, c, 0.0)
    close(pull, -0.000181)
    # of the first two unlabelled rows only the one below their mean counts
    predictive_game_in_sums(d_labelled, d, c, 0.0).backward()
    assert (d.grad != 0).tolist() == [False, True, False, False]
    first = np.log(0.81) + np.log(0.61)
    close(predictive_game_in_sums(d_labelled, d, c, 0.0) - first, 0.350657)


def test_gradients_of_the_coupling():
    d, c = logits(D_UNLABELLED), logits(C)
    slope_c, slope_d = torch.autograd.grad(coupling(c, d).mean(), [c, d])
    close(slope_c, [-0.1, 0.1, 0.15, 0])
    close(slope_d, [-0.230709, 0.042574, 0.110904, -0.050683])


def test_an_undecided_player_leaves_the_other_alone():
    d_labelled, d = logits(D_LABELLED), logits(D_UNLABELLED)
    undecided = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    close(coupling(undecided, d), np.zeros(4), 0)
    with_pull = torch.autograd.grad(predictive_game(d_labelled, d, undecided, 1.0), [d_labelled, d])
    without = torch.autograd.grad(predictive_game(d_labelled, d, undecided, 0.0), [d_labelled, d])
    for one, other in zip(with_pull, without, strict=True):
        assert torch.equal(one, other)
    c = logits(C)
    assert not torch.autograd.grad(coupling(c, undecided).mean(), c)[0].any()


def test_without_pull_the_discriminator_is_half_where_the_densities_cross():
    """Labelled N(1, 1), unlabelled N(-1, 1): the log ratio of the densities is 2x, zero at 0."""
    rng = torch.Generator().manual_seed(0)
    labelled = torch.randn(1, 20_000, 1, generator=rng) + 1
    unlabelled = torch.randn(1, 20_000, 1, generator=rng) - 1
    network = StackedNetwork(lambda: torch.nn.Linear(1, 1), [0], torch.device("cpu"))
    optimiser = Optimiser(network, OptimiserSettings(learning_rate=0.05))
    c = torch.zeros(1, 20_000)
    for _ in range(300):
        value = predictive_game(network(labelled), network(unlabelled), c, 0.0)
        optimiser.step(-gradients_of(value.sum(), [network])[0])
    slope, offset = network.flat.tolist()
    assert slope == pytest.approx(2, abs=0.1)
    assert -offset / slope == pytest.approx(0, abs=0.03)


def test_the_classifier_settles_where_labelled_rows_are_denser_than_the_population(toy):
    """The threshold is the class prior, not one half: on toy-G2 p_P > p_U is 2x + y > 0, whatever the class prior."""

    def small(shape):
        return torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

    options = {"epochs": 80, "batch_size": 4000, "labelled_batch_size": 400, "learning_rate": 0.02}
    fitted = toy.fit(PAN, backbone=small, pull=1e-6, discriminator_weight_decay=0.0, **options)
    agreement = [
        (model.predict(draw.test) == (draw.test @ [2, 1] > 0)).mean()
        for model, draw in zip(fitted, toy.draws, strict=True)
    ]
    assert np.mean(agreement) > 0.97


def test_both_players_move_and_an_unknown_objective_is_refused():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 3)), np.repeat([1, 0], [20, 40])
    options = {"epochs": 2, "batch_size": 16, "labelled_batch_size": 8, "random_state": 0, "device": "cpu"}
    one, other = (
        PAN(objective=kind, **options, scenario="case-control").fit(X, labels).decision_function(X)
        for kind in ("means", "sums")
    )
    assert (one != other).all()
    with pytest.raises(InputError, match="objective must be one of 'means', 'sums', got 'medians'"):
        PAN(objective="medians", **options, scenario="case-control").fit(X, labels)
