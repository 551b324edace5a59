"""From a backbone, in whatever form it was given, to a function that makes fresh modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from pulens.errors import InputError, listed, shown
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
        return lambda: _made(backbone, shape)
    raise _no_backbone(backbone)


def _made(function: Callable[..., Any], shape: tuple[int, ...]) -> nn.Module:
    """What a function makes for rows of this shape, if that is a module."""
    result = None if inspect.isclass(function) else function(shape)
    if not isinstance(result, nn.Module):
        raise _no_backbone(function)
    return result


def _no_backbone(given: object) -> InputError:
    return InputError(
        f"backbone must be one of {listed(backbones.names())}, a torch module or a function that makes one for rows of "
        f"a shape, got {shown(given)}."
    )


def _renewed(module: nn.Module) -> nn.Module:
    """A copy with fresh initial values, so that runs differ and fitting twice starts twice."""
    from copy import deepcopy

    copy = deepcopy(module)
    for part in copy.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
    return copy
