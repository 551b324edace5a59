"""How logits change along a direction in parameter space."""

from __future__ import annotations

import torch

from pulens.learning.learners.stack.networks import StackedNetwork


def slopes_along(
    network: StackedNetwork, x: torch.Tensor, direction: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Evaluation-mode logits [R, rows], and how they change along ``direction``, laid out as the network's ``flat``.

    The product of the Jacobian J with v comes from two products with its transpose: J'u is linear in u, and the
    gradient of the inner product of J'u and v with respect to u is Jv. Forward-mode differentiation would need one
    pass less, but not every layer of a user's network has it.
    """
    leaves = network.parameters
    tangents = network._views(direction, leaves=False)
    with torch.enable_grad():
        z = network(x)
        weights = torch.zeros_like(z, requires_grad=True)
        pulled = torch.autograd.grad(z, list(leaves.values()), weights, create_graph=True)
        total = torch.stack([(own * tangents[key]).sum() for key, own in zip(leaves, pulled, strict=True)]).sum()
        (slopes,) = torch.autograd.grad(total, weights)
    return z.detach(), slopes
