"""Layers of R networks at once: weights carry a leading run axis, activations too.

Dense activations are ``[R, rows, features]``, one batched matrix product per layer. Pictures are
``[rows, R * channels, height, width]``: a convolution of R networks is a grouped convolution, or on a GPU a batched
product of patches, and batch norm, pooling and activations need no change at all. With one run both fall back to the
ordinary kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

POINTWISE = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity)
PICTURES = (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d)
MOST_NUMBERS = 1 << 30  # of patches at once
SIDE = 4  # outputs of a patch, at most
PARTS = 16  # of the rows of a run, in products over all of them
SUPPORTED = (*POINTWISE, *PICTURES, nn.Linear, nn.BatchNorm1d, nn.Dropout, nn.Flatten, nn.Unflatten)


def plan(module: nn.Module, prefix: str = "") -> list[tuple[str, nn.Module]] | None:
    """The layers of a chain in order with their names, or ``None`` if some layer has no stacked form here."""
    if isinstance(module, nn.Sequential):
        result: list[tuple[str, nn.Module]] = []
        for name, child in module.named_children():
            inner = plan(child, f"{prefix}{name}.")
            if inner is None:
                return None
            result += inner
        return result
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
    if way == "grouped" or runs == 1 or (way == "patches" and not _fits(x, module)):
        kernels = weight.flatten(0, 1)
        return F.conv2d(x, kernels, flat_bias, module.stride, module.padding, module.dilation, groups=runs)
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


def _fits(x: torch.Tensor, module: nn.Conv2d) -> bool:
    """Whether the patches of these pictures are such as are cut out here, and few enough to be kept."""
    numbers = x.numel() * module.kernel_size[0] * module.kernel_size[1] // (module.stride[0] * module.stride[1])
    plain = module.dilation == (1, 1) and not torch.is_autocast_enabled(x.device.type)
    return plain and numbers <= MOST_NUMBERS


@contextmanager
def _as_exact_as_convolutions() -> Iterator[None]:
    """Products as exact as torch's own convolutions are on a GPU: in TF32, unless somebody switched that off."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@dataclass(frozen=True)
class _Shape:
    """How pictures are cut into patches: each gives a few outputs side by side, so that a product has enough rows.

    The rows of a run are cut into parts, since the slope by a kernel is a sum over all of them: as one sum a run it
    would keep a single multiprocessor at work.
    """

    module: nn.Conv2d
    rows: int
    runs: int
    channels: int  # of a run
    height: int
    width: int

    @property
    def places(self) -> tuple[int, int]:
        """Outputs from top to bottom and from left to right."""
        sizes = zip(
            (self.height, self.width), self.module.padding, self.module.kernel_size, self.module.stride, strict=True
        )
        tall, broad = ((size + 2 * int(padding) - kernel) // stride + 1 for size, padding, kernel, stride in sizes)
        return tall, broad

    @property
    def side(self) -> int:
        """Outputs that a patch gives: many where kernels are small."""
        wanted = SIDE if self.channels == 1 else SIDE // 2
        return next(side for side in range(wanted, 0, -1) if self.places[1] % side == 0)

    @property
    def span(self) -> int:
        """Columns of a patch."""
        return int(self.module.kernel_size[1] + (self.side - 1) * self.module.stride[1])

    @property
    def parts(self) -> int:
        return next(parts for parts in range(min(PARTS, self.rows), 0, -1) if self.rows % parts == 0)

    def patches(self, x: torch.Tensor) -> torch.Tensor:
        """[R * parts, in * kernel, rows / parts * patches of a row]; torch's own ``unfold`` goes picture by picture."""
        (top, left), (down, right) = self.module.padding, self.module.stride
        padded = F.pad(x, (left, left, top, top)) if top or left else x
        views = padded.unfold(2, self.module.kernel_size[0], down).unfold(3, self.span, self.side * right)
        split = views.view(self.parts, self.rows // self.parts, self.runs, self.channels, *views.shape[2:])
        return split.permute(2, 0, 3, 6, 7, 1, 4, 5).reshape(
            self.runs * self.parts, -1, self.rows // self.parts * views.shape[2] * views.shape[3]
        )

    def folded(self, slope: torch.Tensor) -> torch.Tensor:
        """Every number of the patches added to the pixel that it was taken from."""
        (top, left), (down, right), (high, _) = self.module.padding, self.module.stride, self.module.kernel_size
        tall, broad = self.places[0], self.places[1] // self.side
        own = slope.view(
            self.runs, self.parts, self.channels, high, self.span, self.rows // self.parts, tall, broad
        ).permute(3, 4, 1, 5, 0, 2, 6, 7)
        result = slope.new_zeros(
            self.parts, *own.shape[3:6], self.height + 2 * top, self.width + 2 * left, dtype=slope.dtype
        )
        step = self.side * right
        for first in range(high):
            for second in range(self.span):
                last, end = first + down * (tall - 1) + 1, second + step * (broad - 1) + 1
                result[..., first:last:down, second:end:step] += own[first, second]
        inner = result[..., top : top + self.height, left : left + self.width]
        return inner.reshape(self.rows, self.runs * self.channels, self.height, self.width)

    def shifts(self, kernels: torch.Tensor) -> list[torch.Tensor]:
        """The kernel of each output of a patch, as views of [R, side, out, in, kernel, span]."""
        wide, right = self.module.kernel_size[1], self.module.stride[1]
        return [kernels[:, place, ..., place * right : place * right + wide] for place in range(self.side)]


class _Patchwise(torch.autograd.Function):  # type: ignore[misc]
    """A convolution of R networks as one batched product."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, shape: _Shape) -> torch.Tensor:
        patches = shape.patches(x)
        kernels = weight.new_zeros(shape.runs, shape.side, *weight.shape[1:4], shape.span)
        for own in shape.shifts(kernels):
            own.copy_(weight)
        spread = kernels.view(shape.runs, 1, shape.side * weight.shape[1], -1).expand(-1, shape.parts, -1, -1)
        spread = spread.flatten(0, 1)
        ctx.save_for_backward(patches, spread)
        ctx.shape, ctx.kernels = shape, kernels.shape
        with _as_exact_as_convolutions():
            result = torch.bmm(spread, patches)
        tall, broad = shape.places
        split = (shape.runs, shape.parts, shape.side, weight.shape[1], shape.rows // shape.parts, tall)
        return (
            result.view(*split, broad // shape.side).permute(1, 4, 0, 3, 5, 6, 2).reshape(shape.rows, -1, tall, broad)
        )

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        shape: _Shape = ctx.shape
        patches, spread = ctx.saved_tensors
        tall, broad = shape.places
        split = (shape.parts, shape.rows // shape.parts, shape.runs, ctx.kernels[2], tall, broad // shape.side)
        own = (
            slope.reshape(*split, shape.side).permute(2, 0, 6, 3, 1, 4, 5).reshape(spread.shape[0], spread.shape[1], -1)
        )
        with _as_exact_as_convolutions():
            by_kernel = torch.bmm(own, patches.transpose(1, 2)).view(shape.runs, shape.parts, *ctx.kernels[1:]).sum(1)
            by_patch = torch.bmm(spread.transpose(1, 2), own) if ctx.needs_input_grad[0] else None
        total = torch.stack(shape.shifts(by_kernel)).sum(0) if shape.side > 1 else by_kernel[:, 0]
        return None if by_patch is None else shape.folded(by_patch), total, None


def _by_patches(
    x: torch.Tensor, weight: torch.Tensor, flat_bias: torch.Tensor | None, module: nn.Conv2d
) -> torch.Tensor:
    """Patches times kernels: more memory, but one batched matrix product for all runs."""
    out: torch.Tensor = _Patchwise.apply(
        x, weight, _Shape(module, x.shape[0], weight.shape[0], weight.shape[2], x.shape[2], x.shape[3])
    )
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
