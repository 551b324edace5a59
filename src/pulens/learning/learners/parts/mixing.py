"""Mixup: rows, or what stands in their place within a network, between a row and another one."""

from __future__ import annotations

import torch


def mix(own: torch.Tensor, other: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Rows [R, b, ...] of which each keeps the ``share`` [R] of its run.

    >>> mix(torch.tensor([[1.0, 2.0]]), torch.tensor([[5.0, 6.0]]), torch.tensor([0.75]))
    tensor([[2., 3.]])
    """
    shaped = share.view(-1, *[1] * (own.dim() - 1))
    mixed: torch.Tensor = shaped * own + (1 - shaped) * other
    return mixed


def mix_with_partners(values: torch.Tensor, partner: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """The first b rows of ``values``, each mixed with the row that ``partner`` [R, b] names.

    >>> mix_with_partners(torch.tensor([[1.0, 2.0, 5.0]]), torch.tensor([[2, 0]]), torch.tensor([0.75]))
    tensor([[2.0000, 1.7500]])
    """
    index = partner.view(*partner.shape, *[1] * (values.dim() - 2)).expand(-1, -1, *values.shape[2:])
    return mix(values[:, : partner.shape[1]], values.gather(1, index), share)
