"""Bagged networks through the package's training loop: one table, and a bag of weights for every network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pulens.learning.learners.stack.device import find_device
from pulens.learning.learners.stack.loop import train
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.optimiser import OptimiserSettings
from pulens.learning.learners.stack.program import Program, Stack, Stage
from pulens.learning.learners.stack.rows import Batch, Batches, Draw, Part, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.losses import logistic
from pulens.research.studies._recovery_networks import HIDDEN, PATIENCE
from pulens.scenario import Scenario

FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 0.02, 1e-6, 1.0
GROW, SHRINK = 1.2, 0.5


class WholeTable(Batches):
    """One batch per epoch: the table itself. Bags are weights, so no row is copied for any network."""

    def steps(self, data: StackedRows) -> int:
        return 1

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        yield WholeDraw(torch.empty(0, device=data.device), (epoch, 0))


class WholeDraw(Draw):
    """Nothing has to be looked up."""

    def batch(self, data: StackedRows) -> Batch:
        nothing = self.positions
        return Batch(nothing, data.table, nothing, nothing, nothing, self.moment, None)


class BaggedProgram(Program):
    """Cross-entropy weighted by each network's bag; steps of resilient propagation."""

    needs_class_prior = False
    signs: torch.Tensor  # +1 and -1, [R, rows]
    training: torch.Tensor  # weights that add up to 1, [R, rows]
    stopping: torch.Tensor
    epochs: int

    def stages(self) -> list[Stage]:
        network = self.stack.network
        self.sizes = torch.full_like(network.flat, FIRST_STEP)
        self.before = torch.zeros_like(network.flat)
        self.seen: torch.Tensor | None = None
        # a step is already the change that is wanted: the optimiser only has to subtract it
        plain = OptimiserSettings("sgd", learning_rate=1.0, momentum=0.0)
        return [Stage("training", self.epochs, WholeTable(), plain)]

    def logits(self) -> torch.Tensor:
        """[R, rows]. All networks read the same rows, so their first layers are one matrix product."""
        own = self.stack.network.parameters
        runs, table = self.stack.runs, self.stack.data.table
        inner = torch.tanh(torch.addmm(own["0.bias"].flatten(), table, own["0.weight"].flatten(0, 1).T))
        outer = torch.einsum("nrh,rh->rn", inner.view(len(table), runs, HIDDEN), own["2.weight"][:, 0])
        return outer + own["2.bias"]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        logits = self.logits() if self.seen is None else self.seen
        result: torch.Tensor = (self.training * logistic(self.signs * logits, 1)).sum(1)
        return result

    def gradients(self, stage: Stage, batch: Batch) -> list[torch.Tensor]:
        gradient = super().gradients(stage, batch)[0]
        agreement = gradient * self.before
        factor = 1.0 + (GROW - 1.0) * (agreement > 0) - (1.0 - SHRINK) * (agreement < 0)
        self.sizes.mul_(factor).clamp_(SMALLEST_STEP, LARGEST_STEP)
        gradient = torch.where(agreement < 0, 0.0, gradient)  # after a turn wait one step
        self.before = gradient
        return [gradient.sign() * self.sizes]

    def agreement_on_held_rows(self, program: Program) -> list[float]:
        """Minus the loss on each network's held-out rows; the next step reuses this pass over the table."""
        self.seen = self.logits()
        with torch.no_grad():
            loss = (self.stopping * logistic(self.signs * self.seen, 1)).sum(1)
        return cast(list[float], (-loss).tolist())


def train_stack(
    features: NDArray[Any],
    targets: NDArray[Any],
    bags: NDArray[Any],
    held: NDArray[Any],
    rng: np.random.Generator,
    device: str,
    epochs: int,
) -> NDArray[np.float64]:
    """Logits [R, rows] of R networks, each at the epoch that was best on its held-out rows."""
    place = find_device(device)
    runs = len(targets)
    table = torch.as_tensor(np.ascontiguousarray(features, np.float32)).to(place)
    # the loop wants to know whose rows are whose; the networks themselves read the whole table
    data = StackedRows(table, [Part([0], [0])] * runs, Scenario.CASE_CONTROL)
    seeds = [int(seed) for seed in rng.integers(2**31, size=runs)]
    width = table.shape[1]
    network = StackedNetwork(
        lambda: nn.Sequential(nn.Linear(width, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)), seeds, place
    )
    priors = torch.full((runs,), float("nan"), device=place)
    program = BaggedProgram(Stack(data, Streams(seeds, place), [network], priors, {}))
    counts, kept = torch.as_tensor(bags).to(place, torch.float32), torch.as_tensor(held).to(place)
    program.signs = torch.as_tensor(targets).to(place, torch.float32) * 2 - 1
    program.training, program.stopping = (_shares(counts * mask) for mask in (~kept, kept))
    program.epochs = epochs
    train(program, criterion=program.agreement_on_held_rows, patience=PATIENCE)
    with torch.no_grad():
        result: NDArray[np.float64] = program.logits().double().cpu().numpy()
    return result


def _shares(weights: torch.Tensor) -> torch.Tensor:
    return weights / weights.sum(1, keepdim=True)
