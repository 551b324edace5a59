"""Networks whose layers follow one another: PU-Bench, Tables D.2 to D.5, and a linear logit beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torch import nn

from pulens.learning.backbones import check_row_shape


def linear(row_shape: tuple[int, ...]) -> nn.Module:
    """One weight per feature and a bias, all starting at zero: the start of a convex problem should not matter.

    What the specifications' toy problems use, and a sane first model for tables.
    """
    layer = nn.Linear(math.prod(row_shape), 1)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)


def mlp(row_shape: tuple[int, ...]) -> nn.Module:
    """For tables and text vectors: d-512-256-128-64-1 with ReLU, and dropout after the first three hidden layers."""
    layers: list[nn.Module] = [nn.Flatten()]
    width = math.prod(row_shape)
    for wider, dropout in ((512, 0.3), (256, 0.3), (128, 0.2), (64, 0.0)):
        layers += [nn.Linear(width, wider), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        width = wider
    return nn.Sequential(*layers, nn.Linear(width, 1))


def lenet(row_shape: tuple[int, ...]) -> nn.Module:
    """For 28 x 28 grey pictures: two convolutions of 5 x 5 with pooling, then 320-50-1."""
    check_row_shape("lenet", row_shape, "(1, 28, 28)", row_shape == (1, 28, 28))
    layers: list[nn.Module] = []
    for channels, wider in ((1, 10), (10, 20)):
        layers += [nn.Conv2d(channels, wider, 5), nn.MaxPool2d(2), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 1))


def cifar_cnn(row_shape: tuple[int, ...]) -> nn.Module:
    """For 32 x 32 colour pictures: six convolutions of 3 x 3, two of them with stride 2, then 12288-1000-1000-1."""
    check_row_shape("cifar_cnn", row_shape, "(3, 32, 32)", row_shape == (3, 32, 32))
    layers: list[nn.Module] = []
    channels = 3
    for wider, stride, dropout in ((96, 1, 0), (96, 1, 0), (96, 2, 0.2), (192, 1, 0), (192, 1, 0), (192, 2, 0.5)):
        layers += _convolution(channels, wider, stride)
        if dropout:
            layers.append(nn.Dropout(dropout))
        channels = wider
    head = [nn.Linear(12288, 1000), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 1)]
    return nn.Sequential(*layers, nn.Flatten(), *head)


def mri_cnn(row_shape: tuple[int, ...]) -> nn.Module:
    """For grey brain scans: four blocks of two 3 x 3 convolutions, global average pooling, then 256-64-1."""
    fits = len(row_shape) == 3 and row_shape[0] == 1 and min(row_shape[1:]) >= 16
    check_row_shape("mri_cnn", row_shape, "(1, height, width) of at least 16 x 16", fits)
    layers: list[nn.Module] = []
    channels = 1
    for wider, dropout in ((32, 0.1), (64, 0.1), (128, 0.2), (256, 0.3)):
        layers += [*_convolution(channels, wider), *_convolution(wider, wider), nn.MaxPool2d(2), nn.Dropout(dropout)]
        channels = wider
    head = [nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), *head)


def _convolution(channels: int, wider: int, stride: int = 1) -> Iterator[nn.Module]:
    """Of 3 x 3, with batch norm."""
    yield from (nn.Conv2d(channels, wider, 3, stride, 1), nn.BatchNorm2d(wider), nn.ReLU())


build = {"cifar_cnn": cifar_cnn, "lenet": lenet, "linear": linear, "mlp": mlp, "mri_cnn": mri_cnn}
