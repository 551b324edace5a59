"""Layers of R networks at once: weights carry a leading run axis, activations too.

Dense activations are ``[R, rows, features]``, one batched matrix product per layer. Pictures are
``[rows, R * channels, height, width]``: a convolution of R networks is a grouped convolution, and batch norm, pooling
and activations need no change at all. With one run both fall back to the ordinary kernels.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

POINTWISE = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity)
PICTURES = (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d)
SUPPORTED = (*POINTWISE, *PICTURES, nn.Linear, nn.BatchNorm1d, nn.Dropout, nn.Flatten, nn.Unflatten)


def plan(module: nn.Module, prefix: str = "") -> list[tuple[str, nn.Module]] | None:
    """The layers of a chain in order with their names, or ``None`` if some layer has no stacked form here."""
    if isinstance(module, nn.Sequential):
        found: list[tuple[str, nn.Module]] = []
        for name, child in module.named_children():
            inner = plan(child, f"{prefix}{name}.")
            if inner is None:
                return None
            found += inner
        return found
    return [(prefix, module)] if _is_supported(module) else None


def _is_supported(module: nn.Module) -> bool:
    if type(module) is nn.AdaptiveAvgPool2d:
        return bool(module.output_size in (1, (1, 1)))
    if type(module) is nn.Conv2d:
        return module.groups == 1 and module.padding_mode == "zeros" and not isinstance(module.padding, str)
    if type(module) is nn.ConvTranspose2d:
        return bool(module.groups == 1)
    if type(module) is nn.Unflatten:
        return bool(module.dim == 1 and len(module.unflattened_size) == 3)
    if type(module) in (nn.BatchNorm1d, nn.BatchNorm2d):
        return bool(module.affine and module.track_running_stats and module.momentum is not None)
    if type(module) is nn.Flatten:
        return bool(module.start_dim == 1 and module.end_dim == -1)
    return type(module) in SUPPORTED


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """x [R, rows, in], weight [R, out, in], bias [R, out]."""
    if weight.shape[0] == 1:
        return F.linear(x.squeeze(0), weight.squeeze(0), None if bias is None else bias.squeeze(0))[None]
    if bias is None:
        return torch.bmm(x, weight.transpose(1, 2))
    return torch.baddbmm(bias[:, None], x, weight.transpose(1, 2))


def convolution(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, module: nn.Conv2d, way: str
) -> torch.Tensor:
    """x [rows, R * in, height, width], weight [R, out, in, height, width]."""
    runs = weight.shape[0]
    flat_bias = None if bias is None else bias.flatten()
    if way == "grouped" or runs == 1:
        kernels = weight.flatten(0, 1)
        return F.conv2d(x, kernels, flat_bias, module.stride, module.padding, module.dilation, groups=runs)
    if way == "each":
        parts = [
            F.conv2d(part, kernel, None, module.stride, module.padding, module.dilation)
            for part, kernel in zip(x.chunk(runs, 1), weight, strict=True)
        ]
        out = torch.cat(parts, 1)
        return out if flat_bias is None else out + flat_bias[:, None, None]
    return _by_patches(x, weight, flat_bias, module)


def transposed_convolution(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, module: nn.ConvTranspose2d
) -> torch.Tensor:
    """x [rows, R * in, height, width], weight [R, in, out, height, width]: grouped for a stack."""
    return F.conv_transpose2d(
        x,
        weight.flatten(0, 1),
        None if bias is None else bias.flatten(),
        module.stride,
        module.padding,
        module.output_padding,
        weight.shape[0],
        module.dilation,
    )


def unflatten(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """x [R, rows, features] as pictures [rows, R * channels, height, width]."""
    return x.transpose(0, 1).reshape(x.shape[1], x.shape[0] * shape[0], *shape[1:])


def _by_patches(
    x: torch.Tensor, weight: torch.Tensor, flat_bias: torch.Tensor | None, module: nn.Conv2d
) -> torch.Tensor:
    """Patches times kernels: more memory, but one batched matrix product for all runs."""
    runs, out_channels, in_channels = weight.shape[:3]
    rows = x.shape[0]
    patches = F.unfold(
        x.reshape(rows * runs, in_channels, *x.shape[2:]),
        module.kernel_size,
        module.dilation,
        module.padding,
        module.stride,
    )
    places = patches.shape[-1]
    stacked = patches.view(rows, runs, -1, places).permute(1, 2, 0, 3).reshape(runs, -1, rows * places)
    out = torch.bmm(weight.flatten(2), stacked).view(runs, out_channels, rows, places).permute(2, 0, 1, 3)
    height = (x.shape[2] + 2 * module.padding[0] - module.dilation[0] * (module.kernel_size[0] - 1) - 1) // (
        module.stride[0]
    ) + 1
    out = out.reshape(rows, runs * out_channels, height, places // height)
    return out if flat_bias is None else out + flat_bias[:, None, None]


def batch_norm(
    x: torch.Tensor,
    module: nn.BatchNorm1d | nn.BatchNorm2d,
    weight: torch.Tensor,
    bias: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    train: bool,
    unadded: torch.Tensor | None = None,
) -> torch.Tensor:
    """Statistics per run and channel; x as the layers around it hold it.

    ``unadded`` is a bias that the layer before left out since it would be subtracted here with the mean of the batch:
    two passes over the activations less. The running mean counts it, so that evaluation, which adds it, is the same.
    """
    is_dense = x.dim() == 3
    flat = x.transpose(0, 1).flatten(1, 2) if is_dense else x
    seen = mean if unadded is None else mean - unadded.detach()
    out = F.batch_norm(
        flat, seen.view(-1), variance.view(-1), weight.flatten(), bias.flatten(), train, module.momentum, module.eps
    )
    if unadded is not None:
        mean.copy_(seen + unadded.detach())
    return out.view(x.shape[1], x.shape[0], x.shape[2]).transpose(0, 1) if is_dense else out
