"""ResNet-18 as it is used on small pictures: a first convolution of 3 x 3 without pooling (He and others, 2016)."""

from __future__ import annotations

import torch
from torch import nn

from pulens.learning.backbones import check_row_shape

STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride of the first of two blocks


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Two convolutions whose result is added to what came in."""

    def __init__(self, channels: int, wider: int, stride: int) -> None:
        super().__init__()
        self.main = nn.Sequential(*_normed(channels, wider, 3, stride), nn.ReLU(), *_normed(wider, wider, 3, 1))
        changes = stride != 1 or channels != wider
        self.around = nn.Sequential(*_normed(channels, wider, 1, stride)) if changes else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.main(x) + self.around(x))


def _normed(channels: int, wider: int, size: int, stride: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(channels, wider, size, stride, size // 2, bias=False), nn.BatchNorm2d(wider)


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """Eight blocks of two 3 x 3 convolutions with batch norm, global average pooling, then 512-1.

    >>> sum(values.numel() for values in build((3, 32, 32)).parameters())
    11169345
    """
    fits = len(row_shape) == 3 and min(row_shape[1:]) >= 8
    check_row_shape("resnet18", row_shape, "(channels, height, width) of at least 8 x 8", fits)
    layers: list[nn.Module] = [*_normed(row_shape[0], 64, 3, 1), nn.ReLU()]
    channels = 64
    for wider, stride in STAGES:
        layers += [ResidualBlock(channels, wider, stride), ResidualBlock(wider, wider, 1)]
        channels = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1))
