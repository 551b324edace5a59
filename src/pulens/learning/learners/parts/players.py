"""Generators and discriminators that fit the rows: dense layers for vectors, strided convolutions for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import nn

SMALLEST = 4  # pixels of a side where strided layers end
CHANNELS = (256, 128, 64, 32)  # of a generator, widest where pictures are smallest


def is_picture(row_shape: tuple[int, ...]) -> bool:
    """Rows of (channels, height, width)."""
    return len(row_shape) == 3


def dense(
    width: int, hidden: Sequence[int], outputs: int, *, slope: float = 0.0, dropout: float = 0.0
) -> nn.Sequential:
    """width-hidden-...-outputs, the last layer linear; ReLU between, or LeakyReLU with a slope below zero."""
    layers: list[nn.Module] = [nn.Flatten()]
    for wider in hidden:
        layers += [nn.Linear(width, wider), nn.LeakyReLU(slope) if slope else nn.ReLU()]
        layers += [nn.Dropout(dropout)] if dropout else []
        width = wider
    return balanced(nn.Sequential(*layers, nn.Linear(width, outputs)))


def balanced(network: nn.Sequential) -> nn.Sequential:
    """Dense layers that keep the spread of what they read (Glorot and Bengio 2010), and biases of zero.

    PyTorch's own start shrinks it with every layer: a generator would draw the same row from every noise vector.
    """
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
    return network


def generator(latent: int, row_shape: tuple[int, ...], hidden: Sequence[int], *, slope: float = 0.0) -> nn.Sequential:
    """Raw values of a row from a latent vector.

    Pictures start from 256 small maps, which transposed convolutions of 4 x 4 double as often as the sides allow; the
    last layer is a convolution of 3 x 3.
    """
    if not is_picture(row_shape):
        return dense(latent, hidden, math.prod(row_shape), slope=slope)
    channels, height, width = row_shape
    doublings = doublings_of(height, width)
    side = (CHANNELS[0], height >> doublings, width >> doublings)
    layers: list[nn.Module] = [nn.Linear(latent, math.prod(side)), nn.Unflatten(1, side)]
    layers += [nn.BatchNorm2d(side[0]), nn.ReLU()]
    for wide, narrow in list(zip(CHANNELS, (*CHANNELS[1:], CHANNELS[-1]), strict=True))[:doublings]:
        layers += [nn.ConvTranspose2d(wide, narrow, 4, 2, 1), nn.BatchNorm2d(narrow), nn.ReLU()]
        side = (narrow, *side[1:])
    return nn.Sequential(*layers, nn.Conv2d(side[0], channels, 3, padding=1))


def doublings_of(height: int, width: int) -> int:
    """How often a start of at least 4 x 4 pixels can be doubled to reach this size exactly.

    >>> doublings_of(28, 28), doublings_of(32, 32), doublings_of(8, 8), doublings_of(15, 15)
    (2, 3, 1, 0)
    """
    result = 0
    while result < len(CHANNELS) and all(
        side % (2 << result) == 0 and side >> (result + 1) >= SMALLEST for side in (height, width)
    ):
        result += 1
    return result


def narrowing(row_shape: tuple[int, ...], channels: Sequence[int]) -> tuple[list[nn.Module], tuple[int, ...]]:
    """Strided convolutions with LeakyReLU, batch norm from the second on, and the shape of what they leave."""
    depth, height, width = row_shape
    layers: list[nn.Module] = []
    for number, deeper in enumerate(channels):
        if min(height, width) <= SMALLEST:
            break
        kernel = (4 - height % 2, 4 - width % 2)  # odd sides: 3 pixels, so that the border counts too
        layers.append(nn.Conv2d(depth, deeper, kernel, 2, 1))
        layers += [nn.BatchNorm2d(deeper)] if number else []
        layers.append(nn.LeakyReLU(0.2))
        depth, height, width = deeper, (height + 1) // 2, (width + 1) // 2
    return layers, (depth, height, width)


def discriminator(
    row_shape: tuple[int, ...], hidden: Sequence[int], *, slope: float = 0.0, dropout: float = 0.0
) -> nn.Sequential:
    """One logit: real or generated."""
    if not is_picture(row_shape):
        return dense(math.prod(row_shape), hidden, 1, slope=slope, dropout=dropout)
    layers, (depth, height, width) = narrowing(row_shape, (64, 128, 256))
    return nn.Sequential(*layers, nn.Conv2d(depth, 1, (height, width)))


def encoder(row_shape: tuple[int, ...], hidden: Sequence[int], outputs: int, *, slope: float = 0.0) -> nn.Sequential:
    """Numbers that describe a row; pictures are narrowed and then pass a layer of 512."""
    if not is_picture(row_shape):
        return dense(math.prod(row_shape), hidden, outputs, slope=slope)
    layers, left = narrowing(row_shape, (64, 128, 256))
    return nn.Sequential(*layers, *dense(math.prod(left), (512,), outputs, slope=slope))
