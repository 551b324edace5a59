"""Where one-dimensional values fall into two groups: natural breaks, for every run of a stack at once."""

from __future__ import annotations

import torch

COSTS = ("squares", "variance")


def natural_break(values: torch.Tensor, valid: torch.Tensor, cost: str = "squares") -> torch.Tensor:
    r"""The largest value of the lower group, [R]; the upper group is everything above it.

    ``"squares"`` minimises :math:`SSE_1 + SSE_2` (Jenks and Fisher: exact 2-means), ``"variance"`` minimises
    :math:`SSE_1/n_1 + SSE_2/n_2` (Wang et al. 2023, equation 8). A cut never separates equal values: where
    there is no cut (all values the same) the answer is nan. Sorting and prefix sums: O(n log n).

    >>> S = torch.tensor([[-0.10, -0.09, -0.08, -0.07, 0.01, 0.02, 0.10]])
    >>> natural_break(S, torch.ones_like(S, dtype=torch.bool))
    tensor([-0.0700])
    """
    ordered, costs = break_costs(values, valid, cost)
    least, best = costs.min(1)
    result = ordered.gather(1, best[:, None]).squeeze(1)
    return torch.where(torch.isfinite(least), result, torch.nan).to(values.dtype)


def break_costs(values: torch.Tensor, valid: torch.Tensor, cost: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Sorted values and the cost of a cut behind each of them, infinite where there is none."""
    ordered = values.double().masked_fill(~valid, torch.inf).sort(1).values
    real = torch.isfinite(ordered)
    count = real.sum(1, keepdim=True)
    filled = torch.where(real, ordered, 0.0)
    centred = torch.where(real, ordered - filled.sum(1, keepdim=True) / count, 0.0)  # small squares stay exact
    below = torch.arange(1, values.shape[1] + 1, device=values.device)[None]
    above = (count - below).clamp(min=1)
    sums, squares = centred.cumsum(1), (centred**2).cumsum(1)
    low = squares - sums**2 / below
    high = (squares[:, -1:] - squares) - (sums[:, -1:] - sums) ** 2 / above
    costs = low + high if cost == "squares" else low / below + high / above
    follows = torch.nn.functional.pad(ordered[:, 1:], (0, 1), value=torch.inf)
    allowed = (below < count) & (follows > ordered)
    return ordered, costs.masked_fill(~allowed, torch.inf)
