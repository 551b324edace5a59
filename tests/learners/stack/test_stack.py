"""Many runs as one: run r of a stack gives what the same run gives alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import NNPU, fit_many
from torch import nn

from network_learners import NETWORKS, SHORT, SHORTEST, quick, short
from pulens import learners
from pulens.errors import InputError, PulensError
from pulens.learning.learners.stack import layers, networks
from pulens.learning.learners.stack.dense import chain
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.program import gradients_of
from pulens.learning.learners.stack.streams import FURTHER_PASS, Streams


def small(shape):
    width = int(np.prod(shape))
    return nn.Sequential(
        nn.Flatten(), nn.Linear(width, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)
    )


def pictures(shape):
    return nn.Sequential(
        nn.Conv2d(shape[0], 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, stride=2),
        nn.Flatten(),
        nn.BatchNorm1d(6),
        nn.Linear(6, 1),
    )


class Residual(nn.Module):
    """Not a chain of layers: goes through torch.func."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.last(x + torch.relu(self.second(torch.relu(self.first(x)))))


def rows(n=160, shape=(4,), seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, *shape)).astype(np.float32) + np.where(positive, 0.7, -0.7).reshape(n, *[1] * len(shape))
    return X.astype(np.float32), (positive & (rng.random(n) < 0.5)).astype(int)


def assert_same_runs(make, X, labels, chosen, **options):
    together = fit_many([make(run) for run in range(len(chosen))], X, labels, rows=chosen, **options)
    for run, stacked in enumerate(together):
        alone = fit_many([make(run)], X, [labels[run]], rows=[chosen[run]], **options)[0]
        assert alone.best_epoch_ == stacked.best_epoch_
        np.testing.assert_allclose(stacked.decision_function(X), alone.decision_function(X), rtol=2e-3, atol=2e-5)


@pytest.mark.per_learner
@pytest.mark.parametrize("learner", SHORT, ids=lambda learner: learner.__name__)
def test_a_run_of_a_stack_equals_the_run_alone(learner):
    X, labels = rows()
    priors = [0.5, 0.45, 0.55] if learner._program.needs_class_prior else ["auto"] * 3

    def make(run):
        rate = 1e-3 * (run + 1)
        return short(learner, class_prior=priors[run], learning_rate=rate, random_state=run, backbone=small)

    # runs of different lengths: splits and label frequencies differ between the runs of a benchmark
    chosen = [np.arange(160), np.arange(150), np.arange(20, 160)]
    assert_same_runs(make, X, [labels[own] for own in chosen], chosen)


def test_pictures_with_batch_norm_and_dropout():
    X, labels = rows(shape=(2, 6, 6))
    options = {"class_prior": 0.5, "backbone": pictures, "epochs": 2, "batch_size": 50, "device": "cpu"}
    even = [np.arange(160), np.arange(160)[::-1]]
    assert_same_runs(
        lambda run: NNPU(random_state=run, **options, scenario="case-control"), X, [labels[own] for own in even], even
    )
    uneven = [np.arange(160), np.arange(150)]
    with pytest.raises(InputError, match="equal numbers"):
        fit_many(
            [NNPU(random_state=run, **options, scenario="case-control") for run in (0, 1)],
            X,
            [labels[own] for own in uneven],
            rows=uneven,
        )


def test_any_module_of_the_user_is_stacked():
    X, labels = rows()
    options = {"class_prior": 0.5, "backbone": Residual(), "epochs": 3, "batch_size": 40, "device": "cpu"}
    chosen = [np.arange(160), np.arange(150)]
    assert_same_runs(
        lambda run: NNPU(random_state=run, **options, scenario="case-control"),
        X,
        [labels[own] for own in chosen],
        chosen,
    )


def test_a_run_that_stops_early_leaves_the_others_alone():
    X, labels = rows()
    options = {"class_prior": 0.5, "backbone": small, "epochs": 12, "batch_size": 40, "patience": 1, "device": "cpu"}
    chosen = [np.arange(160)] * 4
    rates = [1e-5, 3e-2, 3e-3, 1e-3]
    assert_same_runs(
        lambda run: NNPU(random_state=run, learning_rate=rates[run], **options, scenario="case-control"),
        X,
        [labels] * 4,
        chosen,
    )


RATES = {"HolisticPU": (1e-4, 1e-2), "P3MixC": (1e-30, 3e-4)} | dict.fromkeys(
    ("PAN", "PULDA", "RobustPU"), (1e-30, 1e-2)
)
LONGER = {  # enough epochs that may be kept for one run to lose its patience while another goes on
    "VAEPU": {"epochs": 24},
    "RobustPU": {"episodes": 6, "pretraining_selection": "last"},
    "SelfPU": {"epochs": 7},
}


@pytest.mark.per_learner
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
@pytest.mark.parametrize("name", NETWORKS)
def test_a_run_that_loses_its_patience_stops_as_it_does_alone(name):
    """A rate that moves nothing ends one run's patience at once, while the other improves and goes on."""
    learner = learners.find(name)
    X, labels = rows()
    chosen, held = np.arange(12, 120), np.arange(120, 160)
    settings = {**SHORT.get(learner, quick(learner)), **LONGER.get(learner.__name__, {"epochs": 6})}
    prior = {"class_prior": 0.5} if learner._program.needs_class_prior else {}

    def fitted(runs):
        rates = RATES.get(learner.__name__, (1e-30, 1e-3))
        made = [
            learner(**{**settings, **prior, "learning_rate": rates[run]}, selection="proxy_auc", patience=2,
                    random_state=run, backbone=small, device="cpu", progress=False, scenario="case-control")
            for run in runs
        ]  # fmt: skip
        known = {"support": [(np.arange(12), np.where(np.arange(12) % 2 == 0, 1, -1))] * len(made)}
        return fit_many(
            made,
            X,
            [labels[chosen]] * len(made),
            rows=[chosen] * len(made),
            validation=[(held, labels[held])] * len(made),
            **(known if learners.facts(name).needs_support else {}),
        )

    together, alone = fitted([0, 1]), [fitted([run])[0] for run in (0, 1)]
    epochs = [len(one.history_) for one in alone]
    assert min(epochs) < max(epochs), "one run must lose its patience while the other goes on"
    assert len(together[0].history_) == max(epochs)
    for stacked, one in zip(together, alone, strict=True):
        assert stacked.best_epoch_ == one.best_epoch_
        np.testing.assert_allclose(stacked.decision_function(X), one.decision_function(X), rtol=2e-3, atol=2e-5)


def test_a_run_that_the_hook_stops_keeps_what_it_has_then(monkeypatch):
    """Both where runs compute one by one and where all are one product."""
    X, labels = rows()
    options = {"class_prior": 0.5, "backbone": small, "batch_size": 40, "selection": "last", "device": "cpu"}

    def fitted(hook=None, epochs=5):
        learners = [NNPU(random_state=run, epochs=epochs, **options, scenario="case-control") for run in range(3)]
        return [one.decision_function(X) for one in fit_many(learners, X, [labels] * 3, on_epoch=hook)]

    def stop_the_second(program, number, stage):
        return torch.tensor([True, False, True]) if number >= 2 else None

    for worthwhile in (0, 1 << 30):
        monkeypatch.setattr(chain, "WORTHWHILE", worthwhile)
        whole, short, stopped = fitted(), fitted(epochs=2), fitted(stop_the_second)
        np.testing.assert_allclose(stopped[1], short[1], rtol=1e-5, atol=1e-6)
        for run in (0, 2):
            np.testing.assert_allclose(stopped[run], whole[run], rtol=1e-3, atol=1e-5)
    with pytest.raises(PulensError, match=r"on_epoch must give back None, or a boolean tensor .* got 7"):
        fitted(lambda program, number, stage: 7)


def test_no_learner_is_forgotten():
    needy = {learners.find(name) for name in NETWORKS if learners.facts(name).needs_support}
    assert {learner.__name__ for learner in needy} == {"LaGAM"}  # which has tests of its own
    assert {*SHORT, *needy} == {*SHORTEST, *needy} == {learners.find(name) for name in NETWORKS}


@pytest.mark.per_learner
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # a step or two leave no side
@pytest.mark.parametrize("learner", SHORT, ids=lambda learner: learner.__name__)
def test_the_same_seed_twice_gives_identical_bits(learner):
    X, labels = rows()
    first, second, other = (
        short(learner, random_state=seed, backbone=small).fit(X, labels).decision_function(X) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_global_generators_are_left_alone():
    X, labels = rows()
    backbone = Residual()
    torch.manual_seed(5)
    expected_torch = torch.rand(3)
    np.random.seed(5)  # noqa: NPY002
    expected_numpy = np.random.rand(3)  # noqa: NPY002
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    NNPU(class_prior=0.5, backbone=backbone, epochs=1, random_state=0, device="cpu", scenario="case-control").fit(
        X, labels
    )
    assert torch.equal(torch.rand(3), expected_torch)
    np.testing.assert_array_equal(np.random.rand(3), expected_numpy)  # noqa: NPY002


@pytest.mark.parametrize("way", ["grouped", "patches"])
def test_every_way_to_convolve_a_stack_agrees_with_plain_modules(way):
    network = StackedNetwork(lambda: pictures((2, 6, 6)), [1, 2, 3], torch.device("cpu"), convolution=way)
    x = torch.randn(5, 2, 6, 6, generator=torch.Generator().manual_seed(0))
    result = network(x[None].expand(3, -1, -1, -1, -1))
    for run in range(3):
        module = pictures((2, 6, 6))
        module.load_state_dict(network.state_of(run))
        torch.testing.assert_close(result[run], module.eval()(x).squeeze(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("layer", "height", "rows"),
    [((1, 10, 5), 28, 32), ((10, 20, 5), 12, 48), ((3, 8, 3, 2, 1), 9, 13), ((2, 3, (3, 2), (2, 1), (1, 0)), 7, 10)],
)
def test_patches_have_the_slopes_of_a_grouped_convolution(layer, height, rows):
    module, runs = torch.nn.Conv2d(*layer).double(), 3
    generator = torch.Generator().manual_seed(0)
    shapes = [
        (rows, runs * layer[0], height, height),
        (runs, *module.weight.shape),
        (runs, layer[1]),
    ]
    given = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    result = {}
    for way in ("grouped", "patches"):
        out = layers.convolution(*given, module, way)
        against = torch.sin(torch.arange(out.numel(), dtype=torch.float64)).view_as(out)
        result[way] = [out, *torch.autograd.grad((out * against).sum(), given)]
    for one, other in zip(*result.values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("build", "shape"), [(small, (6,)), (pictures, (1, 8, 8))], ids=["table", "pictures"])
def test_two_passes_of_a_step_are_the_same_as_one(monkeypatch, build, shape):
    """With dropout, which is another one in every pass."""

    def with_dropout():
        *layers_of, last = build(shape)
        return torch.nn.Sequential(
            *(one for one in layers_of if not isinstance(one, torch.nn.modules.batchnorm._BatchNorm)),
            torch.nn.Dropout(0.4),
            last,
        )

    monkeypatch.setattr(networks, "dense_chain", lambda *given: None)
    network = StackedNetwork(with_dropout, [1, 2, 3], torch.device("cpu"))
    streams = Streams([4, 5, 6], torch.device("cpu"))
    x = torch.randn(3, 10, *shape, generator=torch.Generator().manual_seed(0))
    moments = ((1, 2), (1, 2 + FURTHER_PASS))
    parts = [network(part, streams, moment) for part, moment in zip(x.chunk(2, 1), moments, strict=True)]
    torch.testing.assert_close(network(x, streams, moments), torch.cat(parts, 1), rtol=1e-5, atol=1e-6)
    assert not torch.allclose(network(x, streams, moments[::-1]), torch.cat(parts, 1))


def test_streams_do_not_depend_on_the_height_of_the_stack():
    device = torch.device("cpu")
    tall, low = Streams([7, 8, 9], device), Streams([8], device)
    assert torch.equal(tall.bits("a", (1, 2), 40)[1:2], low.bits("a", (1, 2), 40))
    assert torch.equal(tall.bits("a", (1, 2), 40)[:, :9], tall.bits("a", (1, 2), 9))
    assert not torch.equal(tall.bits("a", (1, 2), 40), tall.bits("b", (1, 2), 40))
    assert not torch.equal(tall.bits("a", (1, 2), 40), tall.bits("a", (2, 1), 40))
    sizes = torch.tensor([5, 7, 3])
    shuffled = tall.permutations("p", (0, 0), sizes, 7)
    for run, size in enumerate(sizes.tolist()):
        assert sorted(shuffled[run, :size].tolist()) == list(range(size))
        assert torch.equal(
            Streams([7 + run], device).permutations("p", (0, 0), sizes[run, None], size)[0], shuffled[run, :size]
        )


def test_streams_are_uniform_enough_for_dropout():
    streams = Streams([0, 1], torch.device("cpu"))
    scaled = streams.keep("d", (0, 0), (400, 500), 0.3)
    kept = (scaled > 0).float()
    torch.testing.assert_close(scaled, kept / 0.7)
    assert kept.mean(dim=(1, 2)).sub(0.7).abs().max() < 4 * (0.21 / 200_000) ** 0.5
    assert abs(np.corrcoef(kept[0].flatten(), kept[1].flatten())[0, 1]) < 0.01
    assert abs(np.corrcoef(kept[0, :-1].flatten(), kept[0, 1:].flatten())[0, 1]) < 0.01


def test_streams_give_uniform_and_normal_numbers_that_a_run_alone_would_see():
    tall, low = Streams([7, 8, 9], torch.device("cpu")), Streams([8], torch.device("cpu"))
    for name, mean, variance in (("uniform", 0.5, 1 / 12), ("normal", 0.0, 1.0)):
        result = getattr(tall, name)("z", (3, 4), (200, 500)).double()
        assert torch.equal(result[1:2].float(), getattr(low, name)("z", (3, 4), (200, 500)))
        assert (result.mean((1, 2)) - mean).abs().max() < 4 * (variance / 100_000) ** 0.5
        assert (result.var((1, 2)) - variance).abs().max() < 0.02 * variance
        assert abs(np.corrcoef(result[0, :-1].flatten(), result[0, 1:].flatten())[0, 1]) < 0.015
        assert result.abs().max() < 7


@pytest.mark.parametrize("build", [lambda: small((4,)), Residual], ids=["chain", "any module"])
def test_features_are_what_the_last_dense_layer_reads(build):
    network = StackedNetwork(build, [1, 2], torch.device("cpu"))
    x = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    logits, features = network.with_features(x)
    torch.testing.assert_close(logits, network(x))
    weight = network.parameters[network.last_weight]
    bias = network.parameters[network.last_weight.replace("weight", "bias")]
    torch.testing.assert_close((features * weight).sum(2) + bias, logits)


def test_networks_may_give_more_than_one_number_per_row():
    x = torch.randn(3, 5, 2, 6, 6, generator=torch.Generator().manual_seed(0))

    def picture():
        return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 3, 3))

    def vector():
        return nn.Sequential(picture(), nn.Flatten(), nn.Linear(48, 7))

    def one_channel():
        return nn.Sequential(picture(), nn.Conv2d(3, 1, 4))

    for build, shape in ((picture, (3, 4, 4)), (vector, (7,)), (one_channel, ())):
        network = StackedNetwork(build, [1, 2, 3], torch.device("cpu"))
        result = network(x)
        assert result.shape == (3, 5, *shape)
        for run in range(3):
            module = build()
            module.load_state_dict(network.state_of(run))
            torch.testing.assert_close(result[run], module(x[run]).reshape(5, *shape), rtol=1e-4, atol=1e-5)


def test_a_stack_of_generators_draws_what_plain_modules_draw():
    def generator():
        return nn.Sequential(
            nn.Linear(5, 8 * 9),
            nn.Unflatten(1, (8, 3, 3)),
            nn.BatchNorm2d(8),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(8, 6, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(6, 2, 3, 2, 1, output_padding=1, bias=False),
            nn.Tanh(),
        )

    network = StackedNetwork(generator, [1, 2, 3], torch.device("cpu"))
    assert network.steps is not None  # stacked kernels, not torch.func
    z = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(0))
    streams = Streams([0, 1, 2], torch.device("cpu"))
    modules = [generator() for _ in range(3)]
    for run, module in enumerate(modules):
        module.load_state_dict(network.state_of(run))
    for training in (True, False):  # batch norm: statistics of the batch, then the ones it kept
        result = network(z, streams if training else None)
        assert result.shape == (3, 7, 2, 12, 12)
        slopes = torch.autograd.grad(result.square().sum(), network.parameters["4.weight"])[0]
        for run, module in enumerate(modules):
            plain = module.train(training)(z[run])
            torch.testing.assert_close(result[run], plain, rtol=1e-4, atol=1e-5)
            module.zero_grad()
            plain.square().sum().backward()
            torch.testing.assert_close(slopes[run], module[4].weight.grad, rtol=1e-3, atol=1e-4)


def test_averaging_two_networks_moves_parameters_and_copies_buffers():
    one, other = (StackedNetwork(lambda: pictures((2, 6, 6)), [1, 2], torch.device("cpu"), name=n) for n in "ab")
    other.buffers["1.running_mean"] += 1
    expected = one.flat * 0.75 + other.flat * 0.25
    one.move_towards(other, 0.25)
    torch.testing.assert_close(one.flat, expected)
    assert torch.equal(one.buffers["1.running_mean"], other.buffers["1.running_mean"])
    one.move_towards(other, torch.tensor([1.0, 0.0]))
    assert torch.equal(one.parameters["0.weight"][0], other.parameters["0.weight"][0])
    assert not torch.equal(one.parameters["0.weight"][1], other.parameters["0.weight"][1])


@pytest.mark.parametrize("shape", [(3, 6, 6), (5,)], ids=["pictures", "tables"])
def test_a_bias_before_a_batch_norm_is_as_torch_has_it(shape):
    """Training leaves it out of the sums, since the batch's mean takes it away; the running mean must count it."""

    def build():
        if len(shape) == 1:
            return nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
        chain = [nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ConvTranspose2d(4, 2, 2), nn.BatchNorm2d(2)]
        return nn.Sequential(*chain, nn.Flatten(), nn.Linear(2 * 4 * 4, 1))

    seeds = (3, 4)
    network = StackedNetwork(build, seeds, torch.device("cpu"))
    with torch.no_grad():
        for key, value in network.parameters.items():
            if key.endswith("0.bias"):
                value += 5.0
    plain = []
    for run in range(2):
        module = build()
        module.load_state_dict(network.state_of(run))
        plain.append(module.train())
    x = torch.randn(2, 9, *shape, generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        here = network(x, Streams(seeds, torch.device("cpu")), (0, 0))
        there = torch.stack([module(own).squeeze(1) for module, own in zip(plain, x, strict=True)])
        torch.testing.assert_close(here, there, rtol=1e-4, atol=1e-5)
    slopes = gradients_of(here.square().sum(), [network])[0]
    there.square().sum().backward()
    expected = network._views(slopes, leaves=False)
    for run, module in enumerate(plain):
        for key, value in module.named_parameters():
            torch.testing.assert_close(expected[key][run], value.grad, rtol=1e-3, atol=1e-4)
        for key, value in module.named_buffers():
            torch.testing.assert_close(network.buffers[key][run], value, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(network(x)[run], module.eval()(x[run]).squeeze(1), rtol=1e-4, atol=1e-5)
