"""k-means of R runs at once: Lloyd's iterations with a fixed count, several starts side by side."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from pulens.learning.learners.stack.streams import Streams


@torch.no_grad()  # type: ignore[untyped-decorator]
def grouped(
    x: torch.Tensor,
    counts: torch.Tensor,
    groups: int,
    streams: Streams,
    moment: tuple[int, int],
    *,
    starts: int = 5,
    iterations: int = 20,
    rows_per_group: int = 1000,
) -> torch.Tensor:
    """Group numbers [R, N] of points x [R, N, width]; ``counts`` [R] says how many of a run's points are real.

    Centres start at random points and move on a random sample; the start with the least squared distance wins, and
    every point goes to its nearest centre. A centre that nobody is near to moves to the point farthest from its own.
    """
    runs, _, width = x.shape
    order = streams.permutations("groups", moment, counts, x.shape[1])[:, : groups * rows_per_group]
    taken = counts.clamp(max=order.shape[1])
    sample = x.gather(1, order[..., None].expand(-1, -1, width))
    counted = torch.arange(sample.shape[1], device=x.device) < taken[:, None]
    first = torch.arange(starts * groups, device=x.device)[None] % taken[:, None]
    centres = sample.gather(1, first[..., None].expand(-1, -1, width))
    for _ in range(iterations):
        distance, own = _nearest(sample, centres, starts)
        member = (F.one_hot(own, groups) * counted[..., None, None]).flatten(2).to(x.dtype)
        size = member.sum(1)
        moved = member.transpose(1, 2) @ sample / size.clamp(min=1)[..., None]
        centres = torch.where((size > 0)[..., None], moved, _farthest(sample, distance, counted, size, groups))
    distance, _ = _nearest(sample, centres, starts)
    best = (distance * counted[..., None]).sum(1).argmin(1)
    chosen = centres.view(runs, starts, groups, width)[torch.arange(runs, device=x.device), best]
    return _nearest(x, chosen, 1)[1].squeeze(2)


def _nearest(x: torch.Tensor, centres: torch.Tensor, starts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Squared distance to the nearest centre and which it is, for every start: [R, n, starts]."""
    products = x @ centres.transpose(1, 2)
    squared = (centres * centres).sum(2)[:, None] - 2 * products
    least = squared.view(*squared.shape[:2], starts, -1).min(3)
    return least.values + (x * x).sum(2, keepdim=True), least.indices


def _farthest(
    x: torch.Tensor, distance: torch.Tensor, counted: torch.Tensor, size: torch.Tensor, groups: int
) -> torch.Tensor:
    """For every centre a point far from its own, another one for each empty centre of a start: [R, all, width]."""
    reach = min(groups, x.shape[1])
    places = distance.masked_fill(~counted[..., None], -torch.inf).topk(reach, 1).indices.transpose(1, 2)
    empty = (size == 0).view(*places.shape[:2], groups)
    rank = (empty.cumsum(2) - 1).clamp(0, reach - 1)
    return x.gather(1, places.gather(2, rank).flatten(1)[..., None].expand(-1, -1, x.shape[2]))
