"""A linear logit: what the specifications' toy problems use, and a sane first model for tables."""

from __future__ import annotations

import math

from torch import nn


def build(row_shape: tuple[int, ...]) -> nn.Module:
    """One weight per feature and a bias, all starting at zero: the start of a convex problem should not matter."""
    layer = nn.Linear(math.prod(row_shape), 1)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)
