"""Two diagonal Gaussians fitted to the rows of every run at once, by EM."""

from __future__ import annotations

import torch

LEAST = 1e-6  # of a variance
ITERATIONS = 60


def fit_two(points: torch.Tensor, valid: torch.Tensor, starts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and variances [R, 2, D] of the most likely mixture of two.

    ``points`` are [R, n, D], ``valid`` [R, n] says which count, and ``starts`` [R, S, 2, D] holds pairs of means to
    start from; the likeliest result of a run is kept.
    """
    x = points.double()
    weight = valid.double()[:, :, None]
    count = weight.sum(1)
    centre = (x * weight).sum(1) / count
    x = (x - centre[:, None]) * weight  # centred: squares lose no digits
    spread = ((x**2).sum(1) / count).clamp(min=LEAST)
    runs, tries, _, width = starts.shape
    means = (starts.double() - centre[:, None, None]).flatten(1, 2)  # [R, 2S, D]
    variances = spread[:, None].expand_as(means).clone()
    shares = torch.full(means.shape[:2], 0.5, dtype=torch.float64, device=x.device)
    likelihood = torch.full((runs, tries), -torch.inf, dtype=torch.float64, device=x.device)
    for _ in range(ITERATIONS):
        density = log_density(x, means, variances) + shares.log()[:, None]
        density = density.view(runs, -1, tries, 2)
        total = density.logsumexp(3, keepdim=True)
        likelihood = (total[..., 0] * weight).sum(1)
        part = ((density - total).exp().flatten(2)) * weight  # responsibilities [R, n, 2S]
        size = part.sum(1).clamp(min=LEAST)
        means = part.transpose(1, 2) @ x / size[:, :, None]
        squares = part.transpose(1, 2) @ x**2 / size[:, :, None]
        variances = (squares - means**2).clamp(min=LEAST)
        shares = (size / count).clamp(LEAST, 1)
    best = likelihood.argmax(1)
    chosen = torch.arange(runs, device=x.device)
    means = means.view(runs, tries, 2, width)[chosen, best] + centre[:, None]
    return means.float(), variances.view(runs, tries, 2, width)[chosen, best].float()


def log_density(x: torch.Tensor, means: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
    """Logarithms of densities [R, n, K] of points [R, n, D] under Gaussians [R, K, D], up to a constant."""
    precision = 1 / variances
    constant = (means**2 * precision + variances.log()).sum(2)
    cross = (means * precision).transpose(1, 2)
    return x @ cross - 0.5 * (x**2) @ precision.transpose(1, 2) - 0.5 * constant[:, None]


def positive_last(
    means: torch.Tensor, variances: torch.Tensor, points: torch.Tensor, labelled: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Order the two so that the second is the one in which the majority of the labelled points is denser."""
    density = log_density(points.double(), means.double(), variances.double())
    votes = ((density[..., 1] > density[..., 0]) & labelled).sum(1)
    swap = (2 * votes < labelled.sum(1))[:, None, None]
    return torch.where(swap, means.flip(1), means), torch.where(swap, variances.flip(1), variances)
