"""The network for 128 x 128 grey brain scans: PU-Bench, Table D.5."""

from __future__ import annotations

from torch import nn

from pulens.learning.backbones import check_row_shape


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """Four blocks of two 3 x 3 convolutions with batch norm, global average pooling, then 256-64-1."""
    fits = len(row_shape) == 3 and row_shape[0] == 1 and min(row_shape[1:]) >= 16
    check_row_shape("mri_cnn", row_shape, "(1, height, width) of at least 16 x 16", fits)
    layers: list[nn.Module] = []
    channels = 1
    for wider, dropout in ((32, 0.1), (64, 0.1), (128, 0.2), (256, 0.3)):
        for _ in range(2):
            layers += [nn.Conv2d(channels, wider, 3, 1, 1), nn.BatchNorm2d(wider), nn.ReLU()]
            channels = wider
        layers += [nn.MaxPool2d(2), nn.Dropout(dropout)]
    head = [nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), *head)
