"""Steps of our stacked optimisers beside PyTorch's own, run by run."""

from __future__ import annotations

import torch

from pulens.learning.learners.stack.program import gradients_of


def assert_same_steps(network, mine, modules, theirs, forward):
    """Two runs, five steps; run 1 sits two of them out. ``modules`` start where the network's runs do."""
    x = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(0))
    for step in range(5):
        active = None if step < 2 else torch.tensor([True, step == 4])
        mine.step(gradients_of((forward(x, step) ** 2).mean(1).sum(), [network])[0], active=active)
        for run, (module, other) in enumerate(zip(modules, theirs, strict=True)):
            if active is None or active[run]:
                other.zero_grad()
                (module(x[run]) ** 2).mean().backward()
                other.step()
    for run, module in enumerate(modules):
        for name, value in module.named_parameters():
            torch.testing.assert_close(network.state_of(run)[name], value.detach(), rtol=1e-4, atol=1e-6)
