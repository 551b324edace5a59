"""From a backbone, in whatever form it was given, to a function that makes fresh modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from pulens.errors import InputError, listed
from pulens.learning import backbones


def builder_of(backbone: Any, shape: tuple[int, ...]) -> Callable[[], nn.Module]:
    """A function that makes a fresh module."""
    if isinstance(backbone, str):
        return lambda: backbones.build(backbone, shape)
    if isinstance(backbone, nn.Module):
        return lambda: _renewed(backbone)
    if callable(backbone):
        if inspect.isclass(backbone) and issubclass(backbone, nn.Module):
            return lambda: backbone()
        return lambda: backbone(shape)
    raise InputError(
        f"backbone must be one of {listed(backbones.names())}, a torch module or a function that makes one, "
        f"got {backbone!r}."
    )


def _renewed(module: nn.Module) -> nn.Module:
    """A copy with fresh initial values, so that runs differ and fitting twice starts twice."""
    from copy import deepcopy

    copy = deepcopy(module)
    for part in copy.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
    return copy
