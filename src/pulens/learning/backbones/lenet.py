"""LeNet for 28 x 28 grey pictures: PU-Bench, Table D.3."""

from __future__ import annotations

from torch import nn

from pulens.learning.backbones import check_row_shape


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """Two convolutions of 5 x 5 with pooling, then 320-50-1."""
    check_row_shape("lenet", row_shape, "(1, 28, 28)", row_shape == (1, 28, 28))
    return nn.Sequential(
        nn.Conv2d(1, 10, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(10, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(320, 50),
        nn.ReLU(),
        nn.Linear(50, 1),
    )
