"""The worked numbers of CGenPU's specification, who learns from what, and the rows it generates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import CGenPU, fit_many, load
from sklearn.datasets import make_moons
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.stack.program import gradients_of
from pulens.learning.risks.conditional import (
    classifier_loss,
    deception,
    discriminator_loss,
    half_divergence,
    ties,
)

A_P, A_GP, A_GN = (0.9, 0.8), (0.7, 0.6), (0.2, 0.4)
D_P, D_U, D_GP, D_GN = (0.9, 0.8), (0.6, 0.7), (0.3, 0.2), (0.4, 0.1)
SHORT = {"epochs": 2, "steps_per_epoch": 3, "batch_size": 16, "random_state": 0, "device": "cpu", "hidden": (16, 16)}


def logits(probabilities):
    return torch.logit(torch.tensor(probabilities, dtype=torch.float64))


def close(result, expected, tolerance=1e-6):
    np.testing.assert_allclose(torch.as_tensor(result), expected, rtol=0, atol=tolerance)


def small(shape):
    return nn.Sequential(nn.Linear(shape[0], 16), nn.ReLU(), nn.Dropout(0.3), nn.BatchNorm1d(16), nn.Linear(16, 1))


def rows(n=120, shape=(3,), seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, *shape)).astype(np.float32), np.repeat([1, 0], [n // 3, n - n // 3])


def test_losses_on_a_handful_of_scores():
    a_p, a_gp, a_gn = map(logits, (A_P, A_GP, A_GN))
    close(-np.log(A_P).mean(), 0.164252)
    close(half_divergence(a_p, a_gp), 0.228164)
    close(half_divergence(a_gp, -a_gn), -0.046736)
    close(classifier_loss(a_p, a_gp, a_gn), 0.345680)
    close(discriminator_loss(*map(logits, (D_P, D_U, D_GP, D_GN))), 0.598002)
    adversarial = deception(logits(D_GP), logits(D_GN))
    close(adversarial, 3.016143)
    close(adversarial + ties(a_p, a_gp, a_gn), 3.197572)


def test_undecided_and_perfect_scores():
    half = torch.zeros(4, dtype=torch.float64)
    close(discriminator_loss(half, half, half, half), 1.386294)
    close(classifier_loss(half, half, half), 0.693147)
    sure = torch.full((4,), 40.0, dtype=torch.float64)
    close(classifier_loss(sure, sure, -sure), 0.0)


def test_half_divergence_is_lowest_at_the_other_over_e_and_negative_there():
    other = 0.9
    result = half_divergence(logits([[p] for p in (0.3, other / np.e, 0.4)]), logits([other]))
    close(result[0], -0.329584)
    close(result[1], -other / np.e)
    assert result.argmin() == 1


def stopped_program(**options):
    """The program after a short training, with the batch of a further step."""
    caught = {}

    def hook(program, number, stage):
        caught["program"] = program
        caught["batch"] = next(iter(stage.batches.epoch(program.stack.data, program.stack.streams, 50)))

    X, labels = rows()
    learner = CGenPU(backbone=small, **{**SHORT, **options}, scenario="case-control")
    fit_many([learner], X, [labels], on_epoch=hook)
    return caught["program"], caught["batch"]


def test_each_loss_teaches_one_network():
    program, batch = stopped_program()
    a, d, g = program.stack.networks
    with torch.no_grad():
        drawn = program.generate(batch, "judged")
    losses = {
        "network": lambda: program.classifier_losses(batch, drawn),
        "discriminator": lambda: program.discriminator_losses(batch, drawn),
    }
    for name, loss in losses.items():
        others = [leaf for net in (a, d, g) if net.name != name for leaf in net.leaves]
        own = program.stack.named(name).leaves
        slopes = torch.autograd.grad(loss().sum(), own + others, allow_unused=True)
        assert all(slope is None for slope in slopes[len(own) :])
        assert any(slope is not None and slope.any() for slope in slopes[: len(own)])


def test_the_generators_step_leaves_the_judges_as_they_are():
    program, batch = stopped_program()
    a, d, g = program.stack.networks
    before = [(network.flat.clone(), {k: v.clone() for k, v in network.buffers.items()}) for network in (a, d)]
    optimisers = program.stages()[0].optimisers(program.stack)
    optimisers[2].step(gradients_of(program.generator_losses(batch).sum(), [g])[0])
    for network, (flat, buffers) in zip((a, d), before, strict=True):
        assert torch.equal(network.flat, flat)
        assert all(torch.equal(network.buffers[key], value) for key, value in buffers.items())
    assert a.has_batch_norm


def test_without_auxiliary_terms_the_classifier_never_moves():
    still, _ = stopped_program(aux_strength=0.0)
    start, _ = stopped_program(aux_strength=0.0, epochs=1)
    assert torch.equal(still.stack.network.flat, start.stack.network.flat)
    assert not torch.equal(still.stack.named("generator").flat, start.stack.named("generator").flat)
    moved, _ = stopped_program()
    assert not torch.equal(moved.stack.network.flat, start.stack.network.flat)


def test_the_classifier_has_one_sigmoid():
    X, labels = rows()
    scores = CGenPU(backbone=small, **SHORT, scenario="case-control").fit(X, labels).predict_proba(10 * X)[:, 1]
    assert scores.min() < 0.5 < scores.max()


@pytest.mark.parametrize(
    ("change", "output", "low", "high"),
    [
        (lambda X: X, "linear", -np.inf, np.inf),
        (lambda X: 1 / (1 + np.exp(-X)), "sigmoid", 0, 1),
        (np.tanh, "tanh", -1, 1),
        (lambda X: X / np.linalg.norm(X, axis=1, keepdims=True), "unit", -1, 1),
    ],
    ids=["linear", "sigmoid", "tanh", "unit"],
)
def test_generated_rows_keep_the_range_of_the_data(change, output, low, high):
    X, labels = rows()
    learner = CGenPU(backbone="linear", **SHORT, scenario="case-control").fit(change(X), labels)
    drawn = learner.sample(50, kind="negative", random_state=0)
    assert learner.output_ == output
    assert low <= drawn.min() <= drawn.max() <= high
    if output == "unit":
        np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, atol=1e-5)
    asked = CGenPU(backbone="linear", output="linear", **SHORT, scenario="case-control").fit(change(X), labels)
    assert asked.output_ == "linear"


def test_samples_come_in_the_scale_of_the_data_and_survive_saving(tmp_path):
    X, labels = rows()
    X = X * [1.0, 100.0, 0.01] + [0.0, 5000.0, -3.0]
    learner = CGenPU(backbone="linear", standardise=True, **SHORT, scenario="case-control").fit(X, labels)
    drawn = learner.sample(400, random_state=1)
    assert drawn.shape == (400, 3)
    assert (abs(drawn.mean(0) - X.mean(0)) < 3 * X.std(0)).all()
    again = load(learner.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.sample(400, random_state=1), drawn)
    assert (again.sample(400, kind="negative", random_state=1) != drawn).any()
    assert (again.sample(400, random_state=2) != drawn).any()
    assert again.mean_score_ == learner.mean_score_
    with pytest.raises(InputError, match="kind must be one of 'positive', 'negative', got 'both'"):
        learner.sample(3, kind="both")
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        learner.sample(0)
    with pytest.raises(InputError, match=r"plot_samples\(shape=\(height, width\)\)"):
        learner.plot_samples()


@pytest.mark.parametrize("shape", [(1, 7, 7), (3, 12, 12)], ids=str)
def test_pictures_of_any_size_are_generated_in_stacks(shape):
    rng = np.random.default_rng(0)
    X = rng.random((30, *shape)).astype(np.float32)
    labels = np.repeat([1, 0], [10, 20])
    options = {**SHORT, "epochs": 1, "steps_per_epoch": 2, "batch_size": 4, "backbone": "linear"}
    pair = fit_many(
        [CGenPU(**{**options, "random_state": seed}, scenario="case-control") for seed in (3, 4)], X, [labels] * 2
    )
    alone = CGenPU(**{**options, "random_state": 4}, scenario="case-control").fit(X, labels)
    drawn = pair[1].sample(5, random_state=0)
    assert drawn.shape == (5, *shape)
    assert 0 <= drawn.min() <= drawn.max() <= 1
    np.testing.assert_allclose(drawn, alone.sample(5, random_state=0), atol=2e-3)
    ax = alone.plot_samples(4, random_state=0)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["generated positive", "generated negative"]


def test_settings_that_make_no_sense_are_refused():
    X, labels = rows()
    with pytest.raises(InputError, match="noise must be one of"):
        CGenPU(noise="pink", **SHORT, scenario="case-control").fit(X, labels)
    with pytest.raises(InputError, match="output must be one of 'auto', 'linear'"):
        CGenPU(output="cubic", **SHORT, scenario="case-control").fit(X, labels)


@pytest.mark.slow
def test_half_moons_come_apart():
    """500 rows per moon, 30% of one labelled: most seeds separate them."""
    moons, which = make_moons(1000, noise=0.08, random_state=0)
    labelled = moons[which == 1][:150]
    X = np.concatenate([labelled, moons]).astype(np.float32)
    labels = np.repeat([1, 0], [150, 1000])
    options = {
        "latent": 8,
        "hidden": (32, 32),
        "learning_rate": 1e-3,
        "epochs": 10,
        "steps_per_epoch": 100,
        "batch_size": 64,
    }
    network = lambda shape: nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))  # noqa: E731
    runs = [
        CGenPU(backbone=network, device="cpu", random_state=seed, **options, scenario="case-control")
        for seed in range(3)
    ]
    fit_many(runs, X, [labels] * 3)
    accuracies = [(run.predict(moons) == which).mean() for run in runs]
    assert np.median(accuracies) > 0.85
