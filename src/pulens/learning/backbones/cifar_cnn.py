"""The network for 32 x 32 colour pictures: PU-Bench, Table D.4."""

from __future__ import annotations

from torch import nn

from pulens.learning.backbones import check_row_shape


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """Six convolutions of 3 x 3 with batch norm, two of them with stride 2, then 12288-1000-1000-1."""
    check_row_shape("cifar_cnn", row_shape, "(3, 32, 32)", row_shape == (3, 32, 32))
    layers: list[nn.Module] = []
    channels = 3
    for wider, stride, dropout in ((96, 1, 0), (96, 1, 0), (96, 2, 0.2), (192, 1, 0), (192, 1, 0), (192, 2, 0.5)):
        layers += [nn.Conv2d(channels, wider, 3, stride, 1), nn.BatchNorm2d(wider), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        channels = wider
    head = [nn.Linear(12288, 1000), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 1)]
    return nn.Sequential(*layers, nn.Flatten(), *head)
