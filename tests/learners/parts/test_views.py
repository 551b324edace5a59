"""Weak and strong views: what they do to a row, and that runs of a stack see their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from pulens.learning.learners.parts import pictures as operations
from pulens.learning.learners.parts.views import PictureView, VectorView, Views, usual_views
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.scenario import Scenario
from torch_steps import assert_same_steps

CPU = torch.device("cpu")
EVERYTHING = PictureView(True, 2, "zeros", 0.5, 3, 0.8, False, (0.1, 0.5), True)


def stacked(table, runs=1):
    n = len(table)
    parts = [Part(np.arange(n // 4), np.arange(n // 4, n - run)) for run in range(runs)]
    return StackedRows(torch.as_tensor(table, dtype=torch.float32), parts, Scenario.CASE_CONTROL)


def pictures(n=12, channels=3, side=16, seed=0):
    return np.random.default_rng(seed).random((n, channels, side, side)).astype(np.float32)


@pytest.mark.parametrize("view", [EVERYTHING, usual_views((3, 16, 16), mirror=True)[1]])
def test_a_run_of_a_stack_sees_the_views_it_sees_alone(view):
    data = stacked(pictures())
    views = Views(data, view, view)
    x = data.table[None, :8]
    tall, low = Streams([3, 4], CPU), Streams([4], CPU)
    together = Views(stacked(pictures(), 2), view, view).strong(x.expand(2, -1, -1, -1, -1), tall, (1, 2))
    torch.testing.assert_close(together[1:], views.strong(x, low, (1, 2)))
    fewer = views.strong(x[:, :5], low, (1, 2))
    torch.testing.assert_close(fewer, views.strong(x, low, (1, 2))[:, :5])
    assert not torch.equal(fewer, views.strong(x[:, :5], low, (1, 3)))
    assert not torch.equal(fewer, views.strong(x[:, :5], low, (1, 2), "other"))


def test_views_do_not_depend_on_how_the_caller_scaled_the_rows():
    streams = Streams([0], CPU)
    for table, view in ((pictures(), EVERYTHING), (pictures(40, 1, 3).reshape(40, 9), VectorView(0.3, 0.1, 0.1))):
        scaled = table * 7.0 - 3.0
        one, other = (
            Views(data := stacked(rows), view, view).weak(data.table[None], streams, (0, 0)) for rows in (table, scaled)
        )
        torch.testing.assert_close(one * 7 - 3, other, atol=3e-2, rtol=0)  # rounding may move a grey level
        assert (one * 7 - 3 - other).abs().median() < 1e-5


def test_a_view_without_arguments_is_the_row_itself():
    for rows, view in ((pictures(), PictureView()), (pictures().reshape(12, -1), VectorView())):
        data = stacked(rows)
        assert torch.equal(
            Views(data, view, view).strong(data.table[None], Streams([0], CPU), (0, 0)), data.table[None]
        )


def test_vectors_get_noise_zeros_and_flips_at_their_rates():
    rng = np.random.default_rng(0)
    table = rng.normal(5, [1, 10, 0], size=(4000, 3)).astype(np.float32)
    data, streams = stacked(table), Streams([0], CPU)
    x = data.table[None]
    noise = Views(data, VectorView(0.05), VectorView()).weak(x, streams, (0, 0)) - x
    np.testing.assert_allclose(noise[0].std(0), [0.05, 0.5, 0.0], rtol=0.05)
    assert noise.mean().abs() < 0.02
    mean = data.table.mean(0)
    zeroed = Views(data, VectorView(zero=0.2), VectorView()).weak(x, streams, (0, 0))[0, :, :2]
    assert ((zeroed - mean[:2]).abs() < 1e-3).float().mean() == pytest.approx(0.2, abs=0.02)
    flipped = Views(data, VectorView(flip=0.3), VectorView()).weak(x, streams, (0, 0))[0, :, :2]
    changed = (flipped - data.table[:, :2]).abs() > 1e-3
    assert changed.float().mean() == pytest.approx(0.3, abs=0.02)
    reflected = 2 * mean[:2] - data.table[:, :2]
    torch.testing.assert_close(flipped[changed], reflected[changed], atol=1e-3, rtol=0)


def test_crops_reflect_or_darken_what_lies_beyond_the_edge():
    x = torch.arange(12.0).view(1, 1, 3, 4)
    still, none = torch.tensor([0]), torch.tensor([False])
    down = torch.tensor([2])
    expected = torch.nn.functional.pad(x, (2, 2, 2, 2), mode="reflect")
    assert torch.equal(operations.shifted(x, down, still, none, "reflect"), expected[:, :, 4:7, 2:6])
    dark = torch.nn.functional.pad(x, (2, 2, 2, 2))
    assert torch.equal(operations.shifted(x, -down, down, none, "zeros"), dark[:, :, 0:3, 4:8])
    assert torch.equal(operations.shifted(x, still, still, ~none, "reflect"), x.flip(3))


def test_mirroring_happens_only_where_asked_for():
    data, streams = stacked(pictures(400, 1, 4)), Streams([0], CPU)
    x = data.table[None]
    mirrored = Views(data, PictureView(mirror=True), PictureView(shift=1)).weak(x, streams, (0, 0))
    flipped = (mirrored - x.flip(4)).abs().amax((2, 3, 4)) < 1e-5
    same = (mirrored - x).abs().amax((2, 3, 4)) < 1e-5
    assert (flipped ^ same).all()
    assert flipped.float().mean() == pytest.approx(0.5, abs=0.1)
    ramp = torch.linspace(0, 1, 8).expand(40, 1, 8, 8)
    ramps = stacked(ramp)
    moved = Views(ramps, PictureView(), usual_views((1, 8, 8))[0]).strong(ramps.table[None], streams, (0, 0))
    assert (moved[..., 5] > moved[..., 2]).all()  # still brighter on the right


def test_operations_agree_with_an_imaging_library():
    pil = pytest.importorskip("PIL", reason="Pillow is the witness for what the operations do to pictures")
    from PIL import Image, ImageEnhance, ImageOps

    assert pil
    rng = np.random.default_rng(1)
    levels = (rng.beta(2, 5, (6, 16, 16, 3)) * 200 + 20).astype(np.uint8)
    x = torch.as_tensor(levels.transpose(0, 3, 1, 2) / 255.0, dtype=torch.float32)
    m = 4.0

    def ours(name, magnitude=m):
        number = torch.full((len(x),), operations.OPERATIONS.index(name))
        result = operations.operate(x, number, torch.full((len(x),), magnitude), torch.ones(len(x)))
        return result.permute(0, 2, 3, 1).numpy() * 255

    def theirs(change):
        return np.stack([np.asarray(change(Image.fromarray(picture))) for picture in levels]).astype(float)

    np.testing.assert_array_equal(ours("identity").round(), levels)
    assert abs(ours("autocontrast") - theirs(ImageOps.autocontrast)).max() <= 1.01
    np.testing.assert_allclose(ours("equalise"), theirs(ImageOps.equalize), atol=1e-3)
    np.testing.assert_allclose(ours("posterise"), theirs(lambda p: ImageOps.posterize(p, 5)), atol=1e-3)
    np.testing.assert_allclose(ours("solarise"), theirs(lambda p: ImageOps.solarize(p, 154)), atol=1e-3)
    kinds = {
        "brightness": ImageEnhance.Brightness,
        "colour": ImageEnhance.Color,
        "contrast": ImageEnhance.Contrast,
        "sharpness": ImageEnhance.Sharpness,
    }
    for name, kind in kinds.items():
        expected = theirs(lambda p, kind=kind: kind(p).enhance(0.05 + 0.09 * m))
        assert abs(ours(name) - expected).max() <= 1.51, name
    turned = theirs(lambda p: p.rotate(3 * m, resample=Image.Resampling.BILINEAR))
    assert np.median(abs(ours("rotate") - turned)) < 1.0
    still = ours("translate x", 10 / 3 * 10 / 16)  # one pixel of 16
    np.testing.assert_allclose(still[:, :, :-1], levels[:, :, 1:], atol=0.1)


def test_every_operation_is_drawn_and_holes_are_middle_grey():
    x = torch.full((2000, 3, 8, 8), 0.2)
    x[:, :, :, 4:] = 0.9
    data = stacked(x)
    hole = Views(data, PictureView(hole=(0.5, 0.5)), PictureView()).weak(x[None], Streams([0], CPU), (0, 0))
    grey = ((hole - 0.55).abs() < 1e-4).all(2)[0].float()
    assert grey.sum((1, 2)).max() == 16
    assert 6 < grey.sum((1, 2)).mean() < 15  # at the border part of the square is lost
    view = PictureView(operations=1, chance=0.5)
    changed = Views(data, view, view).weak(x[None], Streams([1], CPU), (0, 0))
    share = ((changed[0] - x).abs().amax((1, 2, 3)) > 1e-3).float().mean()
    assert 0.3 < share < 0.5


def test_normal_draws_are_normal():
    streams = Streams([0, 1], CPU)
    drawn = streams.normal("n", (0, 0), (40000, 3))
    assert drawn.shape == (2, 40000, 3)
    assert drawn.mean().abs() < 0.01
    assert drawn.std() == pytest.approx(1, abs=0.01)
    assert (drawn.abs() > 1.959964).float().mean() == pytest.approx(0.05, abs=0.003)
    assert torch.equal(streams.normal("n", (0, 0), (7, 3)), drawn[:, :7])
    flat = streams.uniform("u", (0, 0), (50000,))
    assert flat.min() >= 0
    assert flat.max() < 1
    assert flat.mean() == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("weights_only", [False, True])
def test_nesterov_momentum_follows_torch(weights_only):
    make = lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))  # noqa: E731
    network = StackedNetwork(make, [1, 2], CPU)
    settings = OptimiserSettings("sgd", 0.05, 0.1, nesterov=True, decay_weights_only=weights_only)
    mine = Optimiser(network, settings)
    modules, theirs = [make() for _ in range(2)], []
    for run, module in enumerate(modules):
        module.load_state_dict(network.state_of(run))
        groups = [
            {"params": [p for p in module.parameters() if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in module.parameters() if p.dim() == 1], "weight_decay": 0.0 if weights_only else 0.1},
        ]
        theirs.append(torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True))
    streams = Streams([1, 2], CPU)
    assert_same_steps(network, mine, modules, theirs, lambda x, step: network(x, streams, (0, step)))
