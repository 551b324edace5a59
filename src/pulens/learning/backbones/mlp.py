"""The multilayer perceptron for tables and text vectors: PU-Bench, Table D.2."""

from __future__ import annotations

import math

from torch import nn

WIDTHS, DROPOUT = (512, 256, 128, 64), (0.3, 0.3, 0.2, 0.0)


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """d-512-256-128-64-1 with ReLU, and dropout after the first three hidden layers."""
    layers: list[nn.Module] = [nn.Flatten()]
    width = math.prod(row_shape)
    for wider, dropout in zip(WIDTHS, DROPOUT, strict=True):
        layers += [nn.Linear(width, wider), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        width = wider
    return nn.Sequential(*layers, nn.Linear(width, 1))
