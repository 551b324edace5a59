"""Kernels for chains of dense layers on a CPU, beside what torch's own differentiation gives."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from pulens.learning.learners.stack import streams as chance
from pulens.learning.learners.stack.dense import chain
from pulens.learning.learners.stack.dense.layers import dense_layers
from pulens.learning.learners.stack.dense.threads import each_run
from pulens.learning.learners.stack.layers import plan
from pulens.learning.learners.stack.networks import StackedNetwork, joined
from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learning.learners.stack.program import gradients_of
from pulens.learning.learners.stack.streams import Streams
from pulens.splitmix import GOLDEN, mix, mix_tensor, signed

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _however_small(monkeypatch):
    monkeypatch.setattr(chain, "WORTHWHILE", 0)


def narrow_first():
    """Inputs narrower than the first layer, dropout after two, one output."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(6, 20),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(20, 24),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(24, 7),
        nn.ReLU(),
        nn.Linear(7, 1),
    )


def no_dropout():
    return nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3))


def ends_in_relu():
    return nn.Sequential(nn.Linear(6, 9), nn.Linear(9, 5), nn.ReLU(), nn.Dropout(0.5))


BUILDS = {"mlp": narrow_first, "no dropout": no_dropout}


def networks(build, runs=3):
    """The same network twice: with kernels of its own, and by torch's differentiation."""
    both = [StackedNetwork(build, range(runs), CPU) for _ in range(2)]
    assert both[0]._dense is not None
    both[1]._dense = None
    return both


def rows(count, runs=3, seed=0):
    return torch.randn(runs, count, 6, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_outputs_and_gradients_agree_with_automatic_differentiation(build, runs):
    result = []
    for network in networks(build, runs):
        x = rows(11, runs).requires_grad_()
        z = network(x, Streams(range(runs), CPU), (2, 3))
        total = (z.sigmoid() * torch.arange(z.numel()).view_as(z)).sum()
        (at_inputs,) = torch.autograd.grad(total, [x], retain_graph=True)
        result.append([z.detach(), at_inputs, *gradients_of(total, [network])])
    for ours, theirs in zip(*result, strict=True):
        assert theirs.abs().sum() > 0
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("runs", [1, 3])
def test_products_of_sixteen_bits_agree_with_those_of_thirty_two_to_their_rounding(runs):
    result = []
    for precision in ("float32", "bfloat16"):
        network = StackedNetwork(narrow_first, range(runs), CPU, precision=precision)
        assert network._dense is not None
        x = rows(64, runs).requires_grad_()
        z = network(x, Streams(range(runs), CPU), (2, 3))
        total = (z.sigmoid() * torch.arange(z.numel()).view_as(z)).sum()
        (at_inputs,) = torch.autograd.grad(total, [x], retain_graph=True)
        result.append([z.detach(), network(x.detach()).detach(), at_inputs, *gradients_of(total, [network])])
    for place, (exact, rounded) in enumerate(zip(*result, strict=True)):
        assert rounded.dtype == torch.float32
        assert not torch.equal(exact, rounded)
        if place < 2:
            assert (exact - rounded).norm() < 0.02 * exact.norm()
        else:  # units near their kink may open or close
            assert torch.cosine_similarity(exact.flatten(), rounded.flatten(), 0) > 0.97


def test_a_chain_that_ends_in_relu_and_dropout_is_left_to_torch():
    """The factor of a dropout goes into the product behind it, so there must be one."""
    network = StackedNetwork(ends_in_relu, [1, 2], CPU)
    assert network._dense is None
    assert network(rows(5, 2), Streams([1, 2], CPU), (0, 0)).shape == (2, 5, 5)


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 1)),
        nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)),
        nn.Sequential(nn.Linear(6, 4, bias=False), nn.ReLU(), nn.Linear(4, 1)),
        nn.Sequential(nn.Dropout(0.5), nn.Linear(6, 1)),
        nn.Sequential(nn.ReLU(), nn.Linear(6, 1)),
        nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Dropout(0.5), nn.Dropout(0.5), nn.Linear(4, 1)),
    ],
)
def test_other_chains_are_left_to_torch(module):
    assert dense_layers(plan(module)) is None


def test_stacks_of_tiny_networks_keep_one_product_per_layer(monkeypatch):
    monkeypatch.setattr(chain, "WORTHWHILE", 1 << 14)
    assert StackedNetwork(narrow_first, [1, 2], CPU)._dense is None
    assert StackedNetwork(narrow_first, [1], CPU)._dense is not None


def test_passes_of_one_step_do_not_overwrite_each_other():
    result = []
    for network in networks(narrow_first):
        streams, total = Streams(range(3), CPU), 0.0
        for again, count in enumerate((11, 4, 11, 17)):
            total = total + (again + 1) * network(rows(count, seed=again), streams, (0, again)).square().sum()
        first = gradients_of(total, [network], keep_graph=True)[0].clone()
        assert torch.equal(first, gradients_of(total, [network])[0])
        result.append(first)
    torch.testing.assert_close(*result, rtol=1e-4, atol=1e-5)


def test_memory_is_used_again_by_the_next_step():
    network, _ = networks(narrow_first)
    places = set()
    for step in range(4):
        z = network(rows(11), Streams(range(3), CPU), (0, step))
        gradients_of(z.sum(), [network])
        del z
        places.add(network._dense.spare[0].kept[0].data_ptr())
    assert len(places) == 1 == len(network._dense.spare)


def test_scores_are_those_of_plain_modules_whatever_the_number_of_rows():
    network, _ = networks(narrow_first)
    for count in (3, 2500, 40):
        x = rows(count)
        with torch.no_grad():
            result = network(x)
        for run in range(3):
            module = narrow_first()
            module.load_state_dict(network.state_of(run))
            torch.testing.assert_close(result[run], module.eval()(x[run]).squeeze(1), rtol=1e-4, atol=1e-5)


def test_threads_change_no_bit():
    before = torch.get_num_threads()
    result = []
    try:
        for cores in (1, 2):
            torch.set_num_threads(cores)
            network, _ = networks(narrow_first, runs=7)
            z = network(rows(64, 7), Streams(range(7), CPU), (0, 0))
            result.append((z.detach(), gradients_of(z.square().sum(), [network])[0]))
            assert torch.get_num_threads() == cores
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*result, strict=True):
        assert torch.equal(one, two)


def test_what_goes_wrong_in_a_thread_reaches_the_caller():
    def fails(run):
        raise ValueError(f"run {run}")

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with pytest.raises(ValueError, match="run"):
            each_run(fails, 3)
    finally:
        torch.set_num_threads(before)


def test_neighbours_are_joined_without_a_copy_and_others_with_one():
    whole = torch.arange(10.0)
    first, second = whole[:4].view(2, 2), whole[4:]
    assert joined([first, second]).data_ptr() == whole.data_ptr()
    for parts in ([second, first], [first, second.clone()], [first.t(), second], [whole[:4], whole[3:9]], [first]):
        expected = torch.cat([part.reshape(-1) for part in parts])
        result = joined(parts)
        assert torch.equal(result, expected)
        assert result.data_ptr() != whole.data_ptr()


def test_a_run_that_rests_changes_no_bit_of_the_others_and_moves_nowhere():
    result, x = [], rows(11)
    for resting in (frozenset(), frozenset({1})):
        network, _ = networks(narrow_first)
        optimiser, streams = Optimiser(network, OptimiserSettings("adam", learning_rate=0.01)), Streams(range(3), CPU)
        for step in range(3):
            network._dense.resting = resting if step else frozenset()
            inputs = x.clone().requires_grad_()
            z = network(inputs, streams, (0, step))
            total = (z - 1).square().sum()
            (at_inputs,) = torch.autograd.grad(total, [inputs], retain_graph=True)
            (gradient,) = gradients_of(total, [network])
            active = torch.tensor([True, False, True]) if resting and step else None
            optimiser.step(gradient, 1.0, active)
            if step == 0:
                after_one = network.state_of(1)
        result.append((z.detach(), at_inputs, network))
    (_, _, everyone), (z, at_inputs, some) = result
    assert not z[1].any()
    assert not at_inputs[1].any()
    for key, value in some.state_of(1).items():
        assert torch.equal(value, after_one[key])
        assert not torch.equal(value, everyone.state_of(1)[key])
    for run in (0, 2):
        assert torch.equal(z[run], result[0][0][run])
        assert torch.equal(at_inputs[run], result[0][1][run])
        for key, value in some.state_of(run).items():
            assert torch.equal(value, everyone.state_of(run)[key])


def test_gradients_of_passes_through_the_chain_and_layer_by_layer_add_up():
    result = []
    for network in networks(narrow_first):
        streams = Streams(range(3), CPU)
        z, features = network.with_features(rows(11), streams, (0, 0))
        total = network(rows(7, seed=1), streams, (0, 1)).square().sum() + z.sum() + features.square().sum()
        (gradient,) = gradients_of(total, [network], keep_graph=True)
        # the last layer is left out of the second pass
        (partly,) = gradients_of(network(rows(7, seed=1), streams, (0, 1)).sum() + features.sum(), [network])
        result.append((gradient, partly))
    for ours, theirs in zip(*result, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_parameter_that_the_loss_does_not_reach_is_an_error():
    network, _ = networks(narrow_first)
    with pytest.raises(RuntimeError, match="reach"):
        gradients_of(rows(3).requires_grad_().sum(), [network])


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_one_pass_over_the_parameters_gives_the_plain_step(kind, runs, monkeypatch):
    settings = OptimiserSettings(kind, learning_rate=0.01, weight_decay=0.1, betas=(0.5, 0.99))
    result = []
    for fused in (True, False):
        if not fused:
            monkeypatch.setattr(Optimiser, "_fused", lambda *given: False)
            monkeypatch.setattr(Optimiser, "_fused_by_run", lambda *given: False)
        network = StackedNetwork(narrow_first, range(runs), CPU)
        optimiser, generator = Optimiser(network, settings), torch.Generator().manual_seed(0)
        for step in range(6):
            gradient = torch.randn(network.flat.shape, generator=generator) * 10.0**-step
            active = torch.arange(runs) == 0 if step == 4 else None  # from here on runs count for themselves
            optimiser.step(gradient, 1 - 0.1 * step, active)
        result.append((network.flat, optimiser.first, optimiser.second))
    for ours, theirs in zip(*result, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("count", [1, 1000, chance.PIECE, 2 * chance.PIECE + 5])
def test_words_on_a_cpu_are_those_of_every_device(count):
    streams = Streams([3, 2**63 + 11], CPU)
    result = streams.bits("purpose", (4, 5), count)
    base = torch.tensor([signed(mix(word ^ chance.salt_of("purpose", (4, 5)))) for word in streams._words])
    assert torch.equal(result, mix_tensor(base[:, None] + torch.arange(1, count + 1) * signed(GOLDEN)))
    lanes = result.view(torch.int16)
    for dropout in (0.0, 0.3, 0.999):
        kept = (lanes >= round(dropout * 65536) - 32768) * (1 / (1 - dropout))
        assert torch.equal(streams.keep("purpose", (4, 5), (count, 4), dropout).flatten(1), kept)
        values = torch.randn(len(streams.seeds), 4 * count)
        expected = values * (kept > 0)
        for run, own in enumerate(values):
            streams.drop_of(run, "purpose", (4, 5), own[: 4 * count - 3].numpy(), dropout)
        assert torch.equal(values[:, :-3], expected[:, :-3])
        assert values[:, -3:].all()
