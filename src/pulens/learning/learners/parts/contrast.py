r"""Contrastive losses on two views of a batch, for a stack of runs (LaGAM: Long et al. 2024).

Weak views give unit vectors :math:`q_i`, strong views :math:`k_i`; :math:`A` holds all 2n of them. A row is compared
with every other entry of A: its own weak view never stands in a denominator.
"""

from __future__ import annotations

import torch

OUT = -1e9  # not infinity: a run without real rows in this batch must not turn into nan


def contrast(weak: torch.Tensor, strong: torch.Tensor, valid: torch.Tensor, temperature: float) -> torch.Tensor:
    """Log-softmax [R, n, 2n] of the similarities of weak views with all views; own and padded entries are out."""
    both = torch.cat([weak, strong], 1)
    similar = weak @ both.transpose(1, 2) / temperature
    return similar.masked_fill(~_comparable(valid), OUT).log_softmax(2)


def instance_loss(logarithms: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """Mean over rows of minus the logarithm of the own strong view: [R]."""
    n = valid.shape[1]
    own = logarithms[:, :, n:].diagonal(dim1=1, dim2=2)
    return -_mean(own.masked_fill(~valid, 0.0), valid)


def group_loss(logarithms: torch.Tensor, together: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """Mean over rows of minus the mean logarithm of the entries that belong ``together`` [R, n, 2n]; [R].

    A row with nobody (its own weak view aside) is left out.
    """
    chosen = together & _comparable(valid)
    size = chosen.sum(2)
    summed = logarithms.masked_fill(~chosen, 0.0).sum(2)
    return -_mean(summed / size.clamp(min=1), valid & (size > 0))


def same_group(groups: torch.Tensor, predicted: torch.Tensor | None = None) -> torch.Tensor:
    """Who belongs together: rows of one group [R, n], cut off where predictions differ; views repeat: [R, n, 2n]."""
    result = groups[:, :, None] == groups[:, None, :]
    if predicted is not None:
        result = result & (predicted[:, :, None] == predicted[:, None, :])
    return torch.cat([result, result], 2)


def nearest(weak: torch.Tensor, strong: torch.Tensor, valid: torch.Tensor, count: int) -> torch.Tensor:
    """The ``count`` entries most similar to each row, its own among them, as a mask [R, n, 2n]."""
    both = torch.cat([weak, strong], 1)
    similar = weak @ both.transpose(1, 2)
    everyone = torch.cat([valid, valid], 1)[:, None, :]
    similar = similar.masked_fill(~everyone, OUT)
    places = similar.topk(min(count, similar.shape[2]), 2).indices
    return torch.zeros_like(similar, dtype=torch.bool).scatter_(2, places, True) & everyone


def _comparable(valid: torch.Tensor) -> torch.Tensor:
    """Entries a row may be compared with: real ones, its own weak view aside."""
    n = valid.shape[1]
    own = torch.eye(n, 2 * n, dtype=torch.bool, device=valid.device)
    return torch.cat([valid, valid], 1)[:, None, :] & ~own


def _mean(values: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    return (values * counted).sum(1) / counted.sum(1).clamp(min=1)
