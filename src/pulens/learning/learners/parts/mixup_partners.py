r"""What P3Mix-E and P3Mix-C share: mixup whose partners are chosen by heuristic (Li, Li, Feng and Ouyang 2022).

Unlabelled rows count as negatives, in batches of as many labelled rows, and everything is mixed. Once the classifier
knows a little, unlabelled rows near its boundary are mixed with labelled positives near it alone: their targets become
partly positive, which pulls back a boundary that otherwise creeps into the positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.mixing import mix_with_partners
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.networks import Moment, StackedNetwork
from pulens.learning.learners.stack.program import Program, Stack, Stage
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.alignment import clamp, cross_entropy, entropy
from pulens.learning.risks.losses import sigmoid

NEAR = 1e-4  # chances inside logarithms keep this distance from 0 and 1
AUTHORS_STEPS = 20  # per epoch
LIMIT = float(np.log((1 - NEAR) / NEAR))


def mixing_place(network: StackedNetwork, layer: int) -> int:
    """Where in a network's plan the hidden layer of that number ends, -1 being the input.

    A hidden layer is a convolution or a dense layer with what follows it (pooling, activation, dropout, ...), up to the
    next one; the last dense layer gives the logit and is none.
    """
    if layer == -1:
        return 0
    if network.steps is None:
        raise InputError(
            f"mix_layer={layer} needs a network that is a chain of common layers (nn.Sequential); mix the inputs of "
            "this one: mix_layer=-1."
        )
    heads = [number for number, (_, module) in enumerate(network.steps) if isinstance(module, nn.Conv2d | nn.Linear)]
    hidden = len(heads) - 1
    if not 0 <= layer < hidden:
        there = f"0 to {hidden - 1} are its hidden layers" if hidden > 0 else "it has no hidden layer"
        raise InputError(f"mix_layer must be -1 (the inputs) or a hidden layer of the network: {there}, got {layer!r}.")
    return heads[layer + 1]


def mixed_forward(
    network: StackedNetwork,
    x: torch.Tensor,
    partner: torch.Tensor,
    share: torch.Tensor,
    place: int,
    streams: Streams | None = None,
    moment: Moment = (0, 0),
) -> torch.Tensor:
    """Logits [R, b] of x [R, rows, ...], each of its first b rows mixed with the row ``partner`` [R, b] names.

    ``share`` [R] is what a row keeps of itself; ``place`` is where in the network both meet.
    """
    with network._mixed():
        hidden = network._chain(x, streams, moment, end=place) if place else x
        mixed = mix_with_partners(hidden, partner, share.to(hidden.dtype))
        if place:
            return network._chain(mixed, streams, moment, begin=place).float()
    return network(mixed, streams, moment)


def between(chance: torch.Tensor, certain: Any) -> torch.Tensor:
    """Marginal rows: neither surely negative nor surely positive (the paper's gamma is ``certain``)."""
    return (chance > 1 - certain) & (chance < certain)


class PartnerProgram(Program):
    """Warm epochs mix at random, later ones by the heuristic."""

    needs_class_prior = False
    recordable = True
    relabels = False  # are unlabelled rows that look surely positive taken for positives in a step?

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        certain, mixup = (torch.as_tensor(self.value(name)) for name in ("certain", "mixup"))
        if not bool(((certain > 0.5) & (certain < 1)).all()):
            raise InputError(f"certain must lie strictly between 0.5 and 1, got {self.value('certain')!r}.")
        if not bool((mixup > 0).all()):
            raise InputError(f"mixup must be above 0, got {self.value('mixup')!r}.")
        for name in ("pool_size", "batch_size", "steps_per_epoch", "halve_every"):
            if self.value(name) is not None and self.value(name) < 1:
                raise InputError(f"{name} must be at least 1, got {self.value(name)!r}.")
        self.place = mixing_place(stack.network, self.value("mix_layer"))
        self.pool: torch.Tensor | None = None  # positions [R, k] of labelled rows, in ascending order
        self.pool_counts = stack.data.labelled_counts.clamp(max=self.value("pool_size"))[:, None]

    def stages(self) -> list[Stage]:
        size, every, most = self.value("batch_size"), self.value("halve_every"), self.value("halvings")
        sizes = {"labelled": size, "unlabelled": size}
        batches = Drawn(sizes, self.value("steps_per_epoch"), passes_over="unlabelled", least=AUTHORS_STEPS)
        return [
            Stage(
                "training",
                self.value("epochs"),
                batches,
                self.adam(betas=(0.5, 0.99)),
                schedule=lambda epoch: 0.5 ** min(epoch // every, most),
            )
        ]

    def per_row(self, name: str) -> Any:
        """A setting to be held against [R, rows]."""
        value = self.value(name)
        return value[:, None] if isinstance(value, torch.Tensor) else value

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        steps = stage.batches.steps(self.stack.data)
        drawn = self.stack.streams.beta("mixup", moment_epoch, steps, self.value("mixup"))
        self.shares = torch.maximum(drawn, 1 - drawn)

    def end_epoch(self, stage: Stage) -> None:
        if self.epoch_in_stage >= self.value("heuristic_start") - 1:
            self.pool = self.most_uncertain()

    def most_uncertain(self) -> torch.Tensor:
        """Positions of the labelled rows with the highest entropy: those nearest to the boundary."""
        data = self.stack.data
        widest = max(data.n_labelled)
        scores = self.stack.network.score(data.table, data.rows[:, :widest])
        is_labelled = data.is_labelled[:, :widest]
        result = entropy(scores).masked_fill(~is_labelled, -torch.inf)
        places = result.topk(min(self.value("pool_size"), widest), 1).indices
        # in order of position, so that who is drawn does not depend on the order of nearly equal entropies
        return places.masked_fill(~is_labelled.gather(1, places), widest).sort(1).values.clamp(max=widest - 1)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def partners(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Rows to forward, the partner of each row of the batch among them, and their targets before mixing."""
        target, count = batch.labelled, batch.x.shape[1]
        streams = self.stack.streams
        if self.pool is None or self.epoch_in_stage < self.value("heuristic_start"):
            sizes = torch.full((self.stack.runs,), count, device=target.device)
            return batch.x, streams.permutations("partner", batch.moment, sizes, count), target
        half = self.value("batch_size")
        chance = sigmoid(self.stack.network(batch.x[:, half:]), -1)
        certain = self.per_row("certain")
        if self.relabels:
            target = torch.cat([target[:, :half], (chance >= certain).float()], 1)
        partner = drawn(streams, "partner", batch.moment, count, count)
        chosen = self.pool.gather(1, drawn(streams, "pool", batch.moment, half, self.pool_counts))
        data = self.stack.data
        x = torch.cat([batch.x, data.table[data.rows.gather(1, chosen)].float()], 1)
        from_pool = torch.arange(count, count + half, device=x.device)
        partner[:, half:] = torch.where(between(chance, certain), from_pool, partner[:, half:])
        return x, partner, torch.cat([target, torch.ones_like(chance)], 1)

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        x, partner, target = self.partners(batch)
        share = batch.now(self.shares)
        z = mixed_forward(self.stack.network, x, partner, share, self.place, self.stack.streams, batch.moment)
        z = clamp(z, LIMIT)
        return self.objective(z, blend(target, partner, share)) + self.further(z, batch, partner, share)

    def further(
        self, z: torch.Tensor, batch: Batch, partner: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor | float:
        """What a variant adds to the objective."""
        return 0.0

    def objective(self, z: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The weighted sum of losses of mixed rows; labelled rows, the first half, have a mean of their own."""
        half = z.shape[1] // 2
        costs = cross_entropy(z, target)
        result: torch.Tensor = (
            self.value("labelled_weight") * costs[:, :half].mean(1)
            + self.value("unlabelled_weight") * costs[:, half:].mean(1)
            + self.value("entropy_weight") * entropy(z).mean(1)
        )
        return result


def drawn(streams: Streams, purpose: str, moment: Moment, count: int, below: Any) -> torch.Tensor:
    """Whole numbers [R, count] from 0 to below, that one excluded; with replacement."""
    return (streams.bits(purpose, moment, count) & ((1 << 62) - 1)) % below


def blend(values: torch.Tensor, partner: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Mix numbers per row [R, rows] as their rows are mixed."""
    return share[:, None] * values[:, : partner.shape[1]] + (1 - share[:, None]) * values.gather(1, partner)


@dataclass(kw_only=True, eq=False, repr=False)
class PartnerLearner(PULearner):
    """Settings of both variants."""

    selection: str = "last"  #: as the authors do; "proxy_accuracy" and others need the class prior
    #: gamma: unlabelled rows between 1 - gamma and gamma are mixed with boundary positives
    certain: float = setting(0.85, least=0, most=1)
    heuristic_start: int = 1  #: epochs of plain mixup before that; labelled rows are soon learned by heart
    pool_size: int = setting(100, least=1)  #: k: how many boundary positives there are to choose from
    mixup: float = 1.0  #: both parameters of the Beta distribution
    #: after which hidden layer rows are mixed, counted from 0; -1 mixes the inputs
    mix_layer: int = setting(-1, least=None)
    labelled_weight: float = 1.0
    unlabelled_weight: float = 1.0
    entropy_weight: float = 0.1
    epochs: int = 10
    #: None: a pass over the unlabelled rows, but at least the authors' 20 steps
    steps_per_epoch: int | None = setting(None, least=1)
    batch_size: int = setting(256, least=1)  #: labelled rows in a step, and as many unlabelled ones
    learning_rate: float = setting(2e-4, above=0)
    weight_decay: float = 1e-6
    halve_every: int = setting(2, least=1)  #: epochs after which the learning rate is halved
    halvings: int = 5  #: how often it is
